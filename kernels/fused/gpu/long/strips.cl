// Strips: where the columns are between the steps of long transforms. Where the rows of each pair are in one transform of
// the outer step, in the spectrum's own places, in whose planes lie the upper and the lower half of a column's numbers;
// else in a buffer, [tile][LONG][column in tile].

#define PAIRED (LONG_POINTS == LONG && HEIGHT % 2 == 0)
#if PAIRED
#define STRIPS_LENGTH (2 * (size_t)PLANE)
#else
#define STRIPS_LENGTH ((size_t)((COLUMNS + TILE - 1) / TILE * TILE) * LONG)
#endif

ALWAYS size_t strip_place(const uint kx, const uint y)
{
#if PAIRED
    return y < PAIRS ? place(kx, y) : PLANE + place(kx, y - PAIRS);
#else
    return ((size_t)(kx / TILE) * LONG + y) * TILE + kx % TILE;
#endif
}
