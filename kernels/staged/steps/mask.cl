// Mask: multiplies every frequency by the transfer function. DC is in the corner; the spectrum is not moved.
//
// Launch   (height, width, images) work-items, for spectra that lie transposed: rows of one kx, columns of one ky
// Reads    x[kx][ky]               -> coalesced
// Writes   the same place
// Units    kx and ky in bins, without their sign. near[ky] is how many kx of that ky are nearer than the cutoff:
//          the book's dist2 < radius^2 for a whole row, found exactly on the host. A step is distance / radius
//          of one bin.
// Order    height_bits and width_bits: log2 of the length if the bins along that side are in bit-reversed order,
//          0 if they are in order
//
// needs: shapes.cl
//
// -D SHAPE=ideal | gaussian | butterworth | cosine | fermi    a shape of shapes.cl
// -D SHAPE=table | complex_table    any gains, from a table

// 1 if SHAPE is ideal, or a table; other names have no macro, and count as 0.
#define ideal_is_ideal 1
#define table_is_table 1
#define complex_table_is_table 1
#define complex_table_is_complex 1
#define IS_IDEAL PASTE(SHAPE, _is_ideal)
#define IS_TABLE PASTE(SHAPE, _is_table)

// The bin at place i of a side, bit-reversed if bits > 0.
inline uint bin(const uint i, const uint bits)
{
    return bits > 0 ? reversed(i, bits) : i;
}

#if IS_TABLE

// Gains from the table are real, or complex.
#if PASTE(SHAPE, _is_complex)
typedef complex_t gain_t;
#define TIMES(number, gain) multiply(number, gain)
#else
typedef real_t gain_t;
#define TIMES(number, gain) ((number) * (gain))
#endif

kernel void mask(global complex_t *x, global const gain_t *gains, const uint height, const uint width,
                 const uint height_bits, const uint width_bits)
{
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    const size_t image = get_global_id(2);
    if (column >= height)
        return;

    const size_t at = (size_t)bin(row, width_bits) * height + bin(column, height_bits);
    const size_t place = (image * width + row) * height + column;
    x[place] = TIMES(x[place], gains[at]);
}

#else

typedef struct {
    global const uint *near;
    real_t step_x, step_y, falloff;
} cutoff_t;

// The gain of a low-pass
inline real_t low(const uint kx, const uint ky, const cutoff_t cutoff)
{
#if IS_IDEAL
    return kx < cutoff.near[ky];
#else
    const real_t x = kx * cutoff.step_x, y = ky * cutoff.step_y;
    return SHAPE(x * x + y * y, cutoff.falloff);
#endif
}

kernel void mask(global complex_t *x, global const uint *near, const uint height, const uint width,
                 const real_t outer_x, const real_t outer_y, const real_t outer_falloff,
                 const real_t inner_x, const real_t inner_y, const real_t inner_falloff,
                 const uint has_inner, const uint is_complement, const uint height_bits, const uint width_bits)
{
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    const size_t image = get_global_id(2);
    if (column >= height)
        return;

    const uint down = bin(column, height_bits), across = bin(row, width_bits);
    const uint ky = min(down, height - down);
    const uint kx = min(across, width - across);
    const cutoff_t outer = {near, outer_x, outer_y, outer_falloff};
    const cutoff_t inner = {near + height / 2 + 1, inner_x, inner_y, inner_falloff};

    x[(image * width + row) * height + column] *=
        BAND(low(kx, ky, outer), has_inner ? low(kx, ky, inner) : 0, is_complement);
}

#endif
