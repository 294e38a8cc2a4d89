// Transpose: copies rows of strips to the rows' work space, and back to the same places. On the way it takes packed
// columns apart, and turns rows into lanes. Nowhere else do numbers move within a register.
//
// A strip's rows and those of the mirrored frequency hold its left and right columns as one complex column;
// their sums and differences are twice the transforms of the two.
//
// needs: fused/cpu/numbers.cl fused/cpu/params.cl edges.cl

// Elements of two vectors by number, a's and behind them b's; each choice is one instruction of CPUs:
//
//   INTERLEAVE    of each four elements the lower or upper two of a and of b in turn
//   PAIRS         of each four elements the lower or upper two of a, then those of b
//   FOURS         fours of even or of odd place
//
// Written out, as compilers take choices written element by element apart and find worse ones.
#define PICK(which, a, b) __builtin_shufflevector(a, b, which)
#if VECTOR == 4
#define INTERLEAVE_LOWER 0, 4, 1, 5
#define INTERLEAVE_UPPER 2, 6, 3, 7
#define PAIRS_LOWER 0, 1, 4, 5
#define PAIRS_UPPER 2, 3, 6, 7
#elif VECTOR == 8
#define INTERLEAVE_LOWER 0, 8, 1, 9, 4, 12, 5, 13
#define INTERLEAVE_UPPER 2, 10, 3, 11, 6, 14, 7, 15
#define PAIRS_LOWER 0, 1, 8, 9, 4, 5, 12, 13
#define PAIRS_UPPER 2, 3, 10, 11, 6, 7, 14, 15
#else
#define INTERLEAVE_LOWER 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define INTERLEAVE_UPPER 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define PAIRS_LOWER 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define PAIRS_UPPER 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define FOURS_EVEN 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define FOURS_ODD 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#endif

// VECTOR x VECTOR floats change rows and columns: within squares of 4 x 4, then these squares as a whole.
INLINE void transpose(vector_t *square)
{
#pragma unroll
    for (uint i = 0; i < VECTOR; i += 4) {
        const vector_t a = PICK(INTERLEAVE_LOWER, square[i], square[i + 1]);
        const vector_t b = PICK(INTERLEAVE_LOWER, square[i + 2], square[i + 3]);
        const vector_t c = PICK(INTERLEAVE_UPPER, square[i], square[i + 1]);
        const vector_t d = PICK(INTERLEAVE_UPPER, square[i + 2], square[i + 3]);
        square[i] = PICK(PAIRS_LOWER, a, b);
        square[i + 1] = PICK(PAIRS_UPPER, a, b);
        square[i + 2] = PICK(PAIRS_LOWER, c, d);
        square[i + 3] = PICK(PAIRS_UPPER, c, d);
    }
#if VECTOR == 8
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
        const float8 a = square[i], b = square[i + 4];
        square[i] = (vector_t)(a.lo, b.lo);
        square[i + 4] = (vector_t)(a.hi, b.hi);
    }
#elif VECTOR == 16
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
        const float16 a = (vector_t)(square[i].lo, square[i + 4].lo);
        const float16 b = (vector_t)(square[i + 8].lo, square[i + 12].lo);
        const float16 c = (vector_t)(square[i].hi, square[i + 4].hi);
        const float16 d = (vector_t)(square[i + 8].hi, square[i + 12].hi);
        square[i] = PICK(FOURS_EVEN, a, b);
        square[i + 4] = PICK(FOURS_ODD, a, b);
        square[i + 8] = PICK(FOURS_EVEN, c, d);
        square[i + 12] = PICK(FOURS_ODD, c, d);
    }
#endif
}

// The row that lies `bytes` behind z
#define ROW(z, bytes) *(global vector_t *)((global char *)(z) + (bytes))

INLINE void prefetch_rows(global const vector_t *z, global const uint *places)
{
    for (uint i = 0; i < 2 * VECTOR; ++i) {
        PREFETCH(&ROW(z, places[i]));
        PREFETCH(&ROW(z + 1, places[i]));
    }
}

// With p a row's packed columns and m those of its mirrored row, l + i r the pair that they hold:
//     2 l = p + conj m            re: p.re + m.re     im: p.im - m.im
//     2 r = (p - conj m) / i      re: p.im + m.im     im: m.re - p.re
// Square t of a strip is one of the four: from re or im (t & 1) of p and m, to l or r, re or im. The strip begins at
// column `start` of a picture of this width.
NOINLINE void unpack_strip(global vector_t *x, const uint start, const uint width, global const vector_t *z,
                           global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint right = (0x6 >> t) & 1, to = t >> 1;
        const float sign = t < 2 ? 1 : -1;
        global const uint *a = t == 2 ? mirror : at, *b = t == 2 ? at : mirror;
        global const vector_t *from = z + (t & 1);
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            square[i] = ROW(from, a[i]) + sign * ROW(from, b[i]);
        transpose(square);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            x[2 * place_of_pixel(start + right * VECTOR + i, width) + to] = square[i];
    }
}

// Back: p = l + i r              re: l.re - r.im     im: l.im + r.re
//       m = conj l + i conj r    re: l.re + r.im     im: r.re - l.im
NOINLINE void pack_strip(global vector_t *z, global const vector_t *x, const uint start, const uint width,
                         global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint to = t & 1;
        const float sign = t == 0 || t == 3 ? -1 : 1;
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i) {
            const vector_t left = x[2 * place_of_pixel(start + i, width) + to];
            const vector_t right = x[2 * place_of_pixel(start + VECTOR + i, width) + 1 - to];
            square[i] = t == 3 ? right + sign * left : left + sign * right;
        }
        transpose(square);
        global const uint *row = t < 2 ? at : mirror;
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            ROW(z + to, row[i]) = square[i];
    }
}

// A group of rows, from all strips to the work space: number k of x is VECTOR rows' number k.
INLINE void load_rows(global const params_t *params, global vector_t *x, global const vector_t *z,
                      global const uint *at, global const uint *mirror)
{
    const size_t stride = 2 * (size_t)params->strip_stride;
    for (uint strip = 0; strip < params->strips; ++strip) {
        if (strip + 2 < params->strips)
            prefetch_rows(z + stride * (strip + 2), at);
        unpack_strip(x, min(strip * 2 * VECTOR, params->last_start), params->rows.points, z + stride * strip, at,
                     mirror);
    }
}

INLINE void store_rows(global const params_t *params, global vector_t *z, global vector_t *x, global const uint *at,
                       global const uint *mirror)
{
    // The columns that fill a narrow image up to a strip repeat it: they have no largest value of their own.
    const uint width = params->rows.points;
    for (uint k = width; k < params->pitch; ++k)
        store(x + 2 * k, load(x + 2 * place_of_pixel(k - width, width)));
    for (uint strip = 0; strip < params->strips; ++strip)
        pack_strip(z + 2 * (size_t)params->strip_stride * strip, x, min(strip * 2 * VECTOR, params->last_start), width,
                   at, mirror);
}
