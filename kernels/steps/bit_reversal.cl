// Bit reversal: every row permuted, element i to the place whose index has i's bits backward.
//
// Launch   (n, rows) work-items, n = 2^log2_n
// Reads    x[i]                    -> coalesced
// Writes   y[reversed i]           -> scattered

inline uint reversed(uint i, const uint log2_n)
{
    i = (i & 0x55555555) << 1 | (i & 0xaaaaaaaa) >> 1;
    i = (i & 0x33333333) << 2 | (i & 0xcccccccc) >> 2;
    i = (i & 0x0f0f0f0f) << 4 | (i & 0xf0f0f0f0) >> 4;
    i = (i & 0x00ff00ff) << 8 | (i & 0xff00ff00) >> 8;
    i = (i & 0x0000ffff) << 16 | (i & 0xffff0000) >> 16;
    return i >> (32 - log2_n);
}

kernel void bit_reversal(global complex_t *y, global const complex_t *x, const uint log2_n)
{
    const uint i = get_global_id(0);
    const size_t row = get_global_id(1);
    const uint n = 1u << log2_n;
    if (i >= n)
        return;

    y[row * n + reversed(i, log2_n)] = x[row * n + i];
}
