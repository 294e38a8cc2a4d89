// Columns of a height with a large prime in it: those of columns.cl by Bluestein's chirp-z (bluestein.cl).
//
// The convolution takes a work space of its own, x, beside the strip; z holds the transform in natural order.

NOINLINE void columns_forward_bluestein(global const job_t *job, global vector_t *z, global vector_t *x,
                                        global const LOAD_PIXEL *image, global float *deviation,
                                        global const float2 *spin, global const uint *places, const size_t picture,
                                        const uint strip)
{
    global const float2 *chirp = spin + job->columns.chirp;
    const uint height = job->columns.points;
    z += 2 * job->strip_stride * (picture * job->strips + strip);
    const float base = ground_of(job, image, picture);
    image += picture * height * job->pitch + min(strip * 2 * VECTOR, job->last_start);

    range_t range = range_at(image);
    for (uint k = 0; k < height; ++k) {
        global const LOAD_PIXEL *row = image + (size_t)pixel_at(k, height) * job->pitch;
        range = wider(range, row);
        store(x + 2 * k, spun(load_pixels(row, base), chirp[k].x, chirp[k].y));
    }
    clear(x, height, job->columns.length);
    deviation[picture * job->strips + strip] = deviation_of(range, base);

    convolve(x, &job->columns, spin);
    for (uint k = 0; k < height; ++k)
        store(z + 2 * k, spun(load(x + 2 * k), chirp[k].x, chirp[k].y));
    clear_zero_rows(job, z, places);
}

NOINLINE vector_t inverse_columns_bluestein(global const job_t *job, global vector_t *z, global vector_t *x,
                                            const float back, global const float2 *spin)
{
    global const float2 *chirp = spin + job->columns.chirp;
    const uint height = job->columns.points;
    for (uint k = 0; k < height; ++k)
        store(x + 2 * k, spun(swapped(load(z + 2 * k)), chirp[k].x, chirp[k].y));
    clear(x, height, job->columns.length);

    convolve(x, &job->columns, spin);
    vector_t most = 0;
    for (uint k = 0; k < height; ++k) {
        const number_t values = values_of(spun(load(x + 2 * k), chirp[k].x, chirp[k].y), back);
        most = larger_magnitude(most, values);
        store(z + 2 * k, values);
    }
    return most;
}

NOINLINE void columns_inverse_bluestein(global const job_t *job, global vector_t *z, global vector_t *x,
                                        global const LOAD_PIXEL *image, global float *largest,
                                        global const float2 *spin, const size_t picture, const uint strip)
{
    z += 2 * job->strip_stride * (picture * job->strips + strip);
    const float back = job->back * ground_of(job, image, picture);
    vector_t most = inverse_columns_bluestein(job, z, x, back, spin);
#if TWOFOLD
    inverse_columns_bluestein(job, other_strips(job, z), x, back, spin);
    most = own_pixels(job, z, strip);
#endif
    largest[picture * job->strips + strip] = largest_of(most);
}
