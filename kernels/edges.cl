// Edges: defines what lies beyond the borders of an image. The twin of fftfilter/transfer/product.py.
//
// wrap      the image again: rows and columns are transformed as they lie
// mirror    its mirror image. The transform of n pixels x and their mirror image is, but for a factor, the cosine
//           transform C[k] = sum_j x[j] cos(pi k (2j + 1) / 2n), to be multiplied by H at k/2n cycles per pixel. It
//           comes of the transform V of n pixels in another order, the even ones and then the odd ones backward:
//
//               x0 x1 x2 x3 x4 x5 x6  ->  x0 x2 x4 x6 x5 x3 x1         exp(-i pi k / 2n) V[k] = C[k] - i C[n - k]
//
//           So for images of height h and width w, with u = exp(-i pi ky / 2h) and v = exp(-i pi kx / 2w),
//
//               a = u v V[ky][kx]                = C[ky][kx] - C[h-ky][w-kx] - i (C[h-ky][kx] + C[ky][w-kx])
//               b = conj(u) v V[h-ky][kx]        = C[ky][kx] + C[h-ky][w-kx] + i (C[h-ky][kx] - C[ky][w-kx])
//                 = conj(u) v conj V[ky][w-kx]     as images are real
//
//           The mask solves a and b for the four C, multiplies each by its gain, and makes V of them again.
//
// A transfer function H that is not even along each axis is the sum of one that is, E, and of one that is odd along
// both, O. O makes sines of cosines, and sin(pi k (2j + 1) / 2n) = (-1)^j cos(pi (n - k) (2j + 1) / 2n): so it moves
// O C to the opposite frequencies, and changes the sign of every second pixel. Where row + column is even, the pixels'
// transform is E[ky][kx] C[ky][kx] - O[h-ky][w-kx] C[h-ky][w-kx]; for the others it is the sum. Both are transformed
// back, and each pixel is taken from its own.
//
// Source: J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28 (1980), 27-34.
//
// -D EDGES=wrap | mirror

#ifndef EDGES
#error "edges.cl: -D EDGES=wrap or mirror is missing"
#endif

// 1 if EDGES is mirror
#define wrap_is_mirrored 0
#define mirror_is_mirrored 1
#define IS_MIRRORED PASTE(EDGES, _is_mirrored)

// Return which of n pixels is number i of the transform's input
static inline __attribute__((always_inline)) uint pixel_at(const uint i, const uint n)
{
    return !IS_MIRRORED ? i : 2 * i < n ? 2 * i : 2 * (n - i) - 1;
}

// Return which number of the transform's input is pixel j of n; numbers past the pixels keep their places
static inline __attribute__((always_inline)) uint place_of_pixel(const uint j, const uint n)
{
    return !IS_MIRRORED || j >= n ? j : j % 2 ? n - 1 - j / 2 : j / 2;
}
