// Values: what the inverse rows leave of their results, and the extremes, of which the smallest counts as 0.
//
// Floats from 0 up order as their bits do, so that whole numbers are compared, which is what atomics can do.
//
// -D SIGNED=1   the filtered values as they are, not their magnitudes, and with them the end of the flow

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
