// Rows of real images: the horizontal transforms of VECTOR rows, which are those of the opposite frequencies, too.
//
// Reads    strips of packed columns, which come apart (transpose.cl); or 2 VECTOR rows of pixels as they lie in the
//          array, two as one complex row
// Writes   both spectra, whole or half, in natural order
// Scratch  x, a work space for one group
//
// needs: fused/cpu/plain_fft/columns.cl

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
            load_lines(x + part, 2, source, params->pitch, layout->source_pitch, to + part * VECTOR);
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
