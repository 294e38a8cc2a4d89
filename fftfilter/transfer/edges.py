"""What lies beyond the borders of an image, and the frequencies that follow from it.

wrap      the image again, without end: whole cycles across each side
mirror    its mirror image, without end: also half cycles, the frequencies of a picture of twice each side
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from .grid import Gain, Support
    from .product import Transfer

Edges = Literal["wrap", "mirror"]
EDGES: tuple[Edges, ...] = get_args(Edges)


class EdgedGrid(NamedTuple):
    """The frequencies of an image with its edges: a transfer function and the sides of the grid it is taken on."""

    transfer: Transfer
    height: int
    width: int
    edges: Edges

    def gain(self) -> Gain:
        """Return H in float64, shape ``(height, width)`` of the grid."""
        return self.transfer.gain(self.height, self.width)

    def on_grid(self, real: str = "f8") -> tuple[Support, Gain | None]:
        """Return what :meth:`Transfer.on_grid` does; for mirrored edges only the gains that the others follow from.

        Those are the rows up to half the height, and if H is even along each axis the columns up to half the width.
        """
        if self.edges == "wrap":
            return self.transfer.on_grid(self.height, self.width, real=real)
        columns = self.width // 2 + 1 if self.transfer.is_even_along_axes else self.width
        return self.transfer.on_grid(self.height, self.width, self.height // 2 + 1, columns, real)


def grid_with(edges: Edges, transfer: Transfer, height: int, width: int) -> EdgedGrid:
    """Return the grid of a ``(height, width)`` image; raises ParameterError for radii that do not fit it."""
    if edges == "wrap":
        return EdgedGrid(transfer, height, width, edges)
    transfer.cautions(height, width)  # raises, in the numbers that were given, what the larger grid would
    return EdgedGrid(transfer.on_twice_the_sides(), 2 * height, 2 * width, edges)
