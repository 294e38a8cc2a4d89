// There and back: forward stages, middle_stage, inverse stages; what is in between never leaves the cache.
//
// Whole stages first, until the blocks fit into the first cache; then, block after block, what is left of the
// forward transform, the middle, and the inverse until the blocks meet again.
//
// What middle_stage does, and needs to know, says the file before: cpu_middle.cl or cpu_bluestein.cl.

ONCE void there_and_back(SPACE vector_t *x, const uint n, global const stage_t *stages, global const float2 *spin,
                         const uint stage_count, const uint whole, const middle_t middle)
{
    const uint block_length = whole > 0 ? stages[whole - 1].span : n;
    for (uint block = 0; block < n; block += block_length) {
        uint s;
        for (s = block == 0 ? 0 : whole; s < stage_count - 1; ++s)
            BY_RADIX(forward_stage, x + 2 * block, s < whole ? n : block_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);

        BY_RADIX(middle_stage, x + 2 * block, block_length, block, middle, spin + stages[s].roots);

        const uint stop = block + block_length < n ? whole : 0;
        while (s > stop) {
            --s;
            const bool is_whole = s < whole;
            BY_RADIX(inverse_stage, x + (is_whole ? 0 : 2 * block), is_whole ? n : block_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);
        }
    }
}
