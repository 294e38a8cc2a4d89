// Long: transforms that do not fit a work-group, in two steps with the numbers in memory between them.
//
// LONG = OUTER MIDDLE, numbers n = MIDDLE a + b, frequencies k = j + OUTER m:
//
//   outer step    for each b, OUTER numbers MIDDLE apart: a -> j
//   between       times W(b j, LONG), which the second step does as it loads
//   middle step   for each j, MIDDLE numbers: b -> m, the frequencies OUTER apart
//
// and back the other way around. What of a line takes part in one transform of a step comes back to the same places, so
// that a line needs no second buffer. A kernel does one step, of LENGTH numbers, LONG = LENGTH OTHER.
//
// Any length  LONG_POINTS other than LONG is Bluestein's chirp-z: outer, middle times filter and back, outer back
//
// -D LONG_POINTS, LONG    length of the data and of the long transforms
// -D OTHER                transforms of this step in a long one
//
// The tables of a long transform: W(n, LONG), then Bluestein's chirp and the spectrum of its filter.

#if !defined LONG_POINTS || !defined LONG || !defined OTHER
#error "long/steps.cl: -D LONG_POINTS, LONG or OTHER is missing"
#endif

#define CHIRPED (LONG_POINTS != LONG)
#define LONG_CHIRP LONG
#define LONG_FILTER (LONG + LONG_POINTS)

// The number of a line that is number q of butterfly t in transform `own` of the outer and of the middle step: before
// the former and after the latter, and between the two.
#define APART(own, t, q, radix) ((own) + OTHER * ((t) + (q) * (LENGTH / (radix))))
#define TOGETHER(own, t, q, radix) ((own) * LENGTH + (t) + (q) * (LENGTH / (radix)))

// Numbers in the order of a radix times W(own t, LONG); what they lack then is w^q, w = W(own LENGTH/radix, LONG).
ALWAYS complex_t spin_between(complex_t *v, global const complex_t *long_tables, const uint own, const uint order,
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
