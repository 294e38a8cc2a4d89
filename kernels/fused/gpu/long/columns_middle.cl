// Long columns, middle step, in place: forward, times the mask or Bluestein's filter, and back.
//
// Fused: twiddle factors between the steps, butterflies, mask, butterflies back.
//
// Launch   (OUTER x GROUP, groups of BATCH columns below the support, images) work-items, GROUP a work-group
// Reads    strips, see long/strips.cl, numbers b + MIDDLE j     -> coalesced
// Writes   the same places
// Scale    as in columns.cl, with the mask
//
// needs: fused/gpu/long/strips.cl fused/gpu/mask.cl

kernel void gpu_long_columns_middle(global complex_t *strips, global const complex_t *tables,
                                    global const complex_t *long_tables, global const mask_data_t *mask_data,
                                    const real_t scale, const real_t scale_x2, const real_t scale_y2,
                                    const real_t per_outer2, const real_t per_inner2,
                                    const real_t outer_falloff, const real_t inner_falloff,
                        const real_t at_dc, const uint is_complement)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
        is_complement};
    // The last columns first: they are what the outer step left in the cache, and it will find the first ones there.
    const uint kx = (get_num_groups(1) - 1 - get_group_id(1)) * BATCH + own_transform(ACROSS), j = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;

    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++)
            v[i * FIRST_RADIX + q] = strips[strip_place(kx, CONTIGUOUS(j, t, q, FIRST_RADIX))];
    }
    const complex_t w = twiddles_between(v, long_tables, j, ACROSS, FIRST_RADIX);
    stages(v, x, tables, ACROSS, ACROSS, true, w, RADICES, PADS);

    const column_t column = mask_column(min(kx, (uint)(COLUMNS - 1)), mask_data, cutoffs);
    FOR_OWN(own_item(ACROSS), LAST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < LAST_RADIX; q++) {
            const uint k = STRIDED(j, t, q, LAST_RADIX);
            if (LONG_BLUESTEIN)
                v[i * LAST_RADIX + q] = times(v[i * LAST_RADIX + q], long_tables[LONG_FILTER + k]);
            else
                v[i * LAST_RADIX + q] *= scale * mask_gain(column, kx, k, cutoffs);
        }
    }

    // what is left is the inverse, with real and imaginary parts exchanged
    swap_parts(v);
    stages(v, x, tables + TWIDDLES_REVERSED, ACROSS, ACROSS, PLAIN, RADICES_REVERSED, PADS_REVERSED);

    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++)
            strips[strip_place(kx, CONTIGUOUS(j, t, q, FIRST_RADIX))] = v[i * FIRST_RADIX + q];
    }
}
