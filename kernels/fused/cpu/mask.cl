// Mask: the transfer function at VECTOR vertical frequencies (one a lane) and one horizontal one.
//
// ideal     whole numbers: for each vertical frequency the host counts, exactly, the horizontal ones that are nearer
//           than the cutoff, so that kx < count is that comparison
// smooth    a function of (distance / radius)^2, the sum of a term for kx and one for ky (shapes.cl)
// product   where the gain of a sum is the product of gains, those of kx and ky: one instruction in place of twelve
// table     any gain for each frequency, gains[group][position of kx], one a lane
//
// A number in the parameters selects one. The gains of a piece of a row are written to a work space in the first cache
// and read from there, so that a program contains each shape once, not once in every butterfly.
//
// needs: fused/cpu/numbers.cl fused/cpu/params.cl edges.cl shapes.cl

// No shape of its own
#define PRODUCT 100

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

// The gain of a low-pass, of the terms of one cutoff. The shape is a constant wherever this is called.
INLINE vector_t low(const uint shape, const float across, const vector_t down, const int k, const float falloff)
{
// For EACH_SMOOTH_SHAPE: a case of the switch that calls the function of a shape
#define CASE_OF_SHAPE(number, function) \
    case number: return function(across + down, falloff);
    switch (shape) {
    case IDEAL: return (integers_t)(k) < PASTE(as_int, VECTOR)(down) ? (vector_t)(1) : (vector_t)(0);
    EACH_SMOOTH_SHAPE(CASE_OF_SHAPE)
    }
    return across * down;
}

INLINE void gains_of_shape(const uint shape, global vector_t *to, global const params_t *params,
                           global const across_t *across, const down_t down, const uint first, const uint count)
{
    for (uint i = 0; i < count; ++i) {
        const across_t at = across[first + i];
        const vector_t outer = low(shape, at.outer, down.outer, at.k, params->outer_falloff);
        vector_t inner = 0;
        if (params->has_inner)
            inner = low(shape, at.inner, down.inner, at.k, params->inner_falloff);
        const vector_t passed = BAND(outer, inner, params->is_complement);
        to[i] = params->row_scale * (first + i == 0 ? passed + down.missing : passed);
    }
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

// Gains from a table, which has them for all positions of VECTOR rows, number i of all
INLINE void gains_of_table(global vector_t *to, global const params_t *params, global const vector_t *table,
                           const uint i, const uint first, const uint count)
{
    table += (IS_MIRRORED ? 2 * (params->rows.points / 2 + 1) : params->rows.points) * (size_t)i + first;
    for (uint k = 0; k < count; ++k)
        to[k] = params->row_scale * table[k];
}

// The gains of VECTOR rows, number i of all, at `count` positions from `first` on, times the scale of the rows
NOINLINE void gains_of_rows(global vector_t *to, global const params_t *params, const mask_tables_t tables,
                            const uint i, const uint first, const uint count)
{
// For EACH_SMOOTH_SHAPE: a case of the switch in which the number of the shape is a constant
#define CASE_OF_ROWS(number, unused) \
    case number: gains_of_shape(number, to, params, tables.across, tables.down[i], first, count); break;
    switch (params->shape) {
    CASE_OF_ROWS(IDEAL, )
    CASE_OF_ROWS(PRODUCT, )
    EACH_SMOOTH_SHAPE(CASE_OF_ROWS)
    case TABLE: gains_of_table(to, params, tables.gains, i, first, count); break;
    }
}

// Where a worker's gains lie: at the end of its work space
INLINE global vector_t *place_of_gains(global const params_t *params, global vector_t *x)
{
    return x + 2 * (size_t)(params->workspace - params->gains);
}

// Clears the rows of a strip whose gain is 0 at all horizontal frequencies, while they are in the cache: behind the
// places of the rows that are filtered lie their positions.
INLINE void clear_zero_rows(global const params_t *params, global vector_t *z, global const uint *places)
{
    global const uint *positions = places + params->row_groups * 2 * VECTOR;
    for (uint i = 0; i < params->zero_rows; ++i)
        store(z + 2 * positions[i], (number_t){0, 0});
}
