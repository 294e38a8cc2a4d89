// Columns of a height with a large prime factor: as columns.cl, by Bluestein's chirp-z (bluestein.cl).
//
// The convolution takes a work space of its own, x, beside the strip; z holds the pixels, then the transform in natural
// order.
//
// needs: fused/cpu/bluestein.cl fused/cpu/pixels.cl fused/cpu/mask.cl

NOINLINE void columns_forward_bluestein(global const params_t *params, global vector_t *z, global vector_t *x,
                                        global const LOAD_PIXEL *image, global float *deviation,
                                        global const float2 *twiddles, global const uint *places, const size_t picture,
                                        const uint strip)
{
    global const axis_t *axis = &params->columns;
    const uint height = axis->points;
    z += 2 * params->strip_stride * (picture * params->strips + strip);
    const float base = offset_of(params, image, picture);
    image += picture * height * params->pitch + min(strip * 2 * VECTOR, params->last_start);

    global pixels_t *pixels = (global pixels_t *)z;
    deviation[picture * params->strips + strip] =
        deviation_of(gather_pixels(pixels, image, height, params->pitch, 1, 0), base);
    BEGIN_CONVOLUTION(x, axis, twiddles, load_pixels(pixels + 2 * (size_t)pixel_at(k, height), base));
    convolve(x, axis, twiddles);
    END_CONVOLUTION(x, axis, twiddles, store(z + 2 * k, a[q]));
    clear_zero_rows(params, z, places);
}

NOINLINE vector_t inverse_columns_bluestein(global const params_t *params, global vector_t *z, global vector_t *x,
                                            const float back, global const float2 *twiddles)
{
    global const axis_t *axis = &params->columns;
    vector_t most = 0;
    BEGIN_CONVOLUTION(x, axis, twiddles, swapped(load(z + 2 * k)));
    convolve(x, axis, twiddles);
    END_CONVOLUTION(x, axis, twiddles, {
        const number_t values = values_of(a[q], back);
        most = larger_magnitude(most, values);
        store(z + 2 * k, values);
    });
    return most;
}

NOINLINE void columns_inverse_bluestein(global const params_t *params, global vector_t *z, global vector_t *x,
                                        global const LOAD_PIXEL *image, global float *largest,
                                        global const float2 *twiddles, const size_t picture, const uint strip)
{
    z += 2 * params->strip_stride * (picture * params->strips + strip);
    const float back = params->back * offset_of(params, image, picture);
    vector_t most = inverse_columns_bluestein(params, z, x, back, twiddles);
#if IS_MIRRORED
    if (params->needs_two_inverses) {
        inverse_columns_bluestein(params, other_strips(params, z), x, back, twiddles);
        most = own_pixels(params, z, strip);
    }
#endif
    largest[picture * params->strips + strip] = largest_of(most);
}
