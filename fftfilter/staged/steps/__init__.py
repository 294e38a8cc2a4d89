"""The steps of the pipeline: one file each, with the kernel of the same name under ``kernels/staged/steps/``.

A step is a pure function that returns the launch of its kernel as data (see ``plan.py``).
"""
