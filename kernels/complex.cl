// Prelude of every program: real and complex numbers in the precision asked for.
//
// -D REAL=float | double    from the host; everything below follows from it
//
// A complex number is a two-vector (re, im). FLIP is the book's way to invert a transform: its
// sign bit, exclusive-or'ed into the imaginary part, turns W(k, n) into its conjugate.

#ifndef REAL
#error "complex.cl: -D REAL=float or -D REAL=double is missing"
#endif

#define float_is_single 1
#define double_is_single 0
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

typedef REAL real_t;
typedef PASTE(REAL, 2) complex_t;

// a * b
inline complex_t multiply(const complex_t a, const complex_t b)
{
    return (complex_t)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// w for flip = 0, its conjugate for flip = 0x80000000
inline complex_t directed(const complex_t w, const uint flip)
{
#if PASTE(REAL, _is_single)
    return (complex_t)(w.x, as_float(as_uint(w.y) ^ flip));
#else
    return (complex_t)(w.x, as_double(as_ulong(w.y) ^ ((ulong)flip << 32)));
#endif
}
