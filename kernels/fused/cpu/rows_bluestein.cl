// Rows of a width with a large prime in it: those of rows.cl by Bluestein's chirp-z (bluestein.cl).
//
// The forward transform's last product with the chirp, the mask and the inverse's first product are one sweep.

// The inverse transform of a group of rows, times the chirp already, from the work space to their places
NOINLINE void inverse_rows_bluestein(global const job_t *job, global vector_t *z, global vector_t *x,
                                     global const float2 *spin, global const uint *at, global const uint *mirror)
{
    global const float2 *chirp = spin + job->rows.chirp;
    clear(x, job->rows.points, job->rows.length);
    convolve(x, &job->rows, spin);
    for (uint k = 0; k < job->rows.points; ++k)
        store(x + 2 * k, swapped(spun(load(x + 2 * k), chirp[k].x, chirp[k].y)));
    store_rows(job, z, x, at, mirror);
}

NOINLINE void rows_bluestein(global const job_t *job, global vector_t *z, global vector_t *x, global const float2 *spin,
                             global const uint *places, const mask_tables_t tables, const size_t picture,
                             const uint group)
{
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    global const float2 *chirp = spin + job->rows.chirp;
    const uint width = job->rows.points;
    z += 2 * (size_t)job->strip_stride * job->strips * picture;

    load_rows(job, x, z, at, mirror);
    for (uint k = 0; k < width; ++k)
        store(x + 2 * k, spun(load(x + 2 * k), chirp[k].x, chirp[k].y));
    clear(x, width, job->rows.length);
    convolve(x, &job->rows, spin);
#if IS_MIRRORED
    global vector_t *x_other = x + 2 * (size_t)job->workspace;
    for (uint k = 0; k < width; ++k)
        store(x + 2 * k, spun(load(x + 2 * k), chirp[k].x, chirp[k].y));
    mirrored_mask(job, x, x_other, tables, group);
    for (uint k = 0; k < width; ++k)
        store(x + 2 * k, spun(swapped(load(x + 2 * k)), chirp[k].x, chirp[k].y));
#else
    const mask_t mask = mask_of(job, tables, group);
    for (uint k = 0; k < width; ++k) {
        const number_t a = spun(load(x + 2 * k), chirp[k].x, chirp[k].y);
        store(x + 2 * k, spun(swapped(times(a, gain(mask, k))), chirp[k].x, chirp[k].y));
    }
#endif
    inverse_rows_bluestein(job, z, x, spin, at, mirror);
#if TWOFOLD
    for (uint k = 0; k < width; ++k)
        store(x_other + 2 * k, spun(swapped(load(x_other + 2 * k)), chirp[k].x, chirp[k].y));
    inverse_rows_bluestein(job, other_strips(job, z), x_other, spin, at, mirror);
#endif
}
