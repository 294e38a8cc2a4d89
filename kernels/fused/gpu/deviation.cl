// Deviation: finds the largest distance of a pixel from its image's offset. Launched only where little passes.
//
// Launch   (some groups x GROUP, images) work-items
// Reads    image[i], every (groups x GROUP)-th     -> coalesced
// Writes   far[picture], as the bits of a float; 0 before
//
// needs: fused/gpu/attributes.cl offset.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

#ifndef LOAD_PIXEL
#error "fused/gpu/deviation.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

kernel void gpu_deviation(global uint *far, global const LOAD_PIXEL *image, const uint one_scale, const uint height,
                          const uint width)
{
    local uint found;
    const size_t picture = get_global_id(1);
    image += picture * ((size_t)width * height);
    const real_t base = offset(image, height, width, width);
    real_t most = 0;
    for (size_t i = get_global_id(0); i < (size_t)width * height; i += get_global_size(0))
        most = fmax(most, fabs(image[i] - base));

    if (get_local_id(0) == 0)
        found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(&found, as_uint(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_max(far + (one_scale ? 0 : picture), found);
}
