// Butterflies: transforms of 2 to 32 numbers in the registers of one work-item, X[m] = sum_q x[q] W(qm, radix).
//
// Powers of two      layers of pairs a + w b, a - w b. The twiddle factors of a stage are part of the layers: with the
//                    point u = w W(m, radix) the sum is a polynomial, X[m] = even(u^2) + u odd(u^2), so that a pair
//                    costs six multiply-adds, twiddle factor included, and radix 16 needs w, w^2, w^4, w^8 alone.
// Primes             sums and differences of x[j] and x[p - j]: cosines go with the sums, sines with the differences.
// Other composites   a transforms of b, constants, b transforms of a.
//
// Every index is known once the loops are unrolled, so that the numbers stay in registers.
//
// needs: fused/gpu/attributes.cl
//
// -D RADICES    see transform.cl: only their butterflies are compiled

#ifndef RADICES
#error "fused/gpu/butterflies.cl: -D RADICES is missing"
#endif

constant real_t cosines_3[] = {1.0f, -0.5f, -0.5f};
constant real_t sines_3[] = {0.0f, 0.866025404f, -0.866025404f};
constant real_t cosines_5[] = {1.0f, 0.309016994f, -0.809016994f, -0.809016994f, 0.309016994f};
constant real_t sines_5[] = {0.0f, 0.951056516f, 0.587785252f, -0.587785252f, -0.951056516f};
constant real_t cosines_6[] = {1.0f, 0.5f, -0.5f, -1.0f, -0.5f, 0.5f};
constant real_t sines_6[] = {0.0f, 0.866025404f, 0.866025404f, 0.0f, -0.866025404f, -0.866025404f};
constant real_t cosines_7[] = {1.0f, 0.623489802f, -0.222520934f, -0.900968868f, -0.900968868f, -0.222520934f,
    0.623489802f};
constant real_t sines_7[] = {0.0f, 0.781831482f, 0.974927912f, 0.433883739f, -0.433883739f, -0.974927912f,
    -0.781831482f};
constant real_t cosines_9[] = {1.0f, 0.766044443f, 0.173648178f, -0.5f, -0.939692621f, -0.939692621f, -0.5f,
    0.173648178f, 0.766044443f};
constant real_t sines_9[] = {0.0f, 0.64278761f, 0.984807753f, 0.866025404f, 0.342020143f, -0.342020143f,
    -0.866025404f, -0.984807753f, -0.64278761f};
constant real_t cosines_10[] = {1.0f, 0.809016994f, 0.309016994f, -0.309016994f, -0.809016994f, -1.0f, -0.809016994f,
    -0.309016994f, 0.309016994f, 0.809016994f};
constant real_t sines_10[] = {0.0f, 0.587785252f, 0.951056516f, 0.951056516f, 0.587785252f, 0.0f, -0.587785252f,
    -0.951056516f, -0.951056516f, -0.587785252f};
constant real_t cosines_11[] = {1.0f, 0.841253533f, 0.415415013f, -0.142314838f, -0.654860734f, -0.959492974f,
    -0.959492974f, -0.654860734f, -0.142314838f, 0.415415013f, 0.841253533f};
constant real_t sines_11[] = {0.0f, 0.540640817f, 0.909631995f, 0.989821442f, 0.755749574f, 0.281732557f,
    -0.281732557f, -0.755749574f, -0.989821442f, -0.909631995f, -0.540640817f};
constant real_t cosines_12[] = {1.0f, 0.866025404f, 0.5f, 0.0f, -0.5f, -0.866025404f, -1.0f, -0.866025404f, -0.5f,
    0.0f, 0.5f, 0.866025404f};
constant real_t sines_12[] = {0.0f, 0.5f, 0.866025404f, 1.0f, 0.866025404f, 0.5f, 0.0f, -0.5f, -0.866025404f, -1.0f,
    -0.866025404f, -0.5f};
constant real_t cosines_13[] = {1.0f, 0.885456026f, 0.568064747f, 0.12053668f, -0.354604887f, -0.748510748f,
    -0.970941817f, -0.970941817f, -0.748510748f, -0.354604887f, 0.12053668f, 0.568064747f, 0.885456026f};
constant real_t sines_13[] = {0.0f, 0.464723172f, 0.822983866f, 0.992708874f, 0.935016243f, 0.663122658f,
    0.239315664f, -0.239315664f, -0.663122658f, -0.935016243f, -0.992708874f, -0.822983866f, -0.464723172f};
constant real_t cosines_14[] = {1.0f, 0.900968868f, 0.623489802f, 0.222520934f, -0.222520934f, -0.623489802f,
    -0.900968868f, -1.0f, -0.900968868f, -0.623489802f, -0.222520934f, 0.222520934f, 0.623489802f, 0.900968868f};
constant real_t sines_14[] = {0.0f, 0.433883739f, 0.781831482f, 0.974927912f, 0.974927912f, 0.781831482f,
    0.433883739f, 0.0f, -0.433883739f, -0.781831482f, -0.974927912f, -0.974927912f, -0.781831482f, -0.433883739f};
constant real_t cosines_15[] = {1.0f, 0.913545458f, 0.669130606f, 0.309016994f, -0.104528463f, -0.5f, -0.809016994f,
    -0.978147601f, -0.978147601f, -0.809016994f, -0.5f, -0.104528463f, 0.309016994f, 0.669130606f, 0.913545458f};
constant real_t sines_15[] = {0.0f, 0.406736643f, 0.743144825f, 0.951056516f, 0.994521895f, 0.866025404f,
    0.587785252f, 0.207911691f, -0.207911691f, -0.587785252f, -0.866025404f, -0.994521895f, -0.951056516f,
    -0.743144825f, -0.406736643f};

// COS_8 is cos(2 pi / 8), which is the sine, too; COS_3_32 is cos(2 pi 3 / 32).
#define COS_8 0.707106781f
#define COS_16 0.923879533f
#define SIN_16 0.382683432f
#define COS_32 0.980785280f
#define SIN_32 0.195090322f
#define COS_3_32 0.831469612f
#define SIN_3_32 0.555570233f

// a, b = a + b, a - b
INLINE void pair(complex_t *a, complex_t *b)
{
    const complex_t difference = *a - *b;
    *a += *b;
    *b = difference;
}

// a, b = a - i b, a + i b
INLINE void pair_minus_i(complex_t *a, complex_t *b)
{
    const complex_t minus_i_b = (complex_t)(b->y, -b->x);
    *b = *a - minus_i_b;
    *a += minus_i_b;
}

// a, b = a + w b, a - w b; the second as 2 a minus the first
INLINE void pair_spun(complex_t *a, complex_t *b, const complex_t w)
{
    const complex_t sum = (complex_t)(mad(-w.y, b->y, mad(w.x, b->x, a->x)), mad(w.y, b->x, mad(w.x, b->y, a->y)));
    *b = (complex_t)(mad((real_t)2, a->x, -sum.x), mad((real_t)2, a->y, -sum.y));
    *a = sum;
}

// The numbers of even and of odd index
#define SPLIT(v, even, odd, half_radix)                                                                             \
    UNROLL                                                                                                          \
    for (uint m = 0; m < half_radix; m++) {                                                                         \
        even[m] = v[2 * m];                                                                                         \
        odd[m] = v[2 * m + 1];                                                                                      \
    }

// v[m], v[m + half_radix] from what a layer of pairs left
#define JOIN(v, even, odd, half_radix)                                                                              \
    UNROLL                                                                                                          \
    for (uint m = 0; m < half_radix; m++) {                                                                         \
        v[m] = even[m];                                                                                             \
        v[m + half_radix] = odd[m];                                                                                 \
    }

// -i w
INLINE complex_t times_minus_i(const complex_t w)
{
    return (complex_t)(w.y, -w.x);
}

INLINE complex_t times(const complex_t a, const complex_t b)
{
    return (complex_t)(mad(-a.y, b.y, a.x * b.x), mad(a.y, b.x, a.x * b.y));
}

INLINE complex_t squared(const complex_t w)
{
    return (complex_t)(mad(-w.y, w.y, w.x * w.x), 2 * w.x * w.y);
}

// w W(1, 8)
INLINE complex_t times_w8(const complex_t w)
{
    return COS_8 * (complex_t)(w.x + w.y, w.y - w.x);
}

// Powers of two: the transforms of the even and of the odd numbers, then a layer of pairs, m and m + radix/2.
// The spun ones take x[q] times w^q.

INLINE void butterfly_2(complex_t *v)
{
    pair(v, v + 1);
}

INLINE void spun_2(complex_t *v, const complex_t w)
{
    pair_spun(v, v + 1, w);
}

INLINE void butterfly_4(complex_t *v)
{
    complex_t even[] = {v[0], v[2]}, odd[] = {v[1], v[3]};
    butterfly_2(even);
    butterfly_2(odd);
    pair(even, odd);
    pair_minus_i(even + 1, odd + 1);
    JOIN(v, even, odd, 2)
}

INLINE void spun_4(complex_t *v, const complex_t w, const complex_t w2)
{
    complex_t even[] = {v[0], v[2]}, odd[] = {v[1], v[3]};
    spun_2(even, w2);
    spun_2(odd, w2);
    pair_spun(even, odd, w);
    pair_spun(even + 1, odd + 1, times_minus_i(w));
    JOIN(v, even, odd, 2)
}

INLINE void butterfly_8(complex_t *v)
{
    complex_t even[] = {v[0], v[2], v[4], v[6]}, odd[] = {v[1], v[3], v[5], v[7]};
    butterfly_4(even);
    butterfly_4(odd);
    pair(even, odd);
    pair_spun(even + 1, odd + 1, (complex_t)(COS_8, -COS_8));
    pair_minus_i(even + 2, odd + 2);
    pair_spun(even + 3, odd + 3, (complex_t)(-COS_8, -COS_8));
    JOIN(v, even, odd, 4)
}

INLINE void spun_8(complex_t *v, const complex_t w, const complex_t w2, const complex_t w4)
{
    complex_t even[] = {v[0], v[2], v[4], v[6]}, odd[] = {v[1], v[3], v[5], v[7]};
    spun_4(even, w2, w4);
    spun_4(odd, w2, w4);
    const complex_t half_turn = times_w8(w);
    pair_spun(even, odd, w);
    pair_spun(even + 1, odd + 1, half_turn);
    pair_spun(even + 2, odd + 2, times_minus_i(w));
    pair_spun(even + 3, odd + 3, times_minus_i(half_turn));
    JOIN(v, even, odd, 4)
}

INLINE void butterfly_16(complex_t *v)
{
    complex_t even[] = {v[0], v[2], v[4], v[6], v[8], v[10], v[12], v[14]};
    complex_t odd[] = {v[1], v[3], v[5], v[7], v[9], v[11], v[13], v[15]};
    butterfly_8(even);
    butterfly_8(odd);
    pair(even, odd);
    pair_spun(even + 1, odd + 1, (complex_t)(COS_16, -SIN_16));
    pair_spun(even + 2, odd + 2, (complex_t)(COS_8, -COS_8));
    pair_spun(even + 3, odd + 3, (complex_t)(SIN_16, -COS_16));
    pair_minus_i(even + 4, odd + 4);
    pair_spun(even + 5, odd + 5, (complex_t)(-SIN_16, -COS_16));
    pair_spun(even + 6, odd + 6, (complex_t)(-COS_8, -COS_8));
    pair_spun(even + 7, odd + 7, (complex_t)(-COS_16, -SIN_16));
    JOIN(v, even, odd, 8)
}

INLINE void spun_16(complex_t *v, const complex_t w, const complex_t w2, const complex_t w4, const complex_t w8)
{
    complex_t even[] = {v[0], v[2], v[4], v[6], v[8], v[10], v[12], v[14]};
    complex_t odd[] = {v[1], v[3], v[5], v[7], v[9], v[11], v[13], v[15]};
    spun_8(even, w2, w4, w8);
    spun_8(odd, w2, w4, w8);
    const complex_t first = times(w, (complex_t)(COS_16, -SIN_16));
    const complex_t second = times_w8(w);
    const complex_t third = times(w, (complex_t)(SIN_16, -COS_16));
    pair_spun(even, odd, w);
    pair_spun(even + 1, odd + 1, first);
    pair_spun(even + 2, odd + 2, second);
    pair_spun(even + 3, odd + 3, third);
    pair_spun(even + 4, odd + 4, times_minus_i(w));
    pair_spun(even + 5, odd + 5, times_minus_i(first));
    pair_spun(even + 6, odd + 6, times_minus_i(second));
    pair_spun(even + 7, odd + 7, times_minus_i(third));
    JOIN(v, even, odd, 8)
}

// The last layer of radix 32, pairs m and m + 8 a quarter turn apart
INLINE void layer_32(complex_t *even, complex_t *odd, const complex_t w)
{
    const complex_t twiddles[] = {
        w,
        times(w, (complex_t)(COS_32, -SIN_32)),
        times(w, (complex_t)(COS_16, -SIN_16)),
        times(w, (complex_t)(COS_3_32, -SIN_3_32)),
        times_w8(w),
        times(w, (complex_t)(SIN_3_32, -COS_3_32)),
        times(w, (complex_t)(SIN_16, -COS_16)),
        times(w, (complex_t)(SIN_32, -COS_32)),
    };
    UNROLL
    for (uint m = 0; m < 8; m++) {
        pair_spun(even + m, odd + m, twiddles[m]);
        pair_spun(even + m + 8, odd + m + 8, times_minus_i(twiddles[m]));
    }
}

INLINE void butterfly_32(complex_t *v)
{
    complex_t even[16], odd[16];
    SPLIT(v, even, odd, 16)
    butterfly_16(even);
    butterfly_16(odd);
    layer_32(even, odd, (complex_t)(1, 0));
    JOIN(v, even, odd, 16)
}

INLINE void spun_32(complex_t *v, const complex_t w, const complex_t w2, const complex_t w4, const complex_t w8,
                    const complex_t w16)
{
    complex_t even[16], odd[16];
    SPLIT(v, even, odd, 16)
    spun_16(even, w2, w4, w8, w16);
    spun_16(odd, w2, w4, w8, w16);
    layer_32(even, odd, w);
    JOIN(v, even, odd, 16)
}

// A prime p, from the tables of cos and sin(2 pi k/p).
INLINE void prime(complex_t *v, const uint p, constant const real_t *cosines, constant const real_t *sines)
{
    complex_t sum[6], difference[6];
    complex_t total = v[0];
    UNROLL
    for (uint j = 1; j <= p / 2; j++) {
        sum[j - 1] = v[j] + v[p - j];
        difference[j - 1] = v[j] - v[p - j];
        total += sum[j - 1];
    }
    UNROLL
    for (uint m = 1; m <= p / 2; m++) {
        complex_t with_cosines = v[0], with_sines = 0;
        UNROLL
        for (uint j = 1; j <= p / 2; j++) {
            with_cosines = mad((complex_t)(cosines[j * m % p]), sum[j - 1], with_cosines);
            with_sines = mad((complex_t)(sines[j * m % p]), difference[j - 1], with_sines);
        }
        v[m] = with_cosines + times_minus_i(with_sines);
        v[p - m] = with_cosines - times_minus_i(with_sines);
    }
    v[0] = total;
}

// The butterfly of an odd radix with tables of cosines and sines
#define PRIME(p)                                                                                                    \
    INLINE void butterfly_##p(complex_t *v)                                                                         \
    {                                                                                                               \
        prime(v, p, cosines_##p, sines_##p);                                                                        \
    }

PRIME(3)
PRIME(5)
PRIME(7)
PRIME(11)
PRIME(13)

// radix = a b: x[s + a j] -> b numbers for every s, times W(s m, radix), then X[m + b u] from a numbers for every m.
#define COMPOSITE(radix, a, b)                                                                                      \
    INLINE void butterfly_##radix(complex_t *v)                                                                     \
    {                                                                                                               \
        complex_t part[a][b];                                                                                       \
        UNROLL                                                                                                      \
        for (uint s = 0; s < a; s++) {                                                                              \
            UNROLL                                                                                                  \
            for (uint j = 0; j < b; j++)                                                                            \
                part[s][j] = v[s + a * j];                                                                          \
            butterfly_##b(part[s]);                                                                                 \
        }                                                                                                           \
        UNROLL                                                                                                      \
        for (uint m = 0; m < b; m++) {                                                                              \
            complex_t x[a];                                                                                         \
            UNROLL                                                                                                  \
            for (uint s = 0; s < a; s++) {                                                                          \
                const complex_t w = (complex_t)(cosines_##radix[s * m], -sines_##radix[s * m]);                     \
                x[s] = s * m ? times(part[s][m], w) : part[s][m];                                                   \
            }                                                                                                       \
            butterfly_##a(x);                                                                                       \
            UNROLL                                                                                                  \
            for (uint u = 0; u < a; u++)                                                                            \
                v[m + b * u] = x[u];                                                                                \
        }                                                                                                           \
    }

COMPOSITE(6, 2, 3)
COMPOSITE(9, 3, 3)
COMPOSITE(10, 2, 5)
COMPOSITE(12, 4, 3)
COMPOSITE(14, 2, 7)
COMPOSITE(15, 3, 5)

// Whether a stage has this radix, known before any function is: a compiler that takes all butterflies into each stage,
// to leave all but one out again, is busy for most of its time.
#define AMONG(radix, all) AMONG_(radix, all)
#define AMONG_(radix, r0, r1, r2, r3, r4) (radix == r0 || radix == r1 || radix == r2 || radix == r3 || radix == r4)
#define HAS(radix) AMONG(radix, RADICES)

// The butterfly of a stage: x[q] times w^q, then the transform. The caller's radix is a constant, one case is left.
INLINE void butterfly(complex_t *v, const uint radix)
{
    switch (radix) {
// A case of the switch
#define CASE(r) case r: if (HAS(r)) butterfly_##r(v); break;
    CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9)
    CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(32)
#undef CASE
    }
}

// x[q] times w^q. Powers by doubling, w^q from w^(q/2), so that rounding grows with log q.
INLINE void times_powers(complex_t *v, const uint radix, const complex_t w)
{
    complex_t power[16];
    power[1] = w;
    UNROLL
    for (uint q = 2; q < radix; q++)
        power[q] = q % 2 ? times(power[q / 2], power[q / 2 + 1]) : squared(power[q / 2]);
    UNROLL
    for (uint q = 1; q < radix; q++)
        v[q] = times(v[q], power[q]);
}

INLINE void butterfly_spun(complex_t *v, const uint radix, const complex_t w)
{
    const complex_t w2 = squared(w), w4 = squared(w2), w8 = squared(w4);
    switch (radix) {
    case 2: if (HAS(2)) spun_2(v, w); break;
    case 4: if (HAS(4)) spun_4(v, w, w2); break;
    case 8: if (HAS(8)) spun_8(v, w, w2, w4); break;
    case 16: if (HAS(16)) spun_16(v, w, w2, w4, w8); break;
    case 32: if (HAS(32)) spun_32(v, w, w2, w4, w8, squared(w8)); break;
    default:
        times_powers(v, radix, w);
        butterfly(v, radix);
    }
}
