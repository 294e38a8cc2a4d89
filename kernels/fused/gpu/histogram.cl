// Histogram: counts the magnitudes in bins from 0 to the picture's largest (ramp_of_histogram.cl).
//
// Launch   (some groups x GROUP, images) work-items
// Reads    values[i] of every `rows`-th row and `columns`-th column, of these every (groups x GROUP)-th
// Writes   counts[picture][bin]; 0 before
// Local    own, `bins` numbers
//
// needs: fused/gpu/attributes.cl
//
// -D ONE_LAUNCH=1     without a kernel: filter.cl calls the function

// The part of an image that group number `group` of `groups` counts
INLINE void histogram(global uint *counts, global const real_t *values, global const uint *largest,
                      const uint one_scale, const uint height, const uint width, const uint bins, const uint rows,
                      const uint columns, const size_t image, const uint group, const uint groups, local uint *own)
{
    const size_t picture = one_scale ? 0 : image;
    const real_t most = as_float(largest[FOUND * picture]), scale = most > 0 ? bins / most : 0;
    values += image * ((size_t)width * height);
    counts += picture * bins;

    for (uint i = get_local_id(0); i < bins; i += get_local_size(0))
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint across = (width + columns - 1) / columns;
    const size_t counted = (size_t)across * ((height + rows - 1) / rows);
    for (size_t i = group * get_local_size(0) + get_local_id(0); i < counted; i += groups * get_local_size(0)) {
        const real_t value = values[i / across * rows * width + i % across * columns];
        atomic_inc(own + min((uint)(fabs(value) * scale), bins - 1));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < bins; i += get_local_size(0))
        if (own[i])
            atomic_add(counts + i, own[i]);
}

#ifndef ONE_LAUNCH
kernel void gpu_histogram(global uint *counts, global const real_t *values, global const uint *largest,
                          const uint one_scale, const uint height, const uint width, const uint bins, const uint rows,
                          const uint columns, local uint *own)
{
    histogram(counts, values, largest, one_scale, height, width, bins, rows, columns, get_global_id(1),
              get_group_id(0), get_num_groups(0), own);
}
#endif
