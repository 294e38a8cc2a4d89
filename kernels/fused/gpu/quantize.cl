// Quantize: magnitudes to grey levels, as staged/steps/quantize.cl, with the largest magnitude where it was found.
//
// Launch   (SIZE/PIXELS_PER_ITEM, images) work-items in groups
// Reads    values[i], PIXELS_PER_ITEM at once     -> coalesced
// Writes   output[i] = levels value/largest, truncated; from the part `white` of the largest on, levels exactly. An
//          image that never exceeds noise times its largest deviation from its ground is zero.
//
// -D WIDTH, HEIGHT                         of the image
// -D PIXELS_PER_ITEM=1 | 4                 that a work-item takes, a divisor of the image's
// -D LOAD_PIXEL=uchar | ushort | float     the type of the image's pixels
// -D STORE_PIXEL=uchar | ushort | float    the type of the output's
// -D ONE_LAUNCH=1                          without a kernel: filter.cl calls the function

#if !defined WIDTH || !defined HEIGHT || !defined PIXELS_PER_ITEM || !defined LOAD_PIXEL || !defined STORE_PIXEL
#error "fused/gpu/quantize.cl: -D WIDTH, HEIGHT, PIXELS_PER_ITEM, LOAD_PIXEL or STORE_PIXEL is missing"
#endif

#define SIZE ((size_t)WIDTH * HEIGHT)
#if PIXELS_PER_ITEM == 1
typedef real_t values_t;
typedef STORE_PIXEL pixels_t;
#define CONVERT(levels) (STORE_PIXEL)(levels)
#define CHOOSE(if_not, if_so, condition) ((condition) ? (if_so) : (if_not))
#else
typedef float4 values_t;
typedef PASTE(STORE_PIXEL, 4) pixels_t;
#define CONVERT PASTE(PASTE(convert_, STORE_PIXEL), 4)
#define CHOOSE select
#endif

// Whether no pixel is as far from its image's ground as this: then what was found is more than rounding noise. Seldom
// called, only when nothing exceeds the noise of the range that the type has; ends at the first such pixel.
INLINE bool all_nearer(global const LOAD_PIXEL *image, const size_t count, const real_t far, local uint *found)
{
    for (size_t start = 0; start < count; start += get_local_size(0)) {
        const size_t i = start + get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            *found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < count && fabs(image[i] - (real_t)ground(image + i / SIZE * SIZE, HEIGHT, WIDTH, WIDTH)) >= far)
            atomic_or(found, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (*found)
            return false;
    }
    return true;
}

typedef struct {
    real_t noise, range;
    real_t levels, nudge, white;
} grey_t;

// Values first ... end - 1 of a picture, counted in values_t; a work-item takes every get_local_size(0)th of them.
INLINE void quantize(global pixels_t *output, global const values_t *values, global const LOAD_PIXEL *image,
                     global const uint *largest, const uint one_scale, const grey_t grey, const size_t first,
                     const size_t end, const size_t picture, const size_t pictures, local uint *found)
{
    const real_t most = as_float(largest[one_scale ? 0 : picture]);
    global const LOAD_PIXEL *pixels = one_scale ? image : image + picture * SIZE;
    const bool is_noise = most <= grey.noise * grey.range
        && !all_nearer(pixels, one_scale ? SIZE * pictures : SIZE, most / grey.noise, found);
    values += picture * (SIZE / PIXELS_PER_ITEM);
    output += picture * (SIZE / PIXELS_PER_ITEM);
    for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) {
        const values_t value = values[i];
        const values_t level = mad(value, (values_t)(grey.levels / most), (values_t)(grey.nudge));
        const values_t inside = CHOOSE((values_t)(grey.levels), fmin(level, (values_t)(grey.levels)),
                                       value < (values_t)(grey.white * most));
        output[i] = is_noise ? (pixels_t)(0) : CONVERT(inside);
    }
}

#ifndef ONE_LAUNCH
kernel void gpu_quantize(global pixels_t *output, global const values_t *values, global const LOAD_PIXEL *image,
                         global const uint *largest, const uint one_scale, const real_t noise, const real_t range,
                         const real_t levels, const real_t nudge, const real_t white)
{
    local uint found;
    const grey_t grey = {noise, range, levels, nudge, white};
    const size_t first = get_group_id(0) * get_local_size(0);
    const size_t end = min(first + get_local_size(0), (size_t)(SIZE / PIXELS_PER_ITEM));
    quantize(output, values, image, largest, one_scale, grey, first, end, get_global_id(1), get_global_size(1), &found);
}
#endif
