// One work-group several neighboring transforms of 2r numbers: one launch.
//
// Launch   (n/2, rows) work-items in groups of r * side; launches p = 1, 2r, (2r)^2 ..., buffers swapped between
// Reads    x[g + i * n/(2r)] for side neighboring g                       -> coalesced, side numbers at a time
// Writes   y[j + i * p],  k = g mod p,  j = (g - k) * 2r + k, in runs of side numbers: for p >= side the runs of
//          neighboring k, below that one run, since the whole group's output is contiguous then  -> coalesced
// Spin     number i times W(k i, 2r p); in the butterflies W(k, 2 stride); all looked up
// Local    2r * side numbers; number i of transform c lies at i * side + c, so neighbors lie in neighboring banks

kernel void workgroup_coalesced(global complex_t *y, global const complex_t *x, global const complex_t *w,
                                const uint flip, const uint n, const uint p, const uint r, local complex_t *u)
{
    const uint items = get_local_size(0);
    const uint side = items / r;
    const uint c = get_local_id(0) & (side - 1);
    const uint i = get_local_id(0) / side;
    const uint first = get_group_id(0) * side;
    const size_t row = get_global_id(1) * n;

    const uint k = (first + c) & (p - 1);
    const uint step = n / (2 * r * p);
    for (uint m = i; m < 2 * r; m += r)
        u[m * side + c] = multiply(spin(w, k * m * step, n, flip), x[row + first + c + m * (n / (2 * r))]);
    for (uint stride = r; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint offset = i & (stride - 1);
        const uint a = (2 * i - offset) * side + c;
        const uint b = a + stride * side;
        const complex_t difference = u[a] - u[b];
        u[a] += u[b];
        u[b] = multiply(directed(w[offset * (n / (2 * stride))], flip), difference);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Number e of the group's output in the order of memory: transform c_out, number i_out of it.
    const uint run = min(p, side);
    for (uint e = get_local_id(0); e < 2 * items; e += items) {
        const uint i_out = e / run & (2 * r - 1);
        const uint c_out = e / (2 * r * run) * run + (e & (run - 1));
        const uint g = first + c_out;
        const size_t j = row + (g - (g & (p - 1))) * 2 * r + (g & (p - 1));
        y[j + i_out * p] = u[reversed(i_out, 32 - clz(r)) * side + c_out];
    }
}
