// Quantize: magnitudes to grey levels, as steps/quantize.cl, with the largest magnitude where it was found.
//
// Launch   (SIZE/WIDE, images) work-items in groups
// Reads    values[i], WIDE at once             -> coalesced
// Writes   output[i] = levels value/largest, truncated; from the part `white` of the largest on, levels exactly. An
//          image that never exceeds noise times the brightest input is zero.
//
// -D SIZE                                     pixels of an image
// -D WIDE=1 | 4                               that a work-item takes, a divisor of SIZE
// -D PIXEL, PIXEL_OUT=uchar | ushort | float

#if !defined PIXEL || !defined PIXEL_OUT || !defined SIZE || !defined WIDE
#error "gpu_quantize.cl: -D PIXEL, PIXEL_OUT, SIZE or WIDE is missing"
#endif

#if WIDE == 1
typedef real_t values_t;
typedef PIXEL_OUT pixels_t;
#define CONVERT(levels) (PIXEL_OUT)(levels)
#define CHOOSE(if_not, if_so, condition) ((condition) ? (if_so) : (if_not))
#else
typedef float4 values_t;
typedef PASTE(PIXEL_OUT, 4) pixels_t;
#define CONVERT PASTE(PASTE(convert_, PIXEL_OUT), 4)
#define CHOOSE select
#endif

// Whether no pixel is as bright as this: then what was found is more than rounding noise. Asked for hardly ever, when
// nothing exceeds the noise of the brightest input that the type allows; ends at the first bright pixel.
ALWAYS bool all_darker(global const PIXEL *image, const size_t count, const real_t bright, local uint *found)
{
    for (size_t start = 0; start < count; start += get_local_size(0)) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            *found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (start + get_local_id(0) < count && fabs((real_t)image[start + get_local_id(0)]) >= bright)
            atomic_or(found, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (*found)
            return false;
    }
    return true;
}

kernel void gpu_quantize(global pixels_t *output, global const values_t *values, global const PIXEL *image,
                         global const uint *largest, const uint one_scale, const real_t noise, const real_t brightest,
                         const real_t levels, const real_t nudge, const real_t white)
{
    local uint found;
    const size_t picture = get_global_id(1);
    const size_t i = get_global_id(0);
    const real_t most = as_float(largest[one_scale ? 0 : picture]);

    const size_t count = one_scale ? SIZE * get_global_size(1) : SIZE;
    global const PIXEL *pictures = one_scale ? image : image + picture * SIZE;
    const bool is_noise = most <= noise * brightest && !all_darker(pictures, count, most / noise, &found);
    if (i >= SIZE / WIDE)
        return;

    const values_t value = values[picture * (SIZE / WIDE) + i];
    const values_t level = fmin(mad(value, (values_t)(levels / most), (values_t)(nudge)), (values_t)(levels));
    const values_t inside = CHOOSE((values_t)(levels), level, value < (values_t)(white * most));
    output[picture * (SIZE / WIDE) + i] = is_noise ? (pixels_t)(0) : CONVERT(inside);
}
