// Attributes: tell the compiler how to build all kernels of the GPU form. Arrays stay in registers only where the
// compiler knows every index: in functions that are inlined and loops that are unrolled.

// Nothing is rounded otherwise than it is written: programs of the same arithmetic, the one for any size and that of a
// size, give the same numbers. What is to be one instruction is written as mad().
_Pragma("OPENCL FP_CONTRACT OFF")

// What is found of each picture in `largest`: the bits of its largest magnitude, how many pixels are clipped, and
// about how many are undecided (the same number: fftfilter/fused/gpu/launches.py)
#define FOUND 3

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
