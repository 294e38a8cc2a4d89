// Lines: where the rows are between the steps of long transforms: the spectrum's own places, each number at that of
// the frequency it will become. Bluestein's are longer than the spectrum and have a buffer, [pair of rows][LONG].

#if CHIRPED
#define LINES_LENGTH ((size_t)PAIRS * LONG)
#else
#define LINES_LENGTH (2 * (size_t)PLANE)
#endif

ALWAYS size_t line_place(const uint k, const uint p)
{
#if CHIRPED
    return (size_t)p * LONG + k;
#else
    return place_of(k, p);
#endif
}
