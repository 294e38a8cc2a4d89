"""Missing pixels: which they are, what stands in for them while a picture is filtered, and how they come back.

    holes.py       which pixels of an array are missing
    fill.py        values in their place, on a device
    reference.py   the same in float64 by NumPy, and what a picture is filtered to with them
    valid.py       pixels of the valid samples alone, and the missing ones as they were

docs/numbers.md has the method. Filters use it in their own module of this name.
"""
