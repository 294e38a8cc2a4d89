// Stages: one sweep of butterflies over a transform's numbers, in place.
//
// Forward   decimation in frequency: butterfly, then spin factors; natural order in, permuted out.
// Inverse   decimation in time, the same stages backward: spin factors, then butterfly; permuted in, natural
//           out. So nothing is ever reversed: between the two, position p holds the frequency that the plan's
//           table says. Numbers are turned (real and imaginary part changed about), which makes the forward
//           butterflies inverse ones.
//
// A stage of radix r and this span works on parts of r span numbers; a[q] lies q span apart.
// Spin factors lie at w[j (r - 1) + q - 1] = W(j q, r span).

typedef struct {
    uint radix, span, spin, roots;
} stage_t;

ALWAYS void forward_stage(const uint kind, const uint radix, global vector_t *x, const uint length, const uint span,
                          global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    for (global vector_t *part = x, *end = x + 2 * (size_t)length; part < end; part += radix * step) {
        global const float *v = (global const float *)w;
        for (global vector_t *at = part, *stop = part + step; at < stop; at += 2, v += 2 * (radix - 1)) {
            number_t a[WIDEST];
            EACH(0, a[q] = got(at + q * step));
            butterfly(kind, a, radix, roots);
            set(at, a[0]);
            EACH(1, set(at + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
        }
    }
}

// The last stage has a span of 1 and no spin factors.
ALWAYS void last_forward_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                               global const float2 *roots)
{
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = got(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, set(x + 2 * q, a[q]));
    }
}

ALWAYS void first_inverse_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                                global const float2 *roots)
{
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = turned(got(x + 2 * q)));
        butterfly(kind, a, radix, roots);
        EACH(0, set(x + 2 * q, turned(a[q])));
    }
}

ALWAYS void inverse_stage(const uint kind, const uint radix, global vector_t *x, const uint length, const uint span,
                          global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    for (global vector_t *part = x, *end = x + 2 * (size_t)length; part < end; part += radix * step) {
        global const float *v = (global const float *)w;
        for (global vector_t *at = part, *stop = part + step; at < stop; at += 2, v += 2 * (radix - 1)) {
            number_t a[WIDEST];
            a[0] = turned(got(at));
            EACH(1, a[q] = spun(turned(got(at + q * step)), v[2 * q - 2], v[2 * q - 1]));
            butterfly(kind, a, radix, roots);
            EACH(0, set(at + q * step, turned(a[q])));
        }
    }
}
