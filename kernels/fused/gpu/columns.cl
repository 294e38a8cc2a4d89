// Columns: forward transform, mask, inverse transform of one column without leaving the chip, in place.
//
// Fused: twiddle factors, butterflies, mask, butterflies back. The spectrum itself is never in memory. The rows'
// spectra come apart on loading and are packed again on storing (see pairs.cl).
//
// Launch   (groups of BATCH columns below the support x GROUP, images) work-items, GROUP a work-group; BATCH divides TILE
// Reads    spectrum[plane][tile][p][column]     -> coalesced
// Writes   the same places; for the `other` pixels (mirrored_mask.cl) the same behind the spectra of all images
// Scale    1/2 of the unpacking, 1/(width height) of the inverse and 1/2 of mirrored edges, once with the mask
//
// needs: fused/gpu/mirrored_mask.cl fused/gpu/pairs.cl
//
// -D ONE_LAUNCH=1    without a kernel: filter.cl calls the function

INLINE void columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                    const real_t scale, const cutoffs_t cutoffs, const uint other, const uint group,
                    const size_t picture, const size_t pictures, local exchanged_t *x)
{
    complex_t v[PER_ITEM];
    spectrum += picture * (2 * (size_t)PLANE);
    const size_t to = of_pixels(other, pictures);

    // Columns past the last are allocated but unused.
    const uint kx = group * BATCH + own_transform(ACROSS);
    global complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));
    load_column(v, own, mirrored, x);

    transform(v, x, tables, ACROSS, INNER);

    const uint inner_kx = min((uint)(group * BATCH + own_transform(INNER)), (uint)(COLUMNS - 1));
#if IS_MIRRORED
    mirrored_mask(v, x, inner_kx, mask_data, scale, cutoffs, other);
#else
    const column_t column = mask_column(inner_kx, mask_data, cutoffs);
    FOR_OWN(own_item(INNER), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint number = t + q * (LENGTH / SPECTRUM_RADIX);
            if (!BLUESTEIN || number < POINTS)
                v[b * SPECTRUM_RADIX + q] *= scale * mask_gain(column, inner_kx, number, cutoffs);
        }
    }
#endif

    inverse_from_spectrum(v, x, tables, INNER, ACROSS);

    store_column(v, own + to, mirrored + to, kx >= COLUMNS, x);
}

#ifndef ONE_LAUNCH
kernel void gpu_columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                        const real_t scale, const real_t scale_x2, const real_t scale_y2, const real_t per_outer2,
                        const real_t per_inner2,
                        const real_t outer_falloff, const real_t inner_falloff,
                        const real_t at_dc, const uint is_complement, const uint other)
{
    local exchanged_t x[LOCAL_SIZE];
    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
        is_complement};
    columns(spectrum, tables, mask_data, scale, cutoffs, other, get_group_id(0), get_global_id(1), get_global_size(1),
            x);
}
#endif
