// Inverse rows: makes the values of the filtered image from spectra, and finds their largest magnitude.
//
// Fused: transpose, butterflies back, subtraction from the image, offset put back, extremes. One row of a pair is the
// real part of a transform, the other its imaginary part. The values wait in memory, as the scale of the output is
// known only when all values are. Transforming twice instead moves fewer bytes, but takes longer.
//
// Launch   (groups of BATCH pairs of rows x GROUP, images) work-items, GROUP a work-group
// Reads    spectrum, see spectrum.cl                   -> BATCH x TILE numbers side by side, zeros from the support on
//          image[row][t + q LENGTH/SPECTRUM_RADIX]     -> coalesced, see values.cl
// Writes   values[row][t + q LENGTH/SPECTRUM_RADIX]    -> coalesced; with TWO_INVERSES those whose row + column is
//          even, or the `other` ones
//          largest[2 image], as the bits of a float, which order like whole numbers
//
// needs: fused/gpu/transform.cl fused/gpu/spectrum.cl offset.cl fused/gpu/values.cl fused/gpu/largest.cl
//
// -D ONE_LAUNCH=1    without a kernel: filter.cl calls the functions

// Whether row p has no partner
#define IS_ALONE(p) (HEIGHT % 2 && (p) + PAIRS >= HEIGHT)

// The values of rows p and p + PAIRS, in registers: of the upper row y, of the lower x. Spectrum and image are those of
// the picture.
INLINE void filtered_rows(complex_t *v, global const complex_t *spectrum, global const complex_t *tables,
                          const uint support, const real_t dc, global const LOAD_PIXEL *image, const uint group,
                          local exchanged_t *x)
{
    {
        const uint p = min((uint)(group * BATCH + own_transform(ACROSS)), (uint)(PAIRS - 1));
        FOR_OWN(own_item(ACROSS), FIRST_RADIX, b, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                const uint k = t + q * (LENGTH / FIRST_RADIX);
                v[b * FIRST_RADIX + q] = (!BLUESTEIN || k < POINTS) && step_in_support(t, q, FIRST_RADIX, support)
                    ? spectrum[place_in_step(t, q, FIRST_RADIX, p)] : (complex_t)(0);
            }
        }
    }

    // inverse: real and imaginary parts change places, so the upper row is y and the lower x
    swap_parts(v);
    transform(v, x, tables, ACROSS, INNER);

    const uint p = group * BATCH + own_transform(INNER), step = LENGTH / SPECTRUM_RADIX;
    const size_t upper = (size_t)pixel_at(p, HEIGHT) * WIDTH, lower = (size_t)pixel_at(p + PAIRS, HEIGHT) * WIDTH;
    const bool alone = IS_ALONE(p);
    const real_t base = offset(image, HEIGHT, WIDTH, WIDTH), back = dc * base;
    // All pixels before any value is stored, for which the next pixel would have to wait: the compiler cannot tell them
    // apart.
    FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            complex_t *value = v + b * SPECTRUM_RADIX + q;
            if (!BLUESTEIN || t + q * step < POINTS) {
                if (COMPLEMENT && p < PAIRS) {
                    value->y = *PIXEL_OF(image + upper, t, q * step) - base - value->y;
                    if (!alone)
                        value->x = *PIXEL_OF(image + lower, t, q * step) - base - value->x;
                }
            }
            *value += back;
        }
    }
}

// Stores these values as the picture's; their largest magnitude.
INLINE real_t store_rows(global real_t *values, const complex_t *v, const uint p, const uint other)
{
    const uint step = LENGTH / SPECTRUM_RADIX;
    const uint upper_row = pixel_at(p, HEIGHT), lower_row = pixel_at(p + PAIRS, HEIGHT);
    const size_t upper = (size_t)upper_row * WIDTH, lower = (size_t)lower_row * WIDTH;
    const bool alone = IS_ALONE(p);
    real_t most = 0;
    if (p < PAIRS)
        FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
            UNROLL
            for (uint q = 0; q < SPECTRUM_RADIX; q++) {
                const complex_t value = v[b * SPECTRUM_RADIX + q];
                if (!BLUESTEIN || t + q * step < POINTS) {
                    const uint column = pixel_at(t + q * step, WIDTH);
                    if (is_of_pixels(other, upper_row, column)) {
                        *PIXEL_OF(values + upper, t, q * step) = value.y;
                        most = fmax(most, fabs(value.y));
                    }
                    if (!alone && is_of_pixels(other, lower_row, column)) {
                        *PIXEL_OF(values + lower, t, q * step) = value.x;
                        most = fmax(most, fabs(value.x));
                    }
                }
            }
        }
    return most;
}

// The pairs of rows of a group; `largest` is the picture's.
INLINE void inverse_rows(global real_t *values, global const complex_t *spectrum, global const complex_t *tables,
                         global uint *largest, const uint support, const real_t dc, const uint other,
                         global const LOAD_PIXEL *image, const uint group, local exchanged_t *x, local uint *found)
{
    complex_t v[PER_ITEM];
    filtered_rows(v, spectrum, tables, support, dc, image, group, x);
    keep_largest(largest, store_rows(values, v, group * BATCH + own_transform(INNER), other), found);
}

#ifndef ONE_LAUNCH
kernel void gpu_inverse_rows(global real_t *values, global const complex_t *spectrum, global const complex_t *tables,
                             global uint *largest, const uint one_scale, const uint support,
                             const real_t dc, const uint other, global const LOAD_PIXEL *image)
{
    local exchanged_t x[LOCAL_SIZE];
    local uint found;
    const size_t picture = get_global_id(1), size = (size_t)WIDTH * HEIGHT;
    inverse_rows(values + picture * size, spectrum + picture * (2 * (size_t)PLANE) + of_pixels(other, get_global_size(1)),
                 tables, largest + (one_scale ? 0 : FOUND * picture), support, dc, other, image + picture * size,
                 get_group_id(0), x, &found);
}
#endif
