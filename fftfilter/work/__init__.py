"""One way for a file, be it for a command, a folder's worker, Python or the page.

    Recipe -> open_input -> Opened -> make_output: Frame -> filter_frames -> a whole file -> compared, if asked for

    recipe.py       all that decides an output's bytes, such as which pixels are missing; the methods: those of Filter,
                    ImageJ's dialog and descreen; the result for a file
    saved.py        a recipe in a file or in metadata: the arguments of a command; `apply` parses them
    opened.py       an input with the transfer function for its pixels and its waves, and how frames are filtered
    volumes.py      pages that are filtered together, along z or time
    output_file.py  `make_output`, of one picture or of pages, and `filter_stack`
    large.py        pictures that do not fit into memory, strip by strip, and `filter_large`
    verify.py       the reference in float64; an output, read back and compared with it
    device_check.py every engine and form on a device, beside the reference

A folder's batch takes the same steps, with several files under way at once.
"""
