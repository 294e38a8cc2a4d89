// Long columns, outer step back: to the rows' spectra, packed in pairs.
//
// Fused: twiddle factors between the steps, butterflies, chirp, packing. Where the rows of a pair are not in one
// transform, the columns stay in their strips for long/pack.cl.
//
// Launch   (MIDDLE x GROUP, groups of BATCH columns below the support, images) work-items, GROUP a work-group
// Reads    strips, see long/strips.cl, numbers b + MIDDLE j     -> coalesced
// Writes   spectrum, or the same places                         -> coalesced
//
// needs: fused/gpu/long/strips.cl

kernel void gpu_long_columns_back(global complex_t *strips, global complex_t *spectrum, global const complex_t *tables,
                                  global const complex_t *long_tables)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint kx = get_group_id(1) * BATCH + own_transform(ACROSS), b = get_group_id(0);
    strips += get_global_id(2) * STRIPS_LENGTH;

    load_outer_step(v, strips, x, tables, long_tables, kx, b);

    if (LONG_BLUESTEIN)
        FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
            UNROLL
            for (uint q = 0; q < FIRST_RADIX; q++) {
                const uint y = STRIDED(b, t, q, FIRST_RADIX);
                complex_t number = 0;
                if (y < LONG_POINTS)
                    number = times(v[i * FIRST_RADIX + q], long_tables[LONG_CHIRP + y]).yx;
                v[i * FIRST_RADIX + q] = number;
            }
        }

#if PAIRED
    if (kx >= COLUMNS)
        return;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);
    global complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX / 2; q++) {
            const uint at = STRIDED(b, t, q, FIRST_RADIX) * TILE;
            pack(own + at, mirrored + at, v[i * FIRST_RADIX + q], v[i * FIRST_RADIX + q + FIRST_RADIX / 2]);
        }
    }
#else
    store_strided(strips, v, kx, b, FIRST_RADIX);
#endif
}
