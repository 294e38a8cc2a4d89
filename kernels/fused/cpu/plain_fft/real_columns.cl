// Columns of real numbers: two of a strip's 2 VECTOR columns are one complex column, as in columns.cl.
//
// Reads    the pixels of a strip, row after row
// Writes   their transforms in the plan's order to the strip; of columns alone the transforms of real numbers to their
//          places
//
// needs: fused/cpu/plain_fft/store.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the pixels

#ifndef LOAD_PIXEL
#error "fused/cpu/plain_fft/real_columns.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

typedef PASTE(LOAD_PIXEL, VECTOR) __attribute__((aligned(sizeof(LOAD_PIXEL)))) pixels_t;
// A vector of pixels as floats
#define to_floats PASTE(convert_float, VECTOR)

INLINE number_t pixels(global const LOAD_PIXEL *at)
{
    global const pixels_t *row = (global const pixels_t *)at;
    return (number_t){to_floats(row[0]), to_floats(row[1])};
}

INLINE void first_real_stage(const uint kind, const uint radix, global vector_t *z, global const LOAD_PIXEL *source,
                             const uint pitch, const uint span, global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span, rows = (size_t)span * pitch;
    global const float *v = (global const float *)w;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1), source += pitch) {
        number_t a[WIDEST];
        EACH(0, a[q] = pixels(source + q * rows));
        butterfly(kind, a, radix, roots);
        store(at, a[0]);
        EACH(1, store(at + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
    }
}

INLINE uint store_real_columns(const shared_t *shared, global const vector_t *x, global float *target)
{
    const uint height = shared->params->columns.points;
    const size_t pitch = 2 * (size_t)shared->layout->target_pitch;
    global const uint *take = shared->take;
    const vector_t half_scale = 0.5f * shared->scale;
    integers_t most = 0;
    for (uint k = 0; k < height; ++k)
#pragma unroll
        for (uint part = LEFT; part <= RIGHT; ++part) {
            const number_t a = times(part_of(part, x, take[k], take[height + k]), half_scale);
            most = larger_bits(larger_bits(most, a.re), a.im);
            scatter(target + k * pitch + (part == LEFT ? 0 : 2 * VECTOR), a);
        }
    return largest_bits(most);
}

NOINLINE uint real_columns(const shared_t *shared, global vector_t *z, global vector_t *x,
                           global const LOAD_PIXEL *source, global float *target, const uint strip)
{
    global const axis_t *axis = &shared->params->columns;
    global const float2 *twiddles = shared->column_twiddles;
    const uint pitch = shared->layout->source_pitch, left = min(strip * 2 * VECTOR, shared->params->last_start);
    const bool alone = shared->layout->kind == COLUMNS;
    const stage_t first = axis->stages[0];
    z = alone ? x : z + 2 * (size_t)shared->params->strip_stride * strip;
    source += left;
    if (BLUESTEIN && axis->length != axis->points) {
        for (uint k = 0; k < axis->points; ++k)
            store(x + 2 * k, pixels(source + (size_t)k * pitch));
        transform_any(x, axis, twiddles);
        if (!alone)
            for (uint k = 0; k < axis->points; ++k)
                store(z + 2 * k, load(x + 2 * k));
    } else {
        BY_RADIX(first.radix, first_real_stage, z, source, pitch, first.span,
                 twiddles + first.twiddles, twiddles + first.roots);
        if (axis->stage_count > 1)
            transform(z, axis, twiddles, 1);
    }
    return alone ? store_real_columns(shared, x, target + 2 * left) : 0;
}
