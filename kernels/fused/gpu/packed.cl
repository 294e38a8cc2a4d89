// Packed: takes two real rows as one complex row z = upper + i lower. Both rows' X[k] follow from Z[k] and
// Z[width - k]. Also says where Z lies (spectrum.cl).
//
// needs: fused/gpu/attributes.cl

// The place of column k of a pair of rows p in its plane.
INLINE uint place_in_plane(const uint k, const uint p, const uint tile, const uint pairs)
{
    return (k / tile * pairs + p) * tile + k % tile;
}

// Z[k], Z[width - k] of a pair of rows -> twice X of both
INLINE void unpack(complex_t *upper, complex_t *lower, const complex_t z, const complex_t mirrored)
{
    *upper = (complex_t)(z.x + mirrored.x, z.y - mirrored.y);
    *lower = (complex_t)(z.y + mirrored.y, mirrored.x - z.x);
}

// X of both rows -> Z[k], Z[width - k]
INLINE void pack(global complex_t *z, global complex_t *mirrored, const complex_t upper, const complex_t lower)
{
    *z = (complex_t)(upper.x - lower.y, upper.y + lower.x);
    *mirrored = (complex_t)(upper.x + lower.y, lower.x - upper.y);
}
