// Values: what the inverse rows leave of their results, and the largest magnitude.
//
// A high-pass is the image minus a low-pass. Where the gain H is 1 from a column on (the reach), the columns are
// filtered with 1 - H, which is zero there: those columns need not be transformed, nor be in memory between the
// kernels, and the filtered image is the pixels, read once more, minus the result. Where H is 0 there, the result is
// the image. dc is the filter's own H(0) in both cases: times the ground, it is what the ground has become.
//
// Floats from 0 up order as their bits do, so that whole numbers are compared, which is what atomics can do.
//
// -D COMPLEMENT=0 | 1                     1: the columns are filtered with 1 - H, results are subtracted from the image
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

#if !defined COMPLEMENT || !defined LOAD_PIXEL
#error "fused/gpu/values.cl: -D COMPLEMENT=0 or 1 or LOAD_PIXEL=uchar ... is missing"
#endif

// The largest magnitude that the work-group found goes to *largest; found is the group's own place for it.
INLINE void keep_largest(global uint *largest, const real_t most, local uint *found)
{
    if (get_local_id(0) == 0)
        *found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(found, as_uint(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_max(largest, *found);
}
