// No offset: 0 in place of offset.cl's, where nothing is taken off.
//
// needs: fused/gpu/attributes.cl offset.cl

#define offset(image, height, width, pitch) ((LOAD_PIXEL)0)
