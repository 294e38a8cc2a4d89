"""One way for a file, be it for a command, a folder's worker, Python or the page.

    Recipe -> open_ -> Opened -> frames -> filtered -> a file that is whole or not there -> compared, if asked for

    recipe.py   all that decides an output's bytes, and the two methods: Filter's and that of ImageJ's dialog
    saved.py    a recipe as JSON, in a file or in metadata; the command `apply` reads it
    opened.py   a file that was read, the transfer function for its pixels and its waves, and its way through a filter
    missing.py  which pixels of a file are missing
    file.py     a file into a file, of one picture or of pages, and `filter_stack`
    verify.py   the reference in float64; an output, read back and compared with it

A folder's batch takes the same steps, with several files under way at once.
"""
