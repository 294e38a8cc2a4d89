// Long rows, outer step: pixels, or for Bluestein's way back the spectrum, to what the middle step takes.
//
// Fused: load, chirp, spin factors, butterflies. Number (j, b) of a pair of rows lies where frequency j + OUTER b will.
//
// Launch   (groups of FFTS of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    image[row][b + MIDDLE a], or spectrum      -> FFTS pixels side by side; zeros from the reach on
// Writes   lines, see long/lines.cl               -> runs of the numbers j
// Clears   the image's largest magnitude, which the inverse rows will find
//
// -D FROM_PIXELS=1 | 0
// -D PIXEL=uchar | ushort | float

#if !defined FROM_PIXELS || !defined PIXEL
#error "long/rows.cl: -D FROM_PIXELS or PIXEL is missing"
#endif

kernel void gpu_long_rows(global complex_t *lines, global const void *source, global const complex_t *tables,
                          global const complex_t *long_tables, global uint *largest, const uint reach)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    complex_t v[VALUES];
    const uint first = get_group_id(0) * FFTS, p = get_global_id(1);
    const size_t picture = get_global_id(2);
    lines += picture * LINES_LENGTH;

#if FROM_PIXELS
    global const PIXEL *upper = (global const PIXEL *)source + picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global const PIXEL *lower = upper + (size_t)PAIRS * WIDTH;
    if (get_global_id(0) == 0 && p == 0)
        largest[picture] = 0;
#else
    global const complex_t *spectrum = (global const complex_t *)source + picture * (2 * (size_t)PLANE);
#endif

    {
        const uint b = min(first + own_fft(ACROSS), (uint)(OTHER - 1));
        FOR_OWN(own_item(ACROSS), FIRST, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST; q++) {
                const uint n = APART(b, t, q, FIRST);
                complex_t both = 0;
                if (!CHIRPED || n < LONG_POINTS) {
#if FROM_PIXELS
                    both.x = upper[n];
                    if (p + PAIRS < HEIGHT)
                        both.y = lower[n];
#else
                    // inverse: real and imaginary parts change places
                    both = in_reach(n, reach) ? spectrum[place_of(n, p)].yx : (complex_t)(0);
#endif
                    if (CHIRPED)
                        both = times(both, long_tables[LONG_CHIRP + n]);
                }
                v[i * FIRST + q] = both;
            }
        }
    }

    stages(v, x, tables, ACROSS, INNER, PLAIN, RADICES, PADS);

    const uint b = first + own_fft(INNER);
    if (b >= OTHER)
        return;
    FOR_OWN(own_item(INNER), LAST, i, t) {
        UNROLL
        for (uint q = 0; q < LAST; q++)
            lines[line_place(TOGETHER(b, t, q, LAST), p)] = v[i * LAST + q];
    }
}
