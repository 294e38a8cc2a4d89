// Shapes and passes: compute the gain of a filter from the way a low-pass falls off. The twins of
// fftfilter/transfer/shapes.py.
//
// A shape is a function of distance2, (distance / radius)^2, and of its steepness: the order, or the width as a part of
// the radius. The ideal shape is not here: the host decides exactly which bins are nearer than the cutoff, and kernels
// compare whole numbers.
//
// One text for all forms: GAIN is a real number, or a vector of them where a file before this one says so. If you call
// another built-in function here, declare it in fused/cpu/builtins.cl.

// One number at a time, unless a file before this one says otherwise
#ifndef GAIN
#define GAIN real_t
#endif

static inline GAIN gaussian(const GAIN distance2, const real_t unused)
{
    return exp2(-distance2);
}

static inline GAIN butterworth(const GAIN distance2, const real_t order)
{
    GAIN square = distance2, power = 1;
    for (int rest = (int)order; rest > 0; rest >>= 1, square *= square)
        power = rest & 1 ? power * square : power;
    return 1 / (1 + power);
}

static inline GAIN cosine(const GAIN distance2, const real_t width)
{
    const GAIN half_turns = (sqrt(distance2) - 1) / width, quarter = (GAIN)((real_t)0.5);
    return quarter - quarter * sinpi(min(max(half_turns, -quarter), quarter));
}

// DC passes whole, so that a high-pass leaves nothing of a constant.
static inline GAIN fermi(const GAIN distance2, const real_t width)
{
    return distance2 > 0 ? 1 / (1 + exp((sqrt(distance2) - 1) / width)) : (GAIN)(1);
}

// For programs that have all shapes, each with its place among the SHAPES of shapes.py, or a table in place of a shape
#define IDEAL 0
#define TABLE 101
#define EACH_SMOOTH_SHAPE(each) each(1, gaussian) each(2, butterworth) each(3, cosine) each(4, fermi)

// What is made of a low-pass with the outer cutoff and one with the inner: of a pass with one cutoff the inner is 0.
#define BAND(outer, inner, is_complement) ((is_complement) ? 1 - (outer) * (1 - (inner)) : (outer) * (1 - (inner)))
