"""Pictures that show what a filter does: before and after, in space and by frequency.

    report.py    the effect of a filter as numbers: power, gains, the removed part, all by frequency
    panels.py    pictures of these: the input, its spectrum with the filter over it, the result, the removed part
    drawing.py   text and smooth lines on a canvas
    page.py      all of it on one page, with curves of H(f) and of the power; show, that page of an array for notebooks
    sheet.py     a contact sheet of many pictures, with marked outliers
    steps.py     pictures of a pipeline's intermediate results

Drawn with Pillow and its own font.
"""
