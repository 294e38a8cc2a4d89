// Long: does transforms that a work-group cannot hold, in two steps with the numbers in memory between them.
//
// LONG_LENGTH = OUTER MIDDLE, numbers n = MIDDLE a + b, frequencies k = j + OUTER m:
//
//   outer step    for each b, OUTER numbers MIDDLE apart: a -> j
//   between       times W(b j, LONG_LENGTH), which the second step does as it loads
//   middle step   for each j, MIDDLE numbers: b -> m, the frequencies OUTER apart
//
// and back in reverse. Each transform of a step stores its numbers in their own places, so that no second buffer is
// needed. A kernel does one step: TRANSFORMS transforms of LENGTH numbers for each long one.
//
// Any length  LONG_POINTS other than LONG_LENGTH is Bluestein's chirp-z: outer, middle times filter and back, outer
//             back
//
// needs: fused/gpu/transform.cl
//
// -D LONG_POINTS, LONG_LENGTH    length of the data and of the long transforms
//
// The tables of a long transform: W(n, LONG_LENGTH), then Bluestein's chirp and the spectrum of its filter.

#if !defined LONG_POINTS || !defined LONG_LENGTH
#error "long/steps.cl: -D LONG_POINTS or LONG_LENGTH is missing"
#endif

// Short transforms that a long one consists of
#define TRANSFORMS (LONG_LENGTH / LENGTH)
// Whether the long transform is a convolution, and where its two tables begin
#define LONG_BLUESTEIN (LONG_POINTS != LONG_LENGTH)
#define LONG_CHIRP LONG_LENGTH
#define LONG_FILTER (LONG_LENGTH + LONG_POINTS)

// Which number of a long transform is number q of butterfly t in transform `own` of a step: before the outer step and
// after the middle one they are TRANSFORMS apart, between the two steps they are neighbors.
#define STRIDED(own, t, q, radix) ((own) + TRANSFORMS * ((t) + (q) * (LENGTH / (radix))))
#define CONTIGUOUS(own, t, q, radix) ((own) * LENGTH + (t) + (q) * (LENGTH / (radix)))

// Numbers in the order of a radix times W(own t, LONG_LENGTH). Returns w = W(own LENGTH/radix, LONG_LENGTH): what
// number q of a butterfly still lacks is w^q.
INLINE complex_t twiddles_between(complex_t *v, global const complex_t *long_tables, const uint own, const uint order,
                              const uint radix)
{
    FOR_OWN(own_item(order), radix, b, t) {
        const complex_t w = long_tables[own * t];
        UNROLL
        for (uint q = 0; q < radix; q++)
            v[b * radix + q] = times(v[b * radix + q], w);
    }
    return long_tables[own * (LENGTH / radix)];
}
