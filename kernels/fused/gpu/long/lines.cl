// Lines: hold the rows between the steps of long transforms. Also the outer step from and to them.
//
// A line lies in the spectrum's own places: each number where the frequency belongs that it becomes. Bluestein's lines
// are longer than the spectrum and have a buffer, [pair of rows][LONG_LENGTH].
//
// needs: fused/gpu/long/steps.cl fused/gpu/spectrum.cl

// Numbers of the buffer of a picture's lines
#define LINES_LENGTH (LONG_BLUESTEIN ? (size_t)PAIRS * LONG_LENGTH : 2 * (size_t)PLANE)

INLINE size_t line_place(const uint k, const uint p)
{
    return LONG_BLUESTEIN ? (size_t)p * LONG_LENGTH + k : place_of(k, p);
}

// Transforms `first` and its neighbors of a pair p: numbers in the order of FIRST_RADIX, ACROSS -> lines.
INLINE void store_outer_step(global complex_t *lines, complex_t *v, local exchanged_t *x,
                             global const complex_t *tables, const uint first, const uint p)
{
    stages(v, x, tables, ACROSS, INNER, PLAIN, RADICES, PADS);

    const uint b = first + own_transform(INNER);
    if (b >= TRANSFORMS)
        return;
    FOR_OWN(own_item(INNER), LAST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < LAST_RADIX; q++)
            lines[line_place(CONTIGUOUS(b, t, q, LAST_RADIX), p)] = v[i * LAST_RADIX + q];
    }
}

// Back: lines -> numbers in the order of FIRST_RADIX, ACROSS, real and imaginary parts exchanged.
INLINE void load_outer_step(complex_t *v, global const complex_t *lines, local exchanged_t *x,
                            global const complex_t *tables, global const complex_t *long_tables, const uint first,
                            const uint p)
{
    const uint b = min(first + own_transform(INNER), (uint)(TRANSFORMS - 1));
    FOR_OWN(own_item(INNER), LAST_RADIX, i, t) {
        UNROLL
        for (uint q = 0; q < LAST_RADIX; q++)
            v[i * LAST_RADIX + q] = lines[line_place(CONTIGUOUS(b, t, q, LAST_RADIX), p)];
    }
    const complex_t w = twiddles_between(v, long_tables, b, INNER, LAST_RADIX);
    stages(v, x, tables + TWIDDLES_REVERSED, INNER, ACROSS, true, w, RADICES_REVERSED, PADS_REVERSED);
}
