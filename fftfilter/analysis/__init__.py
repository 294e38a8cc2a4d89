"""Finds the periodic structures of a picture in its power spectrum.

    search.py        find_peaks: the periodic structures of a picture, or of many; notches for them
    power.py         the power spectrum of a picture without the cross of its borders, and the mean of many pictures
    surroundings.py  how far a frequency stands out from those around it; the width of a notch; broad peaks
    fit.py           a transfer function for one picture, if its gains follow from that
    found.py         a peak with its period, angle, strength and harmonics; each peak once, with its harmonics

The room filters nothing: ``transfer`` removes the peaks that are found here.
"""
