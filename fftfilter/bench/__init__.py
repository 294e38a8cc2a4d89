"""The tables of ``fftfilter bench``: those of papers, on this device.

    papers.py    tables of papers with their options, and the published figures: steps, engines, radix, sizes, speedup
    measure.py   a benchmark and its setting; checks results, and times work
    tables.py    statistics, and tables as text, Markdown, CSV, JSON or a diagram; published figures

Every result is compared with the float64 reference before it is timed. Comparisons
with other libraries, and benchmarks for developers, are in the folder ``benchmarks/`` of the repository.
"""
