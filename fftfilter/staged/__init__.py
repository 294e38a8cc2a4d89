"""The staged pipeline: the book's flow chart, one kernel launch after the other, with any FFT algorithm in it.

    pipeline.py     the flow chart from pixels to pixels
    plan.py         launches as plain data, and the transform of a row
    fft_core.py     the transform of rows, forward or inverse, by an algorithm or through Bluestein
    transform.py    a bare transform, prepared on a device
    bluestein.py    any length, on top of an algorithm for powers of two
    steps/          what the book does beside the transform, and what its transform is made of: one file a step
    algorithms/     the FFT algorithms: one file each
    runner.py       runs a plan: builds its kernels and launches them
    workspace.py    the device buffers of a plan, with its tables

A step or an algorithm is a module with its kernels in a file of the same name under ``kernels/staged/``. It returns
launches as data; the runner launches.
"""
