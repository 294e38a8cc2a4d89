// Transform: several transforms of one length in one work-group, data in registers, exchanged through local memory.
//
// A stage is LENGTH/radix butterflies a transform, dealt out to ITEMS work-items: number i has the butterflies
// t = i, i + ITEMS ... A butterfly takes x[t + q LENGTH/radix], times w^q, w = W(k, length radix), and leaves X[q] at
// (t - k) radix + k + q length, where k = t mod length and length is the product of the previous radices (Stockham: no
// bit reversal). Between two stages the work-items exchange numbers through local memory.
//
// Inverse     the same with real and imaginary parts exchanged before and after, which is free in registers
// Any length  POINTS other than LENGTH is Bluestein's chirp-z: chirp, transform, filter, transform back, chirp
//
// needs: fused/gpu/butterflies.cl
//
// -D POINTS, LENGTH            length of the data and of the transforms; they differ for Bluestein's
// -D BATCH, ITEMS, PER_ITEM    transforms of a work-group, work-items of a transform, numbers that a work-item holds
// -D RADICES                   five radices, 1 where there is no stage
// -D FIRST_RADIX, LAST_RADIX   the first of them, and the last that is not 1
// -D PADS                      for each exchange a span and how many numbers stay free behind each span, so that
//                              neighboring work-items meet different banks
// -D RADICES_REVERSED, PADS_REVERSED    the same for the stages from last to first
// -D LOCAL_STRIDE              numbers in local memory from a transform to the next
// -D COMPLEX_ROUNDS, BATCH_ROUNDS, LENGTH_ROUNDS    1, or 2 where an exchange has too little local memory and goes as
//                              real and then imaginary parts, one half of the batch after the other, the lower and then
//                              the upper half of the one transform's numbers
// -D TWIDDLES_REVERSED, CHIRP, CHIRP_FILTER    where these tables lie behind the twiddle factors of RADICES

#if !defined POINTS || !defined LENGTH || !defined BATCH || !defined ITEMS || !defined PER_ITEM
#error "fused/gpu/transform.cl: -D POINTS, LENGTH, BATCH, ITEMS or PER_ITEM is missing"
#endif
#if !defined RADICES || !defined PADS || !defined FIRST_RADIX || !defined LAST_RADIX
#error "fused/gpu/transform.cl: -D RADICES, PADS, FIRST_RADIX or LAST_RADIX is missing"
#endif
#if !defined RADICES_REVERSED || !defined PADS_REVERSED || !defined LOCAL_STRIDE
#error "fused/gpu/transform.cl: -D RADICES_REVERSED, PADS_REVERSED or LOCAL_STRIDE is missing"
#endif
#if !defined COMPLEX_ROUNDS || !defined BATCH_ROUNDS || !defined LENGTH_ROUNDS
#error "fused/gpu/transform.cl: -D COMPLEX_ROUNDS, BATCH_ROUNDS or LENGTH_ROUNDS is missing"
#endif
#if !defined TWIDDLES_REVERSED || !defined CHIRP || !defined CHIRP_FILTER
#error "fused/gpu/transform.cl: -D TWIDDLES_REVERSED, CHIRP or CHIRP_FILTER is missing"
#endif

// Work-items of a work-group
#define GROUP (ITEMS * BATCH)
// Numbers of local memory that a kernel keeps for exchanges.
#define LOCAL_SIZE (BATCH / BATCH_ROUNDS * LOCAL_STRIDE)
#define BLUESTEIN (POINTS != LENGTH)
// The radix in whose order a transform leaves the spectrum: number q of butterfly t is X[t + q LENGTH/SPECTRUM_RADIX].
#if BLUESTEIN
#define SPECTRUM_RADIX FIRST_RADIX
#else
#define SPECTRUM_RADIX LAST_RADIX
#endif

#if COMPLEX_ROUNDS == 1
typedef complex_t exchanged_t;
#else
typedef real_t exchanged_t;
#endif

// How work-items are dealt out. ALONG: neighbors work on one transform. ACROSS: neighbors work on the same place of
// neighboring transforms, which lie side by side in the spectrum.
#define ALONG 0
#define ACROSS 1
// The order within a transform. A single stage has no exchange in which the order could change.
#if FIRST_RADIX == LENGTH
#define INNER ACROSS
#else
#define INNER ALONG
#endif

INLINE uint own_item(const uint order)
{
    return order == ACROSS ? get_local_id(0) / BATCH : get_local_id(0) % ITEMS;
}

INLINE uint own_transform(const uint order)
{
    return order == ACROSS ? get_local_id(0) % BATCH : get_local_id(0) / ITEMS;
}

// For each butterfly t of work-item i; b counts them.
#define BUTTERFLIES(radix) ((LENGTH / (radix) + ITEMS - 1) / ITEMS)
#define FOR_OWN(i, radix, b, t)                                                                                     \
    UNROLL                                                                                                          \
    for (uint b = 0, t = i; b < BUTTERFLIES(radix); b++, t += ITEMS)                                                \
        if (LENGTH / (radix) % ITEMS == 0 || t < LENGTH / (radix))

// Where a number lies in local memory: pad numbers stay free behind each span.
INLINE uint padded(const uint at, const uint span, const uint pad)
{
    return at + at / span * pad;
}

// What of a number goes through local memory at once: all of it, or in two rounds a part each
#if COMPLEX_ROUNDS == 1
#define PART_OF(number, part) (number)
#define SET_PART(number, part, value) (number) = (value)
#else
#define PART_OF(number, part) ((part) ? (number).y : (number).x)
#define SET_PART(number, part, value)                                                                               \
    do {                                                                                                            \
        if (part)                                                                                                   \
            number.y = value;                                                                                       \
        else                                                                                                        \
            number.x = value;                                                                                       \
    } while (0)
#endif

// Whether a transform of the batch is in local memory in a round, and where it lies there.
#define IS_IN_ROUND(transform, round) (BATCH_ROUNDS == 1 || (transform) / (BATCH / BATCH_ROUNDS) == (round))
#define LOCAL_PLACE(transform) \
    ((BATCH_ROUNDS == 1 ? (transform) : (transform) % (BATCH / BATCH_ROUNDS)) * LOCAL_STRIDE)

// Numbers as they lie after a stage of this radix become what the next stage takes.
INLINE void exchange(complex_t *v, local exchanged_t *x, const uint from, const uint to, const uint radix,
                     const uint length, const uint next, const uint span, const uint pad)
{
    const uint mine = own_item(from), theirs = own_item(to);
    local exchanged_t *out = x + LOCAL_PLACE(own_transform(from));
    local const exchanged_t *in = x + LOCAL_PLACE(own_transform(to));
    UNROLL
    for (uint part = 0; part < COMPLEX_ROUNDS; part++) {
        // What a work-item reads in one round may come before what it writes in another.
        exchanged_t fresh[PER_ITEM];
        UNROLL
        for (uint step = 0; step < BATCH_ROUNDS * LENGTH_ROUNDS; step++) {
            const uint batch_round = step / LENGTH_ROUNDS, upper = step % LENGTH_ROUNDS;
            const uint start = upper * padded(LENGTH / 2, span, pad);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (IS_IN_ROUND(own_transform(from), batch_round))
                FOR_OWN(mine, radix, b, t) {
                    // The upper half of the butterflies writes the upper half of the numbers.
                    if (LENGTH_ROUNDS == 1 || (t >= LENGTH / radix / 2) == upper) {
                        const uint k = t % length;
                        local exchanged_t *at = out + (padded((t - k) * radix + k, span, pad) - start);
                        UNROLL
                        for (uint q = 0; q < radix; q++)
                            at[q * length] = PART_OF(v[b * radix + q], part);
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (IS_IN_ROUND(own_transform(to), batch_round))
                FOR_OWN(theirs, next, b, t) {
                    local const exchanged_t *at = in + padded(t, span, pad);
                    UNROLL
                    for (uint q = upper * (next / LENGTH_ROUNDS); q < (upper + 1) * (next / LENGTH_ROUNDS); q++)
                        fresh[b * next + q] = at[padded(q * (LENGTH / next), span, pad) - start];
                }
        }
        UNROLL
        for (uint q = 0; q < PER_ITEM; q++)
            SET_PART(v[q], part, fresh[q]);
    }
}

INLINE void stage(complex_t *v, global const complex_t *twiddles, const uint order, const uint radix, const uint length)
{
    FOR_OWN(own_item(order), radix, b, t)
        butterfly_spun(v + b * radix, radix, twiddles[t % length]);
}

// All stages. The first starts in order first, the last leaves the data in order last. twiddles: one table a stage.
// The first has twiddle factors only if they are given: x[q] times w^q where spun is true.
INLINE void stages(complex_t *v, local exchanged_t *x, global const complex_t *twiddles, const uint first, const uint last,
                   const bool spun, const complex_t w,
                   const uint r0, const uint r1, const uint r2, const uint r3, const uint r4,
                   const uint span1, const uint pad1, const uint span2, const uint pad2,
                   const uint span3, const uint pad3, const uint span4, const uint pad4)
{
    const uint order1 = r2 > 1 ? ALONG : last, order2 = r3 > 1 ? ALONG : last, order3 = r4 > 1 ? ALONG : last;
    FOR_OWN(own_item(first), r0, b, t) {
        if (spun)
            butterfly_spun(v + b * r0, r0, w);
        else
            butterfly(v + b * r0, r0);
    }
    if (r1 > 1) {
        exchange(v, x, first, order1, r0, 1, r1, span1, pad1);
        stage(v, twiddles, order1, r1, r0);
    }
    if (r2 > 1) {
        exchange(v, x, order1, order2, r1, r0, r2, span2, pad2);
        stage(v, twiddles + r0, order2, r2, r0 * r1);
    }
    if (r3 > 1) {
        exchange(v, x, order2, order3, r2, r0 * r1, r3, span3, pad3);
        stage(v, twiddles + r0 + r0 * r1, order3, r3, r0 * r1 * r2);
    }
    if (r4 > 1) {
        exchange(v, x, order3, last, r3, r0 * r1 * r2, r4, span4, pad4);
        stage(v, twiddles + r0 + r0 * r1 + r0 * r1 * r2, last, r4, r0 * r1 * r2 * r3);
    }
}

// The arguments `spun` and `w` without twiddle factors before the first stage
#define PLAIN false, (complex_t)(1, 0)

INLINE void swap_parts(complex_t *v)
{
    UNROLL
    for (uint q = 0; q < PER_ITEM; q++)
        v[q] = v[q].yx;
}

// Numbers in the order of a radix times a table.
INLINE void times_table(complex_t *v, global const complex_t *table, const uint order, const uint radix)
{
    FOR_OWN(own_item(order), radix, b, t) {
        global const complex_t *at = table + t;
        UNROLL
        for (uint q = 0; q < radix; q++)
            v[b * radix + q] = times(v[b * radix + q], at[q * (LENGTH / radix)]);
    }
}

// Numbers in the order of FIRST_RADIX times the chirp, zero from POINTS on. That whole parts of a butterfly are zero,
// or that nobody wants them, is known at compile time.
INLINE void times_chirp(complex_t *v, global const complex_t *chirp, const uint order)
{
    const uint step = LENGTH / FIRST_RADIX;
    FOR_OWN(own_item(order), FIRST_RADIX, b, t) {
        global const complex_t *at = chirp + t;
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            complex_t *number = v + b * FIRST_RADIX + q;
            *number = q * step < POINTS ? times(*number, at[q * step]) : (complex_t)(0);
        }
    }
}

// The circular convolution with the chirp that Bluestein's is made of
INLINE void chirp_z(complex_t *v, local exchanged_t *x, global const complex_t *tables, const uint first,
                    const uint last)
{
    times_chirp(v, tables + CHIRP, first);
    stages(v, x, tables, first, INNER, PLAIN, RADICES, PADS);
    times_table(v, tables + CHIRP_FILTER, INNER, LAST_RADIX);
    swap_parts(v);
    stages(v, x, tables + TWIDDLES_REVERSED, INNER, last, PLAIN, RADICES_REVERSED, PADS_REVERSED);
    swap_parts(v);
    times_chirp(v, tables + CHIRP, last);
}

// x in the order of FIRST_RADIX -> X in the order of SPECTRUM_RADIX
INLINE void transform(complex_t *v, local exchanged_t *x, global const complex_t *tables, const uint first,
                      const uint last)
{
#if BLUESTEIN
    chirp_z(v, x, tables, first, last);
#else
    stages(v, x, tables, first, last, PLAIN, RADICES, PADS);
#endif
}

// X in the order of SPECTRUM_RADIX -> x in the order of FIRST_RADIX, unnormalized
INLINE void inverse_from_spectrum(complex_t *v, local exchanged_t *x, global const complex_t *tables,
                                  const uint first, const uint last)
{
    swap_parts(v);
#if BLUESTEIN
    chirp_z(v, x, tables, first, last);
#else
    stages(v, x, tables + TWIDDLES_REVERSED, first, last, PLAIN, RADICES_REVERSED, PADS_REVERSED);
#endif
    swap_parts(v);
}
