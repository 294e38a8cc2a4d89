// Rows: the horizontal transform, the mask and the inverse transform of VECTOR rows.
//
// The spectrum of a row never leaves the cache, and the lower half of the rows is enough, as the upper one mirrors it.
// If the gain of a vertical frequency is the same at all horizontal ones, its row is in no group: the row is
// multiplied by 1, which leaves it, or by 0, and the columns have cleared it.
//
// Reads    z, strips of packed columns; places[]: how many bytes behind its strip each row and its mirrored row lie
// Writes   the filtered rows to the same places
// Scratch  x, a work space for one group
//
// needs: fused/cpu/bluestein.cl fused/cpu/pixels.cl fused/cpu/mirrored_mask.cl fused/cpu/transpose.cl

// The last forward stage, times the gain, the first inverse stage: the spectrum stays in registers.
INLINE void masked_stage(const uint kind, const uint radix, global vector_t *x, const uint length,
                         global const vector_t *gains, global const float2 *roots)
{
    for (global vector_t *end = x + 2 * (size_t)length; x < end; x += 2 * radix, gains += radix) {
        number_t a[WIDEST];
        EACH(0, a[q] = load(x + 2 * q));
        butterfly(kind, a, radix, roots);
        EACH(0, a[q] = swapped(times(a[q], gains[q])));
        butterfly(kind, a, radix, roots);
        EACH(0, store(x + 2 * q, swapped(a[q])));
    }
}

NOINLINE void rows(global const params_t *params, global vector_t *z, global vector_t *x, global const float2 *twiddles,
                   global const uint *places, const mask_tables_t tables, const size_t picture, const uint group)
{
    global const axis_t *axis = &params->rows;
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    z += 2 * (size_t)params->strip_stride * params->strips * picture;

    load_rows(params, x, z, at, mirror);
#if IS_MIRRORED
    transform_any(x, axis, twiddles);
    global vector_t *x_other = x + 2 * (size_t)params->workspace;
    mirrored_mask(params, x, x_other, tables, group);
    inverse_any(x, axis, twiddles);
    if (params->needs_two_inverses) {
        inverse_any(x_other, axis, twiddles);
        store_rows(params, other_strips(params, z), x_other, at, mirror);
    }
#else
    global vector_t *gains = place_of_gains(params, x);
    if (is_convolved(axis)) {
        BEGIN_CONVOLUTION(x, axis, twiddles, load(x + 2 * k));
        convolve(x, axis, twiddles);
        gains_of_rows(gains, params, tables, group, 0, axis->points);
        // The last stage of this convolution, the mask and the first stage of the next one are one sweep.
        OUTER_STAGE(axis, twiddles, {
            end_convolution(x, a, j, span, v);
            FOUR(const number_t masked = times(spun(a[q], chirp[k].x, chirp[k].y), gains[k]);
                 a[q] = spun(swapped(masked), chirp[k].x, chirp[k].y), NO_NUMBER)
            begin_convolution(x, a, j, span, v);
        });
        convolve(x, axis, twiddles);
        END_CONVOLUTION(x, axis, twiddles, store(x + 2 * k, swapped(a[q])));
    } else {
        const stage_t last = axis->stages[axis->stage_count - 1];
        for (uint part = 0; part < axis->length; part += part_length(axis)) {
            forward_stages(x, axis, twiddles, part, 0);
            gains_of_rows(gains, params, tables, group, part, part_length(axis));
            BY_RADIX(last.radix, masked_stage, x + 2 * part, part_length(axis), gains, twiddles + last.roots);
            inverse_stages(x, axis, twiddles, part, 0);
        }
    }
#endif
    store_rows(params, z, x, at, mirror);
}
