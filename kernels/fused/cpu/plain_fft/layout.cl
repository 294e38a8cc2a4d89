// Layout: says where a plain FFT reads and writes its numbers, filled in by the host (fused/cpu/plain_fft.py).
//
// A plain FFT takes the steps of a filter without the mask: columns to strips, then rows of the strips to the spectrum.
// The inverse to real values takes rows of the spectrum to strips, then columns. Arrays interleave real and imaginary
// parts.
//
// needs: fused/cpu/numbers.cl fused/cpu/params.cl

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

// VECTOR complex numbers that lie side by side in an array
INLINE number_t gathered(global const float *at)
{
    const vector_t a = ((global const unaligned_t *)at)[0], b = ((global const unaligned_t *)at)[1];
    return (number_t){(vector_t)(a.even, b.even), (vector_t)(a.odd, b.odd)};
}

INLINE void scatter(global float *at, const number_t a)
{
    vector_t lower, upper;
    lower.even = a.re.lo, lower.odd = a.im.lo;
    upper.even = a.re.hi, upper.odd = a.im.hi;
    ((global unaligned_t *)at)[0] = lower;
    ((global unaligned_t *)at)[1] = upper;
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
