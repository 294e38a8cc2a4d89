"""Transpose: columns become rows, so that one row transform serves both directions."""

from __future__ import annotations

from typing import Literal, get_args

from ..plan import Launch, Local, X, Y

SOURCE = "staged/steps/transpose.cl"
Transpose = Literal["tiled", "plain", "float4"]
TRANSPOSES: tuple[Transpose, ...] = get_args(Transpose)


def transpose(width: int, height: int, images: int, *, kind: str = "tiled", side: int = 16) -> Launch:
    """Transpose images of ``(height, width)``, out of place.

    ``plain`` is the book's. ``tiled`` goes through tiles of side x side numbers in local memory, so that neighbors are
    read and neighbors are written. ``float4`` is the stream paper's, with two numbers at a time; images with an odd
    side take the plain one.
    """
    items = (width, height, images)
    if kind == "float4" and width % 2 == height % 2 == 0:
        return Launch(SOURCE, "transpose_float4", (height // 2, width, images), (Y, X, width, height), swap=True)
    if kind in ("plain", "float4"):
        return Launch(SOURCE, "transpose_plain", items, (Y, X, width, height), swap=True)
    arguments = (Y, X, width, height, Local(side * (side + 1)))
    return Launch(SOURCE, "transpose_tiled", items, arguments, swap=True, group=(side, side, 1))
