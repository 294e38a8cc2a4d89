// Long rows, middle step, in place: of Bluestein's there and, times the filter, back; of others in one direction.
//
// Fused: spin factors between the steps, butterflies, filter, butterflies back.
//
// Launch   (groups of FFTS of the numbers j x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    lines, see long/lines.cl     -> FFTS numbers side by side
// Writes   the same places
//
// What is a spectrum, on its way in or out, has the columns below the reach alone.
//
// -D BACK=0 | 1    whether the spectrum comes in, for the inverse; 0 for Bluestein's

#ifndef BACK
#error "long/rows_middle.cl: -D BACK is missing"
#endif

kernel void gpu_long_rows_middle(global complex_t *lines, global const complex_t *tables,
                                 global const complex_t *long_tables, const uint reach)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    complex_t v[VALUES];
    const uint p = get_global_id(1);
    const uint own = get_group_id(0) * FFTS + own_fft(ACROSS), j = min(own, (uint)(OTHER - 1));
    lines += get_global_id(2) * LINES_LENGTH;

    // A work-item without a transform of its own reads nothing: the last one's numbers are for another to write.
    const bool is_own = OTHER % FFTS == 0 || own < OTHER;
    FOR_OWN(own_item(ACROSS), FIRST, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST; q++) {
            const uint k = APART(j, t, q, FIRST);
            const bool is_read = !BACK || in_reach(k, reach);
            v[i * FIRST + q] = is_own && is_read ? lines[line_place(k, p)] : (complex_t)(0);
        }
    }

#if BACK
    swap_parts(v);
    stages(v, x, tables, ACROSS, ACROSS, PLAIN, RADICES, PADS);
#else
    const complex_t w = spin_between(v, long_tables, j, ACROSS, FIRST);
    stages(v, x, tables, ACROSS, ACROSS, true, w, RADICES, PADS);
#endif

#if CHIRPED
    FOR_OWN(own_item(ACROSS), LAST, i, t) {
        UNROLL
        for (uint q = 0; q < LAST; q++)
            v[i * LAST + q] = times(v[i * LAST + q], long_tables[LONG_FILTER + APART(j, t, q, LAST)]);
    }
    swap_parts(v);
    stages(v, x, tables + SPIN_REVERSED, ACROSS, ACROSS, PLAIN, REVERSED, PADS_REVERSED);
#define LEFT FIRST
#else
#define LEFT LAST
#endif

    if (own >= OTHER)
        return;
    FOR_OWN(own_item(ACROSS), LEFT, i, t) {
        UNROLL
        for (uint q = 0; q < LEFT; q++) {
            const uint k = APART(j, t, q, LEFT);
            if (CHIRPED || BACK || in_reach(k, reach))
                lines[line_place(k, p)] = v[i * LEFT + q];
        }
    }
}
