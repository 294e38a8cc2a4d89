"""Which pixels of a file are missing: by their value, by alpha, or by a mask. NumPy is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from ..errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..images import Picture

    Holes = NDArray[Any]

ALPHA: Final = "alpha"
NONE: Final = "none"


@dataclass(frozen=True, eq=False, repr=False)
class Missing:
    """The rule of a recipe. NaN is missing always, and so is what a file's own nodata value says, unless by NONE."""

    nodata: float | None = None
    """A value of samples that are missing, in place of the file's own."""
    by: str | None = None
    """ALPHA: the transparent pixels; NONE: none but NaN; else the name of a mask. None is alpha."""
    mask: Holes | None = None
    """The mask ``(height, width)``, True where a pixel is missing."""
    digest: str | None = None
    """That of the mask's file."""

    @classmethod
    def of(cls, nodata: float | None, by: str | None) -> Missing:
        """Return the rule of --nodata and --missing; raises what ``images.read`` does for a mask.

        A mask is black where a pixel is valid.
        """
        nodata = None if nodata is not None and isnan(nodata) else nodata  # as always
        if by in (ALPHA, NONE, None):
            return cls(nodata, by)
        import numpy as np

        from .. import images

        picture, digest = images.read_mask(by)
        return cls(nodata, by, np.any(picture.planes != 0, axis=0), digest)

    def holes(self, picture: Picture, name: str = "a picture") -> Holes | None:
        """Return which samples of a picture's planes are missing, None if all are valid.

        Raises ReadError for other samples that are not finite, and ParameterError for a mask of another size; ``name``
        is the picture's file.
        """
        import numpy as np

        planes, alpha, found = picture.planes, picture.alpha, []
        if planes.dtype.kind == "f":
            found.append(np.isnan(planes))
        nodata = picture.nodata if self.nodata is None and self.by != NONE else self.nodata
        if nodata is not None:
            with np.errstate(over="ignore"):  # a value of 64 bits becomes infinite in 32, as samples do
                is_it = planes == (planes.dtype.type(nodata) if planes.dtype.kind == "f" else nodata)
            found.append(is_it)
        if self.mask is not None:
            if self.mask.shape != planes.shape[1:]:
                height, width = self.mask.shape
                raise ParameterError(
                    f"{name}: {planes.shape[2]} x {planes.shape[1]} pixels, and the mask {self.by} of what is missing "
                    f"has {width} x {height}: give one of the picture's size"
                )
            found.append(np.broadcast_to(self.mask, planes.shape))
        elif self.by in (ALPHA, None) and alpha is not None and not alpha.all():
            found.append(np.broadcast_to(alpha == 0, planes.shape))
        found = [each for each in found if each.any()]
        holes = np.logical_or.reduce(found) if found else None
        picture.refuse_not_finite(name, holes)
        return holes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Missing) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        """Return what tells rules apart, as a recipe's key does."""
        from ..files.sources import digest_of

        content = "" if self.mask is None else digest_of(self.mask.tobytes())
        return f"{self.nodata} {self.by} {content}"


USUAL = Missing()
