// Columns: forward transform, mask, inverse transform of one column without leaving the chip, in place.
//
// Fused: spin factors, butterflies, mask, butterflies back. The spectrum itself is never in memory. The rows' spectra
// come apart on loading (see spectrum.cl) and are packed again on storing, in registers where FIRST_RADIX is even:
// numbers q and q + FIRST_RADIX/2 of a butterfly are the rows of a pair.
//
// Launch   (groups of BATCH columns below the reach x GROUP, images) work-items, GROUP a work-group; BATCH divides TILE
// Reads    spectrum[plane][tile][p][column]     -> coalesced
// Writes   the same places
// Scale    1/2 of the unpacking, 1/(width height) of the inverse and 1/2 of mirrored edges, once with the mask
//
// -D ONE_LAUNCH=1    without a kernel: filter.cl calls the function

#define PAIRED (FIRST_RADIX % 2 == 0 && HEIGHT % 2 == 0 && !BLUESTEIN)
#define OWN_PAIRS ((PAIRS + ITEMS - 1) / ITEMS)

#if PAIRED

INLINE void load_column(complex_t *v, global const complex_t *own, global const complex_t *mirrored,
                        local exchanged_t *x)
{
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX / 2; q++) {
            const size_t at = q * (LENGTH / FIRST_RADIX) * TILE;
            unpack(v + b * FIRST_RADIX + q, v + b * FIRST_RADIX + q + FIRST_RADIX / 2, (own + t * TILE)[at],
                   (mirrored + t * TILE)[at]);
        }
    }
}

INLINE void store_column(complex_t *v, global complex_t *own, global complex_t *mirrored, const bool outside,
                         local exchanged_t *x)
{
    if (outside)
        return;
    FOR_OWN(own_item(ACROSS), FIRST_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX / 2; q++) {
            const size_t at = q * (LENGTH / FIRST_RADIX) * TILE;
            pack(own + t * TILE + at, mirrored + t * TILE + at, v[b * FIRST_RADIX + q],
                 v[b * FIRST_RADIX + q + FIRST_RADIX / 2]);
        }
    }
}

#else

// An odd height, or chirp-z: the rows of a pair meet in local memory.
INLINE void load_column(complex_t *v, global const complex_t *own, global const complex_t *mirrored,
                        local exchanged_t *x)
{
    const uint i = own_item(ACROSS);
    x += LOCAL_PLACE(own_transform(ACROSS));
    UNROLL
    for (uint n = 0; n < OWN_PAIRS; n++) {
        const uint p = i + n * ITEMS;
        if (p < PAIRS)
            unpack(v + 2 * n, v + 2 * n + 1, own[p * TILE], mirrored[p * TILE]);
    }
    UNROLL
    for (uint step = 0; step < COMPLEX_ROUNDS * BATCH_ROUNDS; step++) {
        const uint part = step / BATCH_ROUNDS;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (IS_IN_ROUND(own_transform(ACROSS), step % BATCH_ROUNDS)) {
            UNROLL
            for (uint n = 0; n < OWN_PAIRS; n++) {
                const uint p = i + n * ITEMS;
                if (p < PAIRS)
                    x[p] = PART_OF(v[2 * n], part);
                if (p + PAIRS < HEIGHT)
                    x[p + PAIRS] = PART_OF(v[2 * n + 1], part);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (IS_IN_ROUND(own_transform(ACROSS), step % BATCH_ROUNDS))
            FOR_OWN(i, FIRST_RADIX, b, t) {
                UNROLL
                for (uint q = 0; q < FIRST_RADIX; q++) {
                    const uint at = t + q * (LENGTH / FIRST_RADIX);
                    SET_PART(v[b * FIRST_RADIX + q], part, !BLUESTEIN || at < POINTS ? x[at] : (exchanged_t)(0));
                }
            }
    }
}

INLINE void store_column(complex_t *v, global complex_t *own, global complex_t *mirrored, const bool outside,
                         local exchanged_t *x)
{
    const uint i = own_item(ACROSS);
    x += LOCAL_PLACE(own_transform(ACROSS));
    UNROLL
    for (uint step = 0; step < COMPLEX_ROUNDS * BATCH_ROUNDS; step++) {
        const uint part = step / BATCH_ROUNDS;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (IS_IN_ROUND(own_transform(ACROSS), step % BATCH_ROUNDS))
            FOR_OWN(i, FIRST_RADIX, b, t) {
                UNROLL
                for (uint q = 0; q < FIRST_RADIX; q++) {
                    const uint at = t + q * (LENGTH / FIRST_RADIX);
                    if (!BLUESTEIN || at < POINTS)
                        x[at] = PART_OF(v[b * FIRST_RADIX + q], part);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (IS_IN_ROUND(own_transform(ACROSS), step % BATCH_ROUNDS)) {
            UNROLL
            for (uint n = 0; n < OWN_PAIRS; n++) {
                const uint p = i + n * ITEMS;
                if (p < PAIRS)
                    SET_PART(v[2 * n], part, x[p]);
                SET_PART(v[2 * n + 1], part, p + PAIRS < HEIGHT ? x[p + PAIRS] : (exchanged_t)(0));
            }
        }
    }
    if (outside)
        return;
    UNROLL
    for (uint n = 0; n < OWN_PAIRS; n++) {
        const uint p = i + n * ITEMS;
        if (p < PAIRS)
            pack(own + p * TILE, mirrored + p * TILE, v[2 * n], v[2 * n + 1]);
    }
}

#endif

INLINE void columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                    const real_t scale, const cutoffs_t cutoffs, const uint group, const size_t picture,
                    local exchanged_t *x)
{
    complex_t v[PER_ITEM];
    spectrum += picture * (2 * (size_t)PLANE);

    // Behind the last column there is room, but nothing.
    const uint kx = group * BATCH + own_transform(ACROSS);
    global complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));
    load_column(v, own, mirrored, x);

    transform(v, x, tables, ACROSS, INNER);

    const uint inner_kx = min((uint)(group * BATCH + own_transform(INNER)), (uint)(COLUMNS - 1));
#if IS_MIRRORED
    mirrored_mask(v, x, inner_kx, mask_data, scale, cutoffs);
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

    store_column(v, own, mirrored, kx >= COLUMNS, x);
}

#ifndef ONE_LAUNCH
kernel void gpu_columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                        const real_t scale, const real_t scale_x2, const real_t scale_y2, const real_t per_outer2,
                        const real_t per_inner2,
                        const real_t outer_falloff, const real_t inner_falloff,
                        const real_t at_dc)
{
    local exchanged_t x[LOCAL_SIZE];
    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc};
    columns(spectrum, tables, mask_data, scale, cutoffs, get_group_id(0), get_global_id(1), x);
}
#endif
