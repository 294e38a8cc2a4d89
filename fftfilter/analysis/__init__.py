"""Finds the periodic structures of a picture in its power spectrum; ``transfer`` removes them.

search.py        find_peaks: the periodic structures of a picture, or of many; notches for them
power.py         the power spectrum of a picture without the cross of its borders, and the mean of many pictures
surroundings.py  how far a frequency stands out from those around it
spread.py        the width of a notch; waves of a part of the picture
found.py         a peak with its period, angle, strength and harmonics; each peak once, with its harmonics
"""
