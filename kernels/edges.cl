// Edges: what lies beyond the borders of an image. The twin of fftfilter/transfer/edges.py.
//
// wrap      the image again: rows and columns are transformed as they lie
// mirror    its mirror image. Of n pixels x and their mirror image the transform is, but for a factor, the cosine
//           transform C[k] = sum_j x[j] cos(pi k (2j + 1) / 2n). It is that of n pixels in another order, v, the even
//           ones and then the odd ones backward:
//
//               x0 x1 x2 x3 x4 x5 x6  ->  x0 x2 x4 x6 x5 x3 x1         w = exp(-i pi k / 2n)
//               w V[k] = C[k] - i C[n - k]
//
//           So images are read and written in that order, and the mask, which is H at k/2n cycles per pixel, goes to the
//           C in which the numbers of a spectrum are combined.
// Source: J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28 (1980), 27-34.
//
// -D EDGES=wrap | mirror

#ifndef EDGES
#error "edges.cl: -D EDGES=wrap or mirror is missing"
#endif

#define wrap_is_mirrored 0
#define mirror_is_mirrored 1
#define IS_MIRRORED PASTE(EDGES, _is_mirrored)

// Which pixel of n is number i of what is transformed
static inline __attribute__((always_inline)) uint pixel_at(const uint i, const uint n)
{
    return !IS_MIRRORED ? i : 2 * i < n ? 2 * i : 2 * (n - i) - 1;
}

// Which number of what is transformed is pixel j of n; what lies behind the pixels stays there
static inline __attribute__((always_inline)) uint place_of_pixel(const uint j, const uint n)
{
    return !IS_MIRRORED || j >= n ? j : j % 2 ? n - 1 - j / 2 : j / 2;
}
