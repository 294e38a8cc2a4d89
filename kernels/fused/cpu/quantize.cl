// Quantize: values to pixels, on the ramp of their picture (ramp.cl).
//
// Reads    strips of values; largest[] and deviation[] of every strip
// Writes   a band of pixels, and how many of them are clipped
//
// The values still have the scale of the vertical transforms, the height, and so have the ramps.

// Pixels as they lie in an image, at any address
typedef PASTE(uchar, VECTOR) __attribute__((aligned(1))) pixels_of_1_t;
typedef PASTE(ushort, VECTOR) __attribute__((aligned(2))) pixels_of_2_t;
typedef vector_t __attribute__((aligned(4))) pixels_of_4_t;

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

// A band of pixels of `bytes` each; returns how many are clipped.
INLINE uint quantize_to(const uint bytes, global const job_t *job, global char *image, global const vector_t *z,
                        const ramp_t ramp, const size_t picture, const uint band)
{
    const uint strips = job->strips, pitch = job->pitch, height = job->columns.points;
    const uint first = (ulong)height * band / job->bands;
    const uint end = (ulong)height * (band + 1) / job->bands;
    integers_t beyond = 0;
    for (uint strip = 0; strip < strips; ++strip) {
        const uint left = min(strip * 2 * VECTOR, job->last_start);
        global const vector_t *from = z + 2 * (job->strip_stride * (picture * strips + strip) + first);
        global char *to_strip = image + bytes * (picture * height * pitch + left);
        integers_t own[2];
        own_columns(own, job, strip);
        for (uint row = first; row < end; ++row, from += 2) {
            global char *to = to_strip + bytes * ((size_t)pixel_at(row, height) * pitch);
#pragma unroll
            for (uint side = 0; side < 2; ++side) {
                const vector_t value = on_ramp(from[side], ramp), level = level_on(value, ramp);
                if (ramp.counts)
                    beyond -= own[side] & (level < ramp.below | level >= ramp.above);
                store_pixels(to + bytes * VECTOR * side, bytes, pixel_on(value, level, ramp));
            }
        }
    }
    return sum_of(beyond);
}

NOINLINE void quantize(global const job_t *job, global char *image, global const vector_t *z,
                       global const float *largest, global const float *deviation, global const ramp_t *ramps,
                       global uint *clipped, const size_t picture, const uint band)
{
    const float most = largest_of_picture(job, largest, picture), far = largest_of_picture(job, deviation, picture);
    const ramp_t given = ramps[job->one_scale ? 0 : picture];
    const ramp_t ramp = ramp_for(given, most, most <= given.noise * far);
    global uint *to = clipped + picture * job->bands + band;
    switch (job->pixel_bytes) {
    case 1: *to = quantize_to(1, job, image, z, ramp, picture, band); break;
    case 2: *to = quantize_to(2, job, image, z, ramp, picture, band); break;
    case 4: *to = quantize_to(4, job, image, z, ramp, picture, band); break;
    }
}
