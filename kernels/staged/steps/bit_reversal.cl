// Bit reversal: permutes every row. Element i goes to the place whose index is i with its bits reversed.
//
// Launch   (n, rows) work-items, n = 2^log2_n
// Reads    x[i]                    -> coalesced
// Writes   y[reversed i]           -> scattered

kernel void bit_reversal(global complex_t *y, global const complex_t *x, const uint log2_n)
{
    const uint i = get_global_id(0);
    const size_t row = get_global_id(1);
    const uint n = 1u << log2_n;
    if (i >= n)
        return;

    y[row * n + reversed(i, log2_n)] = x[row * n + i];
}
