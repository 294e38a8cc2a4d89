"""Read and write images: every depth kept where the format can, nothing half written.

    read -> Picture -> (planes filtered elsewhere) -> check_fits, plan_output -> write

    picture.py        what an image is between its file and the filter
    reading.py        bytes, then pnm.py or pillow_reader.py
    formats.py        what each format can hold, and so how an output is stored
    writing.py        pnm.py, png_writer.py or Pillow, with metadata.py
    files.py          outputs that appear whole or not at all

Netpbm's formats never import Pillow.
"""

from .files import Times
from .formats import check_fits, extension_of, extensions, plan_output
from .picture import Depth, Picture, Size
from .reading import content, decode, measure, read, times
from .words import quoted_if_odd
from .writing import check_output, write

__all__ = [
    "Depth",
    "Picture",
    "Size",
    "Times",
    "check_fits",
    "check_output",
    "content",
    "decode",
    "extension_of",
    "extensions",
    "measure",
    "plan_output",
    "quoted_if_odd",
    "read",
    "times",
    "write",
]
