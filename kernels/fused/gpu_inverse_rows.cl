// Inverse rows: spectra to the magnitudes of the filtered image; once to find the largest, once more to write pixels.
//
// Fused: transpose, butterflies back, magnitude, extremes, quantize. The filtered image is never in memory: to
// transform the rows twice moves fewer bytes than to write magnitudes and read them again. A row of a pair is the real,
// the other the imaginary part.
//
// Launch   (groups of FFTS pairs of rows x GROUP, images) work-items, GROUP a work-group
// Reads    spectrum, see gpu_spectrum.cl                -> FFTS x TILE numbers side by side
// Writes   final 0: the largest magnitude of the image, as the bits of a float, which order like whole numbers
//          final 1: levels value/largest, as steps/quantize.cl: truncated, the largest value gives levels exactly, an
//                   image that never exceeds noise times the brightest input is zero
//
// -D PIXEL=uchar | ushort | float             of the input
// -D PIXEL_OUT=uchar | ushort | float

#if !defined PIXEL || !defined PIXEL_OUT
#error "gpu_inverse_rows.cl: -D PIXEL or PIXEL_OUT=uchar, ushort or float is missing"
#endif

// Whether no pixel is as bright as this: then what was found is more than rounding noise. Asked for hardly ever, when
// nothing exceeds the noise of the brightest input that the type allows; ends at the first bright pixel.
ALWAYS bool all_darker(global const PIXEL *image, const size_t count, const real_t bright, local uint *found)
{
    for (size_t start = 0; start < count; start += GROUP) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            *found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (start + get_local_id(0) < count && fabs((real_t)image[start + get_local_id(0)]) >= bright)
            atomic_or(found, 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (*found)
            return false;
    }
    return true;
}

ALWAYS PIXEL_OUT level_of(const real_t value, const real_t most, const real_t factor, const real_t levels,
                          const real_t nudge)
{
    return (PIXEL_OUT)(value < most ? fmin(mad(value, factor, nudge), levels) : levels);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void gpu_inverse_rows(global const complex_t *spectrum, global const complex_t *tables, global uint *largest,
                      global PIXEL_OUT *output, global const PIXEL *image, const uint final, const uint one_scale,
                      const real_t noise, const real_t brightest, const real_t levels, const real_t nudge)
{
    local exchanged_t x[FFTS * REGION];
    local uint found;
    complex_t v[VALUES];
    const size_t picture = get_global_id(1);
    const size_t size = (size_t)WIDTH * HEIGHT;
    spectrum += picture * 2 * PLANE;
    largest += one_scale ? 0 : picture;

    {
        const uint p = min((uint)(get_group_id(0) * FFTS + own_fft(ACROSS)), (uint)(PAIRS - 1));
        FOR_OWN(own_item(ACROSS), FIRST, b, t) {
            UNROLL
            for (uint q = 0; q < FIRST; q++) {
                const uint k = t + q * (LENGTH / FIRST);
                v[b * FIRST + q] = !BLUESTEIN || k < POINTS ? spectrum[place_of_any(k, p)] : (complex_t)(0);
            }
        }
    }

    // inverse: real and imaginary parts change places, so the upper row is y and the lower x
    swap_parts(v);
    transform(v, x, tables, ACROSS, INNER);

    const uint p = get_group_id(0) * FFTS + own_fft(INNER);
    const bool outside = p >= PAIRS;
    const bool alone = HEIGHT % 2 && p + PAIRS >= HEIGHT;
    if (!final) {
        real_t most = 0;
        if (get_local_id(0) == 0)
            found = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        FOR_OWN(own_item(INNER), AFTER, b, t) {
            UNROLL
            for (uint q = 0; q < AFTER; q++)
                if (!BLUESTEIN || t + q * (LENGTH / AFTER) < POINTS)
                    most = fmax(most, fmax(fabs(v[b * AFTER + q].y), alone ? 0 : fabs(v[b * AFTER + q].x)));
        }
        if (!outside)
            atomic_max(&found, as_uint(most));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            atomic_max(largest, found);
        return;
    }

    const real_t most = as_float(*largest);
    const size_t shared_size = one_scale ? size * get_global_size(1) : size;
    global const PIXEL *first_image = one_scale ? image : image + picture * size;
    const bool is_noise = most <= noise * brightest && !all_darker(first_image, shared_size, most / noise, &found);
    const real_t factor = levels / most;
    if (outside)
        return;
    output += picture * size + (size_t)p * WIDTH;
    FOR_OWN(own_item(INNER), AFTER, b, t) {
        UNROLL
        for (uint q = 0; q < AFTER; q++) {
            const uint at = t + q * (LENGTH / AFTER);
            const complex_t value = fabs(v[b * AFTER + q]);
            if (!BLUESTEIN || at < POINTS) {
                output[at] = is_noise ? 0 : level_of(value.y, most, factor, levels, nudge);
                if (!alone)
                    output[at + (size_t)PAIRS * WIDTH] = is_noise ? 0 : level_of(value.x, most, factor, levels, nudge);
            }
        }
    }
}
