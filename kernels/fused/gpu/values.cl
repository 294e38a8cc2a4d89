// Values: what the inverse rows leave of their results, and the extremes, of which the smallest counts as 0.
//
// A high-pass is the image minus a low-pass. Where the gain H is 1 from a column on (the reach), the columns were
// filtered with 1 - H, which is zero there: those columns need not be transformed, nor be in memory between the kernels,
// and the filtered image is the pixels, read once more, minus the result. Where H is 0 there, the result is the image.
//
// Floats from 0 up order as their bits do, so that whole numbers are compared, which is what atomics can do.
//
// -D BEYOND=0 | 1                   the gain of the columns from the reach on that the columns' kernels have left out
// -D PIXEL=uchar | ushort | float   of the image, if it is 1
// -D SIGNED=1                       the filtered values as they are, not their magnitudes, and with them the end of the flow

#if !defined BEYOND || BEYOND && !defined PIXEL
#error "fused/gpu/values.cl: -D BEYOND=0 | 1 or -D PIXEL=uchar, ushort or float is missing"
#endif

// One more argument of a kernel: what the results are subtracted from.
#if BEYOND
#define MINUEND , global const PIXEL *image
#define MINUEND_PASSED , image
#else
#define MINUEND
#define MINUEND_PASSED
#endif

#ifdef SIGNED
#define KEPT(value) (value)
#else
#define KEPT(value) fabs(value)
#endif

// The largest magnitude that the work-group found goes to *largest; found is the group's own place for it.
ALWAYS void keep_largest(global uint *largest, const real_t most, local uint *found)
{
    if (get_local_id(0) == 0)
        *found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(found, as_uint(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_max(largest, *found);
}
