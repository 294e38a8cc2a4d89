// Quantize: values to pixels, on the ramp of their picture (ramp.cl).
//
// Reads    strips of values; largest[] and deviation[] of every strip
// Writes   a band of pixels, and how many of them are clipped
//
// The values still have the scale of the vertical transforms, the height, and so have the ramps.
//
// -D STORE_PIXEL=uchar | ushort | float    the output's type

#ifndef STORE_PIXEL
#error "fused/cpu/quantize.cl: -D STORE_PIXEL=uchar, ushort or float is missing"
#endif

#if PASTE(STORE_PIXEL, _is_float)
#define TO_PIXELS(values) (values)
#else
#define TO_PIXELS(values) PASTE(PASTE(convert_, STORE_PIXEL), VECTOR)(PASTE(convert_int, VECTOR)(values))
#endif

// Pixels as they lie in an image, at any address.
typedef PASTE(STORE_PIXEL, VECTOR) __attribute__((aligned(sizeof(STORE_PIXEL)))) stored_pixels_t;

INLINE uint sum_of(const integers_t v)
{
    const int *lanes = (const int *)&v;
    uint sum = 0;
    for (uint i = 0; i < VECTOR; ++i)
        sum += lanes[i];
    return sum;
}

NOINLINE void quantize(global const job_t *job, global STORE_PIXEL *image, global const vector_t *z,
                       global const float *largest, global const float *deviation, global const ramp_t *ramps,
                       global uint *clipped, const size_t picture, const uint band)
{
    const uint strips = job->strips, pitch = job->pitch, height = job->columns.points;
    const float most = largest_of_picture(job, largest, picture), far = largest_of_picture(job, deviation, picture);
    const ramp_t given = ramps[job->one_scale ? 0 : picture];
    const ramp_t ramp = ramp_for(given, most, most <= given.noise * far);

    const uint first = (ulong)height * band / job->bands;
    const uint end = (ulong)height * (band + 1) / job->bands;
    integers_t beyond = 0;
    for (uint strip = 0; strip < strips; ++strip) {
        const uint left = min(strip * 2 * VECTOR, job->last_start);
        global const vector_t *from = z + 2 * (job->strip_stride * (picture * strips + strip) + first);
        global STORE_PIXEL *to_strip = image + picture * height * pitch + left;
        integers_t own[2];
        own_columns(own, job, strip);
        for (uint row = first; row < end; ++row, from += 2) {
            global stored_pixels_t *to = (global stored_pixels_t *)(to_strip + (size_t)pixel_at(row, height) * pitch);
#pragma unroll
            for (uint side = 0; side < 2; ++side) {
                const vector_t value = on_ramp(from[side], ramp), level = level_on(value, ramp);
                if (ramp.counts)
                    beyond -= own[side] & (level < ramp.below | level >= ramp.above);
                to[side] = TO_PIXELS(pixel_on(value, level, ramp));
            }
        }
    }
    clipped[picture * job->bands + band] = sum_of(beyond);
}
