// Tiles: packed columns taken apart and turned from rows into lanes on the way into the rows' work space, and
// back on the way out to the same places. The only place where anything moves within a register.
//
// A strip's rows and those of the mirrored frequency hold its left and right columns as one complex column;
// their sums and differences are twice the transforms of the two.

// Elements of two vectors, a's and behind them b's, each choice an instruction of CPUs: within each four elements the
// lower or the upper two, in turn or in pairs; fours of both. Named by number, as compilers take choices written
// element by element apart and find worse ones.
#define PICK(which, a, b) __builtin_shufflevector(a, b, which)
#if VECTOR == 4
#define TURN_LOWER 0, 4, 1, 5
#define TURN_UPPER 2, 6, 3, 7
#define PAIRS_LOWER 0, 1, 4, 5
#define PAIRS_UPPER 2, 3, 6, 7
#elif VECTOR == 8
#define TURN_LOWER 0, 8, 1, 9, 4, 12, 5, 13
#define TURN_UPPER 2, 10, 3, 11, 6, 14, 7, 15
#define PAIRS_LOWER 0, 1, 8, 9, 4, 5, 12, 13
#define PAIRS_UPPER 2, 3, 10, 11, 6, 7, 14, 15
#define FIRST_OF_TWO 0, 1, 2, 3, 8, 9, 10, 11
#define SECOND_OF_TWO 4, 5, 6, 7, 12, 13, 14, 15
#else
#define TURN_LOWER 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define TURN_UPPER 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define PAIRS_LOWER 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define PAIRS_UPPER 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define HALVES_LOWER 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HALVES_UPPER 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define QUARTERS_EVEN 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define QUARTERS_ODD 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#endif

// VECTOR x VECTOR numbers change rows and columns: within tiles of 4 x 4, then these tiles as a whole.
ALWAYS void transpose(vector_t *tile)
{
#pragma unroll
    for (uint i = 0; i < VECTOR; i += 4) {
        const vector_t a = PICK(TURN_LOWER, tile[i], tile[i + 1]), b = PICK(TURN_LOWER, tile[i + 2], tile[i + 3]);
        const vector_t c = PICK(TURN_UPPER, tile[i], tile[i + 1]), d = PICK(TURN_UPPER, tile[i + 2], tile[i + 3]);
        tile[i] = PICK(PAIRS_LOWER, a, b);
        tile[i + 1] = PICK(PAIRS_UPPER, a, b);
        tile[i + 2] = PICK(PAIRS_LOWER, c, d);
        tile[i + 3] = PICK(PAIRS_UPPER, c, d);
    }
#if VECTOR == 8
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
        const float8 a = tile[i], b = tile[i + 4];
        tile[i] = PICK(FIRST_OF_TWO, a, b);
        tile[i + 4] = PICK(SECOND_OF_TWO, a, b);
    }
#elif VECTOR == 16
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
        const float16 a = PICK(HALVES_LOWER, tile[i], tile[i + 4]), b = PICK(HALVES_LOWER, tile[i + 8], tile[i + 12]);
        const float16 c = PICK(HALVES_UPPER, tile[i], tile[i + 4]), d = PICK(HALVES_UPPER, tile[i + 8], tile[i + 12]);
        tile[i] = PICK(QUARTERS_EVEN, a, b);
        tile[i + 4] = PICK(QUARTERS_ODD, a, b);
        tile[i + 8] = PICK(QUARTERS_EVEN, c, d);
        tile[i + 12] = PICK(QUARTERS_ODD, c, d);
    }
#endif
}

// The row that lies so many bytes behind z
#define ROW(z, bytes) *(global vector_t *)((global char *)(z) + (bytes))

ALWAYS void fetch_rows(global const vector_t *z, global const uint *places)
{
    for (uint i = 0; i < 2 * VECTOR; ++i) {
        FETCH(&ROW(z, places[i]));
        FETCH(&ROW(z + 1, places[i]));
    }
}

// With p a row's packed columns and m those of its mirrored row, l + i r the pair that they hold:
//     2 l = p + conj m            re: p.re + m.re     im: p.im - m.im
//     2 r = (p - conj m) / i      re: p.im + m.im     im: m.re - p.re
// Tile t of a strip is one of the four: from part t & 1 of p and m, to l or r, re or im.
ONCE void take_apart(global vector_t *x, global const vector_t *z, global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint right = (0x6 >> t) & 1, to = t >> 1;
        const float sign = t < 2 ? 1 : -1;
        global const uint *a = t == 2 ? mirror : at, *b = t == 2 ? at : mirror;
        global const vector_t *from = z + (t & 1);
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = ROW(from, a[i]) + sign * ROW(from, b[i]);
        transpose(tile);
        global vector_t *column = x + 2 * right * VECTOR + to;
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            column[2 * i] = tile[i];
    }
}

// Back: p = l + i r      re: l.re - r.im     im: l.im + r.re
//       m = conj l + i conj r    re: l.re + r.im     im: r.re - l.im
ONCE void put_together(global vector_t *z, global const vector_t *x, global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint to = t & 1;
        const float sign = t == 0 || t == 3 ? -1 : 1;
        global const vector_t *left = x + to, *right = x + 2 * VECTOR + 1 - to;
        global const vector_t *a = t == 3 ? right : left, *b = t == 3 ? left : right;
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = a[2 * i] + sign * b[2 * i];
        transpose(tile);
        global const uint *row = t < 2 ? at : mirror;
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            ROW(z + to, row[i]) = tile[i];
    }
}
