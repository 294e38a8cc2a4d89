"""Missing pixels: values that stand in for them while a picture is filtered.

    fill.py        values in their place, on a device
    reference.py   the same in float64 by NumPy, and what a picture is filtered to with them

docs/numbers.md has the method.
"""
