// Mirrored mask: the transfer function where the image is mirrored without end, as edges.cl has it. A frequency of a
// column is filtered together with the opposite one, V[ky][kx] with V[HEIGHT - ky][kx], which another work-item has.
//
// Where there is an O (TWOFOLD), columns and inverse rows are done twice, first for the `other`
// pixels, those whose row + column is odd: the columns of the first ones are filtered in place.

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

INLINE complex_t turn(const uint k, const uint n)
{
    const real_t half_turns = (real_t)k / (2 * n);
    return (complex_t)(cospi(half_turns), -sinpi(half_turns));
}

INLINE complex_t conjugate(const complex_t a)
{
    return (complex_t)(a.x, -a.y);
}

// A column's numbers times the mask and `scale`
INLINE void mirrored_mask(complex_t *v, local exchanged_t *x, const uint kx, global const mask_data_t *mask_data,
                          const real_t scale, const cutoffs_t cutoffs, const uint other)
{
    complex_t opposite[PER_ITEM];
    opposite_numbers(opposite, v, x);

    const column_t near = mask_column(kx, mask_data, cutoffs), far = mask_column(WIDTH - kx, mask_data, cutoffs);
#if TWOFOLD
    // Behind the gains of E are those of O.
    global const mask_data_t *odd = mask_data + (size_t)(WIDTH + 1) * (HEIGHT + 1);
    const column_t near_odd = mask_column(kx, odd, cutoffs), far_odd = mask_column(WIDTH - kx, odd, cutoffs);
    const real_t sign = other ? -1 : 1;
#endif
    const complex_t across = turn(kx, WIDTH);
    FOR_OWN(own_item(INNER), SPECTRUM_RADIX, n, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint ky = t + q * (LENGTH / SPECTRUM_RADIX), i = n * SPECTRUM_RADIX + q;
            if (BLUESTEIN && ky >= POINTS)
                continue;
            const complex_t down = turn(ky, HEIGHT), uv = times(down, across);
            const complex_t a = times(uv, v[i]), b = times(times(conjugate(down), across), opposite[i]);
            real_t both = mask_gain(near, kx, ky, cutoffs) * (b.x + a.x);
            real_t none = mask_gain(far, WIDTH - kx, HEIGHT - ky, cutoffs) * (b.x - a.x);
            real_t of_row = mask_gain(far, WIDTH - kx, ky, cutoffs) * (b.y + a.y);
            real_t of_column = mask_gain(near, kx, HEIGHT - ky, cutoffs) * (b.y - a.y);
#if TWOFOLD
            both -= sign * far_odd[HEIGHT - ky] * (b.x - a.x);
            none -= sign * near_odd[ky] * (b.x + a.x);
            of_row += sign * near_odd[HEIGHT - ky] * (b.y - a.y);
            of_column += sign * far_odd[ky] * (b.y + a.y);
#endif
            v[i] = scale * times(conjugate(uv), (complex_t)(both - none, of_row - of_column));
        }
    }
}

#endif
