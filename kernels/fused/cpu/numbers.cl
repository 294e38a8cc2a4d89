// Numbers of the CPU form: VECTOR complex numbers of neighboring columns (or rows) side by side.
//
// In memory a number is two vectors: VECTOR real parts, then VECTOR imaginary parts. Vectors are explicit, as compilers
// for CPUs do not vectorize loops over complex numbers. Only transpose.cl moves numbers within a register.
//
// needs: fused/cpu/builtins.cl
//
// -D VECTOR=4 | 8 | 16    floats in a vector register

// Always inlined, so that arguments that are constants are known to the compiler
#define INLINE static inline __attribute__((always_inline))
// For what is large: PoCL compiles the body of a kernel three times, but a function that it calls once. Such a
// function must say that it has wide vectors, or clang halves the registers on CPUs that it thinks prefer the half.
#ifdef __clang__
#define NOINLINE static __attribute__((noinline, min_vector_width(VECTOR * 32)))
#else
#define NOINLINE static
#endif

// Brings a line of memory into the second cache, for access patterns that no hardware foresees. Where clang compiles
// for a machine in between, as simulators do, that may not know it.
#if defined __clang__ && (defined __x86_64__ || defined __aarch64__)
#define PREFETCH(at) __builtin_prefetch((const void *)(size_t)(at), 0, 2)
#else
#define PREFETCH(at) ((void)(at))
#endif

// Bytes of a line of the cache
#define LINE 64

typedef PASTE(float, VECTOR) vector_t;
typedef PASTE(int, VECTOR) integers_t;
// Gains of shapes.cl and values of ramp.cl are vectors here.
#define GAIN vector_t
#define VALUE vector_t

typedef struct {
    vector_t re, im;
} number_t;

INLINE number_t load(global const vector_t *at)
{
    return (number_t){at[0], at[1]};
}

INLINE void store(global vector_t *at, const number_t a)
{
    at[0] = a.re;
    at[1] = a.im;
}

INLINE number_t plus(const number_t a, const number_t b)
{
    return (number_t){a.re + b.re, a.im + b.im};
}

INLINE number_t minus(const number_t a, const number_t b)
{
    return (number_t){a.re - b.re, a.im - b.im};
}

// a + s b and a + i s b: written as one expression, so that a CPU with fused multiply-add uses it
INLINE number_t plus_real(const number_t a, const float s, const number_t b)
{
    return (number_t){a.re + s * b.re, a.im + s * b.im};
}

INLINE number_t plus_imaginary(const number_t a, const float s, const number_t b)
{
    return (number_t){a.re - s * b.im, a.im + s * b.re};
}

// a times the twiddle factor (c, s); two floats, as each is broadcast to a register of its own
INLINE number_t spun(const number_t a, const float c, const float s)
{
    return (number_t){a.re * c - a.im * s, a.re * s + a.im * c};
}

INLINE number_t times(const number_t a, const vector_t gain)
{
    return (number_t){a.re * gain, a.im * gain};
}

// Real and imaginary part exchanged, i conj(a): the inverse transform is the forward one of exchanged numbers.
INLINE number_t swapped(const number_t a)
{
    return (number_t){a.im, a.re};
}

// Written out, as fabs, fmax, vload and vstore are calls of functions on some CPUs.
INLINE vector_t absolute(const vector_t a)
{
    return PASTE(as_float, VECTOR)(PASTE(as_int, VECTOR)(a) & 0x7fffffff);
}

INLINE vector_t larger(const vector_t a, const vector_t b)
{
    return a < b ? b : a;
}
