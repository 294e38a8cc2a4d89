// Columns: the vertical transforms of strips of VECTOR columns of complex numbers, or of 2 VECTOR columns of real ones, of
// which two are one complex column, as in fused/cpu/columns.cl.
//
// Reads    the numbers of a strip, row after row; strips begin at every multiple of their width, the last one is moved
//          left to end with the image
// Writes   their transforms in the plan's order to the strip; of columns alone, in natural order, to their places
// Scratch  x, for columns alone or for a convolution
//
// needs: fused/cpu/plain_fft/store.cl fused/cpu/bluestein.cl
//
// -D TRANSFORM=complex | real             which of the two
// -D LOAD_PIXEL=uchar | ushort | float    the type of real numbers

// 1 if TRANSFORM is real
#define complex_is_real 0
#define real_is_real 1
#define IS_REAL PASTE(TRANSFORM, _is_real)

typedef PASTE(LOAD_PIXEL, VECTOR) __attribute__((aligned(sizeof(LOAD_PIXEL)))) pixels_t;
// A vector of pixels as floats
#define to_floats PASTE(convert_float, VECTOR)

// Columns of a strip; elements of a number in the array; parts of what is stored of a strip (store.cl)
#if IS_REAL
#define STRIP (2 * VECTOR)
#define ELEMENTS 1
#define FIRST_PART LEFT
#define LAST_PART RIGHT
#else
#define STRIP VECTOR
#define ELEMENTS 2
#define FIRST_PART PLAIN
#define LAST_PART PLAIN
#endif

// A row of a strip
INLINE number_t numbers_at(global const LOAD_PIXEL *at)
{
#if IS_REAL
    global const pixels_t *row = (global const pixels_t *)at;
    return (number_t){to_floats(row[0]), to_floats(row[1])};
#else
    return gathered(at);
#endif
}

INLINE void first_stage(const uint kind, const uint radix, global vector_t *z, global const LOAD_PIXEL *source,
                        const uint pitch, const uint span, global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span, rows = (size_t)span * pitch;
    global const float *v = (global const float *)w;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1), source += pitch) {
        number_t a[WIDEST];
        EACH(0, a[q] = numbers_at(source + q * rows));
        butterfly(kind, a, radix, roots);
        store(at, a[0]);
        EACH(1, store(at + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
    }
}

// `height` numbers of each column to their places
INLINE uint store_columns(const shared_t *shared, const uint height, global const vector_t *x, global float *target)
{
    const size_t pitch = 2 * (size_t)shared->layout->target_pitch;
    global const uint *take = shared->take;
    const vector_t factor = (IS_REAL ? 0.5f : 1) * shared->scale;
    integers_t most = 0;
    for (uint k = 0; k < height; ++k)
#pragma unroll
        for (uint part = FIRST_PART; part <= LAST_PART; ++part) {
            const number_t a = times(part_of(part, x, take[k], IS_REAL ? take[height + k] : 0), factor);
            most = larger_bits(larger_bits(most, a.re), a.im);
            scatter(target + k * pitch + (part == RIGHT ? 2 * VECTOR : 0), a);
        }
    return largest_bits(most);
}

NOINLINE uint first_step(const shared_t *shared, global vector_t *z, global vector_t *x,
                         global const LOAD_PIXEL *source, global float *target, const uint strip)
{
    global const axis_t *axis = &shared->params->columns;
    global const float2 *twiddles = shared->column_twiddles;
    const uint pitch = ELEMENTS * shared->layout->source_pitch, left = min(strip * STRIP, shared->params->last_start);
    const bool alone = shared->layout->kind == COLUMNS;
    const stage_t first = axis->stages[0];
    z = alone ? x : z + 2 * (size_t)shared->params->strip_stride * strip;
    source += ELEMENTS * left;
    if (is_convolved(axis)) {
        BEGIN_CONVOLUTION(x, axis, twiddles, numbers_at(source + (size_t)k * pitch));
        convolve(x, axis, twiddles);
        END_CONVOLUTION(x, axis, twiddles, store(z + 2 * k, a[q]));
    } else {
        BY_RADIX(first.radix, first_stage, z, source, pitch, first.span, twiddles + first.twiddles,
                 twiddles + first.roots);
        if (axis->stage_count > 1)
            transform(z, axis, twiddles, 1);
    }
    return alone ? store_columns(shared, axis->points, x, target + 2 * left) : 0;
}

// `width` elements of each of VECTOR rows become lanes, element k at x[step k].
NOINLINE void load_lines(global vector_t *x, const uint step, global const LOAD_PIXEL *source, const uint width,
                         const size_t pitch, global const uint *rows)
{
    for (uint k = 0; k < width; k += VECTOR) {
        const uint first = min(k, width - VECTOR);
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            square[i] = to_floats(*(global const pixels_t *)(source + rows[i] * pitch + first));
        transpose(square);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            x[step * (first + i)] = square[i];
    }
}
