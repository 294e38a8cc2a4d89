// Long rows, outer step: from pixels to the middle step.
//
// Fused: load, offset taken off, chirp, twiddle factors, butterflies. Number (j, b) of a pair of rows lies where
// frequency j + OUTER b will.
//
// Launch   (groups of BATCH of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    image[row][b + MIDDLE a]     -> BATCH pixels side by side
// Writes   lines, see long/lines.cl     -> runs of the numbers j
// Clears   the image's largest magnitude, which the inverse rows will find, and what is counted behind it
//
// needs: fused/gpu/long/lines.cl offset.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

#ifndef LOAD_PIXEL
#error "long/rows.cl: -D LOAD_PIXEL is missing"
#endif

kernel void gpu_long_rows(global complex_t *lines, global const LOAD_PIXEL *image, global const complex_t *tables,
                          global const complex_t *long_tables, global uint *largest)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint first = get_group_id(0) * BATCH, p = get_global_id(1);
    const size_t picture = get_global_id(2);
    lines += picture * LINES_LENGTH;
    if (get_global_id(0) == 0 && p == 0)
        vstore3((uint3)(0), picture, largest);

    global const LOAD_PIXEL *upper = image + picture * ((size_t)WIDTH * HEIGHT) + (size_t)p * WIDTH;
    global const LOAD_PIXEL *lower = upper + (size_t)PAIRS * WIDTH;
    const real_t base = offset(image + picture * ((size_t)WIDTH * HEIGHT), HEIGHT, WIDTH, WIDTH);
    const uint b = min(first + own_transform(ACROSS), (uint)(TRANSFORMS - 1));
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint n = STRIDED(b, t, q, FIRST_RADIX);
            complex_t both = 0;
            if (!LONG_BLUESTEIN || n < LONG_POINTS) {
                both.x = upper[n] - base;
                if (p + PAIRS < HEIGHT)
                    both.y = lower[n] - base;
                if (LONG_BLUESTEIN)
                    both = times(both, long_tables[LONG_CHIRP + n]);
            }
            v[i * FIRST_RADIX + q] = both;
        }
    }

    store_outer_step(lines, v, x, tables, first, p);
}
