"""Bare transforms by the GPU form: a filter's rows and columns with no mask between. Kernels: kernels/fused/gpu/bare/.

plan.py        the steps of a transform as plain data: where lines lie, and where they go
transform.py   GpuTransform: buffers, kernels, launches
"""
