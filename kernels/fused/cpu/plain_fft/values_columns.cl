// Columns back to real values: strips of packed columns to rows of floats.
//
// Reads    a strip in the plan's order
// Writes   its 2 VECTOR columns, row after row, times the scale
// Scratch  the strip; x for a convolution
//
// needs: fused/cpu/plain_fft/layout.cl fused/cpu/bluestein.cl

// real parts are exchanged with imaginary ones, as the inverse has them
INLINE integers_t store_values(global float *at, const number_t exchanged, const float scale, const integers_t most)
{
    const vector_t left = exchanged.im * scale, right = exchanged.re * scale;
    ((global unaligned_t *)at)[0] = left;
    ((global unaligned_t *)at)[1] = right;
    return larger_bits(larger_bits(most, left), right);
}

INLINE integers_t last_values_stage(const uint kind, const uint radix, global const vector_t *z, global float *target,
                                    const uint pitch, const float scale, const uint span, global const float2 *w,
                                    global const float2 *roots)
{
    const size_t step = 2 * (size_t)span, rows = (size_t)span * pitch;
    global const float *v = (global const float *)w;
    integers_t most = 0;
    for (global const vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1), target += pitch) {
        number_t a[WIDEST];
        a[0] = swapped(load(at));
        EACH(1, a[q] = spun(swapped(load(at + q * step)), v[2 * q - 2], v[2 * q - 1]));
        butterfly(kind, a, radix, roots);
        EACH(0, most = store_values(target + q * rows, a[q], scale, most));
    }
    return most;
}

NOINLINE uint back_strip(const shared_t *shared, global vector_t *z, global vector_t *x, global float *target)
{
    global const axis_t *axis = &shared->params->columns;
    global const float2 *twiddles = shared->column_twiddles;
    const uint pitch = shared->layout->target_pitch;
    const float scale = shared->scale;
    const stage_t first = axis->stages[0];
    integers_t most = 0;
    if (is_convolved(axis)) {
        BEGIN_CONVOLUTION(x, axis, twiddles, swapped(load(z + 2 * k)));
        convolve(x, axis, twiddles);
        END_CONVOLUTION(x, axis, twiddles, most = store_values(target + (size_t)k * pitch, a[q], scale, most));
        return largest_bits(most);
    }
    if (axis->stage_count > 1)
        inverse(z, axis, twiddles, 1);
// BY_RADIX takes statements, so the result goes into `most`.
#define MOST_OF_VALUES(...) most = last_values_stage(__VA_ARGS__)
    BY_RADIX(first.radix, MOST_OF_VALUES, z, target, pitch, scale, first.span,
             twiddles + first.twiddles, twiddles + first.roots);
    return largest_bits(most);
}

// The last two strips are one task where they overlap: which of them writes a column last must not be chance, as each
// rounds it with another neighbor.
INLINE uint second_step(const shared_t *shared, global vector_t *z, global vector_t *x, global const float *source,
                        global float *target, const uint task)
{
    global const params_t *params = shared->params;
    const uint stop = task + 1 < shared->layout->tasks[1] ? task + 1 : params->strips;
    uint most = 0;
    for (uint strip = task; strip < stop; strip++) {
        const uint found = back_strip(shared, z + 2 * (size_t)params->strip_stride * strip, x,
                                      target + min(strip * 2 * VECTOR, params->last_start));
        most = found > most ? found : most;
    }
    return most;
}
