// Long rows, outer step back: to magnitudes and the largest of them, or to the spectrum, where Bluestein's way there ends.
//
// Fused: spin factors between the steps, butterflies, chirp, subtraction from the image, magnitude, extremes.
//
// Launch   (groups of FFTS of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    lines, see long/lines.cl            -> runs of the numbers j
//          image[row][b + MIDDLE a]                -> FFTS pixels side by side, see values.cl
// Writes   values[row][b + MIDDLE a], or spectrum  -> FFTS numbers side by side; below the reach
//          largest[image]
//
// -D TO_VALUES=1 | 0

#ifndef TO_VALUES
#error "long/rows_back.cl: -D TO_VALUES is missing"
#endif

kernel void gpu_long_rows_back(global void *target, global const complex_t *lines, global const complex_t *tables,
                               global const complex_t *long_tables, global uint *largest, const uint one_scale,
                               const uint reach MINUEND)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    complex_t v[VALUES];
    const uint first = get_group_id(0) * FFTS, p = get_global_id(1);
    const size_t picture = get_global_id(2);
    lines += picture * LINES_LENGTH;

    {
        const uint b = min(first + own_fft(INNER), (uint)(OTHER - 1));
        FOR_OWN(own_item(INNER), LAST, i, t) {
            UNROLL
            for (uint q = 0; q < LAST; q++)
                v[i * LAST + q] = lines[line_place(TOGETHER(b, t, q, LAST), p)];
        }
        const complex_t w = spin_between(v, long_tables, b, INNER, LAST);
        stages(v, x, tables + SPIN_REVERSED, INNER, ACROSS, true, w, REVERSED, PADS_REVERSED);
    }
    if (CHIRPED)
        swap_parts(v);

    const uint b = first + own_fft(ACROSS);
#if CHIRPED
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST; q++) {
            const uint n = APART(b, t, q, FIRST);
            if (b < OTHER && n < LONG_POINTS)
                v[i * FIRST + q] = times(v[i * FIRST + q], long_tables[LONG_CHIRP + n]);
        }
    }
#endif

#if TO_VALUES && BEYOND
    // All pixels before any value, as in inverse_rows.cl.
    global const PIXEL *upper_pixels = image + picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global const PIXEL *lower_pixels = upper_pixels + (size_t)PAIRS * WIDTH;
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST; q++) {
            const uint n = APART(b, t, q, FIRST);
            if ((!CHIRPED || n < LONG_POINTS) && b < OTHER) {
                v[i * FIRST + q].y = upper_pixels[n] - v[i * FIRST + q].y;
                if (p + PAIRS < HEIGHT)
                    v[i * FIRST + q].x = lower_pixels[n] - v[i * FIRST + q].x;
            }
        }
    }
#endif

#if TO_VALUES
    local uint found;
    real_t most = 0;
    global real_t *upper = (global real_t *)target + picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global real_t *lower = upper + (size_t)PAIRS * WIDTH;
#else
    global complex_t *spectrum = (global complex_t *)target + picture * (2 * (size_t)PLANE);
#endif
    if (b < OTHER)
        FOR_OWN(own_item(ACROSS), FIRST, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST; q++) {
                const uint n = APART(b, t, q, FIRST);
                const complex_t both = v[i * FIRST + q];
                if (!CHIRPED || n < LONG_POINTS) {
#if TO_VALUES
                    // of the inverse, with its parts exchanged
                    upper[n] = KEPT(both.y);
                    most = fmax(most, fabs(both.y));
                    if (p + PAIRS < HEIGHT) {
                        lower[n] = KEPT(both.x);
                        most = fmax(most, fabs(both.x));
                    }
#else
                    if (in_reach(n, reach))
                        spectrum[place_of(n, p)] = both;
#endif
                }
            }
        }
#if TO_VALUES
    keep_largest(largest + (one_scale ? 0 : picture), most, &found);
#endif
}
