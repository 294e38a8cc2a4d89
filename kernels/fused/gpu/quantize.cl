// Quantize: maps values to pixels on the ramp of their picture (ramp.cl).
//
// Launch   (pixels/16, images) work-items in groups
// Reads    values[i], PIXELS_PER_ITEM at once     -> coalesced
// Writes   output[i]; behind the image's largest magnitude how many pixels are clipped, and about how many levels are
//          undecided. An image that never exceeds its ramp's noise times its largest deviation from its offset is
//          rounding noise.
//
// needs: fused/gpu/pixels.cl ramp.cl offset.cl
//
// -D LOAD_PIXEL=uchar | ushort | float     the type of the image's pixels
// -D QUANTIZE_GROUP=n                      work-items of a group, where the kernel is its own
// -D ONE_LAUNCH=1                          without a kernel: filter.cl calls the function

#ifndef LOAD_PIXEL
#error "fused/gpu/quantize.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

// Whether no pixel is as far from its image's offset as this: then what was found is more than rounding noise. Seldom
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
        if (i < count && fabs(image[i] - (real_t)offset(image + i / size * size, height, width, width)) >= far)
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

// One value of so many is looked at whether its level is undecided, of small pictures each one: odd, as what repeats is
// often even
#define EVERY(size) ((uint)((size) >> 13 < 32 ? (size) >> 13 : 32) | 1)

// Adds how many of a work-item's values are undecided. Seldom one is: a sum over the work-group would take longer.
INLINE void add_undecided(global uint *undecided, const uint own, const uint every)
{
    if (own)
        atomic_add(undecided, own * every);
}

// Numbers i, i + group, ... of the values, as many as are fetched together
INLINE void fetch(VALUE *fetched, global const VALUE *values, const uint i, const uint count, const uint group)
{
    UNROLL
    for (uint n = 0; n < FETCHED; n++)
        if (i + n * group < count)
            fetched[n] = values[i + n * group];
}

// Whether a picture whose largest magnitude is found is rounding noise. `range` is the largest deviation that the type
// has.
INLINE bool is_noise(global const LOAD_PIXEL *image, const real_t most, const uint one_scale, const real_t noise,
                     const real_t range, const uint height, const uint width, const size_t picture,
                     const size_t pictures, local uint *found)
{
    const size_t size = (size_t)height * width;
    global const LOAD_PIXEL *pixels = one_scale ? image : image + picture * size;
    return most <= noise * range
        && !all_nearer(pixels, height, width, one_scale ? size * pictures : size, most / noise, found);
}

// The first of `count` values as they are fetched, PIXELS_PER_ITEM at once; each of the `group` work-items takes every
// group-th of them. Returns how many it clipped. The group takes its values in turns, of which the first is number
// `turn`; of `every` turns one is looked at.
INLINE uint quantize(global pixels_t *output, global const VALUE *values, VALUE *fetched, const uint count,
                     const ramp_t ramp, const uint group, const uint turn, const uint every, global uint *undecided)
{
    uint clipped = 0, near = 0, i = get_local_id(0), next = every - 1 - turn % every;
    while (i < count) {
        UNROLL
        for (uint n = 0; n < FETCHED; n++)
            if (i + n * group < count) {
                const VALUE value = on_ramp(fetched[n], ramp), level = level_on(value, ramp);
                if (ramp.counts)
                    clipped += count_of(level, ramp.below, ramp.above);
                if (n == next) {
                    near += count_of(from_edge(level, ramp), ramp.undecided, 1);
                    next += every;
                }
                output[i + n * group] = CONVERT(pixel_on(value, level, ramp));
            }
        next -= FETCHED;
        i += FETCHED * group;
        fetch(fetched, values, i, count, group);
    }
    add_undecided(undecided, near, every);
    return clipped;
}

#ifndef ONE_LAUNCH
kernel void gpu_quantize(global pixels_t *output, global const VALUE *values, global const LOAD_PIXEL *image,
                         global uint *largest, const uint one_scale, global const ramp_t *ramps, const real_t range,
                         const uint height, const uint width)
{
    local uint found;
    const size_t picture = get_global_id(1), size = (size_t)height * width / PIXELS_PER_ITEM;
    const size_t first = get_group_id(0) * (QUANTIZE_GROUP * FETCHED);
    const uint count = min(size - first, (size_t)(QUANTIZE_GROUP * FETCHED));
    values += picture * size + first;
    VALUE fetched[FETCHED];
    fetch(fetched, values, get_local_id(0), count, QUANTIZE_GROUP);
    const size_t own = one_scale ? 0 : picture;
    const real_t most = as_float(largest[FOUND * own]);
    const ramp_t given = ramps[own];
    const bool noise = is_noise(image, most, one_scale, given.noise, range, height, width, picture, get_global_size(1),
                                &found);
    const ramp_t ramp = ramp_for(given, most, noise);
    const uint clipped = quantize(output + picture * size + first, values, fetched, count, ramp, QUANTIZE_GROUP,
                                  get_group_id(0) * FETCHED, EVERY((size_t)height * width), largest + FOUND * own + 2);
    // Without a condition: PoCL miscounts where barriers have one.
    keep_sum(largest + FOUND * own + 1, clipped, &found);
}
#endif
