// Columns: forward transform, mask, inverse transform of one column without leaving the chip, in place.
//
// Fused: spin factors, butterflies, mask, butterflies back. The spectrum itself is never in memory. The rows' spectra
// come apart on loading (see spectrum.cl) and are packed again on storing, in registers where FIRST is even:
// numbers q and q + FIRST/2 of a butterfly are the rows of a pair.
//
// Launch   (groups of FFTS columns below the reach x GROUP, images) work-items, GROUP a work-group; FFTS divides TILE
// Reads    spectrum[plane][tile][p][column]     -> coalesced
// Writes   the same places
// Scale    1/2 of the unpacking and 1/(width height) of the inverse, once with the mask

#define PAIRED (FIRST % 2 == 0 && HEIGHT % 2 == 0 && !BLUESTEIN)
#define OWN_PAIRS ((PAIRS + ITEMS - 1) / ITEMS)

#if PAIRED

ALWAYS void load_column(complex_t *v, global const complex_t *own, global const complex_t *mirrored,
                        local exchanged_t *x)
{
    FOR_OWN(own_item(ACROSS), FIRST, b, t) {
        UNROLL
        for (uint q = 0; q < FIRST / 2; q++) {
            const size_t at = q * (LENGTH / FIRST) * TILE;
            unpack(v + b * FIRST + q, v + b * FIRST + q + FIRST / 2, (own + t * TILE)[at], (mirrored + t * TILE)[at]);
        }
    }
}

ALWAYS void store_column(complex_t *v, global complex_t *own, global complex_t *mirrored, const bool outside,
                         local exchanged_t *x)
{
    if (outside)
        return;
    FOR_OWN(own_item(ACROSS), FIRST, b, t) {
        UNROLL
        for (uint q = 0; q < FIRST / 2; q++) {
            const size_t at = q * (LENGTH / FIRST) * TILE;
            pack(own + t * TILE + at, mirrored + t * TILE + at, v[b * FIRST + q], v[b * FIRST + q + FIRST / 2]);
        }
    }
}

#else

// An odd height, or chirp-z: the rows of a pair meet in local memory.
ALWAYS void load_column(complex_t *v, global const complex_t *own, global const complex_t *mirrored,
                        local exchanged_t *x)
{
    const uint i = own_item(ACROSS);
    x += PLACE_IN_TURN(own_fft(ACROSS));
    UNROLL
    for (uint n = 0; n < OWN_PAIRS; n++) {
        const uint p = i + n * ITEMS;
        if (p < PAIRS)
            unpack(v + 2 * n, v + 2 * n + 1, own[p * TILE], mirrored[p * TILE]);
    }
    UNROLL
    for (uint step = 0; step < PARTS * TURNS; step++) {
        const uint part = step / TURNS;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (HAS_TURN(own_fft(ACROSS), step % TURNS)) {
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
        if (HAS_TURN(own_fft(ACROSS), step % TURNS))
            FOR_OWN(i, FIRST, b, t) {
                UNROLL
                for (uint q = 0; q < FIRST; q++) {
                    const uint at = t + q * (LENGTH / FIRST);
                    SET_PART(v[b * FIRST + q], part, !BLUESTEIN || at < POINTS ? x[at] : (exchanged_t)(0));
                }
            }
    }
}

ALWAYS void store_column(complex_t *v, global complex_t *own, global complex_t *mirrored, const bool outside,
                         local exchanged_t *x)
{
    const uint i = own_item(ACROSS);
    x += PLACE_IN_TURN(own_fft(ACROSS));
    UNROLL
    for (uint step = 0; step < PARTS * TURNS; step++) {
        const uint part = step / TURNS;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (HAS_TURN(own_fft(ACROSS), step % TURNS))
            FOR_OWN(i, FIRST, b, t) {
                UNROLL
                for (uint q = 0; q < FIRST; q++) {
                    const uint at = t + q * (LENGTH / FIRST);
                    if (!BLUESTEIN || at < POINTS)
                        x[at] = PART_OF(v[b * FIRST + q], part);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (HAS_TURN(own_fft(ACROSS), step % TURNS)) {
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

ALWAYS void columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                    const real_t scale, const cutoffs_t cutoffs, const uint group, const size_t picture,
                    local exchanged_t *x)
{
    complex_t v[VALUES];
    spectrum += picture * (2 * (size_t)PLANE);

    // Behind the last column there is room, but nothing.
    const uint kx = group * FFTS + own_fft(ACROSS);
    global complex_t *own = spectrum + (place(kx, 0) + OWN_PLANE(kx));
    global complex_t *mirrored = spectrum + (place(kx, 0) + MIRRORED_PLANE(kx));
    load_column(v, own, mirrored, x);

    transform(v, x, tables, ACROSS, INNER);

    const uint inner_kx = min((uint)(group * FFTS + own_fft(INNER)), (uint)(COLUMNS - 1));
    const column_t column = mask_column(inner_kx, mask_data, cutoffs);
    FOR_OWN(own_item(INNER), AFTER, b, t) {
        UNROLL
        for (uint q = 0; q < AFTER; q++) {
            const uint number = t + q * (LENGTH / AFTER);
            if (!BLUESTEIN || number < POINTS)
                v[b * AFTER + q] *= scale * mask_gain(column, number, cutoffs);
        }
    }

    inverse_from_spectrum(v, x, tables, INNER, ACROSS);

    store_column(v, own, mirrored, kx >= COLUMNS, x);
}

#ifndef TOGETHER
kernel void gpu_columns(global complex_t *spectrum, global const complex_t *tables, global const mask_data_t *mask_data,
                        const real_t scale, const real_t scale_x2, const real_t scale_y2, const real_t per_outer2,
                        const real_t per_inner2, const int order)
{
    local exchanged_t x[FFTS / TURNS * REGION];
    const cutoffs_t cutoffs = {scale_x2, scale_y2, per_outer2, per_inner2, order};
    columns(spectrum, tables, mask_data, scale, cutoffs, get_group_id(0), get_global_id(1), x);
}
#endif
