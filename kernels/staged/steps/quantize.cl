// Quantize: magnitudes to grey levels, the book's normalizeF2PGM on the device.
//
// Launch   (count, images) work-items
// Reads    values[i], and the image's pair of extremes at parts[first + image]
// Writes   image[i] = levels (value - smallest) / (largest - smallest), truncated; the largest value gives
//          levels exactly, and so does every value from white * largest on. A value that rounding left just below
//          a whole level counts as that level: nudge is added before truncation. An image that never exceeds its
//          noise_floor is rounding noise and becomes zero.
//          counts[image] is how many levels are nearer than undecided to the edge between two pixels: a whole
//          number above 0, or the level of white
//
// -D STORE_PIXEL=uchar | ushort | float

#ifndef STORE_PIXEL
#error "quantize.cl: -D STORE_PIXEL=uchar, ushort or float is missing"
#endif

kernel void quantize(global STORE_PIXEL *image, global const real_t *values, global const complex_t *parts,
                     const ulong first, const ulong count, global const real_t *noise_floor, const real_t levels,
                     const real_t nudge, const real_t white, const real_t undecided, global uint *counts)
{
    const size_t i = get_global_id(0);
    const size_t which = get_global_id(1);
    if (i >= count)
        return;

    const real_t smallest = parts[first + which].x;
    const real_t largest = parts[first + which].y;
    const real_t value = values[which * count + i];
    const real_t level = levels * ((value - smallest) / (largest - smallest)) + nudge;
    const real_t inside = value < white * largest ? fmin(level, levels) : levels;
    if ((level > (real_t)0.5 && level < levels - (real_t)0.5 && fabs(level - rint(level)) < undecided)
        || fabs(value / largest - white) * levels < undecided)
        atomic_inc(counts + which);
    image[which * count + i] = largest > noise_floor[which] ? (STORE_PIXEL)inside : (STORE_PIXEL)0;
}
