"""The staged pipeline: the book's flow chart, one kernel launch after the other, with any FFT algorithm in it.

    pipeline.py     the flow chart from pixels to pixels
    steps.py        launches as plain data, the transform of a row, and the book's steps
    transform.py    the transform of rows, forward or inverse, of any length; and one prepared on a device
    algorithms/     the FFT algorithms: one file each
    runner.py       runs a plan: its kernels, its buffers and tables

A step's kernels are a file of its name under ``kernels/staged/steps/``, an algorithm's are its twin under
``kernels/staged/algorithms/``. Both return launches as data; the runner launches.
"""
