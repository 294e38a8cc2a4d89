// Normalize: divides by the number of samples after the inverse transform.
//
// Launch   (n, rows) work-items
// Reads    x[i]                    -> coalesced
// Writes   x[i] / n

kernel void normalize_rows(global complex_t *x, const uint n)
{
    const uint i = get_global_id(0);
    const size_t row = get_global_id(1);
    if (i >= n)
        return;

    x[row * n + i] /= (real_t)n;
}
