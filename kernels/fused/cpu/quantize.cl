// Quantize: magnitudes to grey levels, the book's normalizeF2PGM (see staged/steps/quantize.cl for the rule).
//
// Reads    strips of values; largest[] and deviation[] of every strip: each band of rows finds the extremes
//          of its image (of all of them with one scale) by itself, which is less than waiting for them costs
// Writes   a band of pixels
//
// The values still have the scale of the vertical transforms, the height. Grey levels are relative, the limit of what
// is noise has it, too, and real values lose it here.
//
// -D STORE_PIXEL=uchar | ushort | float    the output's type
// -D OUTPUT=magnitude | real               real: STORE_PIXEL is float

#ifndef STORE_PIXEL
#error "fused/cpu/quantize.cl: -D STORE_PIXEL=uchar, ushort or float is missing"
#endif

#if PASTE(STORE_PIXEL, _is_float)
#define TO_PIXELS(values) (values)
#else
#define TO_PIXELS(values) PASTE(PASTE(convert_, STORE_PIXEL), VECTOR)(PASTE(convert_int, VECTOR)(values))
#endif

// Pixels as they lie in an image, at any address.
typedef PASTE(STORE_PIXEL, VECTOR) __attribute__((aligned(sizeof(STORE_PIXEL)))) stored_pixels_t;

NOINLINE void quantize(global const job_t *job, global STORE_PIXEL *image, global const vector_t *z,
                       global const float *largest, global const float *deviation, const size_t picture,
                       const uint band)
{
    const uint strips = job->strips, pitch = job->pitch, height = job->columns.points;
    const float noise = job->noise, levels = job->levels;
    float most = 0, far = 0;
    for (size_t i = job->one_scale ? 0 : picture * strips, end = (job->one_scale ? job->count : picture + 1) * strips;
         i < end; ++i) {
        most = largest[i] > most ? largest[i] : most;
        far = deviation[i] > far ? deviation[i] : far;
    }
    const bool is_noise = most <= noise * far;
    const float scale = is_noise ? 0 : levels / most;
    const float nudge = is_noise ? 0 : job->nudge, bound = job->white * most;
    const vector_t white = is_noise ? (vector_t)(0) : (vector_t)(levels);

    const uint first = (ulong)height * band / job->bands;
    const uint end = (ulong)height * (band + 1) / job->bands;
    for (uint strip = 0; strip < strips; ++strip) {
        global const vector_t *from = z + 2 * (job->strip_stride * (picture * strips + strip) + first);
        global STORE_PIXEL *left = image + picture * height * pitch + min(strip * 2 * VECTOR, job->last_start);
        for (uint row = first; row < end; ++row, from += 2) {
            global stored_pixels_t *to = (global stored_pixels_t *)(left + (size_t)pixel_at(row, height) * pitch);
#pragma unroll
            for (uint side = 0; side < 2; ++side) {
                const vector_t value = from[side], level = value * scale + nudge;
                const vector_t grey = value < bound ? (level < levels ? level : (vector_t)(levels)) : white;
                to[side] = TO_PIXELS(IS_REAL ? value * job->column_scale : grey);
            }
        }
    }
}
