// Transpose: every image of height x width becomes one of width x height.
//
// transpose_plain    Launch   (width, height, images) work-items
//                    Reads    x[row][column]    -> coalesced
//                    Writes   y[column][row]    -> strided by the height
//
// transpose_tiled    Launch   the same, in work-groups of side x side
//                    Reads    a tile of side x side, row by row       -> coalesced
//                    Writes   the tile turned, row by row             -> coalesced
//                    Local    side * (side + 1) numbers: one more a row, so that the numbers of a
//                             column lie in different banks

kernel void transpose_plain(global complex_t *y, global const complex_t *x, const uint width, const uint height)
{
    const size_t column = get_global_id(0);
    const size_t row = get_global_id(1);
    const size_t image = get_global_id(2) * width * height;
    if (column >= width || row >= height)
        return;

    y[image + column * height + row] = x[image + row * width + column];
}

kernel void transpose_tiled(global complex_t *y, global const complex_t *x, const uint width, const uint height,
                            local complex_t *tile)
{
    const size_t side = get_local_size(0);
    const size_t across = get_local_id(0);
    const size_t down = get_local_id(1);
    const size_t left = get_group_id(0) * side;
    const size_t top = get_group_id(1) * side;
    const size_t image = get_global_id(2) * width * height;

    if (left + across < width && top + down < height)
        tile[down * (side + 1) + across] = x[image + (top + down) * width + left + across];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + across < height && left + down < width)
        y[image + (left + down) * height + top + across] = tile[across * (side + 1) + down];
}
