"""The staged pipeline: the book's flow chart, one kernel launch after the other, with any FFT algorithm in it.

    steps.py        launches as plain data, the book's steps, the transform of rows of any length
    algorithms.py   the FFT algorithms: a function each
    pipeline.py     runs plans: their kernels, buffers and tables; a transform; the flow chart from pixels to pixels

A step's kernels are a file of its name under ``kernels/staged/steps/``, an algorithm's are its twin under
``kernels/staged/algorithms/``. Both return launches as data; `Runner` launches.
"""
