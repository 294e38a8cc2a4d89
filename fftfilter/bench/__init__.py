"""The tables of ``fftfilter bench``: those of papers, on this device, and those beside other libraries.

    papers.py             tables of papers, with the published figures: steps, engines, radix, sizes, speedup
    peer_filters.py       the same high-pass by this program and by other libraries
    peer_transforms.py    the same plain FFTs by this program and by other libraries

    benchmark.py   a table that is filled step by step, the setting that it is measured in, and the input arrays
    measure.py     checks results, times work, and computes statistics
    tables.py      tables as text, Markdown, CSV, JSON or a diagram; published figures

Every result is compared with the float64 reference before it is timed. Benchmarks for developers are in the folder
``benchmarks/`` of the repository.
"""
