// Load: the image's pixels become complex numbers with no imaginary part.
//
// Launch   (width, rows) work-items
// Reads    image[i]                -> coalesced
// Writes   x[i]                    -> coalesced
//
// -D LOAD_PIXEL=uchar | ushort | float

#ifndef LOAD_PIXEL
#error "load.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

kernel void load(global complex_t *x, global const LOAD_PIXEL *image, const uint width)
{
    const uint column = get_global_id(0);
    const size_t row = get_global_id(1);
    if (column >= width)
        return;

    const size_t i = row * width + column;
    x[i] = (complex_t)((real_t)image[i], 0);
}
