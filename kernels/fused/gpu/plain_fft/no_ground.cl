// No ground: 0 in place of ground.cl's, where nothing is taken off.
//
// needs: fused/gpu/attributes.cl ground.cl

#define ground(image, height, width, pitch) ((LOAD_PIXEL)0)
