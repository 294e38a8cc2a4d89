// Stages: one sweep of butterflies over a transform's numbers, in place.
//
// Forward   decimation in frequency: butterfly, then twiddle factors; natural order in, permuted out.
// Inverse   decimation in time, the same stages backward: twiddle factors, then butterfly; permuted in, natural
//           out. So no step sorts numbers; between the two, the plan's table has the frequency at each position.
//           With real and imaginary parts exchanged, forward butterflies are inverse ones.
//
// A stage of radix r and this span works on groups of r span numbers; a[q] lies q span behind a[0].
// Twiddle factors lie at w[j (r - 1) + q - 1] = W(j q, r span).
//
// needs: fused/cpu/butterflies.cl

INLINE void forward_stage(const uint kind, const uint radix, global vector_t *x, const uint length, const uint span,
                          global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    for (global vector_t *group = x, *end = x + 2 * (size_t)length; group < end; group += radix * step) {
        global const float *v = (global const float *)w;
        for (global vector_t *at = group, *stop = group + step; at < stop; at += 2, v += 2 * (radix - 1)) {
            number_t a[WIDEST];
            EACH(0, a[q] = load(at + q * step));
            butterfly(kind, a, radix, roots);
            store(at, a[0]);
            EACH(1, store(at + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
        }
    }
}

// The last stage has a span of 1 and no twiddle factors.
INLINE void last_forward_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                               global const float2 *roots)
{
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = load(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, store(x + 2 * q, a[q]));
    }
}

INLINE void first_inverse_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                                global const float2 *roots)
{
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = swapped(load(x + 2 * q)));
        butterfly(kind, a, radix, roots);
        EACH(0, store(x + 2 * q, swapped(a[q])));
    }
}

INLINE void inverse_stage(const uint kind, const uint radix, global vector_t *x, const uint length, const uint span,
                          global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    for (global vector_t *group = x, *end = x + 2 * (size_t)length; group < end; group += radix * step) {
        global const float *v = (global const float *)w;
        for (global vector_t *at = group, *stop = group + step; at < stop; at += 2, v += 2 * (radix - 1)) {
            number_t a[WIDEST];
            a[0] = swapped(load(at));
            EACH(1, a[q] = spun(swapped(load(at + q * step)), v[2 * q - 2], v[2 * q - 1]));
            butterfly(kind, a, radix, roots);
            EACH(0, store(at + q * step, swapped(a[q])));
        }
    }
}
