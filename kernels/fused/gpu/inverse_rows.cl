// Inverse rows: spectra to the magnitudes of the filtered image, and the largest of them.
//
// Fused: transpose, butterflies back, subtraction from the image, magnitude, extremes. A row of a pair is the real, the
// other the imaginary part of one transform. The magnitudes have to wait in memory, since the scale of the output is
// known only when all are: transforming twice instead moves fewer bytes, but takes longer.
//
// Launch   (groups of FFTS pairs of rows x GROUP, images) work-items, GROUP a work-group
// Reads    spectrum, see spectrum.cl           -> FFTS x TILE numbers side by side, zeros from the reach on
//          image[row][t + q LENGTH/AFTER]          -> coalesced, see values.cl
// Writes   values[row][t + q LENGTH/AFTER]         -> coalesced
//          largest[image], as the bits of a float, which order like whole numbers

ALWAYS void inverse_rows(global real_t *values, global const complex_t *spectrum, global const complex_t *tables,
                         global uint *largest, const uint one_scale, const uint reach, const uint group,
                         const size_t picture, local exchanged_t *x, local uint *found MINUEND)
{
    complex_t v[VALUES];
    spectrum += picture * (2 * (size_t)PLANE);
    values += picture * ((size_t)WIDTH * HEIGHT);

    {
        const uint p = min((uint)(group * FFTS + own_fft(ACROSS)), (uint)(PAIRS - 1));
        FOR_OWN(own_item(ACROSS), FIRST, b, t) {
            UNROLL
            for (uint q = 0; q < FIRST; q++) {
                const uint k = t + q * (LENGTH / FIRST);
                v[b * FIRST + q] = (!BLUESTEIN || k < POINTS) && step_in_reach(t, q, FIRST, reach)
                    ? spectrum[place_in_step(t, q, FIRST, p)] : (complex_t)(0);
            }
        }
    }

    // inverse: real and imaginary parts change places, so the upper row is y and the lower x
    swap_parts(v);
    transform(v, x, tables, ACROSS, INNER);

    const uint p = group * FFTS + own_fft(INNER);
    const bool alone = HEIGHT % 2 && p + PAIRS >= HEIGHT;
    real_t most = 0;
    global real_t *upper = values + (size_t)p * WIDTH;
    global real_t *lower = upper + (size_t)PAIRS * WIDTH;
#if BEYOND
    // All pixels before any value, for which the next pixel would have to wait: the compiler cannot tell them apart.
    global const PIXEL *upper_pixels = image + picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global const PIXEL *lower_pixels = upper_pixels + (size_t)PAIRS * WIDTH;
    if (p < PAIRS)
        FOR_OWN(own_item(INNER), AFTER, b, t) {
            UNROLL
            for (uint q = 0; q < AFTER; q++) {
                if (!BLUESTEIN || t + q * (LENGTH / AFTER) < POINTS) {
                    v[b * AFTER + q].y = (upper_pixels + t)[q * (LENGTH / AFTER)] - v[b * AFTER + q].y;
                    if (!alone)
                        v[b * AFTER + q].x = (lower_pixels + t)[q * (LENGTH / AFTER)] - v[b * AFTER + q].x;
                }
            }
        }
#endif
    if (p < PAIRS)
        FOR_OWN(own_item(INNER), AFTER, b, t) {
            UNROLL
            for (uint q = 0; q < AFTER; q++) {
                const complex_t value = KEPT(v[b * AFTER + q]);
                if (!BLUESTEIN || t + q * (LENGTH / AFTER) < POINTS) {
                    (upper + t)[q * (LENGTH / AFTER)] = value.y;
                    most = fmax(most, fabs(value.y));
                    if (!alone) {
                        (lower + t)[q * (LENGTH / AFTER)] = value.x;
                        most = fmax(most, fabs(value.x));
                    }
                }
            }
        }

    keep_largest(largest + (one_scale ? 0 : picture), most, found);
}

#ifndef TOGETHER
kernel void gpu_inverse_rows(global real_t *values, global const complex_t *spectrum, global const complex_t *tables,
                             global uint *largest, const uint one_scale, const uint reach MINUEND)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    local uint found;
    inverse_rows(values, spectrum, tables, largest, one_scale, reach, get_group_id(0), get_global_id(1), x, &found
                 MINUEND_PASSED);
}
#endif
