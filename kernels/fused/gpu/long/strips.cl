// Strips: hold the columns between the steps of long transforms. Also the outer step from and to them.
//
// If both rows of each pair are in one transform of the outer step, strips take the spectrum's own places: its planes
// hold the upper and the lower half of a column's numbers. Else they have a buffer, [tile][LONG_LENGTH][column in
// tile].
//
// needs: fused/gpu/long/steps.cl fused/gpu/spectrum.cl

// Whether strips take the spectrum's places, and the numbers of the buffer of a picture's strips
#define PAIRED (LONG_POINTS == LONG_LENGTH && HEIGHT % 2 == 0)
#define STRIPS_LENGTH (PAIRED ? 2 * (size_t)PLANE : (size_t)((COLUMNS + TILE - 1) / TILE * TILE) * LONG_LENGTH)

INLINE size_t strip_place(const uint kx, const uint y)
{
    if (PAIRED)
        return place(kx, y < PAIRS ? y : y - PAIRS) + (y < PAIRS ? 0 : PLANE);
    return ((size_t)(kx / TILE) * LONG_LENGTH + y) * TILE + kx % TILE;
}

// Numbers of transform b of column kx, in the order of a radix.
INLINE void store_strided(global complex_t *strips, const complex_t *v, const uint kx, const uint b, const uint radix)
{
    FOR_OWN(own_item(ACROSS), radix, i, t) {
        UNROLL
        for (uint q = 0; q < radix; q++)
            strips[strip_place(kx, STRIDED(b, t, q, radix))] = v[i * radix + q];
    }
}

// Transform b of column kx: numbers in the order of FIRST_RADIX -> strips.
INLINE void store_outer_step(global complex_t *strips, complex_t *v, local exchanged_t *x,
                             global const complex_t *tables, const uint kx, const uint b)
{
    stages(v, x, tables, ACROSS, ACROSS, PLAIN, RADICES, PADS);
    store_strided(strips, v, kx, b, LAST_RADIX);
}

// Back: strips -> numbers in the order of FIRST_RADIX.
INLINE void load_outer_step(complex_t *v, global const complex_t *strips, local exchanged_t *x,
                            global const complex_t *tables, global const complex_t *long_tables, const uint kx,
                            const uint b)
{
    FOR_OWN(own_item(ACROSS), LAST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < LAST_RADIX; q++)
            v[i * LAST_RADIX + q] = strips[strip_place(kx, STRIDED(b, t, q, LAST_RADIX))];
    }
    const complex_t w = twiddles_between(v, long_tables, b, ACROSS, LAST_RADIX);
    stages(v, x, tables + TWIDDLES_REVERSED, ACROSS, ACROSS, true, w, RADICES_REVERSED, PADS_REVERSED);
    swap_parts(v);
}
