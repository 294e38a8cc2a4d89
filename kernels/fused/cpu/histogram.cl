// Histogram: how many magnitudes lie in each of some bins from 0 to the picture's largest, for the host to find a ramp.
//
// Reads    strips of values; largest[] of every strip
// Writes   counts, of a band of rows, of which every counted_row-th counts, to bins of the worker's own; one more behind
//          them has what is not to be counted (see quantize.cl)

NOINLINE void histogram(global const job_t *job, global const vector_t *z, global const float *largest,
                        global uint *counts, const uint bins, const size_t picture, const uint band)
{
    const uint strips = job->strips, height = job->columns.points;
    const float most = largest_of_picture(job, largest, picture);
    const float scale = most > 0 ? bins / most : 0;
    const uint first = (ulong)height * band / job->bands;
    const uint end = (ulong)height * (band + 1) / job->bands;
    for (uint strip = 0; strip < strips; ++strip) {
        global const vector_t *from = z + 2 * (job->strip_stride * (picture * strips + strip) + first);
        integers_t own[2];
        own_columns(own, job, strip);
        for (uint row = first; row < end; ++row, from += 2) {
            if (pixel_at(row, height) % job->counted_row)
                continue;
            for (uint side = 0; side < 2; ++side) {
                const vector_t place = absolute(from[side]) * scale, last = (vector_t)(bins - 1);
                // Truncated without a conversion, which PoCL's compiler fails at for processors whose features are not
                // known: adding 2^23 leaves the nearest whole number in the lowest bits, and a comparison that is true
                // takes 1 from it.
                const vector_t inside = place < last ? place : last, nearest = inside + 0x1p23f;
                const integers_t bin = (PASTE(as_int, VECTOR)(nearest) & 0x7fffff) + (nearest - 0x1p23f > inside);
                const integers_t counted = own[side] ? bin : (integers_t)(bins);
                const int *lanes = (const int *)&counted;
#pragma unroll
                for (uint i = 0; i < VECTOR; ++i)
                    ++counts[lanes[i]];
            }
        }
    }
}
