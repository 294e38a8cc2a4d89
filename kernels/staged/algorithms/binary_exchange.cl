// Binary exchange (PAR-FFT): stage m for all rows, p work-items a row.
//
// Launch   (p, rows) work-items, each a part of n/p numbers, rounded up; m = 0 ... log2_n - 1, one launch each
// Reads    s[j] and s[k]: l with bit m cleared and set, bits counted from the most significant, b_0 b_1 ...
// Writes   r[l] = s[j] + s[k] W(e, n) for each l of the part; buffers swapped between
// Spin     e = b_m b_(m-1) ... b_0 0 ... 0: the first m + 1 bits of l backward, on top

kernel void binary_exchange(global complex_t *r, global const complex_t *s, global const complex_t *w,
                            const uint flip, const uint log2_n, const uint p, const uint m)
{
    const uint process = get_global_id(0);
    const uint n = 1u << log2_n;
    const size_t row = get_global_id(1) * (size_t)n;
    if (process >= p)
        return;

    const uint part = (n + p - 1) / p;
    const uint below = log2_n - 1 - m;
    const uint bit = 1u << below;
    for (uint l = min(process * part, n); l < min((process + 1) * part, n); l++) {
        const uint e = reversed(l >> below, m + 1) << below;
        r[row + l] = s[row + (l & ~bit)] + multiply(spin(w, e, n, flip), s[row + (l | bit)]);
    }
}
