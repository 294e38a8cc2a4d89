"""What ``fftfilter bench`` measures: the papers' tables on this device, and the peers.

    papers/        the papers' tables, one file each, with the published figures
    peers/         the same high-pass by other libraries

    benchmark.py   a table that is filled step by step, and the setting that it is measured in
    inputs.py      the images and numbers that are measured with
    measure.py     checks a result, then takes the times of OpenCL's events
    compare.py     statistics: median and spread, ratios, Gflop/s
    published.py   how the figures of a source are written down
    tables.py      a table as text, markdown, CSV or JSON
    plot.py        a table as a diagram

Every result is compared with the float64 reference before it is timed. What only developers measure is in the folder
``benchmarks/`` of the repository.
"""
