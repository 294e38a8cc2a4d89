// Mask: the transfer function at VECTOR vertical frequencies (one a lane) and one horizontal one.
//
// ideal     whole numbers: for each vertical frequency the host counts, exactly, the horizontal ones that are nearer
//           than the cutoff, so that kx < count is that comparison
// smooth    a function of (distance / radius)^2, the sum of a term for kx and one for ky
// product   where the gain of a sum is the product of gains, those of kx and ky: one instruction in place of twelve
// table     any gain for each frequency, gains[group][position of kx], one a lane
//
// -D SHAPE=product | table    as above; PASS is lowpass with a table
// -D SHAPE, PASS              else see shapes.cl

#if !defined SHAPE || !defined PASS
#error "fused/cpu/mask.cl: -D SHAPE=ideal ... and -D PASS=lowpass ... are missing"
#endif

#define product_is_product 1
#define IS_PRODUCT PASTE(SHAPE, _is_product)

// One horizontal frequency: its number and its terms of the outer and the inner cutoff.
typedef struct {
    float outer, inner;
    int k, unused;
} across_t;

// VECTOR vertical frequencies: their terms, or for the ideal shape their counts; `missing` is what the gain of DC has
// more than the shape gives, 0 in all other lanes.
typedef struct {
    vector_t outer, inner, missing;
} down_t;

// What a group of rows needs to know of the mask: scale is the job's row_scale.
typedef struct {
    global const across_t *across;
    down_t down;
    global const vector_t *gains;
    float outer_falloff, inner_falloff, scale;
} mask_t;

#if !IS_TABLE

// The gain of a low-pass, of the terms of one cutoff
INLINE vector_t low(const float across, const vector_t down, const int k, const float falloff)
{
#if IS_IDEAL
    return (integers_t)(k) < PASTE(as_int, VECTOR)(down) ? (vector_t)(1) : (vector_t)(0);
#elif IS_PRODUCT
    return across * down;
#else
    return SHAPE(across + down, falloff);
#endif
}

#endif

// The gain at position k of a row, times scale
INLINE vector_t gain(const mask_t mask, const size_t k)
{
#if IS_TABLE
    return mask.scale * mask.gains[k];
#else
    const across_t across = mask.across[k];
    const vector_t passed = PASS(low(across.outer, mask.down.outer, across.k, mask.outer_falloff),
                                 low(across.inner, mask.down.inner, across.k, mask.inner_falloff));
    return mask.scale * (k == 0 ? passed + mask.down.missing : passed);
#endif
}

// Clears the rows of a strip whose gain is 0 at all horizontal frequencies, while they are in the cache: behind the
// places of the rows that are filtered lie their positions.
INLINE void clear_zero_rows(global const job_t *job, global vector_t *z, global const uint *places)
{
    global const uint *positions = places + job->row_groups * 2 * VECTOR;
    for (uint i = 0; i < job->zero_rows; ++i)
        store(z + 2 * positions[i], (number_t){0, 0});
}
