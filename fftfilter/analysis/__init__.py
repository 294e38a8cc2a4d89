"""What a picture is made of: its power spectrum, and the periodic structures that stand out from it. Filters nothing.

    transformed.py  the transforms of a plane
    power.py        the power spectrum of a picture without the cross of its borders, and the mean over many pictures
    surroundings.py how far a frequency stands out from those around it
    search.py       find_peaks: the periodic structures of a picture, or of many
    broad.py        waves of a part of the picture
    widths.py       how wide a notch has to be
    grouping.py     each peak once, with its harmonics
    found.py        what it returns: a peak with its period, angle, strength and harmonics
    automatic.py    notches for what is found

`transfer` takes peaks out; here they are found.
"""
