// Load: the image's pixels become complex numbers with no imaginary part.
//
// Launch   (width, rows) work-items
// Reads    image[i]                -> coalesced
// Writes   x[i]                    -> coalesced
//
// -D PIXEL=uchar | ushort | float

#ifndef PIXEL
#error "load.cl: -D PIXEL=uchar, ushort or float is missing"
#endif

kernel void load(global complex_t *x, global const PIXEL *image, const uint width)
{
    const uint column = get_global_id(0);
    const size_t row = get_global_id(1);
    if (column >= width)
        return;

    const size_t i = row * width + column;
    x[i] = (complex_t)((real_t)image[i], 0);
}
