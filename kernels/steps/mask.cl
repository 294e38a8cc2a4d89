// Mask: every frequency times the transfer function, around DC in the corner; the spectrum is not moved.
//
// Launch   (width, height, images) work-items; the spectrum may lie transposed (then width is the height)
// Reads    x[ky][kx]               -> coalesced
// Writes   the same place
// Units    distance2 = (kx scale_x)^2 + (ky scale_y)^2, whole numbers: on a square image the scales are 1
//          and it is the book's dist2; on others height/gcd and width/gcd, so that it is exact there too.
//          A cutoff is the radius squared in that unit: rounded up as a whole number for the ideal shape
//          (distance2 < limit is then exactly distance < radius), and as a real for the smooth ones.
// Order    along an axis whose transform left its bins in bit-reversed order, bits = log2 of its length;
//          0 where bins lie in natural order
//
// -D SHAPE=ideal | gaussian | butterworth                  the low-pass it is made of
// -D PASS=lowpass | highpass | bandpass | bandstop         what is made of it

#if !defined SHAPE || !defined PASS
#error "mask.cl: -D SHAPE=ideal ... and -D PASS=lowpass ... are missing"
#endif

typedef struct {
    ulong limit;
    real_t radius2;
    int order;
} cutoff_t;

inline real_t ideal(const ulong distance2, const cutoff_t cutoff)
{
    return distance2 < cutoff.limit;
}

inline real_t gaussian(const ulong distance2, const cutoff_t cutoff)
{
    return exp2(-(real_t)distance2 / cutoff.radius2);
}

inline real_t butterworth(const ulong distance2, const cutoff_t cutoff)
{
    return 1 / (1 + pown((real_t)distance2 / cutoff.radius2, cutoff.order));
}

inline real_t lowpass(const ulong distance2, const cutoff_t outer, const cutoff_t inner)
{
    return SHAPE(distance2, outer);
}

inline real_t highpass(const ulong distance2, const cutoff_t outer, const cutoff_t inner)
{
    return 1 - SHAPE(distance2, outer);
}

inline real_t bandpass(const ulong distance2, const cutoff_t outer, const cutoff_t inner)
{
    return SHAPE(distance2, outer) * (1 - SHAPE(distance2, inner));
}

inline real_t bandstop(const ulong distance2, const cutoff_t outer, const cutoff_t inner)
{
    return 1 - bandpass(distance2, outer, inner);
}

kernel void mask(global complex_t *x, const uint width, const uint height, const ulong scale_x, const ulong scale_y,
                 const ulong outer_limit, const real_t outer_radius2, const ulong inner_limit,
                 const real_t inner_radius2, const int order, const uint column_bits, const uint row_bits)
{
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    const size_t image = get_global_id(2);
    if (column >= width || row >= height)
        return;

    const uint across = column_bits > 0 ? reversed(column, column_bits) : column;
    const uint down = row_bits > 0 ? reversed(row, row_bits) : row;
    const ulong kx = min(across, width - across) * scale_x;
    const ulong ky = min(down, height - down) * scale_y;
    const cutoff_t outer = {outer_limit, outer_radius2, order};
    const cutoff_t inner = {inner_limit, inner_radius2, order};

    x[(image * height + row) * width + column] *= PASS(kx * kx + ky * ky, outer, inner);
}
