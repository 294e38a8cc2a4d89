"""How a low-pass falls off: one function a shape, and its twin of the same name in ``kernels/shapes.cl``.

To add a shape, write both functions and enter it in ``SHAPES`` and ``ShapeName``: it is then a ``--shape``, and tested
with the others.

The command line lists the shapes before NumPy is loaded; the functions import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Gain = NDArray[np.float64]


def gaussian(distance2: Gain, order: int) -> Gain:  # noqa: ARG001
    """exp(-ln 2 (d/r)^2): no ringing, gain 1/2 at the cutoff."""
    import numpy as np

    return np.exp2(-distance2)


def butterworth(distance2: Gain, order: int) -> Gain:
    """1 / (1 + (d/r)^(2 order)): flat, then falling by the order; gain 1/2 at the cutoff."""
    import numpy as np

    with np.errstate(over="ignore"):
        return 1 / (1 + distance2**order)


class Shape(NamedTuple):
    """A shape; ``gain`` is a function of (distance / radius)^2, which falls, and of the order.

    Ideal has none: whether a bin is nearer than the cutoff is decided exactly (``grid.py``), not by a rounded distance.
    """

    gain: Callable[[Gain, int], Gain] | None
    has_order: bool = False


ShapeName = Literal["ideal", "gaussian", "butterworth"]
SHAPES: dict[str, Shape] = {
    "ideal": Shape(None),
    "gaussian": Shape(gaussian),
    "butterworth": Shape(butterworth, has_order=True),
}
IDEAL = "ideal"
