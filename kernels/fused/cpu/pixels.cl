// Pixels: how the vertical transforms read an image, whatever lies at its edges.
//
// Strips begin at every multiple of 2 VECTOR columns; the last one is moved left to end with the image, and its
// columns that the one before has too are computed twice: no work-item has an edge.
//
// -D PIXEL=uchar | ushort | float
// -D SIGNED=1                      keep the filtered values as they are, not their magnitudes

#ifndef PIXEL
#error "fused/cpu/pixels.cl: -D PIXEL=uchar, ushort or float is missing"
#endif

#define to_floats PASTE(convert_float, VECTOR)

// Pixels as they lie in an image, at any address.
typedef PASTE(PIXEL, VECTOR) __attribute__((aligned(sizeof(PIXEL)))) pixels_t;

// The left VECTOR columns of a strip as real parts, the right ones as imaginary parts
ALWAYS number_t pixels(global const PIXEL *at)
{
    global const pixels_t *row = (global const pixels_t *)at;
    return (number_t){to_floats(row[0]), to_floats(row[1])};
}

// The brightest pixels so far, lane by lane, in the pixels' own type: a byte vector costs a quarter
typedef PASTE(PIXEL, VECTOR) brightest_t;
#define uchar_is_float 0
#define ushort_is_float 0
#define float_is_float 1

ALWAYS brightest_t brighter(const brightest_t most, global const PIXEL *at)
{
    global const pixels_t *row = (global const pixels_t *)at;
#if PASTE(PIXEL, _is_float)
    const vector_t left = absolute(row[0]), right = absolute(row[1]);
#else
    const brightest_t left = row[0], right = row[1];
#endif
    const brightest_t both = left < right ? right : left;
    return most < both ? both : most;
}

// What is left of a complex column: the left columns' magnitudes and the right ones', and the larger of them
#ifdef SIGNED
ALWAYS number_t magnitudes(const number_t turned)
{
    return (number_t){turned.im, turned.re};
}

ALWAYS vector_t larger_part(const vector_t most, const number_t a)
{
    return larger(most, larger(absolute(a.re), absolute(a.im)));
}
#else
ALWAYS number_t magnitudes(const number_t turned)
{
    return (number_t){absolute(turned.im), absolute(turned.re)};
}

ALWAYS vector_t larger_part(const vector_t most, const number_t a)
{
    return larger(most, larger(a.re, a.im));
}
#endif

ALWAYS float largest_of(const vector_t v)
{
    const float *lanes = (const float *)&v;
    float largest = 0;
    for (uint i = 0; i < VECTOR; ++i)
        largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}
