// Bluestein's chirp-z: a transform of n points, n with a large prime in it, as a convolution of m >= 2n - 1 points.
//
// With the chirp c[k] = exp(-pi sqrt(-1) k^2 / n):    X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j])
// The sum is a product of spectra of m points. filter[] is the spectrum of conj(c), divided by m and in the order in
// which the stages leave the other one. The inverse transform is the same of exchanged numbers.
// Source: see kernels/staged/bluestein.cl.

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

// The circular convolution of x, axis->length numbers, with conj(c).
NOINLINE void convolve(global vector_t *x, global const axis_t *axis, global const float2 *spin)
{
    const stage_t last = axis->stages[axis->stage_count - 1];
    for (uint part = 0; part < axis->length; part += part_length(axis)) {
        forward_stages(x, axis, spin, part, 0);
        BY_RADIX(last.radix, convolved_stage, x + 2 * part, part_length(axis), spin + axis->filter + part,
                 spin + last.roots);
        inverse_stages(x, axis, spin, part, 0);
    }
}
