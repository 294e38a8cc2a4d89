"""Palettes: a look-up table of intensities, whose indices are filtered, or true colors, which become RGB.

A palette is taken as a table if it has 256 entries that are not all gray, and each differs from the next by at most 20
of 255 in each channel, but for two at most: tables of display programs run smoothly from color to color, with other
colors at an end for what is too dark or too bright. Colors chosen for a picture jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .pages import PaletteRule

WHITE = 257
"""Tables have 16 bits, as in a TIFF; this times a level of 8 bits is the same color."""
_ENTRIES, _STEP, _JUMPS = 256, 20, 2


def table_of(colors: NDArray[Any], rule: PaletteRule) -> NDArray[np.uint16] | None:
    """Return a palette as a table (3, 256) if indices are to be filtered, else None; ``colors`` are (entries, 3)."""
    if rule == "colors" or not len(colors):
        return None
    if rule == "auto":
        steps = np.abs(np.diff(colors.astype(np.int64), axis=0)).max(axis=1, initial=0)
        is_gray = (colors == colors[:, :1]).all()
        if len(colors) < _ENTRIES or is_gray or np.count_nonzero(steps > _STEP * WHITE) > _JUMPS:
            return None
    return np.pad(colors.astype(np.uint16), ((0, _ENTRIES - len(colors)), (0, 0)), mode="edge").T
