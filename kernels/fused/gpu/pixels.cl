// Pixels: the ones that a work-item quantizes at once.
//
// needs: fused/gpu/attributes.cl
//
// -D PIXELS_PER_ITEM=1 | 4                 how many pixels, a divisor of the image's
// -D STORE_PIXEL=uchar | ushort | float    the type of the output's pixels

#if !defined PIXELS_PER_ITEM || !defined STORE_PIXEL
#error "fused/gpu/pixels.cl: -D PIXELS_PER_ITEM or STORE_PIXEL is missing"
#endif

// Values that a work-item fetches before it makes pixels of any: it waits for memory once.
#define FETCHED (16 / PIXELS_PER_ITEM)

// The values that become pixels at once, these pixels, and the conversion to their type
#if PIXELS_PER_ITEM == 1
#define VALUE real_t
typedef STORE_PIXEL pixels_t;
#define CONVERT(levels) (STORE_PIXEL)(levels)
#else
#define VALUE float4
typedef PASTE(STORE_PIXEL, 4) pixels_t;
#define CONVERT PASTE(PASTE(convert_, STORE_PIXEL), 4)
#endif

// How many of the levels at once are below the one or not below the other
INLINE uint count_of(const VALUE level, const real_t below, const real_t above)
{
#if PIXELS_PER_ITEM == 1
    return level < below || level >= above;
#else
    const int4 is_beyond = level < below | level >= above;
    return -(is_beyond.x + is_beyond.y + is_beyond.z + is_beyond.w);
#endif
}
