// Mask: the transfer function at VECTOR vertical frequencies (one a lane) and one horizontal one.
//
// The ideal shape is whole numbers: for each vertical frequency the host counts, exactly, the horizontal ones
// with distance2 < limit, so that kx < count is that comparison. The others take (distance / radius)^2 from a term
// for kx and one for ky.
//
// -D SHAPE, PASS              see shapes.cl
// -D TABLE=1                  any gain, from a table, in place of both

#if !defined TABLE && (!defined SHAPE || !defined PASS)
#error "fused/cpu/mask.cl: -D SHAPE=ideal ... and -D PASS=lowpass ... are missing"
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

// The gain of a low-pass, of the terms of one cutoff
ALWAYS vector_t low(const float across, const vector_t down, const int k, const int order)
{
#if IS_IDEAL
    return (whole_t)(k) < PASTE(as_int, VECTOR)(down) ? (vector_t)(1) : (vector_t)(0);
#else
    return SHAPE(across + down, order);
#endif
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
    const across_t across = mask.across[k];
    return mask.scale * PASS(low(across.outer, mask.down.outer, across.k, mask.order),
                             low(across.inner, mask.down.inner, across.k, mask.order));
#endif
}
