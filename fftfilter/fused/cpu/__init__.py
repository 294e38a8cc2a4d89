"""The fused form for CPUs: one launch, whose work-items take task after task. Its kernels are kernels/fused/cpu/.

    mixed_radix.py   transforms as data: radices, spans, twiddle factors, the order they leave; Bluestein's chirp-z
    plan.py          the plan of an image: its strips, its transforms, the bytes between the steps
    params.py           what the kernels have to know, field by field as in params.cl
    mask.py          the transfer function as mask.cl reads it
    program.py       which butterflies are compiled: those of the first size, then those of all sizes
    pipeline.py      FusedCpuPipeline: buffers, the program, the launch
    plain_fft.py     CpuTransform: transforms without a mask between
    plain_layout.py  where they find and leave their numbers, and the tables that their kernels read
    long_signal.py   LongSignal, LongChirp: few or long rows, each as a matrix

docs/fused.md follows one image through all steps.
"""
