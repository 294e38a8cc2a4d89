// Attributes: tell the compiler how to build all kernels of the GPU form. Arrays stay in registers only where the
// compiler knows every index: in functions that are inlined and loops that are unrolled.

// FMA contraction is off, so a program for one size and the generic one round alike. What is to be one instruction is
// written as mad().
_Pragma("OPENCL FP_CONTRACT OFF")

// What is found of each picture in `largest`: the bits of its largest magnitude, how many pixels are clipped, and
// about how many are undecided (the same number: fftfilter/fused/gpu/launches.py)
#define FOUND 3

// For functions and loops whose indices have to be constants
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
