// Long columns, outer step: the rows' spectra to what the middle step takes.
//
// Fused: unpacking of the pairs of rows, chirp, spin factors, butterflies.
//
// Launch   (MIDDLE x GROUP, groups of FFTS columns below the reach, images) work-items, GROUP a work-group
// Reads    spectrum[plane][tile][p][column], the pairs of rows b + MIDDLE a     -> coalesced
// Writes   strips, see long/strips.cl, numbers b + MIDDLE j                 -> coalesced

kernel void gpu_long_columns(global complex_t *strips, global const complex_t *spectrum, global const complex_t *tables,
                             global const complex_t *long_tables)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    complex_t v[VALUES];
    const uint kx = get_group_id(1) * FFTS + own_fft(ACROSS), b = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);
    global const complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global const complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));

    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
#if PAIRED
        UNROLL
        for (uint q = 0; q < FIRST / 2; q++) {
            const uint at = APART(b, t, q, FIRST) * TILE;
            unpack(v + i * FIRST + q, v + i * FIRST + q + FIRST / 2, own[at], mirrored[at]);
        }
#else
        UNROLL
        for (uint q = 0; q < FIRST; q++) {
            const uint y = APART(b, t, q, FIRST);
            complex_t upper = 0, lower = 0;
            if (y < HEIGHT) {
                const uint at = (y < PAIRS ? y : y - PAIRS) * TILE;
                unpack(&upper, &lower, own[at], mirrored[at]);
                if (y >= PAIRS)
                    upper = lower;
                if (CHIRPED)
                    upper = times(upper, long_tables[LONG_CHIRP + y]);
            }
            v[i * FIRST + q] = upper;
        }
#endif
    }

    stages(v, x, tables, ACROSS, ACROSS, PLAIN, RADICES, PADS);

    FOR_OWN(own_item(ACROSS), LAST, i, t) {
        UNROLL
        for (uint q = 0; q < LAST; q++)
            strips[strip_place(kx, APART(b, t, q, LAST))] = v[i * LAST + q];
    }
}
