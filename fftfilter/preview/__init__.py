"""Pictures to look at: what a filter does with a picture, before and after, in space and in frequency.

    report.py    a filter's effect as numbers: power, gains, what is removed, and all of it by frequency
    panels.py    pictures of these: the input, its spectrum with the filter over it, the result, what is removed
    plots.py     H(f) and the power as curves
    drawing.py   text and smooth lines on a canvas
    page.py      all of it on one page
    sheet.py     a contact sheet of many pictures: a row a file, outliers marked
    steps.py     pictures of a pipeline's intermediate results

Drawn with Pillow and its own font.
"""
