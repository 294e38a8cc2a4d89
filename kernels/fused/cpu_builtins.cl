// Built-in functions that the CPU form calls, declared here where the compiler leaves out the header of all.
//
// Reading that header, a megabyte of declarations, takes PoCL longer at every start than all that the CPU form asks
// of it. Who calls another built-in function adds it here.
//
// -D OWN_BUILTINS=1    given together with what keeps the header out; without it this file says nothing

#ifdef OWN_BUILTINS

#define BUILTIN __attribute__((overloadable, const))

size_t BUILTIN get_group_id(uint);
size_t BUILTIN get_num_groups(uint);
uint BUILTIN min(uint, uint);
uint __attribute__((overloadable)) atomic_inc(volatile global uint *);
void __attribute__((overloadable)) mem_fence(uint);
#ifndef CLK_GLOBAL_MEM_FENCE
#define CLK_GLOBAL_MEM_FENCE 2
#endif

#define CONVERT(to, from, n) PASTE(to, n) BUILTIN PASTE(convert_, PASTE(to, n))(PASTE(from, n));
CONVERT(float, uchar, VECTOR)
CONVERT(float, ushort, VECTOR)
CONVERT(float, float, VECTOR)
CONVERT(int, float, VECTOR)
CONVERT(uchar, int, VECTOR)
CONVERT(ushort, int, VECTOR)

#endif
