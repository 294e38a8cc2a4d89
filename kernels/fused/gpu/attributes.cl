// Attributes: what all kernels of the GPU form tell the compiler. Arrays stay in registers only where every index is
// known, in functions that are inlined and loops that are unrolled.

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
