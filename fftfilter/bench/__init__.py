"""What ``fftfilter bench`` measures: the papers' tables on this device, and the peers.

    paper_filters.py      the papers' tables of filters, with the published figures: stages, engines
    paper_transforms.py   those of transforms: radix, sizes, speedup
    peers/                the same high-pass and the same transforms by other libraries

    benchmark.py   a table that is filled step by step, the setting that it is measured in, and with what
    measure.py     checks a result, then takes the times of OpenCL's events, or wall time
    compare.py     statistics: median and spread, ratios, Gflop/s
    tables.py      a table as text, markdown, CSV or JSON; published figures
    plot.py        a table as a diagram

Every result is compared with the float64 reference before it is timed. What only developers measure is in the folder
``benchmarks/`` of the repository.
"""
