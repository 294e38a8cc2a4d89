// Middle: the last forward stage, a product and the first inverse stage as one, the spectrum in registers.

// The product is the mask's gain.
ALWAYS void masked_stage(const uint kind, const uint radix, global vector_t *x, const uint length, const uint first,
                         const mask_t mask, global const float2 *roots)
{
    size_t k = first;
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix, k += radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = got(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = turned(times(a[q], gain(mask, k + q))));
        butterfly(kind, a, radix, roots);
        EACH(0, set(x + 2 * q, turned(a[q])));
    }
}

// Bluestein's chirp-z: a transform of any length n as a convolution of m >= 2n - 1 points.
//
// With the chirp c[k] = exp(-pi i k^2 sqrt(-1) / n):    X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j])
// The sum is a product of spectra of m points, whose mixed radix stages go there and back; filter[] is the
// spectrum of conj(c), divided by m and permuted as the stages leave it. The inverse is the same on turned
// numbers. Source: see bluestein.cl.
ALWAYS void convolved_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                            global const float2 *filter, global const float2 *roots)
{
    global const float *v = (global const float *)filter;
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix, v += 2 * radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = got(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = turned(spun(a[q], v[2 * q], v[2 * q + 1])));
        butterfly(kind, a, radix, roots);
        EACH(0, set(x + 2 * q, turned(a[q])));
    }
}

ALWAYS void clear(global vector_t *x, const uint from, const uint to)
{
    for (uint k = from; k < to; ++k)
        put(x, k, (number_t){0, 0});
}

// Clears those rows of a strip whose gain is 0 throughout, while they are in the cache: rows.cl leaves them out.
ALWAYS void clear_blocked(global const job_t *job, global vector_t *z, global const uint *places)
{
    global const uint *blocked = places + job->groups * 2 * VECTOR;
    for (uint i = 0; i < job->blocked; ++i)
        put(z, blocked[i], (number_t){0, 0});
}
