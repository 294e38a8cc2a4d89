"""Pictures to look at: what a filter does with a picture, before and after, in space and in frequency.

    look.py      what there is to see, as numbers: power, gains, what is removed, and all of it by frequency
    panels.py    pictures of these: the input, its spectrum with the filter over it, the result, what is removed
    overlay.py   the cutoffs of a filter over a spectrum
    plots.py     H(f) and the power as curves
    drawing.py   text and smooth lines on a canvas
    page.py      all of it on one page
    sheet.py     a contact sheet of many pictures: a row a file, outliers marked
    steps.py     pictures of a pipeline's intermediate results

Drawn with Pillow and its own font.
"""
