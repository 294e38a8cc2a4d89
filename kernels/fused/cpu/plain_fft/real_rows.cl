// Rows of real images: the horizontal transforms of VECTOR rows, which are those of the opposite frequencies, too.
//
// Reads    strips of packed columns, which come apart (transpose.cl); or 2 VECTOR rows of pixels as they lie in the
//          array, two as one complex row
// Writes   both spectra, whole or half, in natural order
// Scratch  x, a work space for one group
//
// needs: fused/cpu/plain_fft/columns.cl

// VECTOR pixels of VECTOR rows become lanes, real (part 0) or imaginary ones.
NOINLINE void load_pixel_lines(global vector_t *x, global const LOAD_PIXEL *source, const uint width,
                               const size_t pitch, global const uint *rows)
{
    for (uint k = 0; k < width; k += VECTOR) {
        const uint first = min(k, width - VECTOR);
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            square[i] = to_floats(*(global const pixels_t *)(source + rows[i] * pitch + first));
        transpose(square);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            x[2 * (first + i)] = square[i];
    }
}

NOINLINE uint second_step(const shared_t *shared, global vector_t *z, global vector_t *x,
                          global const LOAD_PIXEL *source, global float *target, const uint group)
{
    global const params_t *params = shared->params;
    global const layout_t *layout = shared->layout;
    global const uint *to = shared->to + group * 2 * VECTOR, *at = shared->places + group * 2 * VECTOR;
    const bool is_lines = layout->kind == LINES;
    if (is_lines)
#pragma unroll 1
        for (uint part = 0; part < 2; ++part)
            load_pixel_lines(x + part, source, params->pitch, layout->source_pitch, to + part * VECTOR);
    else
        load_rows(params, x, z, at, at + VECTOR);
    transform_any(x, &params->rows, shared->row_twiddles);

    const vector_t factor = 0.5f * shared->scale;
    uint most, other;
    if (is_lines) {
        most = store_spectrum(LEFT, layout, target, x, shared->take, to, factor);
        other = store_spectrum(RIGHT, layout, target, x, shared->take, to + VECTOR, factor);
    } else {
        most = store_spectrum(PLAIN, layout, target, x, shared->take, to, factor);
        other = store_spectrum(MIRRORED, layout, target, x, shared->take, to + VECTOR, factor);
    }
    return most > other ? most : other;
}
