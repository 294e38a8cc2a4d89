// No offset: takes the place of offset.cl's where nothing is subtracted.
//
// needs: fused/gpu/attributes.cl offset.cl

#define offset(image, height, width, pitch) ((LOAD_PIXEL)0)
