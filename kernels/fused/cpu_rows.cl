// Rows: the horizontal transform, the mask and the inverse transform, VECTOR rows by one work-item.
//
// The spectrum of a row never leaves the cache, and the lower half of the rows is enough: the upper one mirrors
// it. What a work-item reads are VECTOR rows of packed columns and the VECTOR rows of the mirrored frequency;
// their sums and differences are twice the transforms of the left and the right columns. They are turned from
// rows into lanes on the way into the work space, and back on the way out to the same places.

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
ALWAYS void take_apart(SPACE vector_t *x, global const vector_t *z, global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint from = t & 1, right = (0x6 >> t) & 1, to = t >> 1;
        const float plus_p = t == 2 ? -1 : 1, plus_m = t == 3 ? -1 : 1;
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = plus_p * z[2 * at[i] + from] + plus_m * z[2 * mirror[i] + from];
        transpose(tile);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            x[2 * (i + right * VECTOR) + to] = tile[i];
    }
}

// Back: p = l + i r      re: l.re - r.im     im: l.im + r.re
//       m = conj l + i conj r    re: l.re + r.im     im: r.re - l.im
ALWAYS void put_together(global vector_t *z, SPACE const vector_t *x, global const uint *at, global const uint *mirror)
{
#pragma unroll 1
    for (uint t = 0; t < 4; ++t) {
        const uint to = t & 1;
        const float plus_l = t == 3 ? -1 : 1, plus_r = t == 0 ? -1 : 1;
        SPACE const vector_t *left = x + to, *right = x + 2 * VECTOR + 1 - to;
        vector_t tile[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            tile[i] = plus_l * left[2 * i] + plus_r * right[2 * i];
        transpose(tile);
        global const uint *row = t < 2 ? at : mirror;
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i)
            z[2 * row[i] + to] = tile[i];
    }
}

// The last forward stage, the mask and the first inverse stage are one: the spectrum stays in registers.
ALWAYS void mask_stage(const uint kind, const uint radix, SPACE vector_t *x, const uint length, global const across_t *across,
                       const down_t down, const int order, const float scale, global const vector_t *gains,
                       global const float2 *roots)
{
    for (uint block = 0; block < length; block += radix) {
        number_t a[WIDEST];
#pragma unroll
        for (uint q = 0; q < radix; ++q)
            a[q] = get(x, block + q);
        butterfly(kind, a, radix, roots);
#pragma unroll
        for (uint q = 0; q < radix; ++q) {
#ifdef TABLE
            const vector_t gain = scale * gains[block + q];
#else
            const vector_t gain = scale * PASS(across[block + q], down, order);
#endif
            a[q] = (number_t){a[q].im * gain, a[q].re * gain};
        }
        butterfly(kind, a, radix, roots);
#pragma unroll
        for (uint q = 0; q < radix; ++q)
            put(x, block + q, turned(a[q]));
    }
}

// Launch   (groups of VECTOR rows, images) work-items
// Reads    z, strips of packed columns; rows[]: where each row and its mirrored row lie, down[] their frequency
// Writes   the filtered rows to the same places
// Spare    room for a row group: local memory, or spare_size numbers a work-group where that is too small
//
// Whole stages first, until the blocks fit into the first cache; then, block after block, what is left of the
// forward transform, the mask, and the inverse until the blocks meet again.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void rows(global vector_t *z, SPACE vector_t *x, global const stage_t *stages, global const float2 *spin,
          global const uint *places, global const across_t *across, global const down_t *down,
          global const vector_t *gains, const uint stage_count, const uint whole, const uint width, const uint strips,
          const uint last, const uint strip_size, const uint first_group, const uint spare_size, const int order,
          const float scale)
{
    const size_t group = first_group + get_group_id(0), picture = get_group_id(1);
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    z += 2 * strip_size * strips * picture;
    x += 2 * spare_size * (picture * get_num_groups(0) + get_group_id(0));
    gains += group * width;

    for (uint strip = 0; strip < strips; ++strip)
        take_apart(x + 2 * min(strip * 2 * VECTOR, last), z + 2 * strip_size * strip, at, mirror);

    const uint final = stage_count - 1;
    const uint block_length = whole > 0 ? stages[whole - 1].span : width;
    for (uint block = 0; block < width; block += block_length) {
        uint s;
        for (s = block == 0 ? 0 : whole; s < final; ++s)
            BY_RADIX(forward_stage, x + 2 * block, s < whole ? width : block_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);

        BY_RADIX(mask_stage, x + 2 * block, block_length, across + block, down[group], order, scale, gains + block,
                 spin + stages[s].roots);

        const uint stop = block + block_length < width ? whole : 0;
        while (s > stop) {
            --s;
            const bool is_whole = s < whole;
            BY_RADIX(inverse_stage, x + (is_whole ? 0 : 2 * block), is_whole ? width : block_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);
        }
    }

    for (uint strip = 0; strip < strips; ++strip)
        put_together(z + 2 * strip_size * strip, x + 2 * min(strip * 2 * VECTOR, last), at, mirror);
}
