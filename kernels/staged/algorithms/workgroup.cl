// One work-group a transform of 2r numbers, as published: one launch.
//
// Launch   (n/2, rows) work-items in groups of r, r = 1, 2, 4 ...; launches p = 1, 2r, (2r)^2 ..., buffers
//          swapped between; p is the length that is already transformed
// Reads    x[g + i * groups], i = 0 ... 2r - 1, g the group, groups = n/(2r)      -> strided, not coalesced
// Writes   y[j + i * p],  k = g mod p,  j = (g - k) * 2r + k                      -> strided, not coalesced
// Spin     number i times W(k i, 2r p); in the butterflies W(k, 2 stride); sine and cosine at each
// Local    2r numbers; butterflies of decimation in frequency, in place, read out bit-reversed

// W(j, 2 half_turn)
inline complex_t workgroup_spin(const uint j, const uint half_turn, const uint flip)
{
    const real_t angle = (real_t)j / half_turn;
    return directed((complex_t)(cospi(angle), -sinpi(angle)), flip);
}

kernel void workgroup(global complex_t *y, global const complex_t *x, const uint flip, const uint p,
                      local complex_t *u)
{
    const uint i = get_local_id(0);
    const uint r = get_local_size(0);
    const uint g = get_group_id(0);
    const uint groups = get_num_groups(0);
    const size_t row = get_global_id(1) * groups * 2 * r;
    const uint k = g & (p - 1);
    const uint log2_2r = 32 - clz(r);

    u[i] = multiply(workgroup_spin(k * i, r * p, flip), x[row + g + i * groups]);
    u[i + r] = multiply(workgroup_spin(k * (i + r), r * p, flip), x[row + g + (i + r) * groups]);
    for (uint stride = r; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint offset = i & (stride - 1);
        const uint a = 2 * i - offset;
        const complex_t difference = u[a] - u[a + stride];
        u[a] += u[a + stride];
        u[a + stride] = multiply(workgroup_spin(offset, stride, flip), difference);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const size_t j = row + (g - k) * 2 * r + k;
    y[j + i * p] = u[reversed(i, log2_2r)];
    y[j + (i + r) * p] = u[reversed(i + r, log2_2r)];
}
