// Rows of a width with a large prime in it: those of rows.cl through Bluestein's chirp-z.
//
// The forward transform's last product with the chirp, the mask and the inverse's first product are one sweep.

ALWAYS void rows(global const job_t *job, global vector_t *z, global vector_t *x, global const float2 *spin,
                 global const uint *places, global const across_t *across, global const down_t *down,
                 global const vector_t *gains, const size_t picture, const uint group)
{
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    global const float2 *chirp = spin + job->rows.chirp;
    const uint width = job->rows.length;
    const mask_t mask = {across, down[group], gains + (size_t)group * width, job->order, job->scale};
    z += 2 * (size_t)job->strip_size * job->strips * picture;

    for (uint strip = 0; strip < job->strips; ++strip) {
        if (strip + 2 < job->strips)
            fetch_rows(z + 2 * (size_t)job->strip_size * (strip + 2), at);
        take_apart(x + 2 * min(strip * 2 * VECTOR, job->last), z + 2 * (size_t)job->strip_size * strip, at, mirror);
    }
    for (uint k = 0; k < width; ++k)
        put(x, k, spun(get(x, k), chirp[k].x, chirp[k].y));
    for (uint is_back = 0; is_back < 2; ++is_back) {
        clear(x, width, job->rows.points);
        there_and_back(x, &job->rows, spin, mask);
        for (uint k = 0; k < width; ++k) {
            const number_t a = spun(get(x, k), chirp[k].x, chirp[k].y);
            put(x, k, is_back ? turned(a) : spun(turned(times(a, gain(mask, k))), chirp[k].x, chirp[k].y));
        }
    }
    // What rounding left in the columns that fill a narrow image up to a strip must not count as its largest value.
    clear(x, width, job->pitch);
    for (uint strip = 0; strip < job->strips; ++strip)
        put_together(z + 2 * (size_t)job->strip_size * strip, x + 2 * min(strip * 2 * VECTOR, job->last), at, mirror);
}
