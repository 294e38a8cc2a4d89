// Transform: runs the stages of an axis one after the other, forward and back.
//
// The first stages run on the whole transform. They leave independent parts that fit into the first cache. Each part
// then goes through the remaining forward stages, the work in the middle, and its inverse stages. After the last part
// the inverse stages of the whole follow. `part` is the number that a part begins with.
//
// needs: fused/cpu/params.cl fused/cpu/stages.cl

INLINE uint part_length(global const axis_t *axis)
{
    return axis->whole_stages > 0 ? axis->stages[axis->whole_stages - 1].span : axis->length;
}

// The forward stages that a part does, from stage `first` on, without the last one.
NOINLINE void forward_stages(global vector_t *x, global const axis_t *axis, global const float2 *twiddles, const uint part,
                           const uint first)
{
    for (uint s = part == 0 ? first : axis->whole_stages; s < axis->stage_count - 1; ++s) {
        const stage_t stage = axis->stages[s];
        BY_RADIX(stage.radix, forward_stage, x + 2 * part, s < axis->whole_stages ? axis->length : part_length(axis),
                 stage.span, twiddles + stage.twiddles, twiddles + stage.roots);
    }
}

// The inverse stages that a part does, without the first one, down to stage `first`.
NOINLINE void inverse_stages(global vector_t *x, global const axis_t *axis, global const float2 *twiddles, const uint part,
                           const uint first)
{
    const uint stop = part + part_length(axis) < axis->length ? axis->whole_stages : first;
    for (uint s = axis->stage_count - 1; s > stop; --s) {
        const stage_t stage = axis->stages[s - 1];
        const bool is_whole = s - 1 < axis->whole_stages;
        BY_RADIX(stage.radix, inverse_stage, x + (is_whole ? 0 : 2 * part), is_whole ? axis->length : part_length(axis),
                 stage.span, twiddles + stage.twiddles, twiddles + stage.roots);
    }
}

// All forward stages from `first` on, in place: natural order in, the plan's order out
NOINLINE void transform(global vector_t *x, global const axis_t *axis, global const float2 *twiddles, const uint first)
{
    const stage_t last = axis->stages[axis->stage_count - 1];
    for (uint part = 0; part < axis->length; part += part_length(axis)) {
        forward_stages(x, axis, twiddles, part, first);
        BY_RADIX(last.radix, last_forward_stage, x + 2 * part, part_length(axis), twiddles + last.roots);
    }
}

// All inverse stages down to stage `first`
NOINLINE void inverse(global vector_t *x, global const axis_t *axis, global const float2 *twiddles, const uint first)
{
    const stage_t last = axis->stages[axis->stage_count - 1];
    for (uint part = 0; part < axis->length; part += part_length(axis)) {
        BY_RADIX(last.radix, first_inverse_stage, x + 2 * part, part_length(axis), twiddles + last.roots);
        inverse_stages(x, axis, twiddles, part, first);
    }
}
