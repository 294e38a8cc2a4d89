"""The fused form for CPUs: one launch, whose work-items take task after task. Its kernels are kernels/fused/cpu/.

    program.py     transforms as data, Bluestein's chirp-z among them; the plan of an image, the program's parameters,
                   and the transfer function as kernels read it
    pipeline.py    FusedCpuPipeline: buffers, the program, the launch
    plain_fft.py   CpuTransform, LongChirp: transforms without a mask between

docs/fused.md follows one image through all steps.
"""
