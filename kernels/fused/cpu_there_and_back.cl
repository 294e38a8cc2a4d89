// There and back: forward stages, middle_stage, inverse stages; what is in between never leaves the cache.
//
// Whole stages first, until the parts fit into the first cache; then, part after part, what is left of the
// forward transform, the middle, and the inverse until the parts meet again.
//
// What middle_stage does, and needs to know, says the file before: cpu_middle.cl or cpu_bluestein.cl.

ONCE void there_and_back(SPACE vector_t *x, const uint n, global const stage_t *stages, global const float2 *spin,
                         const uint stage_count, const uint whole, const middle_t middle)
{
    const uint part_length = whole > 0 ? stages[whole - 1].span : n;
    for (uint part = 0; part < n; part += part_length) {
        uint s;
        for (s = part == 0 ? 0 : whole; s < stage_count - 1; ++s)
            BY_RADIX(forward_stage, x + 2 * part, s < whole ? n : part_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);

        BY_RADIX(middle_stage, x + 2 * part, part_length, part, middle, spin + stages[s].roots);

        const uint stop = part + part_length < n ? whole : 0;
        while (s > stop) {
            --s;
            const bool is_whole = s < whole;
            BY_RADIX(inverse_stage, x + (is_whole ? 0 : 2 * part), is_whole ? n : part_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);
        }
    }
}
