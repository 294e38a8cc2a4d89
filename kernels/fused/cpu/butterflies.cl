// Butterflies: forward transforms of 2 to 5, 7 or 8 numbers in registers, of larger primes in a loop.
//
// In place, inputs and outputs in natural order, a[p] = sum_q a[q] W(p q, radix).
//
// needs: fused/cpu/numbers.cl

// The most numbers of any butterfly: the largest prime that is a radix (program.py)
#define WIDEST 61

INLINE void butterfly_2(number_t *a)
{
    const number_t b = a[1];
    a[1] = minus(a[0], b);
    a[0] = plus(a[0], b);
}

INLINE void butterfly_3(number_t *a)
{
    const number_t sum = plus(a[1], a[2]), difference = minus(a[1], a[2]);
    const number_t middle = plus_real(a[0], -0.5f, sum);
    a[0] = plus(a[0], sum);
    a[1] = plus_imaginary(middle, -0.866025403784438647f, difference);
    a[2] = plus_imaginary(middle, 0.866025403784438647f, difference);
}

INLINE void butterfly_4(number_t *a)
{
    const number_t even = plus(a[0], a[2]), even_ = minus(a[0], a[2]);
    const number_t odd = plus(a[1], a[3]), odd_ = minus(a[1], a[3]);
    a[0] = plus(even, odd);
    a[1] = (number_t){even_.re + odd_.im, even_.im - odd_.re};
    a[2] = minus(even, odd);
    a[3] = (number_t){even_.re - odd_.im, even_.im + odd_.re};
}

// cos and sin of 2 pi / 5 and 4 pi / 5; the sines as s1 d1 + s2 d2 = s1 (d1 + s2/s1 d2)
INLINE void butterfly_5(number_t *a)
{
    const number_t sum_1 = plus(a[1], a[4]), difference_1 = minus(a[1], a[4]);
    const number_t sum_2 = plus(a[2], a[3]), difference_2 = minus(a[2], a[3]);
    const number_t real_1 = plus_real(plus_real(a[0], 0.309016994374947424f, sum_1), -0.809016994374947424f, sum_2);
    const number_t real_2 = plus_real(plus_real(a[0], -0.809016994374947424f, sum_1), 0.309016994374947424f, sum_2);
    const number_t imag_1 = plus_real(difference_1, 0.618033988749894848f, difference_2);
    const number_t opposite_2 = {-difference_2.re, -difference_2.im};
    const number_t imag_2 = plus_real(opposite_2, 0.618033988749894848f, difference_1);
    a[0] = plus(a[0], plus(sum_1, sum_2));
    a[1] = plus_imaginary(real_1, -0.951056516295153572f, imag_1);
    a[4] = plus_imaginary(real_1, 0.951056516295153572f, imag_1);
    a[2] = plus_imaginary(real_2, -0.951056516295153572f, imag_2);
    a[3] = plus_imaginary(real_2, 0.951056516295153572f, imag_2);
}

// Two of 4 and the twiddle factors of 8 between them: 1, (1 - i) / sqrt 2, -i, (-1 - i) / sqrt 2
INLINE void combine_8(number_t *a, const number_t *even, const number_t *odd)
{
    const float half_root = 0.707106781186547524f;
    const number_t odd_1 = {odd[1].re + odd[1].im, odd[1].im - odd[1].re};
    const number_t odd_3 = {odd[3].im - odd[3].re, -odd[3].re - odd[3].im};
    a[0] = plus(even[0], odd[0]);
    a[4] = minus(even[0], odd[0]);
    a[1] = plus_real(even[1], half_root, odd_1);
    a[5] = plus_real(even[1], -half_root, odd_1);
    a[2] = (number_t){even[2].re + odd[2].im, even[2].im - odd[2].re};
    a[6] = (number_t){even[2].re - odd[2].im, even[2].im + odd[2].re};
    a[3] = plus_real(even[3], half_root, odd_3);
    a[7] = plus_real(even[3], -half_root, odd_3);
}

INLINE void butterfly_8(number_t *a)
{
    number_t even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    butterfly_4(even);
    butterfly_4(odd);
    combine_8(a, even, odd);
}

// Any odd prime by the definition, q and radix - q together: sums with cosines, differences with sines.
// roots[k] = (cos, sin)(2 pi k / radix)
//
// 7 written out by the compiler, so that the numbers are in registers and the roots at known places.
#define PRIME_BUTTERFLY(how, name, most, unroll) \
    how void name(number_t *a, const uint radix, global const float2 *roots) \
    { \
        number_t sum[most / 2 + 1], difference[most / 2 + 1]; \
        const number_t first = a[0]; \
        number_t all = first; \
        unroll for (uint q = 1; q <= radix / 2; ++q) { \
            sum[q] = plus(a[q], a[radix - q]); \
            difference[q] = minus(a[q], a[radix - q]); \
            all = plus(all, sum[q]); \
        } \
        a[0] = all; \
        unroll for (uint p = 1; p <= radix / 2; ++p) { \
            number_t real_ = first, imag_ = {0, 0}; \
            unroll for (uint q = 1; q <= radix / 2; ++q) { \
                const float2 root = roots[p * q % radix]; \
                real_ = plus_real(real_, root.x, sum[q]); \
                imag_ = plus_real(imag_, root.y, difference[q]); \
            } \
            a[p] = plus_imaginary(real_, -1, imag_); \
            a[radix - p] = plus_imaginary(real_, 1, imag_); \
        } \
    }
PRIME_BUTTERFLY(INLINE, butterfly_written_out, 7, _Pragma("unroll"))
PRIME_BUTTERFLY(NOINLINE, butterfly_loop, WIDEST, )

// kind is the radix, or 0 for a prime known only at run time. It is a constant in every call: the switch is
// gone in the machine code, and the numbers of all but the primes stay in registers.
INLINE void butterfly(const uint kind, number_t *a, const uint radix, global const float2 *roots)
{
    switch (kind) {
    case 0: butterfly_loop(a, radix, roots); break;
    case 2: butterfly_2(a); break;
    case 3: butterfly_3(a); break;
    case 4: butterfly_4(a); break;
    case 5: butterfly_5(a); break;
    case 7: butterfly_written_out(a, 7, roots); break;
    case 8: butterfly_8(a); break;
    }
}

// Does something for each q from first below the radix: written out where the radix is a constant, as unrolling
// a loop is left to the compiler and the numbers must be in registers.
#define ONE_(Q, first, ...) { const uint q = Q; if (q >= first && q < radix) { __VA_ARGS__; } }
#define EACH(first, ...) \
    if (kind > 0) { \
        ONE_(0, first, __VA_ARGS__) ONE_(1, first, __VA_ARGS__) \
        ONE_(2, first, __VA_ARGS__) ONE_(3, first, __VA_ARGS__) \
        ONE_(4, first, __VA_ARGS__) ONE_(5, first, __VA_ARGS__) \
        ONE_(6, first, __VA_ARGS__) ONE_(7, first, __VA_ARGS__) \
    } else \
        for (uint q = first; q < radix; ++q) { __VA_ARGS__; }

// Calls stage(kind, radix, ...) with a constant kind.
#define CASE_(kind, radix, stage, ...) if ((radix) == kind) stage(kind, kind, __VA_ARGS__)
#define BY_RADIX(radix, stage, ...) \
    CASE_(8, radix, stage, __VA_ARGS__); \
    else CASE_(4, radix, stage, __VA_ARGS__); \
    else CASE_(2, radix, stage, __VA_ARGS__); \
    else CASE_(5, radix, stage, __VA_ARGS__); \
    else CASE_(3, radix, stage, __VA_ARGS__); \
    else CASE_(7, radix, stage, __VA_ARGS__); \
    else CASE_(1, radix, stage, __VA_ARGS__); \
    else stage(0, radix, __VA_ARGS__)
