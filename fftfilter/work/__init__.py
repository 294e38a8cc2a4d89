"""One way for a file, whoever asks for it: a command, a folder's worker, Python or the page.

    Recipe -> open_ -> Opened -> frames -> filtered -> a file that is whole or not there -> compared, if asked for

    recipe.py       all that decides an output's bytes
    methods.py      the two ways to filter: as Filter does, and as ImageJ's dialog does
    opened.py       a file that was read, and the transfer function for its pixels and its waves
    frames.py       pictures on their way through a filter
    file.py         a file into a file, of one picture or of pages, and `filter_stack`
    references.py   what a picture has to become, in float64
    verify.py       an output, read back and compared with its reference

A folder's batch takes the same steps, with several files under way at once.
"""
