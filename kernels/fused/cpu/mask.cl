// Mask: the transfer function at VECTOR vertical frequencies (one a lane) and one horizontal one.
//
// ideal     whole numbers: for each vertical frequency the host counts, exactly, the horizontal ones that are nearer
//           than the cutoff, so that kx < count is that comparison
// smooth    a function of (distance / radius)^2, the sum of a term for kx and one for ky
// product   where the gain of a sum is the product of gains, those of kx and ky: one instruction in place of twelve
// table     any gain for each frequency, gains[group][position of kx], one a lane
//
// -D SHAPE=product | table    as above; else see shapes.cl

#ifndef SHAPE
#error "fused/cpu/mask.cl: -D SHAPE=ideal ... or -D SHAPE=table is missing"
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

// Two positions of a row, of the frequencies kx and width - kx, and exp(-i pi kx / 2 width)
typedef struct {
    uint position, opposite;
    float c, s;
} twins_t;

// exp(-i pi ky / 2 height) of VECTOR rows
typedef struct {
    vector_t c, s;
} turn_t;

// What a group of rows needs to know of the mask: scale is the job's row_scale.
typedef struct {
    global const across_t *across;
    down_t down;
    global const vector_t *gains;
    float outer_falloff, inner_falloff, scale;
    uint has_inner, is_complement;
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
    const vector_t outer = low(across.outer, mask.down.outer, across.k, mask.outer_falloff);
    vector_t inner = 0;
    if (mask.has_inner)
        inner = low(across.inner, mask.down.inner, across.k, mask.inner_falloff);
    const vector_t passed = BAND(outer, inner, mask.is_complement);
    return mask.scale * (k == 0 ? passed + mask.down.missing : passed);
#endif
}

// The tables of all groups, as the host fills them in. Where edges are mirrored, a group has the terms of its rows'
// frequencies and then those of the opposite ones, at each pair of positions, with the turn of each pair and row
// (mirrored_mask.cl).
typedef struct {
    global const across_t *across;
    global const down_t *down;
    global const vector_t *gains, *odd_gains;
    global const twins_t *twins;
    global const turn_t *turns;
} mask_tables_t;

// The mask of VECTOR rows, number i of all
INLINE mask_t mask_of(global const job_t *job, const mask_tables_t tables, const uint i)
{
    const uint gains = IS_MIRRORED ? 2 * (job->rows.points / 2 + 1) : job->rows.points;
    return (mask_t){tables.across, tables.down[i], tables.gains + (size_t)i * gains,
                    job->outer_falloff, job->inner_falloff, job->row_scale, job->has_inner, job->is_complement};
}

// Clears the rows of a strip whose gain is 0 at all horizontal frequencies, while they are in the cache: behind the
// places of the rows that are filtered lie their positions.
INLINE void clear_zero_rows(global const job_t *job, global vector_t *z, global const uint *places)
{
    global const uint *positions = places + job->row_groups * 2 * VECTOR;
    for (uint i = 0; i < job->zero_rows; ++i)
        store(z + 2 * positions[i], (number_t){0, 0});
}
