// Bluestein's chirp-z: a transform of any length n as a convolution of length m, a power of two >= 2n - 1.
//
// With the chirp c[k] = W(k^2, 2n) = exp(-pi i k^2 sqrt(-1) / n) and jk = (j^2 + k^2 - (k - j)^2) / 2:
//
//     X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j])
//
// The sum is a circular convolution of x c with the filter conj(c), done as a product of spectra.
// The table lies behind the spin factors of length m: n chirps at chirp, m filter values at filter.
// The inverse takes the conjugates of both; the filter is even, and so is its spectrum.
// Source: L. I. Bluestein, IEEE Trans. Audio Electroacoustics 18 (1970) 451-455.

// Launch   n work-items
// Writes   w[chirp + k]; k^2 is reduced modulo 2n as a whole number, then to (-1, 1], where cospi is exact enough
kernel void chirp(global complex_t *w, const ulong chirp, const ulong n)
{
    const ulong k = get_global_id(0);
    if (k >= n)
        return;

    const ulong turn = (k * k) % (2 * n);
    const real_t angle = turn <= n ? (real_t)turn / n : -(real_t)(2 * n - turn) / n;
    w[chirp + k] = (complex_t)(cospi(angle), -sinpi(angle));
}

// Launch   m work-items
// Writes   y[k] = conj(c[k]) around 0, k = -(n-1) ... n-1, zero between
kernel void chirp_filter(global complex_t *y, global const complex_t *w, const ulong chirp, const uint n, const uint m)
{
    const uint k = get_global_id(0);
    if (k >= m)
        return;

    const uint distance = min(k, m - k);
    y[k] = distance < n ? directed(w[chirp + distance], 0x80000000) : (complex_t)(0);
}

// Launch   m work-items
// Writes   w[filter + k] = x[k] / m: the division of the inner inverse transform, done once here
kernel void keep_filter(global complex_t *w, global const complex_t *x, const ulong filter, const uint m)
{
    const uint k = get_global_id(0);
    if (k >= m)
        return;

    w[filter + k] = x[k] / (real_t)m;
}

// Launch   (m, rows) work-items
// Reads    x[k] of its row of n
// Writes   y[k] = x[k] c[k], zero from n to m
kernel void chirp_in(global complex_t *y, global const complex_t *x, global const complex_t *w, const uint flip,
                     const ulong chirp, const uint n, const uint m)
{
    const uint k = get_global_id(0);
    const size_t row = get_global_id(1);
    if (k >= m)
        return;

    y[row * m + k] = k < n ? multiply(x[row * n + k], directed(w[chirp + k], flip)) : (complex_t)(0);
}

// Launch   (m, rows) work-items
// Writes   x[k] times the filter's spectrum
kernel void convolve(global complex_t *x, global const complex_t *w, const uint flip, const ulong filter, const uint m)
{
    const uint k = get_global_id(0);
    const size_t row = get_global_id(1);
    if (k >= m)
        return;

    x[row * m + k] = multiply(x[row * m + k], directed(w[filter + k], flip));
}

// Launch   (n, rows) work-items
// Reads    x[k] of its row of m
// Writes   y[k] = x[k] c[k] of its row of n
kernel void chirp_out(global complex_t *y, global const complex_t *x, global const complex_t *w, const uint flip,
                      const ulong chirp, const uint n, const uint m)
{
    const uint k = get_global_id(0);
    const size_t row = get_global_id(1);
    if (k >= n)
        return;

    y[row * n + k] = multiply(x[row * m + k], directed(w[chirp + k], flip));
}
