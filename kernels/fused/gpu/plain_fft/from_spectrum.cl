// From spectrum: transforms columns of half a spectrum back, and packs rows in pairs for the inverse rows.
//
// Launch   (groups of BATCH columns x GROUP, images) work-items, GROUP a work-group; BATCH divides TILE
// Reads    source[ky][kx] for kx up to WIDTH/2, BATCH columns side by side
// Writes   the rows' spectra, see spectrum.cl, times a scale; what is imaginary of the numbers that are their own
//          mirror image is left out, as the values are real
//
// needs: fused/gpu/pairs.cl

kernel void gpu_plain_fft_from_spectrum(global complex_t *spectrum, global const complex_t *source,
                                   global const complex_t *tables, const real_t scale)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint kx = get_group_id(0) * BATCH + own_transform(ACROSS), column = min(kx, (uint)(COLUMNS - 1));
    const size_t image = get_global_id(1);
    source += image * (COLUMNS * (size_t)HEIGHT) + column;
    spectrum += image * (2 * (size_t)PLANE);
    FOR_OWN(own_item(ACROSS), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint ky = t + q * (LENGTH / SPECTRUM_RADIX);
            complex_t value = 0;
            if (!BLUESTEIN || ky < POINTS)
                value = source[(size_t)ky * COLUMNS] * scale;
            v[b * SPECTRUM_RADIX + q] = value;
        }
    }

    inverse_from_spectrum(v, x, tables, ACROSS, ACROSS);

    if (kx == 0 || 2 * kx == WIDTH)
        UNROLL
        for (uint q = 0; q < PER_ITEM; q++)
            v[q].y = 0;
    store_column(v, spectrum + (place(kx, 0) + OWN_PLANE(kx)), spectrum + (place(kx, 0) + MIRRORED_PLANE(kx)),
                 kx >= COLUMNS, x);
}
