// Rows: transforms all rows of an image, two rows in one complex transform.
//
// Fused: load, offset taken off, twiddle factors, butterflies, transpose. The pixels are read as they are (no complex
// image is ever written), and the spectra are stored where the columns will read them (no transpose of its own).
//
// Launch   (groups of BATCH pairs of rows x GROUP, images) work-items, GROUP a work-group
// Reads    image[row][t + q LENGTH/FIRST_RADIX]     -> coalesced
// Writes   spectrum, see spectrum.cl      -> BATCH x TILE numbers side by side, of the columns below the support
// Clears   the image's largest magnitude, which the inverse rows will find, and what is counted behind it
//
// needs: fused/gpu/transform.cl fused/gpu/spectrum.cl offset.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels
// -D ONE_LAUNCH=1                         without a kernel: filter.cl calls the function

#ifndef LOAD_PIXEL
#error "fused/gpu/rows.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

INLINE void rows(global complex_t *spectrum, global const LOAD_PIXEL *image, global const complex_t *tables,
                 global uint *largest, const uint support, const uint group, const size_t picture, local exchanged_t *x)
{
    complex_t v[PER_ITEM];
    image += picture * ((size_t)WIDTH * HEIGHT);
    spectrum += picture * (2 * (size_t)PLANE);
    if (group == 0 && get_local_id(0) == 0)
        vstore3((uint3)(0), picture, largest);

    {
        const uint p = min((uint)(group * BATCH + own_transform(INNER)), (uint)(PAIRS - 1));
        global const LOAD_PIXEL *upper = image + (size_t)pixel_at(p, HEIGHT) * WIDTH;
        global const LOAD_PIXEL *lower = image + (size_t)pixel_at(p + PAIRS, HEIGHT) * WIDTH;
        const real_t base = offset(image, HEIGHT, WIDTH, WIDTH);
        FOR_OWN(own_item(INNER), FIRST_RADIX, b, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                complex_t both = 0;
                if (!BLUESTEIN || t + q * (LENGTH / FIRST_RADIX) < POINTS) {
                    both.x = *PIXEL_OF(upper, t, q * (LENGTH / FIRST_RADIX)) - base;
                    if (HEIGHT % 2 == 0 || p + PAIRS < HEIGHT)
                        both.y = *PIXEL_OF(lower, t, q * (LENGTH / FIRST_RADIX)) - base;
                }
                v[b * FIRST_RADIX + q] = both;
            }
        }
    }

    transform(v, x, tables, INNER, ACROSS);

    const uint p = group * BATCH + own_transform(ACROSS);
    if (p >= PAIRS)
        return;
    FOR_OWN(own_item(ACROSS), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint k = t + q * (LENGTH / SPECTRUM_RADIX);
            if ((!BLUESTEIN || k < POINTS) && step_in_support(t, q, SPECTRUM_RADIX, support))
                spectrum[place_in_step(t, q, SPECTRUM_RADIX, p)] = v[b * SPECTRUM_RADIX + q];
        }
    }
}

#ifndef ONE_LAUNCH
kernel void gpu_rows(global complex_t *spectrum, global const LOAD_PIXEL *image, global const complex_t *tables,
                     global uint *largest, const uint support)
{
    local exchanged_t x[LOCAL_SIZE];
    rows(spectrum, image, tables, largest, support, get_group_id(0), get_global_id(1), x);
}
#endif
