"""What every part of a transfer function has: each kind of filter is one, in a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .grid import Gain


class Part(Protocol):
    """A frozen dataclass, whose fields of type :class:`Radius` know the units; ``of`` makes it of what is given.

    ``str`` is what users are told of it, ``repr`` the call of ``fftfilter.transfer``, as H, that makes it.
    """

    @property
    def largest(self) -> float:
        """A bound of all gains, at least 1."""

    @property
    def is_even(self) -> bool:
        """Whether H(-k) = H(k), so that filtered images are real."""

    @property
    def is_even_along_axes(self) -> bool:
        """Whether H(fx, fy) = H(-fx, fy) = H(fx, -fy)."""

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        """Return H on the grid of a size, DC in the corner as ``numpy.fft`` has it: its first rows and columns.

        NumPy is imported here, and in no part's file, but for that of masks.
        """

    def caution(self, height: int, width: int) -> str | None:
        """Return a line if it has no effect on images of a size, or leaves nothing of them; None if neither."""

    def given(self) -> dict[str, Any]:
        """Return what it was made of: for reports, and to tell filters apart."""
