// Quantize: values to pixels, on the ramp of their picture (ramp.cl).
//
// Reads    strips of values; largest[] and deviation[] of every strip
// Writes   the pixels of a band of rows, of strips that share lines of the cache, how many of them are clipped, and
//          how many levels of some rows are undecided; 0 and the largest magnitude of each picture, without the columns'
//          scale
//
// The last strip may share columns with the one before it, whose values differ in the last bit. One task writes both,
// in order.
//
// Strips are read from the first row to the last, as a CPU prefetches. Values and ramps still have the scale of the
// vertical transforms, the height.
//
// needs: fused/cpu/pixels.cl ramp.cl

// Pixels as they lie in an image, at any address
typedef PASTE(uchar, VECTOR) __attribute__((aligned(1))) pixels_of_1_t;
typedef PASTE(ushort, VECTOR) __attribute__((aligned(2))) pixels_of_2_t;
typedef vector_t __attribute__((aligned(4))) pixels_of_4_t;

// Levels truncated to a type of whole numbers
#define WHOLE(type, values) PASTE(PASTE(convert_, type), VECTOR)(PASTE(convert_int, VECTOR)(values))

// Writes VECTOR pixels of `bytes`, which is a constant wherever this is called
INLINE void store_pixels(global char *at, const uint bytes, const vector_t values)
{
    switch (bytes) {
    case 1: *(global pixels_of_1_t *)at = WHOLE(uchar, values); break;
    case 2: *(global pixels_of_2_t *)at = WHOLE(ushort, values); break;
    case 4: *(global pixels_of_4_t *)at = values; break;
    }
}

INLINE uint sum_of(const integers_t v)
{
    const int *lanes = (const int *)&v;
    uint sum = 0;
    for (uint i = 0; i < VECTOR; ++i)
        sum += lanes[i];
    return sum;
}

// Strips that share a line, of pixels of one byte
#define MOST_WRITTEN (LINE > 2 * VECTOR ? LINE / (2 * VECTOR) : 1)

// A task's pixels of `bytes` each; returns how many are clipped, and how many levels of every n-th row are undecided.
// Strips side by side have other rows.
INLINE uint2 quantize_to(const uint bytes, global const params_t *params, global char *image, global const vector_t *z,
                        const ramp_t ramp, const size_t picture, const uint task)
{
    const uint strip = task / params->bands * params->strips_written, behind = params->strips - strip;
    const uint count = behind <= params->strips_written + 1 ? behind : params->strips_written;
    const uint height = params->columns.points, band = task % params->bands;
    const uint first = (ulong)height * band / params->bands, end = (ulong)height * (band + 1) / params->bands;
    z += 2 * (size_t)params->strip_stride * (picture * params->strips + strip);
    image += bytes * (picture * height * params->pitch);
    integers_t own[2 * (MOST_WRITTEN + 1)];
    for (uint i = 0; i < count; ++i)
        own_columns(own + 2 * i, params, strip + i);
    const uint step = params->decided_row;
    uint decided = first + step - 1 - (first + 37 * strip) % step;
    integers_t beyond = 0, undecided = 0;
    for (uint row = first; row < end; ++row) {
        global char *to_row = image + bytes * ((size_t)pixel_at(row, height) * params->pitch);
        for (uint i = 0; i < count; ++i) {
            global const vector_t *from = z + 2 * ((size_t)params->strip_stride * i + row);
            global char *to = to_row + bytes * min((strip + i) * 2 * VECTOR, params->last_start);
#pragma unroll
            for (uint side = 0; side < 2; ++side) {
                const vector_t value = on_ramp(from[side], ramp), level = level_on(value, ramp);
                if (ramp.counts)
                    beyond -= own[2 * i + side] & (level < ramp.below | level >= ramp.above);
                store_pixels(to + bytes * VECTOR * side, bytes, pixel_on(value, level, ramp));
            }
        }
        if (row == decided) {
            decided += step;
            for (uint i = 0; i < 2 * count; ++i) {
                const vector_t value = z[2 * ((size_t)params->strip_stride * (i / 2) + row) + i % 2];
                const vector_t level = level_on(on_ramp(value, ramp), ramp);
                undecided -= own[i] & (from_edge(level, ramp) < ramp.undecided);
            }
        }
    }
    return (uint2)(sum_of(beyond), sum_of(undecided));
}

INLINE uint tasks_of_quantize(global const params_t *params)
{
    const uint others = params->strips > 1 ? params->strips - 1 : 1;
    return (others + params->strips_written - 1) / params->strips_written * params->bands;
}

NOINLINE void quantize(global const params_t *params, global char *image, global const vector_t *z,
                       global const float *largest, global const float *deviation, global const ramp_t *ramps,
                       global uint2 *counted, global float2 *extremes, const size_t picture, const uint task)
{
    const float most = largest_of_picture(params, largest, picture);
    const float far = largest_of_picture(params, deviation, picture);
    const ramp_t given = ramps[params->one_scale ? 0 : picture];
    const ramp_t ramp = ramp_for(given, most, most <= given.noise * far);
    // For the host, whose Python is slow after a run: the workers have driven it out of the caches.
    if (task == 0 && (picture == 0 || !params->one_scale))
        extremes[picture] = (float2)(0, most * params->column_scale);
    global uint2 *to = counted + picture * tasks_of_quantize(params) + task;
    switch (params->pixel_bytes) {
    case 1: *to = quantize_to(1, params, image, z, ramp, picture, task); break;
    case 2: *to = quantize_to(2, params, image, z, ramp, picture, task); break;
    case 4: *to = quantize_to(4, params, image, z, ramp, picture, task); break;
    }
}
