"""The staged pipeline: the book's flow chart, one kernel launch after the other, with any FFT algorithm in it.

    pipeline.py     the flow chart from pixels to pixels
    steps.py        launches as plain data, the book's steps, the transform of rows of any length
    algorithms/     the FFT algorithms: one file each
    runner.py       runs a plan: its kernels, its buffers and tables; a transform prepared on a device

A step's kernels are a file of its name under ``kernels/staged/steps/``, an algorithm's are its twin under
``kernels/staged/algorithms/``. Both return launches as data; the runner launches.
"""
