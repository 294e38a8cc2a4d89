// Spin factors: w[i] = W(i, n) = exp(-2 pi i sqrt(-1) / n) for i = 0 ... n/2 - 1.
//
// Launch   n/2 work-items
// Writes   w[i]                    -> coalesced
// Spin     cos(a) and cos(a + pi/2) = -sin(a) by one vector cosine. cospi takes the angle in units of
//          pi: 2 i / n is exact for a power of two, so no pi is rounded (and no double literal needed).

kernel void spin_factors(global complex_t *w, const uint n)
{
    const uint i = get_global_id(0);
    if (i >= n / 2)
        return;

    const real_t angle = (real_t)(2 * i) / n;
    w[i] = cospi((complex_t)(angle, angle + (real_t)0.5));
}
