// Histogram: counts the magnitudes in bins from 0 to the picture's largest, and finds the ramp that follows.
//
// A few tasks count, each a part of the strips in bins of its own; adding up the bins of more tasks would take longer.
// Neighbors are often alike, and a CPU waits for a counter that it has just written. So neighboring lanes count in
// copies of the bins.
//
// needs: fused/cpu/pixels.cl ramp.cl

// The most tasks that count, and the copies of the bins that each has
#define COUNTERS 4
#define COPIES 2

// How many tasks count
INLINE uint counters_of(global const params_t *params)
{
    return min(params->strips, (uint)COUNTERS);
}

// Counts a vector of magnitudes, or every second one of them from `first` on, those that are `own`; the others go
// behind the bins.
INLINE void count(global uint *counts, const vector_t magnitudes, const float scale, const uint bins,
                  const integers_t own, const uint every, const uint first)
{
    // Truncated without a conversion, which PoCL's compiler fails at for processors whose features are not known:
    // adding 2^23 leaves the nearest whole number in the lowest bits, and a comparison that is true takes 1 from it.
    const vector_t place = magnitudes * scale, last = (vector_t)(bins - 1);
    const vector_t inside = place < last ? place : last, nearest = inside + 0x1p23f;
    const integers_t bin = (PASTE(as_int, VECTOR)(nearest) & 0x7fffff) + (nearest - 0x1p23f > inside);
    const integers_t counted = own ? bin : (integers_t)(bins);
    const int *lanes = (const int *)&counted + first;
    if (every == 1)
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            ++counts[lanes[i] + i % COPIES * (bins + VECTOR)];
    else
#pragma unroll
        for (uint i = 0; i < VECTOR; i += 2)
            ++counts[lanes[i] + i / 2 % COPIES * (bins + VECTOR)];
}

// Reads    strips of values of a picture's `images`, every counted_row-th row and, 1 or 2, every counted_column-th
//          column;
//          largest[] of every strip
// Writes   counts of the task, number `counter`
NOINLINE void histogram(global const params_t *params, global const vector_t *z, global const float *largest,
                        global uint *counts, const uint bins, const size_t first_image, const uint images,
                        const uint counter)
{
    const uint strips = params->strips, height = params->columns.points, counters = counters_of(params);
    const float most = largest_of_picture(params, largest, first_image);
    const float scale = most > 0 ? bins / most : 0;
    counts += counter * (COPIES * (bins + VECTOR));
    for (uint image = 0; image < images; ++image)
        for (uint strip = strips * counter / counters; strip < strips * (counter + 1) / counters; ++strip) {
            global const vector_t *from = z + 2 * params->strip_stride * ((first_image + image) * strips + strip);
            integers_t own[2];
            own_columns(own, params, strip);
            const uint every = params->counted_column, first = min(strip * 2 * VECTOR, params->last_start) % every;
            for (uint row = 0; row < height; row += params->counted_row) {
                const number_t values = load(from + 2 * place_of_pixel(row, height));
                count(counts, absolute(values.re), scale, bins, own[0], every, first);
                count(counts, absolute(values.im), scale, bins, own[1], every, first);
            }
        }
}

// Reads    counts of all tasks, which become 0; largest[] of every strip
// Writes   the picture's ramp
NOINLINE void ramp_of_histogram(global const params_t *params, global ramp_t *ramp, const wanted_t wanted,
                                global const float *largest, global uint *counts, const uint bins,
                                const size_t first_image)
{
    // In bins: their end where no sample is larger
    float ends[2] = {bins, bins};
    uint before = 0;
    for (uint first = 0; first < bins; first += VECTOR) {
        integers_t sums = 0;
        for (uint i = 0; i < counters_of(params) * COPIES; ++i) {
            global integers_t *own = (global integers_t *)(counts + (bins + VECTOR) * i + first);
            sums += *own;
            *own = 0;
        }
        const int *lanes = (const int *)&sums;
        for (uint i = 0; i < VECTOR; ++i) {
            const uint count = lanes[i];
            for (uint end = 0; end < 2; ++end)
                if (wanted.smaller[end] - before < count)
                    ends[end] = first + i + (wanted.smaller[end] - before + wanted.part[end]) / count;
            before += count;
        }
    }
    const float step = largest_of_picture(params, largest, first_image) / bins;
    *ramp = ramp_between(wanted, ends[0] * step, ends[1] * step);
}
