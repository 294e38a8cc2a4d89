// Mask of any shape: computes the gain of one frequency as gpu/mask.cl does, with a shape known at run time.
//
// ideal    bounds[kx] has how many |ky| are nearer than each cutoff
// table    gains[kx][ky]
//
// needs: fused/gpu/attributes.cl edges.cl shapes.cl

// per_inner2 is 0 where there is no inner cutoff
typedef struct {
    uint shape;
    real_t scale_x2, scale_y2;
    real_t per_outer2, per_inner2;
    real_t outer_falloff, inner_falloff;
    real_t at_dc;
    uint is_complement;
} cutoffs_t;

INLINE real_t low(const uint shape, const real_t distance2, const real_t falloff)
{
// For EACH_SMOOTH_SHAPE: a case of the switch that calls the function of a shape
#define CASE_OF_SHAPE(number, function) \
    case number: return function(distance2, falloff);
    switch (shape) {
    EACH_SMOOTH_SHAPE(CASE_OF_SHAPE)
    }
    return 0;
}

// H at column kx, row number of the spectrum; of mirrored edges the row of the cosine transform, up to the height
INLINE real_t mask_gain(global const uint *data, const uint kx, const uint number, const uint height,
                        const cutoffs_t cutoffs)
{
    if (kx == 0 && number == 0)
        return cutoffs.at_dc;
    if (cutoffs.shape == TABLE)
        return as_float(data[(size_t)kx * (IS_MIRRORED ? height + 1 : height) + number]);
    const uint ky = IS_MIRRORED ? number : min(number, height - number);
    real_t outer, inner;
    if (cutoffs.shape == IDEAL) {
        outer = ky < data[2 * kx];
        inner = ky < data[2 * kx + 1];
    } else {
        const real_t distance2 = (real_t)ky * ky * cutoffs.scale_y2 + (real_t)kx * kx * cutoffs.scale_x2;
        outer = low(cutoffs.shape, distance2 * cutoffs.per_outer2, cutoffs.outer_falloff);
        inner = cutoffs.per_inner2 > 0 ? low(cutoffs.shape, distance2 * cutoffs.per_inner2, cutoffs.inner_falloff) : 0;
    }
    return BAND(outer, inner, cutoffs.is_complement);
}
