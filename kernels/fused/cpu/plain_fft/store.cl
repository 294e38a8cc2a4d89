// Store: copies rows of a spectrum from the work space to their places. Lanes become rows again.
//
// needs: fused/cpu/plain_fft/layout.cl fused/cpu/transpose.cl

// What is stored of a number Z[k] and its mirrored one, Z[-k]: Z[k] itself; conj Z[-k], which is Z[k] of the row of the
// opposite frequency, if the image is real; or, where the rows of real numbers are packed as l + i r, twice L[k] or R[k].
#define PLAIN 0
#define MIRRORED 1
#define LEFT 2
#define RIGHT 3

INLINE number_t part_of(const uint part, global const vector_t *x, const uint at, const uint mirrored)
{
    if (part == PLAIN)
        return load(x + at);
    const number_t m = load(x + mirrored);
    if (part == MIRRORED)
        return (number_t){m.re, -m.im};
    const number_t a = load(x + at);
    return part == LEFT ? (number_t){a.re + m.re, a.im - m.im} : (number_t){a.im + m.im, m.re - a.re};
}

// Numbers become the first ones of the rows to[], times factor. Returns the largest magnitude. take[] is behind itself
// once more for the mirrored numbers.
INLINE uint store_spectrum(const uint part, global const layout_t *layout, global float *target,
                           global const vector_t *x, global const uint *take, global const uint *to,
                           const vector_t factor)
{
    const uint width = layout->width;
    const size_t pitch = 2 * (size_t)layout->target_pitch;
    integers_t most = 0;
    for (uint k = 0; k < width; k += VECTOR / 2) {
        const uint first = min(k, width - VECTOR / 2);
        vector_t square[VECTOR];
#pragma unroll
        for (uint i = 0; i < VECTOR / 2; ++i) {
            const number_t a = part_of(part, x, take[first + i], part == PLAIN ? 0 : take[width + first + i]);
            square[2 * i] = a.re;
            square[2 * i + 1] = a.im;
        }
        transpose(square);
#pragma unroll
        for (uint i = 0; i < VECTOR; ++i) {
            const vector_t values = square[i] * factor;
            most = larger_bits(most, values);
            *(global unaligned_t *)(target + to[i] * pitch + 2 * first) = values;
        }
    }
    return largest_bits(most);
}
