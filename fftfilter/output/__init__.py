"""From filtered values to pixels, the same in every engine.

    rounding.py     rounding errors: the offset, the nudge to a level, the noise floor, what is too weak or undecided;
                    how far pixels are from the reference's, and how far they may be
    modes.py        the outputs by name, and which value becomes black and which white
    ramp.py         what a pipeline filters; from a filtered value to a pixel: the numbers for kernels and the host, and
                    the host's part
    histogram.py    the range of a picture without its extreme values

Nothing here knows OpenCL: kernels get the numbers as arguments.
"""
