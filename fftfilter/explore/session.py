"""The open file, its pages, and the properties of the page that is shown."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import images
from ..analysis.power import spectrum
from ..analysis.search import peaks_of
from ..errors import ParameterError
from ..output.modes import MODES, SCALED
from ..preview.panels import gray_spectrum, square
from ..preview.report import FilterReport
from ..text import Angle, length_text
from ..transfer import Transfer
from ..transfer.edges import EDGES
from ..transfer.shapes import SHAPES
from ..work.opened import for_pixels_of
from .shown import eight_bits, halved, joined, levels, white_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ..analysis.power import Spectrum

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Most pixels of a side of the spectrum.
LARGEST_SPECTRUM = 1024
# Decibels that stand for no power.
NOTHING = -400.0
# The side of the maps of gain and of power.
MAP = 256


@dataclass(eq=False)
class FilePage:
    """A page of the file. Its properties are computed when they are first used."""

    picture: images.Picture
    device: str | None = None
    """The device that transforms a large picture, as :class:`Filter` takes it."""

    def __post_init__(self) -> None:
        self._levels: dict[int, Array] = {1: self.picture.planes}

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.picture.planes.shape[1:]
        return height, width

    @cached_property
    def white(self) -> float:
        """The grey level that is shown as white."""
        return white_of(self.picture.planes, self.picture.maxval)

    @cached_property
    def cautions(self) -> list[str]:
        """The cautions on magnitudes of its samples."""
        return self.picture.cautions(MODES["magnitude"], is_of_floats=True)

    def check_level(self, level: int) -> None:
        """Raise ParameterError for a level that the picture does not have."""
        if level not in levels(*self.size):
            raise ParameterError(f"level {level} is not one of {', '.join(map(str, levels(*self.size)))}")

    def planes(self, level: int) -> Array:
        """Return the planes reduced by a level."""
        if level not in self._levels:
            self._levels[level] = halved(self.planes(level // 2))
        return self._levels[level]

    def pixels(self, level: int) -> Pixels:
        """Return the picture to show at a level; raises ParameterError for a level that it does not have."""
        self.check_level(level)
        return joined(eight_bits(self.planes(level), self.white))

    @cached_property
    def spectrum(self) -> Spectrum:
        """The power spectrum."""
        return spectrum(self.picture.planes, self.picture.maxval, self.device)

    @property
    def mean_power(self) -> NDArray[np.float64]:
        """The mean power of all channels, ``(height, width // 2 + 1)``."""
        return np.asarray(self.spectrum.power.mean(axis=0, dtype=np.float64))

    @cached_property
    def power_map(self) -> NDArray[np.float64]:
        """The power of all channels, MAP x MAP, DC in the middle; the picture's mean is left out."""
        return square(self.mean_power, self.size[1], (MAP, 1.0), np.add)

    def spectrum_pixels(self) -> Pixels:
        """Return the logarithm of the power, a square with DC in the middle."""
        side = min(LARGEST_SPECTRUM, max(self.size))
        gray = gray_spectrum(self.mean_power, self.size[1], (side, 1.0))
        return np.rint(gray).astype(np.uint8)

    def peaks(self) -> list[dict[str, Any]]:
        """Return its periodic structures, as ``fftfilter peaks --json`` prints them; raises ParameterError."""
        return [each.described() | {"width_cyc": each.width} for each in peaks_of(self.spectrum)]

    def radial(self) -> dict[str, list[float]]:
        """Return the mean power by frequency, in decibels."""
        rings = FilterReport(self.picture.planes, self.picture.maxval, Transfer(()), known_power=self.mean_power).rings
        decibels = 10 * np.log10(np.maximum(rings.before, 10 ** (NOTHING / 10)))
        return {"frequency": rings.frequency.round(6).tolist(), "power_db": decibels.round(2).tolist()}


class Session:
    """The open file, and the place of its output; ``device`` filters it. Threads may share it.

    Raises ReadError, TooLargeError and ParameterError for a file that cannot be read.
    """

    def __init__(self, source: str, target: str | None = None, device: str | None = None) -> None:
        self.source, self._device = source, device
        self._found = images.opened(images.raw(source), source, working=_working)
        self._lock = threading.RLock()
        self._page: tuple[int, FilePage] | None = None
        self.target = target or self._proposed()
        self.folder = os.path.realpath(os.path.dirname(self.target) or ".")  # noqa: PTH120  as it is typed
        """The only folder that a page may write into."""
        self._opened = os.stat(source)  # noqa: PTH116  likewise
        # For the size of its pixels, which one sample is enough to keep.
        self._size = self.page(0).size
        first = self.page(0).picture
        self._first = replace(first, planes=first.planes[:, :1, :1].copy(), alpha=None)

    @property
    def pages(self) -> int:
        """The number of pages of the file."""
        return len(self._found) if isinstance(self._found, images.Pages) else 1

    def inputs(self) -> list[os.stat_result]:
        """Return the files that no output may replace: the one that was opened, and the one that has its name now."""
        with suppress(OSError):
            return [self._opened, os.stat(self.source)]  # noqa: PTH116  likewise
        return [self._opened]

    def page(self, number: int) -> FilePage:
        """Return a page, counted from 0; the last one is kept. Raises ReadError, ParameterError."""
        with self._lock:
            if self._page is None or self._page[0] != number:
                if not 0 <= number < self.pages:
                    raise ParameterError(f"page {number} is not one of {self.pages}, counted from 0")
                found = self._found
                picture = found.read(number) if isinstance(found, images.Pages) else found
                picture.refuse_not_finite(self.source)
                page = FilePage(picture, self._device)
                if number and page.size != self._size:
                    (height, width), first = page.size, self._size
                    raise ParameterError(
                        f"page {number + 1} has {width} x {height} pixels, the first one {first[1]} x {first[0]}: look "
                        "at it in a file of its own"
                    )
                self._page = number, page
            return self._page[1]

    def for_pixels(self, transfer: Transfer) -> Transfer:
        """Return a transfer function resolved by the size of the file's pixels; raises ParameterError."""
        return for_pixels_of(self._first, transfer, self.source)[0]

    def described(self, start: dict[str, Any], filters: Iterable[str]) -> dict[str, Any]:
        """Return the file's properties for the page; ``start`` is its first request, ``filters`` are the commands."""
        page = self.page(0)
        (height, width), planes = page.size, page.picture.planes
        sides = page.picture.metadata.pixel_size if page.picture.metadata else None
        size = None
        if sides and not isinstance(sides.across, Angle):
            text = length_text(sides.across)
            unit = text.rpartition(" ")[2]
            size = {"text": text, "unit": unit, "across_m": sides.across, "down_m": sides.down, "source": sides.source}
        return {
            "name": Path(self.source).name,
            "width": width,
            "height": height,
            "channels": len(planes),
            "depth": "float" if planes.dtype.kind == "f" else 8 * planes.dtype.itemsize,
            "pages": self.pages,
            "pixel_size": size,
            "out": Path(self.target).name,
            "folder": self.folder,
            "levels": levels(height, width),
            "shapes": [
                {"name": name, "takes": "order" if each.has_order else "width" if each.widest else None}
                for name, each in SHAPES.items()
            ],
            "commands": list(filters),
            "outputs": list(MODES),
            "scaled": list(SCALED),
            "edges": list(EDGES),
            "start": start,
        }

    def _proposed(self) -> str:
        """Return a name in the file's folder, of a lossless format."""
        given = Path(self.source)
        suffix = given.suffix.lower()
        keeps = suffix in images.extensions(read_only=False) and not images.is_lossy(given.name)
        if self.pages > 1:
            keeps = keeps or suffix == ".gif"
        return str(given.with_name(f"{given.stem}-filtered{given.suffix if keeps else '.png'}"))


def _working(size: images.Size) -> int:
    """Return the bytes needed beside a picture: its spectrum, and the filters that are kept ready."""
    return size.width * size.height * (40 + 16 * size.channels)
