"""From filtered values to pixels, the same in every engine.

    stack.py        what a pipeline filters, and the pixels that it becomes
    offset.py       the constant that is taken off before the transform
    rounding.py     rounding errors: the nudge to a level, the noise floor, what is too weak or undecided
    modes.py        the outputs by name
    scale.py        which value becomes black and which white
    ramp.py         from a filtered value to a pixel, as numbers for kernels and the host
    histogram.py    the range of a picture without its extreme values
    quantize.py     the host's part: pixels of values, for the staged pipeline
    difference.py   how far pixels are from the reference's, and how far they may be

Nothing here knows OpenCL: kernels get the numbers as arguments.
"""
