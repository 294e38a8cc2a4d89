// Quantize: magnitudes to grey levels, the book's normalizeF2PGM (see steps/quantize.cl for the rule).
//
// Reads    strips of magnitudes; largest[] and brightest[] of every strip: each band of rows finds the extremes
//          of its image (of all of them with one scale) by itself, which is less than waiting for them costs
// Writes   a band of pixels
//
// The values still have the scale of the vertical transforms, the height. Grey levels are relative, the limit of what
// is noise has it, too, and filtered values as they are lose it here.
//
// -D LEVEL=uchar | ushort | float    the output's type
// -D SIGNED=1                        filtered values as they are, not scaled: LEVEL is float

#ifndef LEVEL
#error "fused/cpu/quantize.cl: -D LEVEL=uchar, ushort or float is missing"
#endif

#define to_levels PASTE(PASTE(convert_, LEVEL), VECTOR)

// Pixels as they lie in an image, at any address.
typedef PASTE(LEVEL, VECTOR) __attribute__((aligned(sizeof(LEVEL)))) levels_t;

ONCE void quantize(global const job_t *job, global LEVEL *image, global const vector_t *z,
                   global const float *largest, global const float *brightest, const size_t picture, const uint band)
{
    const uint strips = job->strips, pitch = job->pitch, height = job->columns.length;
    const float noise = job->noise, levels = job->levels;
    float most = 0, bright = 0;
    for (size_t i = job->one_scale ? 0 : picture * strips, end = (job->one_scale ? job->count : picture + 1) * strips;
         i < end; ++i) {
        most = largest[i] > most ? largest[i] : most;
        bright = brightest[i] > bright ? brightest[i] : bright;
    }
    const bool is_noise = most <= noise * bright;
    const float scale = is_noise ? 0 : levels / most;
    const float up = is_noise ? 0 : job->nudge, bound = job->white * most;

    const uint first = (ulong)height * band / job->bands;
    const uint end = (ulong)height * (band + 1) / job->bands;
    for (uint strip = 0; strip < strips; ++strip) {
        global const vector_t *from = z + 2 * (job->strip_size * (picture * strips + strip) + first);
        global LEVEL *to = image + (picture * height + first) * pitch + min(strip * 2 * VECTOR, job->last);
        for (uint row = first; row < end; ++row, from += 2, to += pitch) {
#pragma unroll
            for (uint half_ = 0; half_ < 2; ++half_) {
                const vector_t value = from[half_], level = value * scale + up;
                const vector_t inside = level < levels ? level : (vector_t)(levels);
                const vector_t top = is_noise ? (vector_t)(0) : (vector_t)(levels);
#if defined SIGNED
                ((global levels_t *)to)[half_] = value * job->unit;
#elif PASTE(LEVEL, _is_float)
                ((global levels_t *)to)[half_] = value < bound ? inside : top;
#else
                ((global levels_t *)to)[half_] = to_levels(PASTE(convert_int, VECTOR)(value < bound ? inside : top));
#endif
            }
        }
    }
}
