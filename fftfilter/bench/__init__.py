"""The tables of ``fftfilter bench``: those of papers, on this device, and those beside other libraries.

    papers.py    tables of papers, with the published figures: steps, engines, radix, sizes, speedup
    peers.py     the same high-pass, and the same plain FFTs, by this program and by other libraries

    measure.py   a benchmark and its setting; checks results, and times work
    tables.py    statistics, and tables as text, Markdown, CSV, JSON or a diagram; published figures

Every result is compared with the float64 reference before it is timed. Benchmarks for developers are in the folder
``benchmarks/`` of the repository.
"""
