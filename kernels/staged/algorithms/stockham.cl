// Stockham autosort, decimation in time: one stage of radix R.
//
// Launch   (n/R, rows) work-items; stages p = 1, R, R^2 ... n/R, buffers swapped between
// Reads    x[i + m * n/R], m = 0 ... R - 1                  -> coalesced
// Writes   y[j + m * p],  k = i mod p,  j = (i - k) * R + k; for R = 2 that is ((i - k) << 1) + k
// Spin     x[i + m * n/R] times W(k m, R p) = W(k m * n/(R p), n), looked up
//
// -D STOCKHAM_RADIX=2 | 4 | 8 | 16                          R, the numbers that a work-item holds
// -D STOCKHAM_MULTIPLY=multiply_plain | multiply_mad        how complex numbers are multiplied

// W(m, 16), m = 0 ... 7; a literal carries the precision that is asked for
#if PASTE(REAL, _is_single)
#define LITERAL(number) number##f
#else
#define LITERAL(number) number
#endif
#define COS_1 LITERAL(0.92387953251128675613)
#define COS_2 LITERAL(0.70710678118654752440)
#define COS_3 LITERAL(0.38268343236508977173)
constant complex_t sixteenths[8] = {{1, 0},  {COS_1, -COS_3},  {COS_2, -COS_2},  {COS_3, -COS_1},
                                    {0, -1}, {-COS_3, -COS_1}, {-COS_2, -COS_2}, {-COS_1, -COS_3}};

inline complex_t multiply_plain(const complex_t a, const complex_t b)
{
    return multiply(a, b);
}

inline complex_t multiply_mad(const complex_t a, const complex_t b)
{
    return (complex_t)(mad(a.x, b.x, -a.y * b.y), mad(a.x, b.y, a.y * b.x));
}

kernel void stockham(global complex_t *y, global const complex_t *x, global const complex_t *w, const uint flip,
                     const uint n, const uint p)
{
    const uint i = get_global_id(0);
    const size_t row = get_global_id(1);
    if (i >= n / STOCKHAM_RADIX)
        return;

    const uint k = i & (p - 1);
    const uint step = n / (STOCKHAM_RADIX * p);
    complex_t u[STOCKHAM_RADIX];
    u[0] = x[row * n + i];
#pragma unroll
    for (uint m = 1; m < STOCKHAM_RADIX; m++)
        u[m] = STOCKHAM_MULTIPLY(spin(w, k * m * step, n, flip), x[row * n + i + m * (n / STOCKHAM_RADIX)]);

    // The transform of the R numbers in registers, decimation in frequency; it leaves them bit-reversed.
#pragma unroll
    for (uint stride = STOCKHAM_RADIX / 2; stride > 0; stride /= 2) {
#pragma unroll
        for (uint m = 0; m < STOCKHAM_RADIX / 2; m++) {
            const uint offset = m & (stride - 1);
            const uint a = 2 * m - offset;
            const complex_t difference = u[a] - u[a + stride];
            u[a] += u[a + stride];
            u[a + stride] = offset == 0 ? difference
                                        : STOCKHAM_MULTIPLY(directed(sixteenths[offset * (8 / stride)], flip), difference);
        }
    }

    const size_t j = row * n + (i - k) * STOCKHAM_RADIX + k;
#pragma unroll
    for (uint m = 0; m < STOCKHAM_RADIX; m++)
        y[j + m * p] = u[reversed(m, 31 - clz(STOCKHAM_RADIX))];
}
