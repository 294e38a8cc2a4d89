// Ramp: maps filtered values to pixels, for every output, by a straight line that ends in black and white. Only its
// numbers make it a magnitude or the input's gray levels. The twin of fftfilter/output/ramp.py, which says how to find
// them.
//
//     pixel = stretch value + shift     at least bottom, at most top, truncated for whole numbers;
//                                       top from the value `white` on
//
// One text for all forms: VALUE is a real number, or a vector of them where a file before this one says so.

// One number at a time, unless a file before this one says otherwise
#ifndef VALUE
#define VALUE real_t
#endif

// One for each picture (the same fields: fftfilter/output/ramp.py). Levels below `below` and from `above` on count as
// clipped. What never exceeds `noise` of the picture's largest deviation is rounding noise. of_largest: stretch and
// white are parts of the largest magnitude. magnitude: values lose their sign. counts: what is clipped is counted.
// Levels nearer than `undecided` to the edge between two pixels are undecided.
typedef struct {
    float stretch, shift, white, bottom, top, below, above, noise, undecided;
    uint of_largest, magnitude, counts;
} ramp_t;

// What a histogram of magnitudes makes a ramp of, between two values: the ramp between 0 and 1, and for each of the two
// how many samples are smaller, a whole number and a part (the same fields: fftfilter/output/ramp.py). is_symmetric:
// the lower one is minus the upper. Where there is no range between them, the ramp is `of_largest`.
typedef struct {
    ramp_t of_range, of_largest;
    uint smaller[2];
    float part[2];
    uint is_symmetric, unused[3];
} wanted_t;

// The ramp between two values; beyond single precision 0 must not become a NaN
static inline ramp_t ramp_between(const wanted_t wanted, const real_t lower, const real_t upper)
{
    const real_t low = wanted.is_symmetric ? -upper : lower;
    if (!(low < upper))
        return wanted.of_largest;
    ramp_t ramp = wanted.of_range;
    const real_t stretch = ramp.stretch / (upper - low);
    ramp.stretch = stretch < 3e38f ? stretch : 3e38f;
    ramp.shift -= low * ramp.stretch;
    ramp.white = low + ramp.white * (upper - low);
    ramp.undecided *= upper > upper - low ? upper / (upper - low) : 1;  // of a narrow range, errors are more levels
    return ramp;
}

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

// What added and subtracted again rounds a level to a whole number
#define ROUNDS 12582912.0f

// How far a level is from the nearest edge between two pixels: a whole number, or the level of `white`. Below the first
// edge and above the last one all levels are one pixel.
static inline VALUE from_edge(const VALUE level, const ramp_t ramp)
{
    const VALUE first = (VALUE)(ramp.bottom + 0.5f), last = (VALUE)(ramp.top + (ramp.white < 3e38f ? -0.5f : 0.5f));
    const VALUE inside = level < first ? first : level < last ? level : last;
    const VALUE a = inside - ((inside + ROUNDS) - ROUNDS), b = level - (ramp.white * ramp.stretch + ramp.shift);
    const VALUE from_whole = a < 0 ? -a : a, from_white = b < 0 ? -b : b;
    return from_white < from_whole ? from_white : from_whole;
}

// The pixel of a value whose level is known
static inline VALUE pixel_on(const VALUE value, const VALUE level, const ramp_t ramp)
{
    const VALUE bottom = (VALUE)(ramp.bottom), top = (VALUE)(ramp.top);
    return value < ramp.white ? level < top ? level < bottom ? bottom : level : top : top;
}
