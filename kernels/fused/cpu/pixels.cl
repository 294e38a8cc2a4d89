// Pixels: the columns read them here, and store the filtered values in the end.
//
// Strips begin at every multiple of 2 VECTOR columns. The last one is moved left to end with the image, and the columns
// that it shares with the one before are computed twice. So no work-item has an edge.
//
// needs: fused/cpu/numbers.cl fused/cpu/params.cl edges.cl offset.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

// A vector of pixels as floats
#define to_floats PASTE(convert_float, VECTOR)

typedef PASTE(LOAD_PIXEL, VECTOR) pixels_t;
// The same as they lie in an image, at any address.
typedef PASTE(LOAD_PIXEL, VECTOR) __attribute__((aligned(sizeof(LOAD_PIXEL)))) unaligned_pixels_t;

// The left VECTOR columns of a strip as real parts, the right ones as imaginary parts, without the offset
INLINE number_t load_pixels(global const pixels_t *row, const float base)
{
    return (number_t){to_floats(row[0]) - base, to_floats(row[1]) - base};
}

// The darkest and the brightest pixels, lane by lane, in the pixels' own type: a byte vector costs a quarter
typedef struct {
    pixels_t least, most;
} range_t;

// How many rows ahead pixels are fetched: of a wide image each row lies in another page, which no CPU foresees.
#define ROWS_AHEAD 64

// Copies the pixels of `count` strips of an image that lie side by side, strip after strip, two vectors a row, and
// returns their range. The last strip of the image begins `to_last` pixels behind the first one of these.
INLINE range_t gather_pixels(global pixels_t *to, global const LOAD_PIXEL *image, const uint height, const uint pitch,
                             const uint count, const uint to_last)
{
    const pixels_t first = *(global const unaligned_pixels_t *)image;
    range_t range = {first, first};
    for (uint row = 0; row < height; ++row) {
        for (uint i = 0; i < count; ++i) {
            global const LOAD_PIXEL *at = image + (size_t)row * pitch + min(i * 2 * VECTOR, to_last);
            if (row + ROWS_AHEAD < height) {
                PREFETCH(at + (size_t)ROWS_AHEAD * pitch);
                PREFETCH(at + (size_t)ROWS_AHEAD * pitch + 2 * VECTOR - 1);
            }
            global const unaligned_pixels_t *pixels = (global const unaligned_pixels_t *)at;
            const pixels_t left = pixels[0], right = pixels[1];
            const pixels_t low = left < right ? left : right, high = left < right ? right : left;
            range.least = low < range.least ? low : range.least;
            range.most = range.most < high ? high : range.most;
            global pixels_t *place = to + 2 * ((size_t)height * i + row);
            place[0] = left;
            place[1] = right;
        }
    }
    return range;
}

// What is left of a complex column, exchanged as the inverse has it: the left columns' values and the right ones'. back
// is what the offset has become.
INLINE number_t values_of(const number_t exchanged, const float back)
{
    return (number_t){exchanged.im + back, exchanged.re + back};
}

INLINE vector_t larger_magnitude(const vector_t most, const number_t values)
{
    return larger(most, larger(absolute(values.re), absolute(values.im)));
}

#if IS_MIRRORED

// Behind the strips of all pictures lie as many that the other pixels come of, those whose row + column is odd.
INLINE global vector_t *other_strips(global const params_t *params, global vector_t *z)
{
    return z + 2 * (size_t)params->strip_stride * params->strips * params->count;
}

// Takes the other pixels of a strip from there; returns the largest magnitudes.
NOINLINE vector_t own_pixels(global const params_t *params, global vector_t *z, const uint strip)
{
    global const vector_t *other = other_strips(params, z);
    const uint start = min(strip * 2 * VECTOR, params->last_start), height = params->columns.points;
    // All bits of the lanes of odd columns; those that fill a narrow image repeat it.
    integers_t odd[2];
    for (uint i = 0; i < 2 * VECTOR; ++i)
        ((int *)odd)[i] = -(int)((start + i) % params->rows.points % 2);
    vector_t most = 0;
    for (uint i = 0; i < height; ++i) {
        const int odd_row = -(int)(pixel_at(i, height) % 2);
        const number_t a = load(z + 2 * i), b = load(other + 2 * i);
        const number_t values = {odd[0] ^ odd_row ? b.re : a.re, odd[1] ^ odd_row ? b.im : a.im};
        most = larger_magnitude(most, values);
        store(z + 2 * i, values);
    }
    return most;
}

#endif

INLINE float largest_of(const vector_t v)
{
    const float *lanes = (const float *)&v;
    float largest = 0;
    for (uint i = 0; i < VECTOR; ++i)
        largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}

INLINE float deviation_of(const range_t range, const float base)
{
    return largest_of(larger(to_floats(range.most) - base, base - to_floats(range.least)));
}

// The offset of a picture
INLINE float offset_of(global const params_t *params, global const LOAD_PIXEL *image, const size_t picture)
{
    return offset(image + picture * params->columns.points * params->pitch, params->columns.points, params->rows.points,
                  params->pitch);
}

// The largest of what each strip of an image has (of all images with one scale). Each band of rows finds it by itself,
// which is less than waiting for it costs.
INLINE float largest_of_picture(global const params_t *params, global const float *of_strips, const size_t picture)
{
    float most = 0;
    for (size_t i = params->one_scale ? 0 : picture * params->strips,
                end = (params->one_scale ? params->count : picture + 1) * params->strips;
         i < end; ++i)
        most = of_strips[i] > most ? of_strips[i] : most;
    return most;
}

// Which lanes of a strip's left and right columns are counted, all bits of them: not those of columns that the strip
// before has, too, nor what fills a narrow image.
INLINE void own_columns(integers_t *own, global const params_t *params, const uint strip)
{
    const uint start = min(strip * 2 * VECTOR, params->last_start);
    for (uint i = 0; i < 2 * VECTOR; ++i)
        ((int *)own)[i] = start + i >= strip * 2 * VECTOR && start + i < params->rows.points ? -1 : 0;
}
