"""Benchmarks for developers, run from a clone: ``python -m benchmarks.start --help``.

    start.py          the command as a whole process, beside a NumPy and Pillow script
    folder.py         a folder of files, beside the programs in by_others/ and coding alone
    cluster.py        the cost of a Dask cluster
    explore.py        the page of `fftfilter explore` in a browser, while a handle is dragged
    stream.py         a stream of images beside copying and filtering alone
    outputs.py        every output, scale and edge beside the magnitude
    peers.py          the same high-pass by other libraries
    transforms.py     the same plain FFTs by other libraries
    large.py          pictures larger than memory, by strips and as a whole, and by other programs
    volume.py         a volume larger than memory, beside the exact one
    missing.py        filters over pictures with holes beside the complete picture
    png_levels.py     time and size of each --png-level
    numpy_tests.py    NumPy's own tests of its transforms, run against ours

    beside.py         times work beside other libraries', by the clock, in turn
    command.py        makes a module of this folder a command
    environment.py    the environment of the processes that are timed
    photographs.py    pictures like photographs, made from samples/
    by_others/        a folder filtered by other programs

Times are wall time. Tables, statistics and options are those of ``fftfilter bench``.
"""
