"""Load: pixels to complex numbers."""

from __future__ import annotations

from ..plan import IMAGE, Stage, X

SOURCE = "staged/steps/load.cl"


def load(width: int, rows: int, pixel: str) -> Stage:
    """Turn rows of pixels (``uchar``, ``ushort`` or ``float``) into complex rows."""
    return Stage(SOURCE, "load", (width, rows), (X, IMAGE, width), defines=(f"LOAD_PIXEL={pixel}",))
