// Mask: computes the gain of one frequency while the spectrum is in registers.
//
// ideal       For a column, distance < radius means |ky| below a bound: the comparison of whole numbers
//             (kx scale_x)^2 + (ky scale_y)^2 < limit, solved for ky on the host. bounds[kx] holds it for both cutoffs.
// smooth      from (d/r)^2 in single precision
// table       any gain for each frequency, gains[kx][ky]
//
// needs: fused/gpu/attributes.cl edges.cl shapes.cl
//
// -D SHAPE=ideal | gaussian | butterworth | cosine | fermi    a shape of shapes.cl
// -D SHAPE=table    any gain, from a table

#ifndef SHAPE
#error "fused/gpu/mask.cl: -D SHAPE=ideal ... or -D SHAPE=table is missing"
#endif

// 1 if SHAPE is ideal, or table; other names have no macro, and count as 0.
#define ideal_is_ideal 1
#define table_is_table 1
#define IS_IDEAL PASTE(SHAPE, _is_ideal)
#define IS_TABLE PASTE(SHAPE, _is_table)

#if IS_TABLE
typedef real_t mask_data_t;
#else
typedef uint2 mask_data_t;
#endif

// per_inner2 is 0 where there is no inner cutoff
typedef struct {
    real_t scale_x2, scale_y2;
    real_t per_outer2, per_inner2;
    real_t outer_falloff, inner_falloff;
    real_t at_dc;
    uint is_complement;
} cutoffs_t;

#if IS_IDEAL

typedef uint2 column_t;

INLINE column_t mask_column(const uint kx, global const mask_data_t *bounds, const cutoffs_t cutoffs)
{
    return bounds[kx];
}

// The gains of the low-passes of both cutoffs
#define LOW_OUTER ((real_t)(ky < column.x))
#define LOW_INNER ((real_t)(ky < column.y))

#elif !IS_TABLE

typedef real_t column_t;

INLINE column_t mask_column(const uint kx, global const mask_data_t *unused, const cutoffs_t cutoffs)
{
    return (real_t)kx * kx * cutoffs.scale_x2;
}

// The square of the frequency's distance from 0, and the gains of the low-passes of both cutoffs
#define DISTANCE2 ((real_t)ky * ky * cutoffs.scale_y2 + column)
#define LOW_OUTER SHAPE(DISTANCE2 * cutoffs.per_outer2, cutoffs.outer_falloff)
#define LOW_INNER (cutoffs.per_inner2 > 0 ? SHAPE(DISTANCE2 * cutoffs.per_inner2, cutoffs.inner_falloff) : 0)

#else

typedef global const real_t *column_t;

INLINE column_t mask_column(const uint kx, global const mask_data_t *gains, const cutoffs_t cutoffs)
{
    return gains + (size_t)kx * (IS_MIRRORED ? HEIGHT + 1 : HEIGHT);
}

#endif

// H at column kx, row number of the spectrum, of mirrored edges the row of the cosine transform, up to HEIGHT; at DC it
// is a number of its own.
INLINE real_t mask_gain(const column_t column, const uint kx, const uint number, const cutoffs_t cutoffs)
{
    if (kx == 0 && number == 0)
        return cutoffs.at_dc;
#if IS_TABLE
    return column[number];
#else
    const uint ky = IS_MIRRORED ? number : min(number, HEIGHT - number);
    return BAND(LOW_OUTER, LOW_INNER, cutoffs.is_complement);
#endif
}
