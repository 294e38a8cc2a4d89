// Rows: the horizontal transform, the mask and the inverse transform of VECTOR rows.
//
// The spectrum of a row never leaves the cache, and the lower half of the rows is enough: the upper one mirrors
// it. Rows of vertical frequencies whose gain is the same at all horizontal ones are in no group: transform, mask and
// inverse would multiply them by that gain, which is 1, or 0 and the columns have cleared them.
//
// Reads    z, strips of packed columns; places[]: how many bytes behind its strip each row and its mirrored row lie
// Writes   the filtered rows to the same places
// Spare    x, room for one group

ALWAYS void rows(global const job_t *job, global vector_t *z, global vector_t *x, global const float2 *spin,
                 global const uint *places, global const across_t *across, global const down_t *down,
                 global const vector_t *gains, const size_t picture, const uint group)
{
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    const mask_t mask = {across, down[group], gains + (size_t)group * job->rows.length, job->order, job->scale};
    z += 2 * (size_t)job->strip_size * job->strips * picture;

    for (uint strip = 0; strip < job->strips; ++strip) {
        if (strip + 2 < job->strips)
            fetch_rows(z + 2 * (size_t)job->strip_size * (strip + 2), at);
        take_apart(x + 2 * min(strip * 2 * VECTOR, job->last), z + 2 * (size_t)job->strip_size * strip, at, mirror);
    }
    there_and_back(x, &job->rows, spin, mask);
    // What rounding left in the columns that fill a narrow image up to a strip must not count as its largest value.
    clear(x, job->rows.length, job->pitch);
    for (uint strip = 0; strip < job->strips; ++strip)
        put_together(z + 2 * (size_t)job->strip_size * strip, x + 2 * min(strip * 2 * VECTOR, job->last), at, mirror);
}
