// Rows back to real values: half a spectrum's rows to strips of packed columns.
//
// The upper half of a row of vertical frequency ky mirrors the row of -ky: X[k] = conj Y[-ky][width - k]. Columns that
// mirror themselves count by the mean of both, as if the real part were taken in the end.
//
// Reads    rows of the half spectrum
// Writes   their inverse transforms, packed, to the strips
// Scratch  x, a work space for one group
//
// needs: fused/cpu/plain_fft/layout.cl fused/cpu/bluestein.cl fused/cpu/transpose.cl

// VECTOR / 2 numbers of some rows, rows as lanes
INLINE void load_square(vector_t *square, global const float *source, const size_t pitch, global const uint *rows)
{
#pragma unroll
    for (uint i = 0; i < VECTOR; ++i)
        square[i] = *(global const unaligned_t *)(source + rows[i] * pitch);
    transpose(square);
}

NOINLINE void load_half(const shared_t *shared, global vector_t *x, global const float *source, global const uint *to)
{
    global const uint *take = shared->take;
    const uint count = shared->layout->width, width = shared->params->rows.points;
    // Rows of a source are as wide as that at least.
    const uint last = shared->layout->source_pitch - VECTOR / 2;
    const size_t pitch = 2 * (size_t)shared->layout->source_pitch;
    vector_t square[VECTOR];
    for (uint k = 0; k < count; k += VECTOR / 2) {
        const uint first = min(k, last);
        load_square(square, source + 2 * first, pitch, to);
        for (uint i = 0; i < VECTOR / 2 && first + i < count; ++i)
            store(x + take[first + i], (number_t){square[2 * i], square[2 * i + 1]});
        load_square(square, source + 2 * first, pitch, to + VECTOR);
        for (uint i = 0; i < VECTOR / 2 && first + i < count; ++i) {
            const uint j = first + i;
            const number_t own = load(x + take[j]), mirrored = {square[2 * i], -square[2 * i + 1]};
            if (j == 0 || 2 * j == width)
                store(x + take[j], times(plus(own, mirrored), (vector_t)(0.5f)));
            else
                store(x + take[width - j], mirrored);
        }
    }
}

NOINLINE uint first_step(const shared_t *shared, global vector_t *z, global vector_t *x, global const float *source,
                         global float *target, const uint group)
{
    global const uint *at = shared->places + group * 2 * VECTOR;
    load_half(shared, x, source, shared->to + group * 2 * VECTOR);
    inverse_any(x, &shared->params->rows, shared->row_twiddles);
    store_rows(shared->params, z, x, at, at + VECTOR);
    return 0;
}
