// Middle: the last forward stage, the mask and the first inverse stage as one, the spectrum in registers.

typedef mask_t middle_t;

ALWAYS void middle_stage(const uint kind, const uint radix, SPACE vector_t *x, const uint length, const uint first,
                         const middle_t mask, global const float2 *roots)
{
    size_t k = first;
    for (SPACE vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix, k += radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = got(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = turned(times(a[q], gain(mask, k + q))));
        butterfly(kind, a, radix, roots);
        EACH(0, set(x + 2 * q, turned(a[q])));
    }
}
