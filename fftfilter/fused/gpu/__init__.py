"""The fused form for GPUs: four launches, or one for small images. Its kernels are kernels/fused/gpu/.

    transform.py   how transforms of one length are dealt out to work-items, within a work-group
    long.py        transforms in two steps, for sides that a work-group does not hold
    plan.py        the plan of an image: rows, columns, tiles, the numbers between the launches
    mask.py        the transfer function as mask.cl reads it
    launches.py    kernels with their arguments and work-items, made of a plan
    generic.py    the same of a plan without compiling for it: one kernel for all sizes
    pipeline.py    FusedGpuPipeline: buffers and launches
    plain_fft.py   GpuTransform: transforms without a mask between
    plain_plan.py  their steps as plain data
    stream.py      stacks one after the other, copied in, filtered and copied out at the same time

docs/fused.md shows what lies in memory between the launches.
"""
