// Layout: says where a plain FFT reads and writes its numbers, filled in by the host (fused/cpu/plain_fft.py).
//
// A plain FFT takes the steps of a filter without the mask: columns to strips, then rows of the strips to the spectrum.
// The inverse to real values takes rows of the spectrum to strips, then columns. Arrays interleave real and imaginary
// parts.
//
// needs: fused/cpu/bluestein.cl fused/cpu/transpose.cl

// `images` lie `source_step` and `target_step` numbers apart; `chunk` of them go through the steps together, and share
// the strips. A step has `tasks` for each image. Rows are `source_pitch` and `target_pitch` numbers apart, and a row of
// the spectrum has `width`. `kind` is one of those below.
typedef struct {
    ulong source_step, target_step;
    uint images, chunk, tasks[2], source_pitch, target_pitch, width, kind;
} layout_t;

#define PLANES 0   // two axes, rows behind columns
#define LINES 1    // rows alone
#define SIGNAL 2   // one long row in two steps: columns and rows of a matrix, twiddle factors between them
#define COLUMNS 3  // columns alone, in the work space instead of strips

// What tasks share: places[] is how many bytes behind its strip each row of a group lies, to[] which rows of the arrays
// these are, take[] where in the work space the numbers of a row are, counted in vectors.
typedef struct {
    global const params_t *params;
    global const layout_t *layout;
    global const float2 *column_twiddles, *row_twiddles;
    global const uint *places, *to, *take;
    global const float *between;
    float scale;
} shared_t;

// A vector as it lies in an array, at any address.
typedef vector_t __attribute__((aligned(4))) unaligned_t;

// For PICK: which elements of two vectors are real (EVEN) or imaginary parts (ODD) of numbers side by side, and which
// put them side by side again, in two vectors.
#if VECTOR == 4
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define ZIP_LOWER 0, 4, 1, 5
#define ZIP_UPPER 2, 6, 3, 7
#elif VECTOR == 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define ZIP_LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_UPPER 4, 12, 5, 13, 6, 14, 7, 15
#else
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define ZIP_LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#endif

// VECTOR complex numbers that lie side by side in an array
INLINE number_t gathered(global const float *at)
{
    const vector_t a = ((global const unaligned_t *)at)[0], b = ((global const unaligned_t *)at)[1];
    return (number_t){PICK(EVEN, a, b), PICK(ODD, a, b)};
}

INLINE void scatter(global float *at, const number_t a)
{
    ((global unaligned_t *)at)[0] = PICK(ZIP_LOWER, a.re, a.im);
    ((global unaligned_t *)at)[1] = PICK(ZIP_UPPER, a.re, a.im);
}

// The largest magnitude so far, lane by lane, as the bits of a float: these order like whole numbers, NaN above all.
INLINE integers_t larger_bits(const integers_t most, const vector_t a)
{
    const integers_t bits = PASTE(as_int, VECTOR)(a) & 0x7fffffff;
    return most < bits ? bits : most;
}

INLINE uint largest_bits(const integers_t most)
{
    const int *lanes = (const int *)&most;
    int largest = 0;
    for (uint i = 0; i < VECTOR; ++i)
        largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}

// All stages from `first` on, in place: natural order in, the plan's order out.
NOINLINE void transform(global vector_t *x, global const axis_t *axis, global const float2 *twiddles, const uint first)
{
    const stage_t last = axis->stages[axis->stage_count - 1];
    for (uint part = 0; part < axis->length; part += part_length(axis)) {
        forward_stages(x, axis, twiddles, part, first);
        BY_RADIX(last.radix, last_forward_stage, x + 2 * part, part_length(axis), twiddles + last.roots);
    }
}

NOINLINE void transform_any(global vector_t *x, global const axis_t *axis, global const float2 *twiddles)
{
#if BLUESTEIN
    if (axis->length != axis->points) {
        BEGIN_CONVOLUTION(x, axis, twiddles, load(x + 2 * k));
        convolve(x, axis, twiddles);
        END_CONVOLUTION(x, axis, twiddles, store(x + 2 * k, a[q]));
        return;
    }
#endif
    transform(x, axis, twiddles, 0);
}
