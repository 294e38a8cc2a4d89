// No ground: what rows.cl and inverse_rows.cl take in place of ground.cl where nothing is taken off.

INLINE LOAD_PIXEL ground(global const LOAD_PIXEL *image, const uint height, const uint width, const size_t pitch)
{
    return 0;
}
