// Extremes: the smallest and the largest magnitude of every image, as a reduction in two launches.
//
// extremes_of_values      Launch   (groups * size, images) work-items in groups of size, a power of two
//                         Reads    every (groups * size)-th of the values    -> coalesced
//                         Writes   one pair a group, the extremes of its values
//
// extremes_of_extremes    Launch   (size, images) work-items, one group an image
//                         Reads    the pairs of the first launch
//                         Writes   one pair an image behind them
//
// Both start at 0, as the book's normalizeF2PGM does.
// Local    size pairs

inline complex_t wider(const complex_t a, const complex_t b)
{
    return (complex_t)(fmin(a.x, b.x), fmax(a.y, b.y));
}

inline complex_t widest(const complex_t own, local complex_t *pairs)
{
    const uint i = get_local_id(0);
    pairs[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (i < half_size)
            pairs[i] = wider(pairs[i], pairs[i + half_size]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return pairs[0];
}

kernel void extremes_of_values(global complex_t *parts, global const real_t *values, const ulong count,
                               local complex_t *pairs)
{
    const size_t image = get_global_id(1);
    complex_t own = 0;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        own = wider(own, (complex_t)(values[image * count + i]));

    const complex_t found = widest(own, pairs);
    if (get_local_id(0) == 0)
        parts[image * get_num_groups(0) + get_group_id(0)] = found;
}

kernel void extremes_of_extremes(global complex_t *parts, const uint groups, local complex_t *pairs)
{
    const size_t image = get_global_id(1);
    complex_t own = 0;
    for (uint i = get_local_id(0); i < groups; i += get_local_size(0))
        own = wider(own, parts[image * groups + i]);

    const complex_t found = widest(own, pairs);
    if (get_local_id(0) == 0)
        parts[get_global_size(1) * groups + image] = found;
}
