// Spectrum: lays out the half-transformed image in memory between the kernels.
//
// A real row's spectrum is half redundant, so rows p and p + PAIRS share one complex row, z = x[p] + i x[p + PAIRS].
// Its transform Z is stored as it is: the two spectra come apart where a column is loaded, because Z[k] and
// Z[width - k] of one p are all that X[p][k] and X[p + PAIRS][k] need.
//
// Two planes: k = 0 ... (width-1)/2 in the first, width - k for the rest in the second, so that both partners of a
// column have the same place. In a plane lie tiles of TILE columns, in a tile the numbers [p][k mod TILE]: a
// work-group of rows stores whole sectors of memory, and a work-group of columns loads whole sectors.
//
// If a filter's gain is constant from some |k| on, only the columns below this support are stored, filtered and
// loaded, in whole tiles; values.cl says why the others are not needed.
//
// needs: edges.cl fused/gpu/packed.cl
//
// -D WIDTH, HEIGHT   of the image
// -D TILE            columns side by side, a power of two
// -D TWO_INVERSES=0 | 1   1: mirrored edges, and the transfer function is not even along each axis (mirrored_mask.cl)

#if !defined WIDTH || !defined HEIGHT || !defined TILE || !defined TWO_INVERSES
#error "fused/gpu/spectrum.cl: -D WIDTH, HEIGHT, TILE or TWO_INVERSES is missing"
#endif

// Pairs of rows, columns of half a spectrum, and numbers of a plane
#define PAIRS ((HEIGHT + 1) / 2)
#define COLUMNS (WIDTH / 2 + 1)
#define PLANE ((uint)((COLUMNS + TILE - 1) / TILE * TILE) * PAIRS)
// Columns k and width - k of the same number: they have no partner but themselves.
#define IN_FIRST_PLANE(k) ((k) < (WIDTH + 1) / 2)

// The place of column k of a pair of rows in its plane.
INLINE uint place(const uint k, const uint p)
{
    return place_in_plane(k, p, TILE, PAIRS);
}

// The place of number k of a pair of rows, any k of the whole width.
INLINE size_t place_of(const uint k, const uint p)
{
    return IN_FIRST_PLANE(k) ? place(k, p) : PLANE + place(WIDTH - k, p);
}

// Numbers k = t + q step of a row, q < radix, step radix = LENGTH, any k of the whole width. Where half of the q are
// known to lie in each plane and a step is a whole number of tiles, each is a constant away from one of two places:
// what a pointer and a constant support costs no arithmetic and no register of its own.
#define EVEN_STEPS(radix) (WIDTH % 2 == 0 && (radix) % 2 == 0 && WIDTH == LENGTH && LENGTH / (radix) % TILE == 0)

INLINE size_t place_in_step(const uint t, const uint q, const uint radix, const uint p)
{
    const uint step = LENGTH / radix;
    if (EVEN_STEPS(radix) && q < radix / 2)
        return (size_t)place(t, p) + q * step * PAIRS;
    if (EVEN_STEPS(radix))
        return (size_t)place(step - t, p) + (PLANE + (radix - 1 - q) * step * PAIRS);
    return place_of(t + q * step, p);
}

// Whether column k, any of the whole width, is below the support; and the same of number k = t + q step of a row.
INLINE bool in_support(const uint k, const uint support)
{
    return min(k, WIDTH - k) < support;
}

INLINE bool step_in_support(const uint t, const uint q, const uint radix, const uint support)
{
    const uint step = LENGTH / radix;
    if (EVEN_STEPS(radix))
        return (q < radix / 2 ? t + q * step : step - t + (radix - 1 - q) * step) < support;
    return in_support(t + q * step, support);
}

// Pixel of number t + n of a row that is transformed; n is a constant.
#define PIXEL_OF(row, t, n) (IS_MIRRORED ? (row) + pixel_at((t) + (n), WIDTH) : (row) + (t) + (n))

// Where the spectra begin that the other pixels come of, those whose row + column is odd: behind those of all pictures
INLINE size_t of_pixels(const uint other, const size_t pictures)
{
    return TWO_INVERSES && other ? 2 * (size_t)PLANE * pictures : 0;
}

// Whether a pixel comes of these spectra
INLINE bool is_of_pixels(const uint other, const uint row, const uint column)
{
    return TWO_INVERSES ? (row + column) % 2 == other : true;
}

// Where a column starts in each plane. One that is its own partner lies in one plane alone.
#define OWN_PLANE(kx) (IN_FIRST_PLANE(kx) ? 0 : PLANE)
#define MIRRORED_PLANE(kx) ((kx) ? PLANE : 0)
