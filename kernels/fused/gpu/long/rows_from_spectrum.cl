// Long rows, outer step of Bluestein's inverse: from the spectrum to the middle step.
//
// Fused: chirp, twiddle factors, butterflies.
//
// Launch   (groups of BATCH of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    spectrum, numbers b + MIDDLE a     -> runs of columns below the support; zeros beyond it
// Writes   lines, see long/lines.cl           -> runs of the numbers j
//
// needs: fused/gpu/long/lines.cl

kernel void gpu_long_rows_from_spectrum(global complex_t *lines, global const complex_t *spectrum,
                                        global const complex_t *tables, global const complex_t *long_tables,
                                        const uint support)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint first = get_group_id(0) * BATCH, p = get_global_id(1);
    lines += get_global_id(2) * LINES_LENGTH;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);

    const uint b = min(first + own_transform(ACROSS), (uint)(TRANSFORMS - 1));
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint k = STRIDED(b, t, q, FIRST_RADIX);
            complex_t both = 0;
            // inverse: real and imaginary parts change places
            if (k < LONG_POINTS && in_support(k, support))
                both = times(spectrum[place_of(k, p)].yx, long_tables[LONG_CHIRP + k]);
            v[i * FIRST_RADIX + q] = both;
        }
    }

    store_outer_step(lines, v, x, tables, first, p);
}
