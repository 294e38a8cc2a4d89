// Cooley-Tukey, radix 2, decimation in frequency: one stage, for all rows, in place.
//
// Launch   (n/2, rows) work-items, one a butterfly; stage = log2_n ... 1, one launch each
// Reads    x[a] and x[b], b = a + stride, stride = 2^(stage - 1)
// Writes   the same two places
// Spin     the difference times W(k, 2 stride) = w[k * (n >> stage)], k = i mod stride

kernel void dif_butterfly(global complex_t *x, global const complex_t *w, const uint flip, const uint n,
                          const uint stage)
{
    const uint i = get_global_id(0);
    const size_t row = get_global_id(1);
    if (i >= n / 2)
        return;

    const uint stride = 1u << (stage - 1);
    const uint k = i & (stride - 1);
    const size_t a = row * n + ((i - k) << 1) + k;
    const size_t b = a + stride;

    const complex_t upper = x[a];
    const complex_t lower = x[b];
    x[a] = upper + lower;
    x[b] = multiply(directed(w[k * (n >> stage)], flip), upper - lower);
}
