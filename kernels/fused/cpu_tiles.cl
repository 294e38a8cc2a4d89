// Tiles: packed columns taken apart and turned from rows into lanes on the way into the rows' work space, and
// back on the way out to the same places. The only place where anything moves within a register.
//
// A strip's rows and those of the mirrored frequency hold its left and right columns as one complex column;
// their sums and differences are twice the transforms of the two.

// The lower and the upper halves of a and b, one element of each in turn
#if VECTOR == 4
#define LOWER(a, b) (float4)(a.x, b.x, a.y, b.y)
#define UPPER(a, b) (float4)(a.z, b.z, a.w, b.w)
#elif VECTOR == 8
#define LOWER(a, b) (float8)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3)
#define UPPER(a, b) (float8)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#else
#define LOWER(a, b) \
    (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define UPPER(a, b) \
    (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)
#endif

// VECTOR x VECTOR numbers change rows and columns: log2 VECTOR perfect shuffles of the tile as a whole, which
// for every pair of registers is one instruction each for the lower and the upper half.
ALWAYS void transpose(vector_t *tile)
{
#pragma unroll
    for (uint step = 1; step < VECTOR; step *= 2) {
        vector_t next[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR / 2; ++i) {
            next[2 * i] = LOWER(tile[i], tile[i + VECTOR / 2]);
            next[2 * i + 1] = UPPER(tile[i], tile[i + VECTOR / 2]);
        }
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = next[i];
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
        const uint from = t & 1, right = (0x6 >> t) & 1, to = t >> 1;
        const float plus_p = t == 2 ? -1 : 1, plus_m = t == 3 ? -1 : 1;
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = plus_p * z[2 * (size_t)at[i] + from] + plus_m * z[2 * (size_t)mirror[i] + from];
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
        const float plus_l = t == 3 ? -1 : 1, plus_r = t == 0 ? -1 : 1;
        global const vector_t *left = x + to, *right = x + 2 * VECTOR + 1 - to;
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = plus_l * left[2 * i] + plus_r * right[2 * i];
        transpose(tile);
        global const uint *row = t < 2 ? at : mirror;
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            z[2 * (size_t)row[i] + to] = tile[i];
    }
}

