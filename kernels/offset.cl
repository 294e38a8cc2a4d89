// Offset: the constant that is taken off an image before the transform, the middle one of three pixels on its diagonal.
// The twin of fftfilter/output/rounding.py, which says why.
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

// Rows of the image are `pitch` pixels apart.
static inline __attribute__((always_inline)) LOAD_PIXEL offset(global const LOAD_PIXEL *image, const uint height,
                                                                     const uint width, const size_t pitch)
{
    const LOAD_PIXEL a = image[height / 4 * pitch + width / 4];
    const LOAD_PIXEL b = image[height / 2 * pitch + width / 2];
    const LOAD_PIXEL c = image[height * 3 / 4 * pitch + width * 3 / 4];
    const LOAD_PIXEL low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c < high ? c : high;
}
