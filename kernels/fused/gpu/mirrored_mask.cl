// Mirrored mask: applies the transfer function to an infinitely mirrored image (edges.cl). It filters each
// frequency of a column together with the opposite one of another work-item: V[ky][kx] with V[HEIGHT - ky][kx].
//
// If there is an O (TWO_INVERSES), columns and inverse rows run twice. The `other` pixels, whose row + column is odd,
// come first, as the columns of the rest are filtered in place.
//
// needs: fused/gpu/transform.cl edges.cl fused/gpu/mask.cl fused/gpu/cosines.cl

#if IS_MIRRORED

// Number POINTS - k of a transform for each number k, in the order in which the transform leaves them
INLINE void opposite_numbers(complex_t *opposite, const complex_t *v, local exchanged_t *x)
{
    const uint transform = own_transform(INNER);
    x += LOCAL_PLACE(transform);
    UNROLL
    for (uint part = 0; part < COMPLEX_ROUNDS; part++) {
        UNROLL
        for (uint step = 0; step < BATCH_ROUNDS * LENGTH_ROUNDS; step++) {
            const bool is_in_round = IS_IN_ROUND(transform, step / LENGTH_ROUNDS);
            const uint start = step % LENGTH_ROUNDS * (LENGTH / 2), end = start + LENGTH / LENGTH_ROUNDS;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (is_in_round)
                FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
                    UNROLL
                    for (uint q = 0; q < SPECTRUM_RADIX; q++) {
                        const uint k = t + q * (LENGTH / SPECTRUM_RADIX);
                        if (LENGTH_ROUNDS == 1 || (k >= start && k < end))
                            x[k - start] = PART_OF(v[b * SPECTRUM_RADIX + q], part);
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (is_in_round)
                FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
                    UNROLL
                    for (uint q = 0; q < SPECTRUM_RADIX; q++) {
                        const uint k = t + q * (LENGTH / SPECTRUM_RADIX), other = k && k < POINTS ? POINTS - k : 0;
                        if (LENGTH_ROUNDS == 1 || (other >= start && other < end))
                            SET_PART(opposite[b * SPECTRUM_RADIX + q], part, x[other - start]);
                    }
                }
        }
    }
}

// A column's numbers times the mask and `scale`
INLINE void mirrored_mask(complex_t *v, local exchanged_t *x, const uint kx, global const mask_data_t *mask_data,
                          const real_t scale, const cutoffs_t cutoffs, const uint other)
{
    complex_t opposite[PER_ITEM];
    opposite_numbers(opposite, v, x);

    const column_t near = mask_column(kx, mask_data, cutoffs), far = mask_column(WIDTH - kx, mask_data, cutoffs);
    gains_t odd = {0, 0, 0, 0};
#if TWO_INVERSES
    // Behind the gains of E are those of O.
    global const mask_data_t *odd_data = mask_data + (size_t)(WIDTH + 1) * (HEIGHT + 1);
    const column_t near_odd = mask_column(kx, odd_data, cutoffs), far_odd = mask_column(WIDTH - kx, odd_data, cutoffs);
    const real_t sign = other ? -1 : 1;
#endif
    const complex_t across = turn(kx, WIDTH);
    FOR_OWN(own_item(INNER), SPECTRUM_RADIX, n, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint ky = t + q * (LENGTH / SPECTRUM_RADIX), i = n * SPECTRUM_RADIX + q;
            if (BLUESTEIN && ky >= POINTS)
                continue;
            const gains_t even = {
                mask_gain(near, kx, ky, cutoffs),
                mask_gain(far, WIDTH - kx, HEIGHT - ky, cutoffs),
                mask_gain(far, WIDTH - kx, ky, cutoffs),
                mask_gain(near, kx, HEIGHT - ky, cutoffs),
            };
#if TWO_INVERSES
            odd.own = sign * near_odd[ky];
            odd.opposite = sign * far_odd[HEIGHT - ky];
            odd.in_row = sign * far_odd[ky];
            odd.in_column = sign * near_odd[HEIGHT - ky];
#endif
            v[i] = scale * masked_cosines(v[i], opposite[i], turn(ky, HEIGHT), across, even, TWO_INVERSES, odd);
        }
    }
}

#endif
