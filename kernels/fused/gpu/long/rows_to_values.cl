// Long rows, outer step back, where the inverse ends: to values and their largest magnitude.
//
// Fused: twiddle factors between the steps, butterflies, chirp, subtraction from the image, offset put back, extremes.
//
// Launch   (groups of BATCH of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    lines, see long/lines.cl      -> runs of the numbers j
//          image[row][b + MIDDLE a]      -> BATCH pixels side by side, see values.cl
// Writes   values[row][b + MIDDLE a]     -> BATCH values side by side
//          largest[2 image]
//
// needs: fused/gpu/long/lines.cl offset.cl fused/gpu/values.cl fused/gpu/largest.cl

kernel void gpu_long_rows_to_values(global real_t *values, global const complex_t *lines,
                                    global const complex_t *tables, global const complex_t *long_tables,
                                    global uint *largest, const uint one_scale, const real_t dc,
                                    global const LOAD_PIXEL *image)
{
    local exchanged_t x[LOCAL_SIZE];
    local uint found;
    complex_t v[PER_ITEM];
    const uint first = get_group_id(0) * BATCH, p = get_global_id(1);
    const size_t picture = get_global_id(2);
    const size_t first_pixel = picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global const LOAD_PIXEL *upper_pixels = image + first_pixel, *lower_pixels = upper_pixels + (size_t)PAIRS * WIDTH;
    global real_t *upper = values + first_pixel, *lower = upper + (size_t)PAIRS * WIDTH;

    load_outer_step(v, lines + picture * LINES_LENGTH, x, tables, long_tables, first, p);

    const uint b = first + own_transform(ACROSS);
    if (LONG_BLUESTEIN) {
        swap_parts(v);
        FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                const uint n = STRIDED(b, t, q, FIRST_RADIX);
                if (b < TRANSFORMS && n < LONG_POINTS)
                    v[i * FIRST_RADIX + q] = times(v[i * FIRST_RADIX + q], long_tables[LONG_CHIRP + n]);
            }
        }
    }

    const real_t base = offset(image + picture * ((size_t)WIDTH * HEIGHT), HEIGHT, WIDTH, WIDTH), back = dc * base;
    // The inverse has real and imaginary parts exchanged: the upper row is y, the lower x. All pixels before any value,
    // as in inverse_rows.cl.
    if (COMPLEMENT && b < TRANSFORMS)
        FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                const uint n = STRIDED(b, t, q, FIRST_RADIX);
                complex_t *value = v + i * FIRST_RADIX + q;
                if (!LONG_BLUESTEIN || n < LONG_POINTS) {
                    value->y = upper_pixels[n] - base - value->y;
                    if (p + PAIRS < HEIGHT)
                        value->x = lower_pixels[n] - base - value->x;
                }
            }
        }
    real_t most = 0;
    if (b < TRANSFORMS)
        FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                const uint n = STRIDED(b, t, q, FIRST_RADIX);
                const complex_t both = v[i * FIRST_RADIX + q] + back;
                if (!LONG_BLUESTEIN || n < LONG_POINTS) {
                    upper[n] = both.y;
                    most = fmax(most, fabs(both.y));
                    if (p + PAIRS < HEIGHT) {
                        lower[n] = both.x;
                        most = fmax(most, fabs(both.x));
                    }
                }
            }
        }
    keep_largest(largest + (one_scale ? 0 : FOUND * picture), most, &found);
}
