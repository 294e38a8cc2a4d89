"""Pixels: their types on the device, and what becomes of a magnitude, the same in every engine."""

from __future__ import annotations

import numpy as np

PIXELS = {np.dtype(np.uint8): "uchar", np.dtype(np.uint16): "ushort", np.dtype(np.float32): "float"}

# A result that never exceeds this part of the input's largest value is rounding noise.
NOISE = 1e-5

# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 4096 by one level.
NUDGE = 1 / 4096
