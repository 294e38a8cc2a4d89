// Long rows, middle step, in place: Bluestein's forward and, times the filter, back; of others in one direction.
//
// Fused: twiddle factors between the steps, butterflies, filter, butterflies back.
//
// Launch   (groups of BATCH of the numbers j x GROUP, pairs of rows, images) work-items, GROUP a work-group
// Reads    lines, see long/lines.cl     -> BATCH numbers side by side
// Writes   the same places
//
// A spectrum, whether it comes in or goes out, has the columns below the support alone.
//
// needs: fused/gpu/long/lines.cl
//
// -D INVERSE=0 | 1    1: the spectrum comes in; Bluestein's convolution is 0 both times

#ifndef INVERSE
#error "long/rows_middle.cl: -D INVERSE is missing"
#endif

// The radix in whose order the numbers are left.
#define RESULT_RADIX (LONG_BLUESTEIN ? FIRST_RADIX : LAST_RADIX)

kernel void gpu_long_rows_middle(global complex_t *lines, global const complex_t *tables,
                                 global const complex_t *long_tables, const uint support)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint p = get_global_id(1);
    const uint own = get_group_id(0) * BATCH + own_transform(ACROSS), j = min(own, (uint)(TRANSFORMS - 1));
    lines += get_global_id(2) * LINES_LENGTH;

    // A work-item without a transform of its own reads nothing: the last one's numbers are for another to write.
    const bool is_own = TRANSFORMS % BATCH == 0 || own < TRANSFORMS;
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint k = STRIDED(j, t, q, FIRST_RADIX);
            const bool is_read = !INVERSE || in_support(k, support);
            v[i * FIRST_RADIX + q] = is_own && is_read ? lines[line_place(k, p)] : (complex_t)(0);
        }
    }

    if (INVERSE) {
        swap_parts(v);
        stages(v, x, tables, ACROSS, ACROSS, PLAIN, RADICES, PADS);
    } else {
        const complex_t w = twiddles_between(v, long_tables, j, ACROSS, FIRST_RADIX);
        stages(v, x, tables, ACROSS, ACROSS, true, w, RADICES, PADS);
    }

    if (LONG_BLUESTEIN) {
        FOR_OWN(own_item(ACROSS), LAST_RADIX, i, t) {
            UNROLL
            for (uint q = 0; q < LAST_RADIX; q++)
                v[i * LAST_RADIX + q] = times(v[i * LAST_RADIX + q],
                                              long_tables[LONG_FILTER + STRIDED(j, t, q, LAST_RADIX)]);
        }
        swap_parts(v);
        stages(v, x, tables + TWIDDLES_REVERSED, ACROSS, ACROSS, PLAIN, RADICES_REVERSED, PADS_REVERSED);
    }

    if (own >= TRANSFORMS)
        return;
    FOR_OWN(own_item(ACROSS), RESULT_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < RESULT_RADIX; q++) {
            const uint k = STRIDED(j, t, q, RESULT_RADIX);
            if (LONG_BLUESTEIN || INVERSE || in_support(k, support))
                lines[line_place(k, p)] = v[i * RESULT_RADIX + q];
        }
    }
}
