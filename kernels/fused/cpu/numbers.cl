// Numbers of the CPU form: VECTOR complex numbers of neighboring columns (or rows) side by side.
//
// -D VECTOR=4 | 8 | 16    floats in a vector register: explicit, as a CPU's compiler leaves loops over
//                         complex numbers scalar; nothing moves within a register but in tiles.cl
//
// In memory a number is two vectors: VECTOR real parts, then VECTOR imaginary parts.

#ifndef VECTOR
#error "fused/cpu/numbers.cl: -D VECTOR=4, 8 or 16 is missing"
#endif

#define ALWAYS static inline __attribute__((always_inline))
// For what is large: PoCL compiles each kernel's body three times, but what it calls once. Such a function
// must say that it has wide vectors, or clang halves the registers on CPUs that it thinks prefer the half.
#ifdef __clang__
#define ONCE static __attribute__((noinline, min_vector_width(VECTOR * 32)))
#else
#define ONCE static
#endif

// Brings the line of memory at an address into the second cache, for what no hardware foresees. Where clang compiles
// for a machine in between, as simulators do, that may not know it.
#if defined __clang__ && (defined __x86_64__ || defined __aarch64__)
#define FETCH(at) __builtin_prefetch((const void *)(size_t)(at), 0, 2)
#else
#define FETCH(at) ((void)(at))
#endif

typedef PASTE(float, VECTOR) vector_t;
typedef PASTE(int, VECTOR) whole_t;
#define GAIN vector_t

typedef struct {
    vector_t re, im;
} number_t;

ALWAYS number_t get(global const vector_t *x, const uint i)
{
    return (number_t){x[2 * i], x[2 * i + 1]};
}

ALWAYS void put(global vector_t *x, const uint i, const number_t a)
{
    x[2 * i] = a.re;
    x[2 * i + 1] = a.im;
}

ALWAYS number_t got(global const vector_t *at)
{
    return (number_t){at[0], at[1]};
}

ALWAYS void set(global vector_t *at, const number_t a)
{
    at[0] = a.re;
    at[1] = a.im;
}

ALWAYS number_t plus(const number_t a, const number_t b)
{
    return (number_t){a.re + b.re, a.im + b.im};
}

ALWAYS number_t minus(const number_t a, const number_t b)
{
    return (number_t){a.re - b.re, a.im - b.im};
}

// a + s b and a + s i b: written as one expression, so that a CPU with fused multiply-add uses it
ALWAYS number_t plus_real(const number_t a, const float s, const number_t b)
{
    return (number_t){a.re + s * b.re, a.im + s * b.im};
}

ALWAYS number_t plus_imaginary(const number_t a, const float s, const number_t b)
{
    return (number_t){a.re - s * b.im, a.im + s * b.re};
}

// a times the spin factor (c, s); two floats, as each is broadcast to a register of its own
ALWAYS number_t spun(const number_t a, const float c, const float s)
{
    return (number_t){a.re * c - a.im * s, a.re * s + a.im * c};
}

ALWAYS number_t times(const number_t a, const vector_t gain)
{
    return (number_t){a.re * gain, a.im * gain};
}

// i conj(a), real and imaginary part changed about: what turns a forward transform into an inverse one.
ALWAYS number_t turned(const number_t a)
{
    return (number_t){a.im, a.re};
}

// Written out, as fabs, fmax, vload and vstore are calls of functions on some CPUs.
ALWAYS vector_t absolute(const vector_t a)
{
    return PASTE(as_float, VECTOR)(PASTE(as_int, VECTOR)(a) & 0x7fffffff);
}

ALWAYS vector_t larger(const vector_t a, const vector_t b)
{
    return a < b ? b : a;
}
