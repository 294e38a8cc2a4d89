// Load: makes complex numbers of the image's pixels minus its offset, with no imaginary part.
//
// Launch   (width, height, images) work-items
// Reads    image[i]                -> coalesced
// Writes   x[i]                    -> coalesced
//
// -D LOAD_PIXEL=uchar | ushort | float | double

kernel void load(global complex_t *x, global const LOAD_PIXEL *image, global const real_t *offset,
                 const uint width)
{
    const uint column = get_global_id(0);
    const size_t which = get_global_id(2), row = which * get_global_size(1) + get_global_id(1);
    if (column >= width)
        return;

    const size_t i = row * width + column;
    x[i] = (complex_t)(image[i] - offset[which], 0);
}
