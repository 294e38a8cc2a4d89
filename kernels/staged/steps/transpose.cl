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
//
// transpose_float4   Launch   (height/2, width, images) work-items, both sides even
//                    Reads    two packed pairs, one above the other, and keeps two of the four numbers
//                    Writes   them as one pair                        -> coalesced
//                    Source   Marichal-Hernandez et al., the transpose of their 2-D transform

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

kernel void transpose_float4(global PASTE(REAL, 4) *y, global const PASTE(REAL, 4) *x, const uint width,
                             const uint height)
{
    const size_t column = get_global_id(0);
    const size_t row = get_global_id(1);
    const size_t image = get_global_id(2) * (width / 2) * height;
    if (column >= height / 2 || row >= width)
        return;

    const PASTE(REAL, 4) upper = x[image + (2 * column) * (width / 2) + row / 2];
    const PASTE(REAL, 4) lower = x[image + (2 * column + 1) * (width / 2) + row / 2];
    y[image + row * (height / 2) + column] =
        row % 2 == 0 ? (PASTE(REAL, 4))(upper.lo, lower.lo) : (PASTE(REAL, 4))(upper.hi, lower.hi);
}
