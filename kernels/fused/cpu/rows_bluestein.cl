// Rows of a width with a large prime factor: as rows.cl, by Bluestein's chirp-z (bluestein.cl).
//
// Between the two convolutions, the last stage of the first, the mask and the first stage of the second are one sweep.
//
// needs: fused/cpu/rows.cl fused/cpu/bluestein.cl

// The rest of the inverse transform of a group of rows, behind its first stage, from the work space to their places
NOINLINE void inverse_rows_bluestein(global const params_t *params, global vector_t *z, global vector_t *x,
                                     global const float2 *twiddles, global const uint *at, global const uint *mirror)
{
    convolve(x, &params->rows, twiddles);
    END_CONVOLUTION(x, &params->rows, twiddles, store(x + 2 * k, swapped(a[q])));
    store_rows(params, z, x, at, mirror);
}

NOINLINE void rows_bluestein(global const params_t *params, global vector_t *z, global vector_t *x,
                             global const float2 *twiddles, global const uint *places, const mask_tables_t tables,
                             const size_t picture,
                             const uint group)
{
    global const axis_t *axis = &params->rows;
    global const uint *at = places + group * 2 * VECTOR, *mirror = at + VECTOR;
    z += 2 * (size_t)params->strip_stride * params->strips * picture;

    load_rows(params, x, z, at, mirror);
    BEGIN_CONVOLUTION(x, axis, twiddles, load(x + 2 * k));
    convolve(x, axis, twiddles);
#if IS_MIRRORED
    global vector_t *x_other = x + 2 * (size_t)params->workspace;
    END_CONVOLUTION(x, axis, twiddles, store(x + 2 * k, a[q]));
    mirrored_mask(params, x, x_other, tables, group);
    BEGIN_CONVOLUTION(x, axis, twiddles, swapped(load(x + 2 * k)));
#else
    global vector_t *gains = place_of_gains(params, x);
    gains_of_rows(gains, params, tables, group, 0, axis->points);
    OUTER_STAGE(axis, twiddles, {
        end_convolution(x, a, j, span, v);
        FOUR(const number_t masked = times(spun(a[q], chirp[k].x, chirp[k].y), gains[k]);
             a[q] = spun(swapped(masked), chirp[k].x, chirp[k].y), NO_NUMBER)
        begin_convolution(x, a, j, span, v);
    });
#endif
    inverse_rows_bluestein(params, z, x, twiddles, at, mirror);
#if IS_MIRRORED
    if (params->needs_two_inverses) {
        BEGIN_CONVOLUTION(x_other, axis, twiddles, swapped(load(x_other + 2 * k)));
        inverse_rows_bluestein(params, other_strips(params, z), x_other, twiddles, at, mirror);
    }
#endif
}
