// Rows: the horizontal transform, the mask and the inverse transform, VECTOR rows by one work-item.
//
// The spectrum of a row never leaves the cache, and the lower half of the rows is enough: the upper one mirrors
// it.
//
// Launch   (groups of VECTOR rows, images) work-items
// Reads    z, strips of packed columns; places[]: where each row and its mirrored row lie
// Writes   the filtered rows to the same places
// Spare    x, room for one group: local memory, or spare numbers a work-group where that is too small

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void rows(global vector_t *z, SPACE vector_t *x, global const stage_t *stages, global const float2 *spin,
          global const uint *places, global const across_t *across, global const down_t *down,
          global const vector_t *gains, const uint stage_count, const uint whole, const uint width, const uint strips,
          const uint last, const uint strip_size, const uint first_group, const uint spare, const int order,
          const float scale)
{
    const size_t group = first_group + get_group_id(0), picture = get_group_id(1);
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    const mask_t mask = {across, down[group], gains + group * width, order, scale};
    z += 2 * (size_t)strip_size * strips * picture;
    x += 2 * (size_t)spare * (picture * get_num_groups(0) + get_group_id(0));

    for (uint strip = 0; strip < strips; ++strip)
        take_apart(x + 2 * min(strip * 2 * VECTOR, last), z + 2 * (size_t)strip_size * strip, at, mirror);
    there_and_back(x, width, stages, spin, stage_count, whole, mask);
    for (uint strip = 0; strip < strips; ++strip)
        put_together(z + 2 * (size_t)strip_size * strip, x + 2 * min(strip * 2 * VECTOR, last), at, mirror);
}
