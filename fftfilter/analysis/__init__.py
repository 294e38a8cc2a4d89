"""Finds the periodic structures of a picture in its power spectrum, and gains that follow from the picture.

    search.py        find_peaks: the periodic structures of a picture, or of many; notches for them
    power.py         the power spectrum of a picture without the cross of its borders, and the mean of many pictures
    surroundings.py  how far a frequency stands out from those around it; the width of a notch; broad peaks
    found.py         a peak with its period, angle, strength and harmonics; each peak once, with its harmonics
    fit.py           what follows from one picture: its transfer function, itself without lines and waves, in words
    bands.py         lines and bands of any width: offsets or gains, chosen by prediction
    waves.py         hum and flicker, waves of few periods
    wiener.py        the gains of Wiener's filter
    guard.py         tells a fault from content that repeats; waves at right angles: dots of a screen, or a pattern
    striped.py       whether a picture has stripes, and along which angles
    screens.py       a printer's screens, and the gains that take them out

The room filters nothing: ``transfer`` removes the peaks that are found here.
"""
