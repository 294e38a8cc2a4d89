// Bluestein's chirp-z: a transform of n points, n with a large prime in it, as a convolution of m >= 2n - 1 points.
//
// With the chirp c[k] = exp(-pi sqrt(-1) k^2 / n):    X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j])
// The sum is a product of spectra of m points. filter[] is the spectrum of conj(c), divided by m, its frequencies
// permuted as the stages permute those of x c. The inverse transform is the same with real and imaginary parts
// exchanged. Both outer stages have radix 8.
// Source: see kernels/staged/bluestein.cl.
//
// needs: fused/cpu/transform.cl

// Whether an axis is transformed by a convolution
INLINE bool is_convolved(global const axis_t *axis)
{
    return axis->length != axis->points;
}

// The last forward stage, times the filter, the first inverse stage: the spectrum stays in registers.
INLINE void convolved_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                            global const float2 *filter, global const float2 *roots)
{
    global const float *v = (global const float *)filter;
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix, v += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = load(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = swapped(spun(a[q], v[2 * q], v[2 * q + 1])));
        butterfly(kind, a, radix, roots);
        EACH(0, store(x + 2 * q, swapped(a[q])));
    }
}

// A convolution but for its outer stages: of x, axis->length numbers behind the first one.
NOINLINE void convolve(global vector_t *x, global const axis_t *axis, global const float2 *twiddles)
{
    const stage_t last = axis->stages[axis->stage_count - 1];
    for (uint part = 0; part < axis->length; part += part_length(axis)) {
        forward_stages(x, axis, twiddles, part, 1);
        BY_RADIX(last.radix, convolved_stage, x + 2 * part, part_length(axis), twiddles + axis->filter + part,
                 twiddles + last.roots);
        inverse_stages(x, axis, twiddles, part, 1);
    }
}

// The outer stages have radix 8, and n numbers fill at most the lower half of m: four numbers of a butterfly are 0
// before the first stage, and four are not wanted after the last one. Both take the chirp with them.

INLINE void outer_butterfly(number_t *a)
{
    const number_t quarter_2 = {a[2].im, -a[2].re}, quarter_3 = {a[3].im, -a[3].re};
    const number_t even[4] = {plus(a[0], a[2]), plus(a[0], quarter_2), minus(a[0], a[2]), minus(a[0], quarter_2)};
    const number_t odd[4] = {plus(a[1], a[3]), plus(a[1], quarter_3), minus(a[1], a[3]), minus(a[1], quarter_3)};
    combine_8(a, even, odd);
}

// Numbers j + q span, q < 4, of the data, times the chirp, to all eight after the first stage
INLINE void begin_convolution(global vector_t *x, number_t *a, const uint j, const uint span,
                              global const float *v)
{
    outer_butterfly(a);
    store(x + 2 * (size_t)j, a[0]);
#pragma unroll
    for (uint q = 1; q < 8; ++q)
        store(x + 2 * ((size_t)j + q * span), spun(a[q], v[2 * q - 2], v[2 * q - 1]));
}

// Eight numbers before the last stage to numbers j + q span, q < 4, of the result but for the chirp
INLINE void end_convolution(global const vector_t *x, number_t *a, const uint j, const uint span,
                            global const float *v)
{
    a[0] = swapped(load(x + 2 * (size_t)j));
#pragma unroll
    for (uint q = 1; q < 8; ++q)
        a[q] = spun(swapped(load(x + 2 * ((size_t)j + q * span))), v[2 * q - 2], v[2 * q - 1]);
    butterfly_8(a);
#pragma unroll
    for (uint q = 0; q < 4; ++q)
        a[q] = swapped(a[q]);
}

// For each butterfly of the outer stages; `each` is done with j, a[], v and what is named here.
#define OUTER_STAGE(axis, twiddles, each) \
    do { \
        const uint span = (axis)->stages[0].span, points = (axis)->points; \
        global const float2 *chirp = (twiddles) + (axis)->chirp; \
        global const float *v = (global const float *)((twiddles) + (axis)->stages[0].twiddles); \
        for (uint j = 0; j < span; ++j, v += 14) { \
            number_t a[8]; \
            each \
        } \
    } while (0)

// For each of four numbers k that there are; `other` for those that there are not
#define FOUR(statement, other) \
    _Pragma("unroll") for (uint q = 0; q < 4; ++q) { \
        const uint k = j + q * span; \
        if (k < points) { \
            statement; \
        } else { \
            other; \
        } \
    }
// 0 in place of a number past the end of the data
#define NO_NUMBER a[q] = (number_t){0, 0}

// `numbers` become the convolution, up to its inner stages, of the data whose number k the expression says.
#define BEGIN_CONVOLUTION(numbers, axis, twiddles, number) \
    OUTER_STAGE(axis, twiddles, { \
        FOUR(a[q] = spun((number), chirp[k].x, chirp[k].y), NO_NUMBER) \
        begin_convolution(numbers, a, j, span, v); \
    })

// And back: the statement is done with each number k of the transform, a[q].
#define END_CONVOLUTION(numbers, axis, twiddles, statement) \
    OUTER_STAGE(axis, twiddles, { \
        end_convolution(numbers, a, j, span, v); \
        FOUR(a[q] = spun(a[q], chirp[k].x, chirp[k].y); statement, ) \
    })

// The transform of any length and its inverse, in place
NOINLINE void transform_any(global vector_t *x, global const axis_t *axis, global const float2 *twiddles)
{
    if (!is_convolved(axis)) {
        transform(x, axis, twiddles, 0);
        return;
    }
    BEGIN_CONVOLUTION(x, axis, twiddles, load(x + 2 * k));
    convolve(x, axis, twiddles);
    END_CONVOLUTION(x, axis, twiddles, store(x + 2 * k, a[q]));
}

NOINLINE void inverse_any(global vector_t *x, global const axis_t *axis, global const float2 *twiddles)
{
    if (!is_convolved(axis)) {
        inverse(x, axis, twiddles, 0);
        return;
    }
    BEGIN_CONVOLUTION(x, axis, twiddles, swapped(load(x + 2 * k)));
    convolve(x, axis, twiddles);
    END_CONVOLUTION(x, axis, twiddles, store(x + 2 * k, swapped(a[q])));
}
