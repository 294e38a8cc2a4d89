"""The fused form for GPUs: four launches, or one for small images. Its kernels are kernels/fused/gpu/.

    transform.py   how a work-group shares transforms of one length
    plan.py        the plan of an image: rows, columns, tiles; transforms in two steps for long sides; the mask
    launches.py    kernels with their arguments and work-items, made of a plan; the same launches by one kernel for all
                   sizes, which is not compiled for a plan
    pipeline.py    FusedGpuPipeline: buffers and launches; Stream: stacks one after the other, copied in, filtered and
                   copied out at the same time
    plain_fft.py   GpuTransform: transforms without a mask between, and their steps as plain data

docs/fused.md shows what lies in memory between the launches.
"""
