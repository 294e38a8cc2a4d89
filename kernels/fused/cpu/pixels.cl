// Pixels: how the columns read an image, and what they leave of it in the end.
//
// Strips begin at every multiple of 2 VECTOR columns; the last one is moved left to end with the image, and its
// columns that the one before has too are computed twice: no work-item has an edge.
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels
// -D OUTPUT=magnitude | real              real: the filtered values as they are, not their magnitudes

#if !defined LOAD_PIXEL || !defined OUTPUT
#error "fused/cpu/pixels.cl: -D LOAD_PIXEL=uchar, ushort or float or -D OUTPUT=magnitude or real is missing"
#endif

#define uchar_is_float 0
#define ushort_is_float 0
#define float_is_float 1
#define real_is_real 1
#define magnitude_is_real 0
#define IS_REAL PASTE(OUTPUT, _is_real)

#define to_floats PASTE(convert_float, VECTOR)

typedef PASTE(LOAD_PIXEL, VECTOR) pixels_t;
// The same as they lie in an image, at any address.
typedef PASTE(LOAD_PIXEL, VECTOR) __attribute__((aligned(sizeof(LOAD_PIXEL)))) unaligned_pixels_t;

// The left VECTOR columns of a strip as real parts, the right ones as imaginary parts
INLINE number_t load_pixels(global const LOAD_PIXEL *at)
{
    global const unaligned_pixels_t *row = (global const unaligned_pixels_t *)at;
    return (number_t){to_floats(row[0]), to_floats(row[1])};
}

// The brightest pixels so far, lane by lane, in the pixels' own type: a byte vector costs a quarter
INLINE pixels_t brighter(const pixels_t most, global const LOAD_PIXEL *at)
{
    global const unaligned_pixels_t *row = (global const unaligned_pixels_t *)at;
#if PASTE(LOAD_PIXEL, _is_float)
    const vector_t left = absolute(row[0]), right = absolute(row[1]);
#else
    const pixels_t left = row[0], right = row[1];
#endif
    const pixels_t both = left < right ? right : left;
    return most < both ? both : most;
}

// What is left of a complex column, exchanged as the inverse has it: the left columns' values and the right ones'.
INLINE number_t values_of(const number_t exchanged)
{
    if (IS_REAL)
        return swapped(exchanged);
    return (number_t){absolute(exchanged.im), absolute(exchanged.re)};
}

INLINE vector_t larger_magnitude(const vector_t most, const number_t values)
{
    return larger(most, larger(absolute(values.re), absolute(values.im)));
}

INLINE float largest_of(const vector_t v)
{
    const float *lanes = (const float *)&v;
    float largest = 0;
    for (uint i = 0; i < VECTOR; ++i)
        largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}
