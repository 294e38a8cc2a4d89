"""Which pixels of a file are missing: by their value, by alpha, or by a mask. NumPy is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..arrays import Array, Holes
    from ..images import Picture
    from ..region import Area


@dataclass(frozen=True)
class Missing:
    """The rule of a recipe. NaN is missing always, and so is a file's own nodata value, unless by "none"."""

    nodata: float | None = None  # a value of samples that are missing, in place of the file's own
    by: str | None = None  # "alpha", which None is, too: the transparent pixels; "none": none but NaN
    mask: Area | None = None  # the pixels that are missing, in place of transparent ones

    @classmethod
    def of(cls, nodata: float | None, by: str | None) -> Missing:
        """Return the rule of --nodata and --missing; raises ReadError for a mask, which is black where IN is valid."""
        nodata = None if nodata is not None and isnan(nodata) else nodata  # as always
        if by in ("alpha", "none", None):
            return cls(nodata, by)
        from ..region import Area

        return cls(nodata, mask=Area.of_file(by, "missing mask"))

    def holes(self, picture: Picture, name: str = "a picture") -> Array | None:
        """Return which samples of a picture's planes are missing, None if all are valid.

        Raises ReadError for other samples that are not finite, and ParameterError for a mask of another size; ``name``
        is the picture's file.
        """
        import numpy as np

        planes, alpha, found = picture.planes, picture.alpha, []
        if planes.dtype.kind == "f":
            found.append(np.isnan(planes))
        nodata = picture.nodata if self.nodata is None and self.by != "none" else self.nodata
        if nodata is not None:
            found.append(picture.has_value(nodata))
        if self.mask:
            found.append(self.mask.samples(picture, name))
        elif self.by != "none":
            if alpha is not None:
                found.append(np.broadcast_to(alpha == 0, planes.shape))
            if picture.valid is not None:
                found.append(np.broadcast_to(~picture.valid, planes.shape))
        found = [each for each in found if each.any()]
        holes = np.logical_or.reduce(found) if found else None
        picture.refuse_not_finite(name, holes)
        return holes


USUAL = Missing()


def unmeasured(picture: Picture, name: str, ignore: Area | None = None, missing: Missing = USUAL) -> Holes | None:
    """Return which samples of a file's picture nothing is found in: missing and ignored ones; raises ParameterError."""
    holes = missing.holes(picture, name)
    ignored = ignore.samples(picture, name) if ignore else None
    return holes if ignored is None else ignored if holes is None else holes | ignored
