// Columns of complex numbers: the vertical transforms of strips of VECTOR columns.
//
// Reads    the numbers of a strip, row after row; strips begin at every multiple of VECTOR columns, the last one is
//          moved left to end with the image
// Writes   their transforms in the plan's order to the strip; of columns alone in natural order to their places
//
// needs: fused/cpu/plain_fft/layout.cl

INLINE void first_complex_stage(const uint kind, const uint radix, global vector_t *z, global const float *source,
                                const uint pitch, const uint span, global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span, rows = 2 * (size_t)span * pitch;
    global const float *v = (global const float *)w;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1), source += 2 * pitch) {
        number_t a[WIDEST];
        EACH(0, a[q] = gathered(source + q * rows));
        butterfly(kind, a, radix, roots);
        store(at, a[0]);
        EACH(1, store(at + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
    }
}

INLINE uint store_columns(const shared_t *shared, global const vector_t *x, global float *target)
{
    const size_t pitch = 2 * (size_t)shared->layout->target_pitch;
    integers_t most = 0;
    for (uint k = 0; k < shared->params->columns.points; ++k) {
        const number_t a = times(load(x + shared->take[k]), (vector_t)(shared->scale));
        most = larger_bits(larger_bits(most, a.re), a.im);
        scatter(target + k * pitch, a);
    }
    return largest_bits(most);
}

NOINLINE uint complex_columns(const shared_t *shared, global vector_t *z, global vector_t *x,
                              global const float *source, global float *target, const uint strip)
{
    global const axis_t *axis = &shared->params->columns;
    global const float2 *twiddles = shared->column_twiddles;
    const uint pitch = shared->layout->source_pitch, left = min(strip * VECTOR, shared->params->last_start);
    const bool alone = shared->layout->kind == COLUMNS;
    const stage_t first = axis->stages[0];
    z = alone ? x : z + 2 * (size_t)shared->params->strip_stride * strip;
    source += 2 * left;
    if (BLUESTEIN && axis->length != axis->points) {
        for (uint k = 0; k < axis->points; ++k)
            store(x + 2 * k, gathered(source + 2 * (size_t)k * pitch));
        transform_any(x, axis, twiddles);
        if (!alone)
            for (uint k = 0; k < axis->points; ++k)
                store(z + 2 * k, load(x + 2 * k));
    } else {
        BY_RADIX(first.radix, first_complex_stage, z, source, pitch, first.span, twiddles + first.twiddles,
                 twiddles + first.roots);
        if (axis->stage_count > 1)
            transform(z, axis, twiddles, 1);
    }
    return alone ? store_columns(shared, x, target + 2 * left) : 0;
}
