"""A GIF with transparency: one of its 256 colors is no color."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from .picture import Samples

CLEAR = 255
"""The entry of the palette for transparent pixels: the last one, in every frame of an animation."""


def with_transparent_entry(samples: Samples) -> Image.Image:
    """Return 8-bit samples with alpha, ``(height, width, 2 or 4)``, as an image whose entry CLEAR is transparent.

    Grays stay as they are, but for the one that is rarest among the opaque pixels, mostly one that none has: it gives
    way to the gray beside it. Colors become the nearest of 255.
    """
    is_clear = samples[..., -1] == 0
    if samples.shape[2] == 2:
        gray = samples[..., 0]
        rarest = int(np.bincount(gray[~is_clear], minlength=256).argmin())
        entries = np.minimum(np.where(gray > rarest, gray - 1, gray), CLEAR - 1)
        colors = np.delete(np.arange(256), rarest).repeat(3).tolist()
    else:
        image = Image.fromarray(np.where(is_clear[..., None], 0, samples[..., :3])).quantize(CLEAR)
        entries, colors = np.asarray(image), image.getpalette() or []
    made = Image.fromarray(np.where(is_clear, CLEAR, entries).astype(np.uint8))
    made.putpalette(colors + [0] * (3 * 256 - len(colors)))
    return made
