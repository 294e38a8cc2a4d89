// Long columns by Bluestein's, between their two convolutions, in place: where the forward transform ends and the
// inverse begins.
//
// Fused: twiddle factors between the steps, butterflies, chirp, mask, chirp, butterflies.
//
// Launch   (MIDDLE x GROUP, groups of BATCH columns below the support, images) work-items, GROUP a work-group
// Reads    strips, see long/strips.cl, numbers b + MIDDLE j     -> coalesced
// Writes   the same places
// Scale    as in columns.cl, with the mask
//
// needs: fused/gpu/long/strips.cl fused/gpu/mask.cl

kernel void gpu_long_columns_mask(global complex_t *strips, global const complex_t *tables,
                                  global const complex_t *long_tables, global const mask_data_t *mask_data,
                                  const real_t scale, const real_t scale_x2, const real_t scale_y2,
                                  const real_t per_outer2, const real_t per_inner2,
                                  const real_t outer_falloff, const real_t inner_falloff,
                        const real_t at_dc, const uint is_complement)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint kx = get_group_id(1) * BATCH + own_transform(ACROSS), b = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;

    load_outer_step(v, strips, x, tables, long_tables, kx, b);

    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
        is_complement};
    const column_t column = mask_column(min(kx, (uint)(COLUMNS - 1)), mask_data, cutoffs);
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint k = STRIDED(b, t, q, FIRST_RADIX);
            complex_t number = 0;
            if (k < LONG_POINTS) {
                const complex_t chirp = long_tables[LONG_CHIRP + k];
                number = times(v[i * FIRST_RADIX + q], chirp);
                // inverse: real and imaginary parts change places
                number = times(number.yx * (scale * mask_gain(column, kx, k, cutoffs)), chirp);
            }
            v[i * FIRST_RADIX + q] = number;
        }
    }

    store_outer_step(strips, v, x, tables, kx, b);
}
