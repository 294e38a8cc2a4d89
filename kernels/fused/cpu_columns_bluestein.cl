// Columns of a height with a large prime in it: the kernels of cpu_columns.cl through Bluestein's chirp-z.
//
// The convolution takes a work space of m numbers, x, beside the strip; z holds the transform in natural order.

// Launch   (strips, images) work-items
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void columns_forward(global vector_t *z, global float *brightest, global const PIXEL *image,
                     global const stage_t *stages, global const float2 *spin, const uint stage_count,
                     const uint whole, const uint height, const uint pitch, const uint last, const uint strip_size,
                     SPACE vector_t *x, global const float2 *chirp, global const float2 *filter, const uint m,
                     const uint first_strip, const uint strips, const uint spare)
{
    const size_t strip = first_strip + get_group_id(0), picture = get_group_id(1);
    z += 2 * strip_size * (picture * strips + strip);
    x += 2 * (size_t)spare * (picture * get_num_groups(0) + get_group_id(0));
    image += picture * height * pitch + min((uint)strip * 2 * VECTOR, last);

    brightest_t most = 0;
    for (uint k = 0; k < height; ++k) {
        most = brighter(most, image + (size_t)k * pitch);
        put(x, k, spun(pixels(image + (size_t)k * pitch), chirp[k].x, chirp[k].y));
    }
    clear(x, height, m);
    brightest[picture * strips + strip] = largest_of(to_floats(most));

    const middle_t with = {chirp, filter};
    there_and_back(x, m, stages, spin, stage_count, whole, with);
    for (uint k = 0; k < height; ++k) {
        const number_t a = spun(get(x, k), chirp[k].x, chirp[k].y);
        z[2 * k] = a.re;
        z[2 * k + 1] = a.im;
    }
}

// Launch   (strips, images) work-items
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void columns_inverse(global vector_t *z, global float *largest, global const stage_t *stages,
                     global const float2 *spin, const uint stage_count, const uint whole, const uint height,
                     const uint strip_size, SPACE vector_t *x, global const float2 *chirp,
                     global const float2 *filter, const uint m, const uint first_strip, const uint strips,
                     const uint spare)
{
    const size_t strip = first_strip + get_group_id(0), picture = get_group_id(1);
    z += 2 * strip_size * (picture * strips + strip);
    x += 2 * (size_t)spare * (picture * get_num_groups(0) + get_group_id(0));

    for (uint k = 0; k < height; ++k)
        put(x, k, spun((number_t){z[2 * k + 1], z[2 * k]}, chirp[k].x, chirp[k].y));
    clear(x, height, m);

    const middle_t with = {chirp, filter};
    there_and_back(x, m, stages, spin, stage_count, whole, with);
    vector_t most = 0;
    for (uint k = 0; k < height; ++k) {
        const number_t a = spun(get(x, k), chirp[k].x, chirp[k].y);
        const number_t magnitude = magnitudes(a);
        most = larger_part(most, magnitude);
        z[2 * k] = magnitude.re;
        z[2 * k + 1] = magnitude.im;
    }
    largest[picture * strips + strip] = largest_of(most);
}
