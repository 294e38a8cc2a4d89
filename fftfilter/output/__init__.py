"""From filtered values to pixels, the same in every engine.

stack.py      what a pipeline filters, and the pixels that it becomes
noise.py      what is rounding noise, and so black
rounding.py   from a magnitude to a grey level
scale.py      which value becomes black and which white
quantize.py   the host's part of that: pixels by a range that is given
"""
