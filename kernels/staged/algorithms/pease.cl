// Pease's constant geometry: bit reversal, then log2_n stages that all move data alike.
//
// A row of n numbers is n/2 columns, a column two numbers (a float4). A stage replaces (a, b) of every column by
// a + b and (a - b) times a spin factor, then recombines: the first slots of columns 2c and 2c + 1 become
// column c, their second slots column n/4 + c. The least significant bit of a position becomes its most
// significant; after log2_n stages all are back, and the spectrum is in order.
// Spin     column c takes w[c mod distinct], distinct = n/2, n/4 ... 2, 1, where w[c] = W(c's bits backward, n):
//          each stage uses the first half of what the last one used, and columns 2c, 2c + 1 share a float4.
//          For distinct = 2 they are 1 and -i, for 1 all are 1: no general multiplication

typedef PASTE(REAL, 4) pair_t;

// Launch   n/2 work-items
// Writes   w[c] = W(c's bits backward, n)
kernel void pease_spin_factors(global complex_t *w, const uint log2_n)
{
    const uint c = get_global_id(0);
    const uint n = 1u << log2_n;
    if (c >= n / 2)
        return;

    const real_t angle = (real_t)(2 * reversed(c, log2_n - 1)) / n;
    w[c] = (complex_t)(cospi(angle), -sinpi(angle));
}

// Launch   (n/2, rows) work-items, one a column
// Reads    x[i] and x[i + n/2], i = c's bits backward: halves by the most significant bit, the same pattern in
//          both                                              -> scattered
// Writes   column c, both halves merged                      -> coalesced
kernel void pease_bit_reversal(global pair_t *y, global const complex_t *x, const uint log2_n)
{
    const uint c = get_global_id(0);
    const size_t row = get_global_id(1);
    const uint half_n = 1u << (log2_n - 1);
    if (c >= half_n)
        return;

    const size_t i = row * 2 * half_n + reversed(c, log2_n - 1);
    y[row * half_n + c] = (pair_t)(x[i], x[i + half_n]);
}

// The second slots of columns 2c and 2c + 1, times their spin factors
inline pair_t pease_spun(const pair_t second, global const pair_t *w, const size_t c, const uint distinct,
                         const uint flip)
{
    if (distinct == 1)
        return second;
    if (distinct == 2) // an odd column takes -i, the inverse i
        return (pair_t)(second.lo, directed((complex_t)(0, -1), flip).y * (complex_t)(-second.w, second.z));
    const pair_t spins = w[c & (distinct / 2 - 1)];
    return (pair_t)(multiply(directed(spins.lo, flip), second.lo), multiply(directed(spins.hi, flip), second.hi));
}

// Launch   (n/4, rows) work-items, each an even and an odd column
// Reads    columns 2c and 2c + 1                             -> coalesced
// Writes   columns c and n/4 + c                             -> coalesced
kernel void pease_line(global pair_t *y, global const pair_t *x, global const pair_t *w, const uint flip,
                       const uint n, const uint distinct)
{
    const uint c = get_global_id(0);
    const size_t row = get_global_id(1) * (n / 2);
    if (c >= n / 4)
        return;

    const pair_t even = x[row + 2 * c];
    const pair_t odd = x[row + 2 * c + 1];
    y[row + c] = (pair_t)(even.lo + even.hi, odd.lo + odd.hi);
    y[row + n / 4 + c] = pease_spun((pair_t)(even.lo - even.hi, odd.lo - odd.hi), w, c, distinct, flip);
}

// Launch   (width/4, height * rows) work-items, each an even and an odd column of one line of the square
// Reads    columns 2c and 2c + 1 of a line                   -> coalesced
// Writes   first slots to the square's upper half, second slots to its lower half: even lines to the left half
//          of a line, odd lines to the right half            -> coalesced
kernel void pease_square(global pair_t *y, global const pair_t *x, global const pair_t *w, const uint flip,
                         const uint width, const uint height, const uint distinct)
{
    const uint c = get_global_id(0);
    const uint line = get_global_id(1) % height;
    const size_t square = get_global_id(1) / height * height * (width / 2);
    if (c >= width / 4)
        return;

    const pair_t even = x[square + line * (width / 2) + 2 * c];
    const pair_t odd = x[square + line * (width / 2) + 2 * c + 1];
    const uint across = line % 2 * (width / 4) + c;
    y[square + line / 2 * (width / 2) + across] = (pair_t)(even.lo + even.hi, odd.lo + odd.hi);
    y[square + (height + line) / 2 * (width / 2) + across] =
        pease_spun((pair_t)(even.lo - even.hi, odd.lo - odd.hi), w, line * (width / 4) + c, distinct, flip);
}

// Launch   (1, rows) work-items: n = 2 is one column and has nothing to recombine
kernel void pease_pair(global pair_t *x)
{
    const size_t row = get_global_id(1);
    if (get_global_id(0) > 0)
        return;

    const pair_t column = x[row];
    x[row] = (pair_t)(column.lo + column.hi, column.lo - column.hi);
}
