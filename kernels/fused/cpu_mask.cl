// Mask: the transfer function at VECTOR vertical frequencies (one a lane) and one horizontal one.
//
// The ideal shape is whole numbers: for each vertical frequency the host counts, exactly, the horizontal ones
// with distance2 < limit, so that kx < count is that comparison. The smooth shapes take their distance (or for
// the Gaussian, which separates, their gain) from a term for kx and one for ky.
//
// -D SHAPE=ideal | gaussian | butterworth
// -D PASS=lowpass | highpass | bandpass | bandstop
// -D TABLE=1                  any mask, from a table of gains, in place of both

#if !defined TABLE && (!defined SHAPE || !defined PASS)
#error "fused/cpu_mask.cl: -D SHAPE=ideal ... and -D PASS=lowpass ... are missing"
#endif

// One horizontal frequency: its number and its terms of the outer and the inner cutoff.
typedef struct {
    float outer, inner;
    int k, unused;
} across_t;

// VECTOR vertical frequencies: their terms, or for the ideal shape their counts.
typedef struct {
    vector_t outer, inner;
} down_t;

#ifndef TABLE

#define whole_ PASTE(as_int, VECTOR)

ALWAYS vector_t ideal(const float across, const vector_t down, const int k, const int order)
{
    return (whole_t)(k) < whole_(down) ? (vector_t)(1) : (vector_t)(0);
}

ALWAYS vector_t gaussian(const float across, const vector_t down, const int k, const int order)
{
    return across * down;
}

ALWAYS vector_t butterworth(const float across, const vector_t down, const int k, const int order)
{
    vector_t square = across + down, power = 1;
    for (int rest = order; rest > 0; rest >>= 1, square *= square)
        power = rest & 1 ? power * square : power;
    return 1 / (1 + power);
}

#define OUTER SHAPE(across.outer, down.outer, across.k, order)
#define INNER SHAPE(across.inner, down.inner, across.k, order)

ALWAYS vector_t lowpass(const across_t across, const down_t down, const int order)
{
    return OUTER;
}

ALWAYS vector_t highpass(const across_t across, const down_t down, const int order)
{
    return 1 - OUTER;
}

ALWAYS vector_t bandpass(const across_t across, const down_t down, const int order)
{
    return OUTER * (1 - INNER);
}

ALWAYS vector_t bandstop(const across_t across, const down_t down, const int order)
{
    return 1 - OUTER * (1 - INNER);
}

#endif

// What a group of rows needs to know of the mask: scale is the job's.
typedef struct {
    global const across_t *across;
    down_t down;
    global const vector_t *gains;
    int order;
    float scale;
} mask_t;

// The gain at position k of a row, times scale
ALWAYS vector_t gain(const mask_t mask, const size_t k)
{
#ifdef TABLE
    return mask.scale * mask.gains[k];
#else
    return mask.scale * PASS(mask.across[k], mask.down, mask.order);
#endif
}
