// There and back: forward stages, the middle, inverse stages; what is in between never leaves the cache.
//
// Whole stages first, until the parts fit into the first cache; then, part after part, what is left of the
// forward transform, the middle, and the inverse until the parts meet again.
//
// -D MASKED=0 | 1       1: the middle of the rows is the mask
// -D CONVOLVED=0 | 1    1: an axis goes through Bluestein's convolution, and its middle is that

#if !defined MASKED || !defined CONVOLVED
#error "fused/cpu/there_and_back.cl: -D MASKED=0 or 1 and -D CONVOLVED=0 or 1 are missing"
#endif

ONCE void there_and_back(global vector_t *x, global const axis_t *axis, global const float2 *spin, const mask_t mask)
{
    global const stage_t *stages = axis->stages;
    const uint n = axis->points, whole = axis->whole;
    const uint part_length = whole > 0 ? stages[whole - 1].span : n;
    for (uint part = 0; part < n; part += part_length) {
        uint s;
        for (s = part == 0 ? 0 : whole; s < axis->stage_count - 1; ++s)
            BY_RADIX(forward_stage, x + 2 * part, s < whole ? n : part_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);

        if (CONVOLVED && n != axis->length) {
            BY_RADIX(convolved_stage, x + 2 * part, part_length, spin + axis->filter + part, spin + stages[s].roots);
        } else if (MASKED) {
            BY_RADIX(masked_stage, x + 2 * part, part_length, part, mask, spin + stages[s].roots);
        }

        const uint stop = part + part_length < n ? whole : 0;
        while (s > stop) {
            --s;
            const bool is_whole = s < whole;
            BY_RADIX(inverse_stage, x + (is_whole ? 0 : 2 * part), is_whole ? n : part_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);
        }
    }
}
