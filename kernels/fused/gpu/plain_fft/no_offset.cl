// No offset: takes the place of offset.cl's where nothing is subtracted.
//
// needs: fused/gpu/attributes.cl offset.cl

// 0 in the type of what is read
#define offset(image, height, width, pitch) ((LOAD_PIXEL)0)
