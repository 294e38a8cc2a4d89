"""The NumPy engine: filters and transforms on machines where no OpenCL works.

    launcher.py   what stands for a device and its queue; the library that transforms
    pipeline.py   the whole filter of a stack of images, and plain FFTs

It takes the same transfer functions, stacks and ramps as the pipelines of OpenCL, and is held to the same contract.
"""
