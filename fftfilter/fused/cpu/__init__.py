"""The fused form for CPUs: one launch, whose work-items take task after task. Its kernels are kernels/fused/cpu/.

    mixed_radix.py   transforms as data: radices, spans, twiddle factors, the order they leave; Bluestein's chirp-z
    program.py       the plan of an image, the program, its parameters, and the transfer function as kernels read it
    pipeline.py      FusedCpuPipeline: buffers, the program, the launch
    plain_fft.py     CpuTransform, LongChirp: transforms without a mask between

docs/fused.md follows one image through all steps.
"""
