// Prelude of every program: defines real and complex numbers of a precision, spin factors and bit reversal.
//
// -D REAL=float | double    from the host; everything below follows from it
//
// A complex number is a two-vector (re, im). FLIP is the book's way to invert a transform: its
// sign bit, exclusive-or'ed into the imaginary part, turns W(k, n) into its conjugate.

// Comparisons of names for #if: PASTE(REAL, _is_single) is 1 for float.
#define float_is_single 1
#define double_is_single 0
// Joins two names, each of which may be a macro.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

typedef REAL real_t;
typedef PASTE(REAL, 2) complex_t;

// a * b
static inline complex_t multiply(const complex_t a, const complex_t b)
{
    return (complex_t)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// w for flip = 0, its conjugate for flip = 0x80000000
static inline complex_t directed(const complex_t w, const uint flip)
{
#if PASTE(REAL, _is_single)
    return (complex_t)(w.x, as_float(as_uint(w.y) ^ flip));
#else
    return (complex_t)(w.x, as_double(as_ulong(w.y) ^ ((ulong)flip << 32)));
#endif
}

// W(j, n) for j = 0 ... n - 1 from the table of the first half turn, the n/2 numbers of steps/spin_factors.cl
static inline complex_t spin(global const complex_t *w, const uint j, const uint n, const uint flip)
{
    return directed(j < n / 2 ? w[j] : -w[j - n / 2], flip);
}

// i with its lowest log2_n bits backward; log2_n = 0 gives 0
static inline uint reversed(uint i, const uint log2_n)
{
    i = (i & 0x55555555) << 1 | (i & 0xaaaaaaaa) >> 1;
    i = (i & 0x33333333) << 2 | (i & 0xcccccccc) >> 2;
    i = (i & 0x0f0f0f0f) << 4 | (i & 0xf0f0f0f0) >> 4;
    i = (i & 0x00ff00ff) << 8 | (i & 0xff00ff00) >> 8;
    i = (i & 0x0000ffff) << 16 | (i & 0xffff0000) >> 16;
    return log2_n > 0 ? i >> (32 - log2_n) : 0;
}
