"""Transpose: columns become rows, so that one row transform serves both directions."""

from __future__ import annotations

from ..plan import Local, Stage, X, Y

SOURCE = "steps/transpose.cl"
TRANSPOSES = ("tiled", "plain")


def transpose(width: int, height: int, images: int, *, kind: str = "tiled", side: int = 16) -> Stage:
    """Transpose images of ``(height, width)``, out of place.

    ``plain`` is the book's; ``tiled`` goes through tiles of side x side numbers in local memory, so that
    both its reads and its writes are of neighbors.
    """
    items = (width, height, images)
    if kind == "plain":
        return Stage(SOURCE, "transpose_plain", items, (Y, X, width, height), swap=True)
    arguments = (Y, X, width, height, Local(side * (side + 1)))
    return Stage(SOURCE, "transpose_tiled", items, arguments, swap=True, group=(side, side, 1))
