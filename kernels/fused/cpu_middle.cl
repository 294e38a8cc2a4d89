// Middle: the last forward stage, the mask and the first inverse stage as one, the spectrum in registers.

typedef mask_t middle_t;

ALWAYS void middle_stage(const uint kind, const uint radix, SPACE vector_t *x, const uint length, const uint first,
                         const middle_t mask, global const float2 *roots)
{
    for (uint block = 0; block < length; block += radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = get(x, block + q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = turned(times(a[q], gain(mask, first + block + q))));
        butterfly(kind, a, radix, roots);
        EACH(0, put(x, block + q, turned(a[q])));
    }
}
