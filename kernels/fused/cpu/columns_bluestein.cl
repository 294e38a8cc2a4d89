// Columns of a height with a large prime in it: those of columns.cl through Bluestein's chirp-z.
//
// The convolution takes a work space of its own, x, beside the strip; z holds the transform in natural order.

ONCE void columns_forward(global const job_t *job, global vector_t *z, global vector_t *x, global const PIXEL *image,
                          global float *brightest, global const float2 *spin, global const uint *places,
                          const size_t picture, const uint strip)
{
    global const float2 *chirp = spin + job->columns.chirp;
    const uint height = job->columns.length;
    const mask_t none = {0};
    z += 2 * job->strip_size * (picture * job->strips + strip);
    image += picture * height * job->pitch + min(strip * 2 * VECTOR, job->last);

    brightest_t most = 0;
    for (uint k = 0; k < height; ++k) {
        most = brighter(most, image + (size_t)k * job->pitch);
        put(x, k, spun(pixels(image + (size_t)k * job->pitch), chirp[k].x, chirp[k].y));
    }
    clear(x, height, job->columns.points);
    brightest[picture * job->strips + strip] = largest_of(to_floats(most));

    there_and_back(x, &job->columns, spin, none);
    for (uint k = 0; k < height; ++k)
        put(z, k, spun(get(x, k), chirp[k].x, chirp[k].y));
    clear_blocked(job, z, places);
}

ONCE void columns_inverse(global const job_t *job, global vector_t *z, global vector_t *x, global float *largest,
                          global const float2 *spin, const size_t picture, const uint strip)
{
    global const float2 *chirp = spin + job->columns.chirp;
    const uint height = job->columns.length;
    const mask_t none = {0};
    z += 2 * job->strip_size * (picture * job->strips + strip);

    for (uint k = 0; k < height; ++k)
        put(x, k, spun(turned(get(z, k)), chirp[k].x, chirp[k].y));
    clear(x, height, job->columns.points);

    there_and_back(x, &job->columns, spin, none);
    vector_t most = 0;
    for (uint k = 0; k < height; ++k) {
        const number_t magnitude = magnitudes(spun(get(x, k), chirp[k].x, chirp[k].y));
        most = larger_part(most, magnitude);
        put(z, k, magnitude);
    }
    largest[picture * job->strips + strip] = largest_of(most);
}
