// Ramp: from filtered values to pixels, the same for every output: a straight line, with its ends. What makes a
// magnitude of it, or the input's grey levels, are numbers; the twin of fftfilter/output/ramp.py, which says how they
// come about.
//
//     pixel = stretch value + shift     at least bottom, at most top, truncated for whole numbers;
//                                       top from the value `white` on
//
// One text for all forms: VALUE is a real number, or a vector of them where a file before this one says so.

#ifndef VALUE
#define VALUE real_t
#endif

// One for each picture (the same fields: fftfilter/output/ramp.py). Levels below `below` and from `above` on count as
// clipped. What never exceeds `noise` of the picture's largest deviation is rounding noise. of_largest: stretch and
// white are parts of the largest magnitude. magnitude: values lose their sign. counts: what is clipped is counted.
typedef struct {
    float stretch, shift, white, bottom, top, below, above, noise;
    uint of_largest, magnitude, counts, unused;
} ramp_t;

// The ramp of a picture whose largest magnitude is known; rounding noise becomes what 0 does.
static inline ramp_t ramp_for(ramp_t ramp, const real_t most, const bool is_noise)
{
    if (ramp.of_largest) {
        ramp.stretch /= most;
        ramp.white *= most;
    }
    if (is_noise) {
        ramp.stretch = 0;
        ramp.top = ramp.bottom = ramp.shift < ramp.bottom ? ramp.bottom : ramp.shift < ramp.top ? ramp.shift : ramp.top;
    }
    return ramp;
}

// What stands on the ramp: values without their sign if they lose it
static inline VALUE on_ramp(const VALUE value, const ramp_t ramp)
{
    return ramp.magnitude ? value < 0 ? -value : value : value;
}

static inline VALUE level_on(const VALUE value, const ramp_t ramp)
{
    return value * ramp.stretch + ramp.shift;
}

// The pixel of a value whose level is known
static inline VALUE pixel_on(const VALUE value, const VALUE level, const ramp_t ramp)
{
    const VALUE bottom = (VALUE)(ramp.bottom), top = (VALUE)(ramp.top);
    return value < ramp.white ? level < top ? level < bottom ? bottom : level : top : top;
}
