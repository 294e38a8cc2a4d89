// Built-in functions: declares those that the CPU form calls, for compilers that leave out OpenCL's header.
//
// The header is a megabyte of declarations, and at every start PoCL takes longer to read it than to do everything else
// for the CPU form. If you call another built-in function, declare it here.
//
// -D OWN_BUILTINS=1    given together with the define that keeps the header out; without it this file is empty

#ifdef OWN_BUILTINS

// How built-in functions are declared; the result of a PURE one depends on its arguments alone.
#define BUILTIN __attribute__((overloadable))
#define PURE __attribute__((overloadable, const))

size_t PURE get_group_id(uint);
size_t PURE get_num_groups(uint);
uint PURE min(uint, uint);
PASTE(float, VECTOR) PURE exp(PASTE(float, VECTOR));
PASTE(float, VECTOR) PURE exp2(PASTE(float, VECTOR));
PASTE(float, VECTOR) PURE sinpi(PASTE(float, VECTOR));
PASTE(float, VECTOR) PURE sqrt(PASTE(float, VECTOR));
PASTE(float, VECTOR) PURE max(PASTE(float, VECTOR), PASTE(float, VECTOR));
PASTE(float, VECTOR) PURE min(PASTE(float, VECTOR), PASTE(float, VECTOR));
uint BUILTIN atomic_inc(volatile global uint *);
void BUILTIN mem_fence(uint);
#ifndef CLK_GLOBAL_MEM_FENCE
// The number that the header gives it
#define CLK_GLOBAL_MEM_FENCE 2
#endif

// Declares convert_, from a vector of one type to one of another.
#define CONVERT(to, from, n) PASTE(to, n) PURE PASTE(convert_, PASTE(to, n))(PASTE(from, n));
CONVERT(float, uchar, VECTOR)
CONVERT(float, ushort, VECTOR)
CONVERT(float, float, VECTOR)
CONVERT(int, float, VECTOR)
CONVERT(uchar, int, VECTOR)
CONVERT(ushort, int, VECTOR)

#endif
