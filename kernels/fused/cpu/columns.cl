// Columns: the vertical transforms, each strip of 2 VECTOR columns by one work-item.
//
// The left VECTOR columns of a strip are taken as real parts, the right ones as imaginary parts: one complex
// transform does 2 VECTOR real ones, at any height. Taking the two apart needs the mirrored frequency and no
// multiplication, which the rows do when they read (transpose.cl).
//
// A strip is contiguous, row after row. So it is its own work space, stays in the cache from the first stage to the
// last, and the rows find VECTOR of its rows in one piece.
//
// needs: fused/cpu/bluestein.cl fused/cpu/pixels.cl fused/cpu/mask.cl

// First stage: butterflies of a strip's pixels, so that the image is never stored as floats
INLINE void first_stage(const uint kind, const uint radix, global vector_t *z, global const pixels_t *pixels,
                        const float base, const uint height, const uint span, global const float2 *w,
                        global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    global const float *v = (global const float *)w;
    global vector_t *to = z;
    for (uint j = 0; j < span; ++j, to += 2, v += 2 * (radix - 1)) {
        number_t a[WIDEST];
        EACH(0, a[q] = load_pixels(pixels + 2 * (size_t)pixel_at(j + q * span, height), base));
        butterfly(kind, a, radix, roots);
        store(to, a[0]);
        EACH(1, store(to + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
    }
}

// Last stage: the result is real (left columns) and imaginary (right columns), and gets back what the offset has
// become. Returns the largest magnitudes.
INLINE vector_t last_inverse_stage(const uint kind, const uint radix, global vector_t *z, const float back,
                                   const uint span, global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    global const float *v = (global const float *)w;
    vector_t largest = 0;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1)) {
        number_t a[WIDEST];
        a[0] = swapped(load(at));
        EACH(1, a[q] = spun(swapped(load(at + q * step)), v[2 * q - 2], v[2 * q - 1]));
        butterfly(kind, a, radix, roots);
        EACH(0, const number_t values = values_of(a[q], back); store(at + q * step, values);
             largest = larger_magnitude(largest, values));
    }
    return largest;
}

// Reads    the pixels of some strips that share lines of the cache, row after row; of one strip for a convolution
// Writes   their transforms without the offset, permuted, with 0 where nothing passes, and their largest deviation
//          from it
// Scratch  x, for the pixels, or for a convolution, whose pixels wait in the strip
NOINLINE void columns_forward(global const params_t *params, global vector_t *z, global vector_t *x,
                              global const LOAD_PIXEL *image, global float *deviation, global const float2 *twiddles,
                              global const uint *places, const size_t picture, const uint task)
{
    global const axis_t *axis = &params->columns;
    const stage_t first = axis->stages[0];
    const uint strip = task * params->strips_per_task, count = min(params->strips_per_task, params->strips - strip);
    const uint left = min(strip * 2 * VECTOR, params->last_start);
    z += 2 * params->strip_stride * (picture * params->strips + strip);
    const float base = offset_of(params, image, picture);
    image += picture * axis->points * params->pitch + left;

    global pixels_t *pixels = (global pixels_t *)(is_convolved(axis) ? z : x);
    const range_t range = gather_pixels(pixels, image, axis->points, params->pitch, count, params->last_start - left);
    const float found = deviation_of(range, base);
    for (uint i = 0; i < count; ++i) {
        global vector_t *own = z + 2 * (size_t)params->strip_stride * i;
        if (is_convolved(axis)) {
            BEGIN_CONVOLUTION(x, axis, twiddles, load_pixels(pixels + 2 * (size_t)pixel_at(k, points), base));
            convolve(x, axis, twiddles);
            END_CONVOLUTION(x, axis, twiddles, store(own + 2 * k, a[q]));
        } else {
            BY_RADIX(first.radix, first_stage, own, pixels + 2 * (size_t)axis->points * i, base, axis->points,
                     first.span, twiddles + first.twiddles, twiddles + first.roots);
            if (axis->stage_count > 1)
                transform(own, axis, twiddles, 1);
        }
        clear_zero_rows(params, own, places);
        deviation[picture * params->strips + strip + i] = found;
    }
}

// The values of a strip's transform, permuted, in its place, 2 VECTOR a row; returns the largest magnitudes.
NOINLINE vector_t inverse_columns(global const params_t *params, global vector_t *z, global vector_t *x,
                                  const float back, global const float2 *twiddles)
{
    global const axis_t *axis = &params->columns;
    const stage_t first = axis->stages[0];
    vector_t most = 0;
    if (is_convolved(axis)) {
        BEGIN_CONVOLUTION(x, axis, twiddles, swapped(load(z + 2 * k)));
        convolve(x, axis, twiddles);
        END_CONVOLUTION(x, axis, twiddles, {
            const number_t values = values_of(a[q], back);
            most = larger_magnitude(most, values);
            store(z + 2 * k, values);
        });
        return most;
    }
    if (axis->stage_count > 1)
        inverse(z, axis, twiddles, 1);
// BY_RADIX takes statements, so the result goes into `most`.
#define MOST_OF_LAST_STAGE(...) most = last_inverse_stage(__VA_ARGS__)
    BY_RADIX(first.radix, MOST_OF_LAST_STAGE, z, back, first.span, twiddles + first.twiddles, twiddles + first.roots);
    return most;
}

// Reads    a strip's transform, permuted
// Writes   its values in its place, 2 VECTOR a row in the order of the columns, and their largest magnitude
// Scratch  x, for a convolution
NOINLINE void columns_inverse(global const params_t *params, global vector_t *z, global vector_t *x,
                              global const LOAD_PIXEL *image, global float *largest, global const float2 *twiddles,
                              const size_t picture, const uint strip)
{
    z += 2 * params->strip_stride * (picture * params->strips + strip);
    const float back = params->back * offset_of(params, image, picture);
    vector_t most = inverse_columns(params, z, x, back, twiddles);
#if IS_MIRRORED
    if (params->needs_two_inverses) {
        inverse_columns(params, other_strips(params, z), x, back, twiddles);
        most = own_pixels(params, z, strip);
    }
#endif
    largest[picture * params->strips + strip] = largest_of(most);
}
