"""Read and write images: every depth kept where the format can, nothing half written.

    read -> Picture -> (planes filtered elsewhere) -> check_fits, plan_output -> write

    picture.py        what an image is between its file and the filter
    reading.py        bytes, then pnm.py or pillow_reader.py
    formats.py        what each format can hold
    depth.py          and so how an output is stored
    writing.py        pnm.py, png_writer.py or Pillow, with metadata.py
    files.py          outputs that appear whole or not at all

Netpbm's formats never import Pillow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .depth import plan_output
    from ..files.atomic import Times
    from .formats import check_fits, extension_of, extensions
    from .picture import Depth, Picture, Size
    from .reading import content, decode, measure, read, times
    from ..files.messages import quoted_if_odd
    from .writing import check_output, write

_HOMES = {
    "depth": ("plan_output",),
    "files": ("Times",),
    "formats": ("check_fits", "extension_of", "extensions"),
    "picture": ("Depth", "Picture", "Size"),
    "reading": ("content", "decode", "measure", "read", "times"),
    "words": ("quoted_if_odd",),
    "writing": ("check_output", "write"),
}
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


def __getattr__(name: str) -> Any:
    # Loaded on first use: who only asks for the extensions must not wait for NumPy.
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
