// Largest: finds the largest magnitude of an image. Atomics compare only whole numbers, but the bits of floats from 0
// up have the order of the floats.
//
// needs: fused/gpu/attributes.cl

// The largest magnitude that the work-group found goes to *largest; found is the group's own place for it.
INLINE void keep_largest(global uint *largest, const real_t most, local uint *found)
{
    if (get_local_id(0) == 0)
        *found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(found, as_uint(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && *found)
        atomic_max(largest, *found);
}
