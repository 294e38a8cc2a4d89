"""Filters to use again: :class:`Filter`, and the types of its options.

filter.py       the class, with its documentation and the only lock
description.py  what a filter is made of: options, checked; pickled, written down, with others
call.py         an image's way to the pipeline and back; channels of their own; weak results once more in double
pipelines.py    a filter on its device: which pipeline an image takes, what is kept; mirrored edges, streams
"""

from .description import FilterOptions as FilterOptions
from .description import Options as Options
from .description import PixelOptions as PixelOptions
from .description import check_transfer as check_transfer
from .description import describe as describe
from .description import split_options as split_options
from .filter import Filter as Filter
