// Rows: pixels to the transforms of all rows, two rows in one complex transform.
//
// Fused: load, spin factors, butterflies, transpose. The pixels are read as they are (no complex image is ever
// written), and the spectra are stored where the columns will read them (no transpose of its own).
//
// Launch   (groups of FFTS pairs of rows x GROUP, images) work-items, GROUP a work-group
// Reads    image[row][t + q LENGTH/FIRST]     -> coalesced
// Writes   spectrum, see spectrum.cl      -> FFTS x TILE numbers side by side, of the columns below the reach
// Clears   the image's largest magnitude, which the inverse rows will find
//
// -D PIXEL=uchar | ushort | float

#ifndef PIXEL
#error "fused/gpu/rows.cl: -D PIXEL=uchar, ushort or float is missing"
#endif

ALWAYS void rows(global complex_t *spectrum, global const PIXEL *image, global const complex_t *tables,
                 global uint *largest, const uint reach, const uint group, const size_t picture, local exchanged_t *x)
{
    complex_t v[VALUES];
    image += picture * ((size_t)WIDTH * HEIGHT);
    spectrum += picture * (2 * (size_t)PLANE);
    if (group == 0 && get_local_id(0) == 0)
        largest[picture] = 0;

    {
        const uint p = min((uint)(group * FFTS + own_fft(INNER)), (uint)(PAIRS - 1));
        global const PIXEL *upper = image + (size_t)p * WIDTH;
        global const PIXEL *lower = upper + (size_t)PAIRS * WIDTH;
        FOR_OWN(own_item(INNER), FIRST, b, t) {
            UNROLL
            for (uint q = 0; q < FIRST; q++) {
                complex_t both = 0;
                if (!BLUESTEIN || t + q * (LENGTH / FIRST) < POINTS) {
                    both.x = (upper + t)[q * (LENGTH / FIRST)];
                    if (HEIGHT % 2 == 0 || p + PAIRS < HEIGHT)
                        both.y = (lower + t)[q * (LENGTH / FIRST)];
                }
                v[b * FIRST + q] = both;
            }
        }
    }

    transform(v, x, tables, INNER, ACROSS);

    const uint p = group * FFTS + own_fft(ACROSS);
    if (p >= PAIRS)
        return;
    FOR_OWN(own_item(ACROSS), AFTER, b, t) {
        UNROLL
        for (uint q = 0; q < AFTER; q++) {
            const uint k = t + q * (LENGTH / AFTER);
            if ((!BLUESTEIN || k < POINTS) && step_in_reach(t, q, AFTER, reach))
                spectrum[place_in_step(t, q, AFTER, p)] = v[b * AFTER + q];
        }
    }
}

#ifndef TOGETHER
kernel void gpu_rows(global complex_t *spectrum, global const PIXEL *image, global const complex_t *tables,
                     global uint *largest, const uint reach)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    rows(spectrum, image, tables, largest, reach, get_group_id(0), get_global_id(1), x);
}
#endif
