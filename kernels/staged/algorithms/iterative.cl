// The iterative transform (I-FFT): all stages by one work-item.
//
// Launch   (1, rows) work-items, one a row
// Reads    s[j] and s[k]: l with bit m cleared and set, bits counted from the most significant, b_0 b_1 ...
// Writes   r[l] = s[j] + s[k] W(e, n) for l = 0 ... n - 1, m = 0 ... log2_n - 1, buffers swapped after each m;
//          unordered; in y for an odd log2_n, in x for an even one
// Spin     e = b_m b_(m-1) ... b_0 0 ... 0: the first m + 1 bits of l backward, on top

kernel void iterative(global complex_t *y, global complex_t *x, global const complex_t *w, const uint flip,
                      const uint log2_n)
{
    const uint n = 1u << log2_n;
    global complex_t *r = y + get_global_id(1) * n;
    global complex_t *s = x + get_global_id(1) * n;

    for (uint m = 0; m < log2_n; m++) {
        const uint below = log2_n - 1 - m;
        const uint bit = 1u << below;
        for (uint l = 0; l < n; l++) {
            const uint e = reversed(l >> below, m + 1) << below;
            r[l] = s[l & ~bit] + multiply(spin(w, e, n, flip), s[l | bit]);
        }
        global complex_t *const swapped = r;
        r = s;
        s = swapped;
    }
}
