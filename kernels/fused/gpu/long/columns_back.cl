// Long columns, outer step back: to the rows' spectra, packed in pairs.
//
// Fused: spin factors between the steps, butterflies, chirp, packing. Where the rows of a pair are not in one transform,
// the columns stay in place for long/pack.cl. Bluestein's come by twice: with the columns' spectra the first time,
// which turn around here, masked, and start on their way back.
//
// Launch   (MIDDLE x GROUP, groups of FFTS columns below the reach, images) work-items, GROUP a work-group
// Reads    strips, see long/strips.cl, numbers b + MIDDLE j     -> coalesced
// Writes   spectrum, or the same places                             -> coalesced
// Scale    as in columns.cl, with the mask
//
// -D TURN_AROUND=0 | 1

#ifndef TURN_AROUND
#error "long/columns_back.cl: -D TURN_AROUND is missing"
#endif

kernel void gpu_long_columns_back(global complex_t *strips, global complex_t *spectrum, global const complex_t *tables,
                                  global const complex_t *long_tables, global const mask_data_t *mask_data,
                                  const real_t scale, const real_t scale_x2, const real_t scale_y2,
                                  const real_t per_outer2, const real_t per_inner2, const int order)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    complex_t v[VALUES];
    const uint kx = get_group_id(1) * FFTS + own_fft(ACROSS), b = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;

    FOR_OWN(own_item(ACROSS), LAST, i, t) {
        UNROLL
        for (uint q = 0; q < LAST; q++)
            v[i * LAST + q] = strips[strip_place(kx, APART(b, t, q, LAST))];
    }
    const complex_t w = spin_between(v, long_tables, b, ACROSS, LAST);
    stages(v, x, tables + SPIN_REVERSED, ACROSS, ACROSS, true, w, REVERSED, PADS_REVERSED);
    swap_parts(v);

#if CHIRPED
    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, order};
    const column_t column = mask_column(min(kx, (uint)(COLUMNS - 1)), mask_data, cutoffs);
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST; q++) {
            const uint k = APART(b, t, q, FIRST);
            complex_t number = 0;
            if (k < LONG_POINTS) {
                const complex_t chirp = long_tables[LONG_CHIRP + k];
                number = times(v[i * FIRST + q], chirp);
                if (TURN_AROUND)
                    number = times(number.yx * (scale * mask_gain(column, k, cutoffs)), chirp);
                else
                    number = number.yx;
            }
            v[i * FIRST + q] = number;
        }
    }
#endif

#if TURN_AROUND
    stages(v, x, tables, ACROSS, ACROSS, PLAIN, RADICES, PADS);
    FOR_OWN(own_item(ACROSS), LAST, i, t) {
        UNROLL
        for (uint q = 0; q < LAST; q++)
            strips[strip_place(kx, APART(b, t, q, LAST))] = v[i * LAST + q];
    }
#elif PAIRED
    if (kx >= COLUMNS)
        return;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);
    global complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST / 2; q++) {
            const uint at = APART(b, t, q, FIRST) * TILE;
            pack(own + at, mirrored + at, v[i * FIRST + q], v[i * FIRST + q + FIRST / 2]);
        }
    }
#else
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST; q++)
            strips[strip_place(kx, APART(b, t, q, FIRST))] = v[i * FIRST + q];
    }
#endif
}
