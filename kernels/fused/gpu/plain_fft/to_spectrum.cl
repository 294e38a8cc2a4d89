// To spectrum: transforms columns of real images after their rows (rows.cl), and stores the spectrum in natural order.
//
// Launch   (groups of BATCH columns x GROUP, images) work-items, GROUP a work-group; BATCH divides TILE
// Reads    the rows' spectra, see spectrum.cl                -> coalesced
// Writes   target[ky][kx], BATCH columns side by side; of a whole spectrum its other half, too, which mirrors it
//
// needs: fused/gpu/pairs.cl
//
// -D HALF=0 | 1    1: columns 0 to WIDTH/2 alone

#ifndef HALF
#error "fused/gpu/plain_fft/to_spectrum.cl: -D HALF=0 or 1 is missing"
#endif

// Columns of the target
#define STORED (HALF ? COLUMNS : WIDTH)

kernel void gpu_plain_fft_to_spectrum(global complex_t *target, global const complex_t *spectrum,
                                 global const complex_t *tables, const real_t scale)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint kx = get_group_id(0) * BATCH + own_transform(ACROSS);
    const size_t image = get_global_id(1);
    spectrum += image * (2 * (size_t)PLANE);
    target += image * (STORED * (size_t)HEIGHT);
    load_column(v, spectrum + (place(kx, 0) + OWN_PLANE(kx)), spectrum + (place(kx, 0) + MIRRORED_PLANE(kx)), x);

    transform(v, x, tables, ACROSS, ACROSS);

    if (kx >= COLUMNS)
        return;
    FOR_OWN(own_item(ACROSS), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint ky = t + q * (LENGTH / SPECTRUM_RADIX);
            if (!BLUESTEIN || ky < POINTS) {
                // The rows' spectra come apart as twice what they are.
                const complex_t value = v[b * SPECTRUM_RADIX + q] * (scale / 2);
                target[(size_t)ky * STORED + kx] = value;
                if (!HALF && kx && kx < (WIDTH + 1) / 2)
                    target[(size_t)(ky ? HEIGHT - ky : 0) * STORED + WIDTH - kx] = (complex_t)(value.x, -value.y);
            }
        }
    }
}
