// Rows of a width with a large prime in it: the kernel of cpu_rows.cl through Bluestein's chirp-z.
//
// The forward transform's last product with the chirp, the mask and the inverse's first product are one sweep.
//
// Launch   (groups of VECTOR rows, images) work-items
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void rows(global vector_t *z, SPACE vector_t *x, global const stage_t *stages, global const float2 *spin,
          global const uint *places, global const across_t *across, global const down_t *down,
          global const vector_t *gains, const uint stage_count, const uint whole, const uint width, const uint strips,
          const uint last, const uint strip_size, const uint first_group, const uint spare, const int order,
          const float scale, global const float2 *chirp, global const float2 *filter, const uint m)
{
    const size_t group = first_group + get_group_id(0), picture = get_group_id(1);
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    const mask_t mask = {across, down[group], gains + group * width, order, scale};
    const middle_t with = {chirp, filter};
    z += 2 * (size_t)strip_size * strips * picture;
    x += 2 * (size_t)spare * (picture * get_num_groups(0) + get_group_id(0));

    for (uint strip = 0; strip < strips; ++strip)
        take_apart(x + 2 * min(strip * 2 * VECTOR, last), z + 2 * (size_t)strip_size * strip, at, mirror);
    for (uint k = 0; k < width; ++k)
        put(x, k, spun(get(x, k), chirp[k].x, chirp[k].y));
    for (uint is_back = 0; is_back < 2; ++is_back) {
        clear(x, width, m);
        there_and_back(x, m, stages, spin, stage_count, whole, with);
        for (uint k = 0; k < width; ++k) {
            const number_t a = spun(get(x, k), chirp[k].x, chirp[k].y);
            put(x, k, is_back ? turned(a) : spun(turned(times(a, gain(mask, k))), chirp[k].x, chirp[k].y));
        }
    }
    for (uint strip = 0; strip < strips; ++strip)
        put_together(z + 2 * (size_t)strip_size * strip, x + 2 * min(strip * 2 * VECTOR, last), at, mirror);
}
