// Side: transforms a side whose length is known at run time, so that one program serves every size.
//
// The arithmetic and its order are those of transform.cl; only the places of numbers differ. A stage moves numbers from
// one room to another: x[t + q LENGTH/radix] of `from`, times w^q, to (t - k) radix + k + q length of `to`, with
// k = t mod length. Between two stages they are in natural order.
//
// A work-group takes 2^log2_batch transforms at a time, and get_local_size(0) >> log2_batch work-items do each of them.
//
// needs: fused/gpu/butterflies.cl fused/gpu/packed.cl
//
// -D ROOM=local | global    where the rooms are: in local memory, or in global memory if that is too small

#ifndef ROOM
#error "fused/gpu/generic/side.cl: -D ROOM=local or global is missing"
#endif

// Transforms of `points` numbers by one of `length`, which is more for Bluestein's chirp-z; from one of the batch to
// the next are `stride` numbers of a room. Twiddle factors of the reversed order, chirp and its filter's spectrum
// begin at these places of the table.
typedef struct {
    uint points, length, log2_batch, stride;
    uint twiddles_reversed, chirp, chirp_filter;
    uint stages, radices[5];
} side_t;

// Images, the tiles of their spectrum (spectrum.cl), and whether they are transformed back twice (mirrored_mask.cl)
typedef struct {
    uint height, width, pictures, tile, needs_two_inverses;
    side_t rows, columns;
} sizes_t;

// A work-group's numbers: those of a stage are in `from`.
typedef struct {
    ROOM complex_t *from, *to;
} rooms_t;

// 1 if ROOM is global: one buffer is shared by all work-groups.
#define local_is_shared 0
#define global_is_shared 1
#define IS_SHARED PASTE(ROOM, _is_shared)

// Fence of local and global memory
#define EVERYWHERE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// A number stays free behind 16: what neighbors write `radix` apart is in different banks.
#define PADDED(i) ((i) + ((i) >> 4))

// The rooms of this work-group. No function returns a struct: Oclgrind does not know what the compiler makes of it.
INLINE void take_rooms(rooms_t *rooms, ROOM complex_t *room, constant side_t *side)
{
    const size_t size = (size_t)side->stride << side->log2_batch;
#if IS_SHARED
    room += get_group_id(0) * 2 * size;
#endif
    rooms->from = room;
    rooms->to = room + size;
}

INLINE void exchange(rooms_t *rooms)
{
    const rooms_t exchanged = {rooms->to, rooms->from};
    *rooms = exchanged;
}

// Which of the batch a work-item works on, which of the transform's work-items it is, and how many there are
INLINE uint own_transform(constant side_t *side)
{
    return get_local_id(0) / (get_local_size(0) >> side->log2_batch);
}

INLINE uint own_item(constant side_t *side)
{
    return get_local_id(0) % (get_local_size(0) >> side->log2_batch);
}

// Work-items of each transform
#define ITEMS_OF(side) (get_local_size(0) >> (side)->log2_batch)

// For each number i of an own transform, below end: neighbors take neighboring numbers, or the same ones of neighboring
// transforms.
#define FOR_OWN(side, i, end) for (uint i = own_item(side); i < (end); i += ITEMS_OF(side))
#define FOR_ACROSS(side, i, end)                                                                                    \
    for (uint i = get_local_id(0) >> (side)->log2_batch; i < (end); i += ITEMS_OF(side))

// Loads the numbers of a butterfly from a room.
#define LOAD(r)                                                                                                     \
    complex_t v[r];                                                                                                 \
    UNROLL                                                                                                          \
    for (uint q = 0; q < r; q++)                                                                                    \
        v[q] = from[PADDED(t + q * count)];

// Stores them in the other room.
#define STORE(r)                                                                                                    \
    UNROLL                                                                                                          \
    for (uint q = 0; q < r; q++)                                                                                    \
        to[PADDED(first + q * length)] = v[q];

// A butterfly; the first stage has no twiddle factors.
#define CASE(r)                                                                                                     \
    case r: {                                                                                                       \
        LOAD(r)                                                                                                     \
        if (length > 1)                                                                                             \
            times_powers(v, r, w);                                                                                  \
        butterfly_##r(v);                                                                                           \
        STORE(r)                                                                                                    \
        break;                                                                                                      \
    }
// The same for a radix whose butterfly `spun` multiplies by the twiddle factors itself
#define SPUN_CASE(r, spun)                                                                                         \
    case r: {                                                                                                       \
        LOAD(r)                                                                                                     \
        if (length > 1)                                                                                             \
            spun;                                                                                                   \
        else                                                                                                        \
            butterfly_##r(v);                                                                                       \
        STORE(r)                                                                                                    \
        break;                                                                                                      \
    }

// One stage of all transforms of the batch. `count` butterflies a transform; `length` is the product of the radices
// before.
static __attribute__((noinline)) void stage(ROOM const complex_t *from, ROOM complex_t *to, constant side_t *side,
                                            global const complex_t *twiddles, const uint radix, const uint length)
{
    const uint count = side->length / radix, start = own_transform(side) * side->stride;
    from += start;
    to += start;
    FOR_OWN(side, t, count) {
        const uint k = t % length, first = (t - k) * radix + k;
        const complex_t w = length > 1 ? twiddles[k] : (complex_t)(1, 0);
        const complex_t w2 = squared(w), w4 = squared(w2), w8 = squared(w4);
        switch (radix) {
            SPUN_CASE(2, spun_2(v, w))
            CASE(3)
            SPUN_CASE(4, spun_4(v, w, w2))
            CASE(5)
            CASE(6)
            CASE(7)
            SPUN_CASE(8, spun_8(v, w, w2, w4))
            CASE(9)
            CASE(10)
            CASE(11)
            CASE(12)
            CASE(13)
            CASE(14)
            CASE(15)
            SPUN_CASE(16, spun_16(v, w, w2, w4, w8))
#if IS_SHARED
            SPUN_CASE(32, spun_32(v, w, w2, w4, w8, squared(w8)))
#endif
        }
    }
}

// The numbers of own transforms below `end` times a table; then, or before, real and imaginary parts change places.
INLINE void times_table(ROOM complex_t *x, constant side_t *side, const uint end, global const complex_t *table,
                        const bool swaps_before, const bool swaps)
{
    x += own_transform(side) * side->stride;
    FOR_OWN(side, i, end) {
        const complex_t given = x[PADDED(i)], product = times(swaps_before ? given.yx : given, table[i]);
        x[PADDED(i)] = swaps ? product.yx : product;
    }
}

// All transforms of the batch, the radices from last to first if `is_reversed`. Before and after, all work-items see
// all numbers. No barrier has a condition: PoCL compiles what comes after it twice.
INLINE void transform(rooms_t *rooms, constant side_t *side, global const complex_t *tables, const bool is_reversed)
{
    const bool is_bluestein = side->points != side->length;
    const uint stages = side->stages, passes = is_bluestein ? 2 : 1;
    global const complex_t *twiddles = tables;
    for (uint s = 0, length = 1; s < stages * passes; s++) {
        const bool goes_back = is_bluestein ? s >= stages : is_reversed, begins = s % stages == 0;
        if (begins) {
            length = 1;
            twiddles = tables + (goes_back ? side->twiddles_reversed : 0);
        }
        if (begins && is_bluestein)
            times_table(rooms->from, side, side->length, tables + (s ? side->chirp_filter : side->chirp), false, s);
        barrier(EVERYWHERE);
        const uint radix = side->radices[goes_back ? stages - 1 - s % stages : s % stages];
        stage(rooms->from, rooms->to, side, twiddles, radix, length);
        twiddles += length > 1 ? length : 0;
        length *= radix;
        exchange(rooms);
        barrier(EVERYWHERE);
    }
    if (is_bluestein)
        times_table(rooms->from, side, side->points, tables + side->chirp, true, false);
    barrier(EVERYWHERE);
}

// Pairs of rows
#define PAIRS(sizes) (((sizes)->height + 1) / 2)

INLINE uint tiles_of(constant sizes_t *sizes)
{
    return (sizes->width / 2 + sizes->tile) / sizes->tile;
}

// Numbers of one of the two planes of the spectrum
INLINE size_t plane_of(constant sizes_t *sizes)
{
    return (size_t)tiles_of(sizes) * sizes->tile * PAIRS(sizes);
}

// Place of number k of a pair of rows, any k of the whole width
INLINE size_t place_of(const uint k, const uint p, constant sizes_t *sizes)
{
    const uint pairs = PAIRS(sizes);
    return k < (sizes->width + 1) / 2 ? place_in_plane(k, p, sizes->tile, pairs)
        : plane_of(sizes) + place_in_plane(sizes->width - k, p, sizes->tile, pairs);
}
