// Rows of complex numbers: the horizontal transforms of VECTOR rows.
//
// Reads    strips, or rows as they lie in the array
// Writes   the spectrum in natural order, rows as they belong; of a long signal columns of a matrix, side by side
// Scratch  x, a work space for one group
//
// needs: fused/cpu/plain_fft/columns.cl

NOINLINE void load_strip(global vector_t *x, global const vector_t *z, global const uint *at)
{
#pragma unroll 1
    for (uint part = 0; part < 2; ++part) {
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            square[i] = ROW(z + part, at[i]);
        transpose(square);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            x[2 * i + part] = square[i];
    }
}

// The rows of the group become VECTOR columns of the matrix that is the signal's spectrum.
INLINE uint signal(const shared_t *shared, global vector_t *x, global float *target, const uint column)
{
    global const axis_t *axis = &shared->params->rows;
    const size_t pitch = 2 * (size_t)shared->layout->target_pitch;
    global const float *between = shared->between + 2 * column;
    for (uint k = 0; k < axis->points; ++k) {
        const number_t a = load(x + 2 * k), w = gathered(between + k * pitch);
        store(x + 2 * k, (number_t){a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re});
    }
    transform_any(x, axis, shared->row_twiddles);
    return store_columns(shared, axis->points, x, target + 2 * column);
}

NOINLINE uint second_step(const shared_t *shared, global vector_t *z, global vector_t *x, global const float *source,
                          global float *target, const uint group)
{
    global const params_t *params = shared->params;
    global const layout_t *layout = shared->layout;
    global const uint *to = shared->to + group * VECTOR, *at = shared->places + group * VECTOR;
    if (layout->kind == LINES)
        load_lines(x, 1, source, 2 * params->pitch, 2 * (size_t)layout->source_pitch, to);
    else
        for (uint strip = 0; strip < params->strips; ++strip)
            load_strip(x + 2 * min(strip * VECTOR, params->last_start),
                       z + 2 * (size_t)params->strip_stride * strip, at);
    if (layout->kind == SIGNAL)
        return signal(shared, x, target, to[0]);
    transform_any(x, &params->rows, shared->row_twiddles);
    return store_spectrum(PLAIN, layout, target, x, shared->take, to, (vector_t)(shared->scale));
}
