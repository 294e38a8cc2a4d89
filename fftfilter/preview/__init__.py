"""Pictures that show what a filter does: before and after, in space and by frequency.

    report.py    the effect of a filter as numbers: power, gains, the removed part, all by frequency
    panels.py    pictures of these, and of a pipeline's intermediate results
    page.py      pages of rows of these: of one picture, with curves of H(f) and of the power, and of many, with marked
                 outliers; show, the page of an array for notebooks

Drawn with Pillow and its own font.
"""
