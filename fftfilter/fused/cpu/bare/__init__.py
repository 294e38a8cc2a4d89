"""Bare transforms by the CPU form: a filter's columns and rows with no mask between. Kernels: kernels/fused/cpu/bare/.

layout.py      where a transform finds and leaves its numbers, and the tables that its kernels read
signal.py      LongSignal, LongChirp: few or long rows, each as a matrix
transform.py   CpuTransform: buffers, the program, the launch
"""
