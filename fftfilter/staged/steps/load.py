"""Load: pixels to complex numbers."""

from __future__ import annotations

from ..plan import GROUND, IMAGE, Launch, X

SOURCE = "staged/steps/load.cl"


def load(width: int, height: int, images: int, pixel: str) -> Launch:
    """Turn pixels (``uchar``, ``ushort``, ``float`` or ``double``) without each image's ground into complex numbers."""
    return Launch(SOURCE, "load", (width, height, images), (X, IMAGE, GROUND, width), defines=(f"LOAD_PIXEL={pixel}",))
