// Lines: plain FFTs along one axis of an array, or one step of two of a long one.
//
// Lines lie side by side in groups: line l begins FROM_STEP (l / FROM_GROUP) + l % FROM_GROUP numbers behind the first
// one, and its numbers are FROM_STRIDE apart; the same with TO where they go. Work-items that are neighbors take
// neighboring numbers of a line where these lie together, else neighboring lines. In place if both are the same.
//
// Launch   (groups of BATCH lines x GROUP) work-items, GROUP a work-group
// Reads    source
// Writes   target, times a scale
//
// needs: fused/gpu/transform.cl
//
// -D FROM_GROUP, FROM_STEP, FROM_STRIDE    where lines lie
// -D TO_GROUP, TO_STEP, TO_STRIDE          where they go
// -D KEPT=n                                numbers of a line that are stored, from the first one on
// -D INVERSE=0 | 1                         1: back, without a scale of its own
// -D BETWEEN=n                             the outer step of a long transform: number k of line l times W(b k, n), b
//                                          being l % FROM_GROUP / BESIDE; 0 if it is none
// -D BESIDE=n                              long transforms side by side in an array
// -D LOAD_PIXEL=uchar | ushort | float     the type of real numbers; complex_t for complex ones
// -D IS_REAL=0 | 1                         1: the numbers of the source are real

#if !defined FROM_GROUP || !defined FROM_STEP || !defined FROM_STRIDE || !defined TO_GROUP || !defined TO_STEP
#error "fused/gpu/plain_fft/lines.cl: -D FROM_GROUP, FROM_STEP, FROM_STRIDE, TO_GROUP or TO_STEP is missing"
#endif
#if !defined TO_STRIDE || !defined KEPT || !defined INVERSE || !defined BETWEEN || !defined BESIDE || !defined LOAD_PIXEL
#error "fused/gpu/plain_fft/lines.cl: -D TO_STRIDE, KEPT, INVERSE, BETWEEN, BESIDE or LOAD_PIXEL is missing"
#endif

// A single stage has no exchange in which the order could change.
#define FROM_ORDER (FROM_STRIDE == 1 && (TO_STRIDE == 1 || FIRST_RADIX != LENGTH) ? ALONG : ACROSS)
#define TO_ORDER (TO_STRIDE == 1 && (FROM_STRIDE == 1 || FIRST_RADIX != LENGTH) ? ALONG : ACROSS)

// What is read, as a complex number
#if IS_REAL
#define LOADED(value) (complex_t)(value, 0)
#else
#define LOADED(value) (value)
#endif

kernel void gpu_plain_fft_lines(global complex_t *target, global const LOAD_PIXEL *source, const real_t scale,
                                global const complex_t *tables, global const complex_t *between, const uint lines)
{
    local exchanged_t x[LOCAL_SIZE];
    complex_t v[PER_ITEM];
    const uint group = get_group_id(0) * BATCH;
    const uint from = group + own_transform(FROM_ORDER), to = group + own_transform(TO_ORDER);
    source += (size_t)(from / FROM_GROUP) * FROM_STEP + from % FROM_GROUP;
    FOR_OWN(own_item(FROM_ORDER), FIRST_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < FIRST_RADIX; q++) {
            const uint n = t + q * (LENGTH / FIRST_RADIX);
            complex_t value = 0;
            // Lines past the last are not read: other groups may be writing there.
            if (from < lines)
                if (!BLUESTEIN || n < POINTS)
                    value = LOADED(source[(size_t)n * FROM_STRIDE]);
            v[b * FIRST_RADIX + q] = value;
        }
    }
    if (INVERSE)
        swap_parts(v);

    transform(v, x, tables, FROM_ORDER, TO_ORDER);

    if (to >= lines)
        return;
    if (BETWEEN)
        FOR_OWN(own_item(TO_ORDER), SPECTRUM_RADIX, b, t) {
            UNROLL
            for (uint q = 0; q < SPECTRUM_RADIX; q++) {
                const uint k = t + q * (LENGTH / SPECTRUM_RADIX);
                v[b * SPECTRUM_RADIX + q] = times(v[b * SPECTRUM_RADIX + q], between[k * (to % FROM_GROUP / BESIDE)]);
            }
        }
    if (INVERSE)
        swap_parts(v);
    target += (size_t)(to / TO_GROUP) * TO_STEP + to % TO_GROUP;
    FOR_OWN(own_item(TO_ORDER), SPECTRUM_RADIX, b, t) {
        UNROLL
        for (uint q = 0; q < SPECTRUM_RADIX; q++) {
            const uint k = t + q * (LENGTH / SPECTRUM_RADIX);
            if (k < KEPT)
                target[(size_t)k * TO_STRIDE] = v[b * SPECTRUM_RADIX + q] * scale;
        }
    }
}
