// Long columns, outer step: from the rows' spectra to the middle step.
//
// Fused: unpacking of the pairs of rows, chirp, twiddle factors, butterflies.
//
// Launch   (MIDDLE x GROUP, groups of BATCH columns below the support, images) work-items, GROUP a work-group
// Reads    spectrum[plane][tile][p][column], the pairs of rows b + MIDDLE a     -> coalesced
// Writes   strips, see long/strips.cl, numbers b + MIDDLE j                     -> coalesced
//
// needs: fused/gpu/long/strips.cl

kernel void gpu_long_columns(global complex_t *strips, global const complex_t *spectrum, global const complex_t *tables,
                             global const complex_t *long_tables)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint kx = get_group_id(1) * BATCH + own_transform(ACROSS), b = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);
    global const complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global const complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));

    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
#if PAIRED
        UNROLL
        for (uint q = 0; q < FIRST_RADIX / 2; q++) {
            const uint at = STRIDED(b, t, q, FIRST_RADIX) * TILE;
            unpack(v + i * FIRST_RADIX + q, v + i * FIRST_RADIX + q + FIRST_RADIX / 2, own[at], mirrored[at]);
        }
#else
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint y = STRIDED(b, t, q, FIRST_RADIX);
            complex_t upper = 0, lower = 0;
            if (y < HEIGHT) {
                const uint at = (y < PAIRS ? y : y - PAIRS) * TILE;
                unpack(&upper, &lower, own[at], mirrored[at]);
                if (y >= PAIRS)
                    upper = lower;
                if (LONG_BLUESTEIN)
                    upper = times(upper, long_tables[LONG_CHIRP + y]);
            }
            v[i * FIRST_RADIX + q] = upper;
        }
#endif
    }

    store_outer_step(strips, v, x, tables, kx, b);
}
