"""What every part of a transfer function has: each kind of filter is a subclass, in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError
from .units import Radius

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from .grid import Gain
    from .radial import Radial

    Multiplier = Callable[[Gain, slice, slice], None]


ALL = slice(None)
# H(k) and H(-k) count as equal if they differ by at most this part of the largest gain: single precision rounds as much
# away, and gains that were computed as even are so only up to the host's own rounding.
EVEN = 1e-6


class Ring(NamedTuple):
    """A circle in the spectrum, or an ellipse; all in cycles per pixel."""

    radius: float
    label: str
    fx: float = 0.0
    fy: float = 0.0
    stretch: float = 1.0  # how many times as high as wide it is

    @property
    def is_cutoff(self) -> bool:
        """Whether it goes around DC."""
        return self.fx == self.fy == 0


class Ridge(NamedTuple):
    """A line through DC, of the parts beyond a distance from it; in cycles per pixel."""

    fx: float
    fy: float  # a vector of length 1, along the line
    spare: float
    label: str


class Part:
    """A factor of a transfer function, of one kind.

    A kind is a frozen dataclass with a name and :meth:`gain`; for all else there are defaults here. Fields of type
    :class:`Radius` may have physical units. The function of ``fftfilter.transfer`` that makes it has the name of the
    kind, and parameters with the names of the fields, the first one by position. ``str`` describes it to users.
    """

    kind: str
    plural: str = ""  # the name of several of the kind; with a name, many are described by their number
    largest: float = 1.0  # a bound of all gains, at least 1
    is_even: bool = True  # whether H(-k) = H(k), so that filtered images are real
    # Whether gains are complex, with H(-k) the conjugate of H(k), so that filtered images are real, too.
    is_complex: bool = False
    is_even_along_axes: bool = False  # whether H(fx, fy) = H(-fx, fy) = H(fx, -fy)
    has_direction: bool = True  # whether H depends on more than the distance from DC
    # Sizes that gains are checked on. The highest frequency of an even side has both signs at once.
    small_grids: tuple[tuple[int, int], ...] = ((16, 18), (15, 17))
    channels: tuple[int, ...] | None = None  # the channels of color pictures that it filters; None for all
    # Whether its gains follow from the picture: ``analysis/fit.py`` replaces it by parts for that picture.
    is_fitted: bool = False
    # What has that in common which is removed: the pages of a file, or the images of a stack; None for nothing.
    fixed_pattern: str | None = None
    is_said: bool = False  # whether the notes about a picture are printed without -v, too
    radial: Radial | None = None  # the part itself if kernels can compute its gains; of others they take a table
    # A radius of the unit that axes of frequencies have, with the size of a pixel if it needs one.
    unit: Radius | None = None
    # Whether it takes something away that other pixels show, too: waves, stripes, a background.
    is_subtracted: bool = False
    # Its effect continues through missing pixels if less than this part of a picture is missing.
    carried_on: float = 0.0

    @property
    def maker(self) -> str:
        """The name of the function of ``fftfilter.transfer`` that makes it."""
        return self.kind

    @property
    def by_position(self) -> tuple[str, ...]:
        """The names of that function's arguments that are given by position."""
        return (fields(self)[0].name,)  # type: ignore[arg-type]

    @property
    def of_channel(self) -> str:
        """The channel that it alone filters, at the end of a description."""
        return "" if self.channels is None else f" in channel {self.channels[0]}"

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        """Return H on the grid of a size, DC in the corner as ``numpy.fft`` has it; of that some rows and columns.

        NumPy is imported here: the command line checks its options without it. What is found in pictures passes all.
        """
        import numpy as np

        return np.ones((len(range(height)[rows]), len(range(width)[columns])))

    @lru_cache(maxsize=64)  # noqa: B019  parts are small
    def check(self) -> None:
        """Raise ParameterError if the gains are not what the kind promises, as they are on small grids."""
        import numpy as np

        for height, width in self.small_grids:
            gains, first = self.gain(height, width), self.gain(height, width, slice(9), slice(7))
            limit, broken = EVEN * self.largest, ""
            if gains.shape != (height, width) or gains.dtype.kind != ("c" if self.is_complex else "f"):
                broken = f"of shape {gains.shape} and type {gains.dtype}: return real gains of the grid's shape"
            elif not np.abs(gains).max() <= self.largest + limit:
                broken = f"from {gains.min():g} to {gains.max():g}: return finite ones, or set largest to a bound"
            elif first.shape != (9, 7) or (np.abs(first - gains[:9, :7]) > limit).any():
                broken = "others where the first rows and columns are asked for: return that part of the same gains"
            elif self.is_complex and (np.abs(gains - mirrored(gains).conj()) > limit).any():
                broken = "not conjugate, H(-k) = conj H(k): mend them, also at the highest frequency"
            elif self.is_even and (np.abs(gains - mirrored(gains)) > limit).any():
                broken = "not even, H(-k) = H(k), also at the highest frequency: mend them, or set is_even to False"
            elif self.is_even_along_axes and (np.abs(gains - mirrored(gains, (0,))) > limit).any():
                broken = "not even along each axis: mend them, or set is_even_along_axes to False"
            if broken:
                raise ParameterError(f"{self.kind}: on a grid of {width} x {height} its gains are {broken}")

    def multiplier(self, height: int, width: int) -> Multiplier:
        """Return what multiplies gains in some rows and columns of the grid of a size by H, in place."""

        def multiply(gains: Gain, rows: slice, columns: slice) -> None:
            gains *= self.gain(height, width, rows, columns)

        return multiply

    def caution(self, height: int, width: int) -> str | None:  # noqa: ARG002
        """Return a line if it has no effect on images of a size, or leaves nothing of them; None if neither."""
        return None

    def marks(self, height: int, width: int) -> Iterator[Ring | Ridge]:  # noqa: ARG002
        """Return what is drawn over the spectrum of a picture: its cutoffs, the outer one first."""
        return iter(())

    def for_size(self, height: int, width: int) -> Self:  # noqa: ARG002
        """Return the part with defaults that depend on the size of an image filled in."""
        return self

    def reduced(self, level: float, height: int, width: int) -> Self | None:
        """Return it for an image reduced by ``level``, in cycles per pixel; None if it has no effect there."""
        own = self.for_size(height, width)
        return own.with_radii(lambda each: Radius(each.cycles(height, width) * level, "cyc", each.pixel))

    def physical(self) -> Iterator[Radius]:
        """Return the radii that need the size of a pixel."""
        return (each for each in self._fields.values() if isinstance(each, Radius) and each.is_physical)

    def with_radii(self, change: Callable[[Radius], Radius]) -> Self:
        """Return the part with all of its radii changed."""
        changed = {name: change(each) for name, each in self._fields.items() if isinstance(each, Radius)}
        return replace(self, **changed) if changed else self  # type: ignore[type-var]

    def given(self) -> dict[str, Any]:
        """Return what it was made of: for reports, and to tell filters apart."""
        return {"kind": self.kind} | {
            name: str(each.as_given()) if isinstance(each, Radius) else list(each) if isinstance(each, tuple) else each
            for name, each in self._fields.items()
            if each is not None and each is not False
        }

    def arguments(self) -> dict[str, Any]:
        """Return its maker's arguments but defaults and pixel sizes: numbers, texts and tuples of numbers."""
        usual = {each.name: each.default for each in fields(self)}  # type: ignore[arg-type]
        given = {name: each.as_given() if isinstance(each, Radius) else each for name, each in self._fields.items()}
        return {name: each for name, each in given.items() if usual[name] is MISSING or each != usual[name]}

    def __repr__(self) -> str:
        """Return the call of ``fftfilter.transfer``, as H, that makes it."""
        by_position = self.by_position
        given = [f"{each!r}" if name in by_position else f"{name}={each!r}" for name, each in self.arguments().items()]
        return f"H.{self.maker}({', '.join(given)})"

    @cached_property
    def _fields(self) -> dict[str, Any]:
        # Asked several times for each file of a folder.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]


def mirrored(gains: NDArray[np.floating], axes: tuple[int, ...] = (0, 1)) -> NDArray[np.floating]:
    """Return gains at the negative frequencies of some axes."""
    import numpy as np

    return np.roll(np.flip(gains, axes), (1,) * len(axes), axes)
