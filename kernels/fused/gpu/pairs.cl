// Pairs: loads a column into registers, takes the rows of each pair apart (see spectrum.cl), and packs and stores them
// again. If FIRST_RADIX is even, this needs registers alone: numbers q and q + FIRST_RADIX/2 of a butterfly are a pair.
//
// needs: fused/gpu/transform.cl fused/gpu/spectrum.cl

// Whether both numbers of a pair are in one butterfly
#define PAIRED (FIRST_RADIX % 2 == 0 && HEIGHT % 2 == 0 && !BLUESTEIN)
// The most pairs of a work-item
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
