"""Filters to use again: :class:`Filter`, and the types of its options.

filter.py       the class, with its documentation and the only lock; pickled, shown as text, with other options
description.py  a filter's transfer function and options, checked, and named in signatures and docstrings
call.py         an array's way to the pipeline and back, also with missing pixels and along other axes; weak ones again
                in double precision
libraries.py    arrays of other libraries: xarray, Dask, PyTorch, JAX
ratio.py        logarithms in, and their ratio out: what is removed divides an image
strips.py       pictures that do not fit into memory, strip by strip: plans, spectra, values
gpu_strips.py   the same on a GPU that holds the picture
volumes.py      which axes these are, and the pipeline of a volume; volumes that do not fit into memory
gpu_volumes.py  the pipeline of a volume on a GPU
pipelines.py    a filter on its device: chooses and keeps the pipeline of an image; mirrored edges, streams
"""

from .description import FilterOptions, Options, PixelOptions, check_transfer, split_options
from .filter import Filter

__all__ = ["Filter", "FilterOptions", "Options", "PixelOptions", "check_transfer", "split_options"]
