// Quantize: values to pixels, on the ramp of their picture (ramp.cl), with the largest magnitude where it was found.
//
// Launch   (pixels/4, images) work-items in groups
// Reads    values[i], PIXELS_PER_ITEM at once     -> coalesced
// Writes   output[i]; how many pixels are clipped, behind the image's largest magnitude. An image that never exceeds
//          its ramp's noise times its largest deviation from its ground is rounding noise.
//
// -D LOAD_PIXEL=uchar | ushort | float     the type of the image's pixels
// -D ONE_LAUNCH=1                          without a kernel: filter.cl calls the function

#ifndef LOAD_PIXEL
#error "fused/gpu/quantize.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

// Whether no pixel is as far from its image's ground as this: then what was found is more than rounding noise. Seldom
// called, only when nothing exceeds the noise of the range that the type has; ends at the first such pixel.
INLINE bool all_nearer(global const LOAD_PIXEL *image, const uint height, const uint width, const size_t count,
                       const real_t far, local uint *found)
{
    const size_t size = (size_t)height * width;
    for (size_t start = 0; start < count; start += get_local_size(0)) {
        const size_t i = start + get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            *found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < count && fabs(image[i] - (real_t)ground(image + i / size * size, height, width, width)) >= far)
            atomic_or(found, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (*found)
            return false;
    }
    return true;
}

// The sum over the work-group goes to *sum; found is the group's own place for it.
INLINE void keep_sum(global uint *sum, const uint own, local uint *found)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own)
        atomic_add(found, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && *found)
        atomic_add(sum, *found);
}

// Values first ... end - 1 of a picture, PIXELS_PER_ITEM at once; a work-item takes every get_local_size(0)th of them.
// `range` is the largest deviation that the type has.
INLINE void quantize(global pixels_t *output, global const VALUE *values, global const LOAD_PIXEL *image,
                     global uint *largest, const uint one_scale, global const ramp_t *ramps, const real_t range,
                     const uint height, const uint width, const size_t first, const size_t end, const size_t picture, const size_t pictures,
                     local uint *found)
{
    const size_t own = one_scale ? 0 : picture, size = (size_t)height * width;
    const real_t most = as_float(largest[2 * own]);
    const ramp_t given = ramps[own];
    global const LOAD_PIXEL *pixels = one_scale ? image : image + picture * size;
    const bool is_noise = most <= given.noise * range
        && !all_nearer(pixels, height, width, one_scale ? size * pictures : size, most / given.noise, found);
    const ramp_t ramp = ramp_for(given, most, is_noise);
    values += picture * (size / PIXELS_PER_ITEM);
    output += picture * (size / PIXELS_PER_ITEM);
    uint clipped = 0;
    for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) {
        const VALUE value = on_ramp(values[i], ramp), level = level_on(value, ramp);
        if (ramp.counts)
            clipped += count_of(level, ramp.below, ramp.above);
        output[i] = CONVERT(pixel_on(value, level, ramp));
    }
    // Without a condition: PoCL miscounts where barriers have one.
    keep_sum(largest + 2 * own + 1, clipped, found);
}

#ifndef ONE_LAUNCH
kernel void gpu_quantize(global pixels_t *output, global const VALUE *values, global const LOAD_PIXEL *image,
                         global uint *largest, const uint one_scale, global const ramp_t *ramps, const real_t range,
                         const uint height, const uint width)
{
    local uint found;
    const size_t each = get_local_size(0) * 4 / PIXELS_PER_ITEM, first = get_group_id(0) * each;
    const size_t end = min(first + each, (size_t)height * width / PIXELS_PER_ITEM);
    quantize(output, values, image, largest, one_scale, ramps, range, height, width, first, end, get_global_id(1),
             get_global_size(1), &found);
}
#endif
