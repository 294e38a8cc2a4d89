// Long rows, outer step back, where Bluestein's forward transform ends: to the spectrum.
//
// Fused: twiddle factors between the steps, butterflies, chirp.
//
// Launch   (groups of BATCH of the numbers b x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    lines, see long/lines.cl           -> runs of the numbers j
// Writes   spectrum, numbers b + MIDDLE a     -> runs of columns, those below the support
//
// needs: fused/gpu/long/lines.cl

kernel void gpu_long_rows_to_spectrum(global complex_t *spectrum, global const complex_t *lines,
                                      global const complex_t *tables, global const complex_t *long_tables,
                                      const uint support)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint first = get_group_id(0) * BATCH, p = get_global_id(1);
    lines += get_global_id(2) * LINES_LENGTH;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);

    load_outer_step(v, lines, x, tables, long_tables, first, p);

    const uint b = first + own_transform(ACROSS);
    if (b >= TRANSFORMS)
        return;
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint k = STRIDED(b, t, q, FIRST_RADIX);
            if (k < LONG_POINTS && in_support(k, support))
                spectrum[place_of(k, p)] = times(v[i * FIRST_RADIX + q].yx, long_tables[LONG_CHIRP + k]);
        }
    }
}
