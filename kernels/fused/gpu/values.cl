// Values: the inverse rows store their results here.
//
// A high-pass is the image minus a low-pass. If the gain H is 1 from some column on (beyond the support), the columns
// are filtered with 1 - H, which is 0 there. So those columns are neither transformed nor stored, and the filtered
// image is the pixels, read once more, minus the result. If H is 0 there, the result is the filtered image. In both
// cases dc is the filter's own H(0), and the filtered offset is dc times the offset.
//
// -D COMPLEMENT=0 | 1                     1: the columns are filtered with 1 - H, results are subtracted from the image
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

#if !defined COMPLEMENT || !defined LOAD_PIXEL
#error "fused/gpu/values.cl: -D COMPLEMENT=0 or 1 or LOAD_PIXEL=uchar ... is missing"
#endif
