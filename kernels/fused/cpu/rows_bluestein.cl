// Rows of a width with a large prime in it: those of rows.cl by Bluestein's chirp-z (bluestein.cl).
//
// The forward transform's last product with the chirp, the mask and the inverse's first product are one sweep.

NOINLINE void rows_bluestein(global const job_t *job, global vector_t *z, global vector_t *x, global const float2 *spin,
                             global const uint *places, const mask_tables_t tables, const size_t picture,
                             const uint group)
{
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    global const float2 *chirp = spin + job->rows.chirp;
    const uint width = job->rows.points;
#if !IS_MIRRORED
    const mask_t mask = mask_of(job, tables, group);
#endif
    z += 2 * (size_t)job->strip_stride * job->strips * picture;

    load_rows(job, x, z, at, mirror);
    for (uint k = 0; k < width; ++k)
        store(x + 2 * k, spun(load(x + 2 * k), chirp[k].x, chirp[k].y));
    for (uint is_inverse = 0; is_inverse < 2; ++is_inverse) {
        clear(x, width, job->rows.length);
        convolve(x, &job->rows, spin);
        for (uint k = 0; k < width; ++k) {
            const number_t a = spun(load(x + 2 * k), chirp[k].x, chirp[k].y);
#if IS_MIRRORED
            store(x + 2 * k, is_inverse ? swapped(a) : a);
#else
            store(x + 2 * k, is_inverse ? swapped(a)
                                        : spun(swapped(times(a, gain(mask, k))), chirp[k].x, chirp[k].y));
#endif
        }
#if IS_MIRRORED
        if (is_inverse)
            break;
        mirrored_mask(job, x, tables, group);
        for (uint k = 0; k < width; ++k)
            store(x + 2 * k, spun(swapped(load(x + 2 * k)), chirp[k].x, chirp[k].y));
#endif
    }
    store_rows(job, z, x, at, mirror);
}
