// Quantize: magnitudes to gray levels by a ramp, the book's normalizeF2PGM on the device:
//
//     levels (value - smallest) / (largest - smallest), truncated; magnitudes have a smallest of 0
//
// Launch   (count, images) work-items
// Reads    values[i], and the image's pair of extremes at parts[first + image]; the ramp for parts of the largest
// Writes   image[i], the pixel on the ramp. An image that never exceeds its noise_floor is rounding noise: all its
//          values count as 0. Not ramp_for: it divides the ramp by the largest, in single precision, not the values
//          counts[image] is how many levels are nearer than undecided to the edge between two pixels
//
// needs: ramp.cl
//
// -D STORE_PIXEL=uchar | ushort | float

kernel void quantize(global STORE_PIXEL *image, global const real_t *values, global const complex_t *parts,
                     const ulong first, const ulong count, global const real_t *noise_floor,
                     global const ramp_t *ramps, global uint *counts)
{
    const size_t i = get_global_id(0);
    const size_t which = get_global_id(1);
    if (i >= count)
        return;

    const ramp_t ramp = ramps[which];
    const real_t largest = parts[first + which].y;
    const real_t part = largest > noise_floor[which] ? values[which * count + i] / largest : 0;
    const real_t level = level_on(part, ramp);
    if (from_edge(level, ramp) < ramp.undecided)
        atomic_inc(counts + which);
    image[which * count + i] = (STORE_PIXEL)pixel_on(part, level, ramp);
}
