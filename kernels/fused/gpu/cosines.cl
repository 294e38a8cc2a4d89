// Cosines: computes a frequency of the infinitely mirrored image from two frequencies of the image (edges.cl).
//
// needs: fused/gpu/butterflies.cl

// exp(-i pi k / 2n)
INLINE complex_t turn(const uint k, const uint n)
{
    const real_t half_turns = (real_t)k / (2 * n);
    return (complex_t)(cospi(half_turns), -sinpi(half_turns));
}

INLINE complex_t conjugate(const complex_t a)
{
    return (complex_t)(a.x, -a.y);
}

// Gains at (ky, kx), (h - ky, w - kx), (ky, w - kx) and (h - ky, kx)
typedef struct {
    real_t own, opposite, in_row, in_column;
} gains_t;

// V[ky][kx] of an image and V[h - ky][kx] -> V[ky][kx] of the filtered one; `odd` gains are those of O, or of -O for
// the other pixels (mirrored_mask.cl).
INLINE complex_t masked_cosines(const complex_t v, const complex_t opposite, const complex_t down,
                                const complex_t across, const gains_t even, const bool needs_two_inverses,
                                const gains_t odd)
{
    const complex_t uv = times(down, across);
    const complex_t a = times(uv, v), b = times(times(conjugate(down), across), opposite);
    real_t both = even.own * (b.x + a.x), none = even.opposite * (b.x - a.x);
    real_t of_row = even.in_row * (b.y + a.y), of_column = even.in_column * (b.y - a.y);
    if (needs_two_inverses) {
        both -= odd.opposite * (b.x - a.x);
        none -= odd.own * (b.x + a.x);
        of_row += odd.in_column * (b.y - a.y);
        of_column += odd.in_row * (b.y + a.y);
    }
    return times(conjugate(uv), (complex_t)(both - none, of_row - of_column));
}
