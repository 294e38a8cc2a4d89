"""What a pipeline filters at once, and the pixels that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# OpenCL's names of the pixel types.
PIXELS = {np.dtype(np.uint8): "uchar", np.dtype(np.uint16): "ushort", np.dtype(np.float32): "float"}


@dataclass(frozen=True)
class Stack:
    """``count`` images of one size, or the channels of one picture.

    Pixels are uint8, uint16, or float32 within [-1, 1]; ``out`` is the type of the output's pixels.
    """

    count: int
    height: int
    width: int
    pixel: np.dtype[Any]
    out: np.dtype[Any]
    white: int | None
    """The output's white; None for the filtered values as they are, in the pipeline's real numbers."""
    one_scale: bool = False
    """Whether the images share their extremes, as the channels of a picture do."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(count, height, width)."""
        return self.count, self.height, self.width

    @property
    def size(self) -> int:
        """Pixels of all images."""
        return self.count * self.height * self.width

    @property
    def pictures(self) -> int:
        """How many pictures there are, each with a scale of its own."""
        return 1 if self.one_scale else self.count

    def __str__(self) -> str:
        size = f"{self.width} x {self.height}"
        return f"an image of {size}" if self.count == 1 else f"a stack of {self.count} images of {size}"
