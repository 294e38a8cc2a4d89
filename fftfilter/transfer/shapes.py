"""How a low-pass falls off: one function a shape, and its twin of the same name in ``kernels/shapes.cl``.

To add a shape, write both functions and enter it in ``SHAPES``, ``ShapeName`` and, with its place among ``SHAPES``, the
twin's ``EACH_SMOOTH_SHAPE``: it is then a ``--shape``, and tested with the others.

The command line lists the shapes before NumPy is loaded; the functions import it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ..arrays import Floats

    Gain = Floats


def gaussian(distance2: Gain, unused: float) -> Gain:  # noqa: ARG001
    """exp(-ln 2 (d/r)^2): no ringing, gain 1/2 at the cutoff."""
    import numpy as np

    return np.exp2(-distance2)


def butterworth(distance2: Gain, order: float) -> Gain:
    """1 / (1 + (d/r)^(2 order)): flat, then falling by the order; gain 1/2 at the cutoff."""
    import numpy as np

    with np.errstate(over="ignore"):
        return 1 / (1 + distance2**order)


def cosine(distance2: Gain, width: float) -> Gain:
    """(1 - sin(pi (d - r) / w)) / 2 where |d - r| < w/2, 1 before, 0 behind: as GMT and RELION have it."""
    import numpy as np

    return (1 - np.sin(np.pi * np.clip((np.sqrt(distance2) - 1) / width, -0.5, 0.5))) / 2


def fermi(distance2: Gain, width: float) -> Gain:
    """1 / (1 + exp((d - r) / w)), but 1 at DC: SPIDER's, whose temperature is the width."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.where(distance2 > 0, 1 / (1 + np.exp((np.sqrt(distance2) - 1) / width)), 1.0)


USUAL_ORDER = 2


class Shape(NamedTuple):
    """A shape; ``gain`` is a function of (distance / radius)^2, which falls, and of the order or the width.

    ``usual`` is the order or width that it has by default. Widths are parts of the radius, up to ``widest``, which is 0
    where there is none. Ideal has no function: whether a bin is nearer than the cutoff is decided exactly
    (``grid.py``), not by a rounded distance.
    """

    gain: Callable[[Gain, float], Gain] | None
    has_order: bool = False
    usual: float = 0.0
    widest: float = 0.0


ShapeName = Literal["ideal", "gaussian", "butterworth", "cosine", "fermi"]
SHAPES: dict[str, Shape] = {
    "ideal": Shape(None),
    "gaussian": Shape(gaussian),
    "butterworth": Shape(butterworth, has_order=True, usual=USUAL_ORDER),
    "cosine": Shape(cosine, usual=1 / 2, widest=2.0),
    "fermi": Shape(fermi, usual=1 / 10, widest=1.0),
}
IDEAL = "ideal"
# What kernels take for gains from a table, in the place of a shape.
TABLE = "table"


def number_of(shape: str) -> int:
    """Return the number of a shape, or of a table, for programs that have all shapes: as in ``kernels/shapes.cl``."""
    return 101 if shape == TABLE else list(SHAPES).index(shape)
