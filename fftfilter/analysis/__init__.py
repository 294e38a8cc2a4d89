"""What a picture is made of: its power spectrum, and the periodic structures that stand out from it. Filters nothing.

    power.py        the power spectrum of a picture without the cross of its borders, and the mean over many pictures
    surroundings.py how far a frequency stands out from those around it
    search.py       find_peaks: the periodic structures of a picture, or of many; notches for them
    spread.py       how wide a notch has to be; waves of a part of the picture
    grouping.py     each peak once, with its harmonics
    found.py        what it returns: a peak with its period, angle, strength and harmonics

`transfer` takes peaks out; here they are found.
"""
