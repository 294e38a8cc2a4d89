// The direct sum: y[k] = sum over j of x[j] W(j k, n), for any n.

// Launch   n work-items
// Writes   w[i] = W(i, n); the angle within half a turn, where cospi is exact enough
kernel void dft_spin_factors(global complex_t *w, const uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;

    const real_t angle = 2 * ((real_t)(i <= n - i ? i : n - i) / n);
    w[i] = (complex_t)(cospi(angle), i <= n - i ? -sinpi(angle) : sinpi(angle));
}

// Launch   (n, rows) work-items, one a number of the spectrum
// Reads    all of its row
// Writes   y[k]
// Spin     j k modulo n, kept by addition
//          The sum is compensated: what an addition rounds away is put back at the next one, so that the error
//          does not grow with n
kernel void dft(global complex_t *y, global const complex_t *x, global const complex_t *w, const uint flip,
                const uint n)
{
    const uint k = get_global_id(0);
    const size_t row = get_global_id(1);
    if (k >= n)
        return;

    complex_t sum = 0;
    complex_t lost = 0;
    uint turn = 0;
    for (uint j = 0; j < n; j++) {
        const complex_t term = multiply(x[row * n + j], directed(w[turn], flip)) - lost;
        const complex_t next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        turn = turn < n - k ? turn + k : turn - (n - k);
    }
    y[row * n + k] = sum;
}
