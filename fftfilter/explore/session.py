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
from ..errors import ParameterError
from ..output.modes import MODES, SCALED
from ..preview.panels import square
from ..text import Angle, length_text
from ..transfer.edges import EDGES
from ..transfer.shapes import SHAPES
from ..transfer.units import Radius, parse_pixel_size, parsed
from ..work.missing import USUAL
from ..work.opened import for_pixels_of, spectrum_of
from . import workers
from .shown import eight_bits, extremes, halved, joined, levels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..analysis.found import Peak
    from ..analysis.power import Spectrum
    from ..analysis.search import AutoNotches
    from ..transfer import Transfer

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Most pixels of a side of the spectrum.
LARGEST_SPECTRUM = 1024
# The side of the maps of gain and of power.
MAP = 256
# Steps of the pixels of a spectrum in a decibel; 255 is the strongest frequency.
STEPS = 2
# Bars of a histogram, and the number of samples that it counts.
BARS, COUNTED = 128, 1 << 16
# Pages that are kept: one that is drawn, one that is filtered.
KEPT = 2
# The units of a cutoff, with the words for them; lengths need the size of a pixel.
UNITS = {
    "um": "µm",
    "nm": "nm",
    "mm": "mm",
    "in": "in",
    "px": "px",
    "bins": "cycles",
    "cyc": "cyc/px",
    "%": "% Nyquist",
}
UNITS |= {"lpi": "lpi", "lp/mm": "lp/mm", "arcsec": "arcsec"}


@dataclass(eq=False)
class FilePage:
    """A page of the file. Its properties are computed when they are first used."""

    picture: images.Picture
    device: str | None = None
    """The device that transforms a large picture, as :class:`Filter` takes it."""

    def __post_init__(self) -> None:
        self._levels: dict[int, Array] = {1: self.picture.planes}
        self._lock = threading.Lock()

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.picture.planes.shape[1:]
        return height, width

    @cached_property
    def holes(self) -> NDArray[np.bool_] | None:
        """Which samples are missing, None if all are valid."""
        return USUAL.holes(self.picture)

    @cached_property
    def shown(self) -> tuple[float, float, float]:
        """The grey levels to show as black and as white, and gamma."""
        is_deep = self.picture.planes.dtype != np.uint8
        return (*(extremes(self.picture.planes) if is_deep else (0.0, float(self.picture.maxval))), 1.0)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The grey levels between which histograms count."""
        is_deep = self.picture.planes.dtype != np.uint8
        return extremes(self.picture.planes, 0) if is_deep else (0.0, float(self.picture.maxval))

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

    def pixels(self, level: int, shown: tuple[float, float, float] | None = None) -> Pixels:
        """Return the picture to show at a level; raises ParameterError for a level that it does not have."""
        self.check_level(level)
        return joined(eight_bits(self.planes(level), shown or self.shown))

    @property
    def spectrum(self) -> Spectrum:
        """The power spectrum."""
        with self._lock:
            return self._spectrum

    @cached_property
    def _spectrum(self) -> Spectrum:
        return spectrum(self.picture.planes, self.picture.maxval, self.device)

    @property
    def has_spectrum(self) -> bool:
        """Whether its spectrum was computed."""
        return "_spectrum" in vars(self)

    @property
    def mean_power(self) -> NDArray[np.float64]:
        """The mean power of all channels, ``(height, width // 2 + 1)``."""
        return np.asarray(self.spectrum.power.mean(axis=0, dtype=np.float64))

    @cached_property
    def power_map(self) -> NDArray[np.float64]:
        """The power of all channels, MAP x MAP, DC in the middle; the picture's mean is left out."""
        return square(self.mean_power, self.size[1], (MAP, 1.0), np.add)

    def spectrum_pixels(self, channel: int | None = None) -> Pixels:
        """Return the power in steps of 1/STEPS dB below the strongest, 255, a square with DC in the middle.

        The picture's mean is as strong. Without a channel, it is the mean of all.
        """
        power = self.mean_power if channel is None else self.spectrum.power[channel].astype(np.float64)
        side = min(LARGEST_SPECTRUM, max(self.size))
        strongest = float(power.max()) or 1.0
        found = square(power, self.size[1], (side, 1.0), np.maximum) / strongest
        found[side // 2, side // 2] = 1
        steps = np.rint(255 + 10 * STEPS * np.log10(np.maximum(found, 1e-30)))
        return np.asarray(np.clip(steps, 0, 255)).astype(np.uint8)

    def about(self) -> dict[str, Any]:
        """Return the histogram, the levels to show, and the angle of its stripes."""
        return {
            "histogram": histogram(self.picture.planes, self.range),
            "range": self.range,
            "shown": self.shown,
            "auto": (*extremes(self.picture.planes), 1.0),
            "stripes": self._stripes(),
        }

    def _stripes(self) -> int:
        """Return the angle, 0 or 90, at which stripes stand out more from the frequencies beside them."""
        power = self.mean_power[: self.size[0] // 2]
        far = np.s_[len(power) // 16 :]
        across, along = (
            power[far, 0] / (power[far, 2:6].mean(axis=1) + 1e-30),
            power[0] / (power[2:6].mean(axis=0) + 1e-30),
        )
        return 0 if np.median(across) >= np.median(along[len(along) // 16 :]) else 90

    def values(self, points: NDArray[np.int64]) -> list[list[float]]:
        """Return the grey levels at points ``(count, 2)``, x and y, by channel."""
        return at(self.picture.planes, points).tolist()  # type: ignore[no-any-return]

    def wave(self, fx: float, fy: float) -> dict[str, float]:
        """Return the amplitude of a wave in grey levels, the mean of the channels, and its phase at the corner."""
        height, width = self.size
        down, across = (np.exp(-2j * np.pi * f * np.arange(n)) for f, n in ((fy, height), (fx, width)))
        planes = self.picture.planes
        found = np.array([down @ ((plane - plane.mean(dtype=np.float64)) @ across) for plane in planes])
        found *= 2 / (height * width)
        return {"amplitude": float(np.abs(found).mean()), "phase": float(np.angle(found.sum()))}


class Session:
    """The open file, and the place of its output; ``device`` filters it. Threads may share it.

    Raises ReadError, TooLargeError and ParameterError for a file that cannot be read.
    """

    def __init__(
        self, source: str, target: str | None = None, device: str | None = None, folder: str | None = None
    ) -> None:
        self.source, self.device = source, device
        self._found = images.opened(images.raw(source), source, working=_working)
        self._lock = threading.RLock()
        self._pages: dict[int, FilePage] = {}
        self._mean: Spectrum | None = None
        self._waves: dict[AutoNotches, list[Peak]] = {}
        self.target = target or self._proposed(folder)
        self.folder = os.path.realpath(os.path.dirname(self.target) or ".")  # noqa: PTH120  as it is typed
        """The only folder that a page may write into."""
        self.opened = os.stat(source)  # noqa: PTH116  likewise
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
            return [self.opened, os.stat(self.source)]  # noqa: PTH116  likewise
        return [self.opened]

    def page(self, number: int) -> FilePage:
        """Return a page, counted from 0; the last ones are kept. Raises ReadError, ParameterError."""
        with self._lock:
            if number not in self._pages:
                if not 0 <= number < self.pages:
                    raise ParameterError(f"page {number} is not one of {self.pages}, counted from 0")
                found = self._found
                picture = found.read(number) if isinstance(found, images.Pages) else found
                picture.refuse_not_finite(self.source)
                page = FilePage(picture, self.device)
                if number and page.size != self._size:
                    (height, width), first = page.size, self._size
                    raise ParameterError(
                        f"page {number + 1} has {width} x {height} pixels, the first one {first[1]} x {first[0]}: look "
                        "at it in a file of its own"
                    )
                while len(self._pages) >= KEPT:
                    del self._pages[next(iter(self._pages))]
                self._pages[number] = page
            return self._pages[number]

    @property
    def has_changed(self) -> bool:
        """Whether the file is gone, or another one than was opened."""
        try:
            now = os.stat(self.source)  # noqa: PTH116  likewise
        except OSError:
            return True
        return (now.st_mtime_ns, now.st_size) != (self.opened.st_mtime_ns, self.opened.st_size)

    def has_waves(self, auto: AutoNotches) -> bool:
        """Whether :meth:`waves` have been searched for."""
        return auto in self._waves

    def waves(self, auto: AutoNotches) -> list[Peak]:
        """Return the waves that ``notch --auto`` removes from the file; raises ParameterError, and as checks do."""
        if auto not in self._waves:
            if self._mean is None:
                page = self.page(0)
                if self.pages == 1 and page.holes is None:
                    self._mean = page.spectrum
                else:
                    self._mean = spectrum_of(self._found, device=self.device, check=workers.check)
            workers.check()
            self._waves[auto] = auto.peaks(self._mean)[0]
        return self._waves[auto]

    def number(self, text: str, unit: str, pixel_size: str) -> dict[str, Any]:
        """Return the cutoff that a text means beside a unit: a unit in the text goes first. Raises ParameterError."""
        _, given = parsed(text, "cutoff", "a number, such as 8, or one with a unit, such as 8px or 40um")
        found = Radius.parse(text if given else text + unit.removeprefix("bins"), "cutoff")
        return {"value": found.value, "unit": found.unit, "cyc": self._cycles(found, pixel_size)}

    def units(self, pixel_size: str = "") -> dict[str, dict[str, Any]]:
        """Return the units of a cutoff: what 1 of it is in cycles per pixel, and whether it is a period."""
        found = {}
        for unit, label in UNITS.items():
            try:
                one, two = (self._cycles(Radius(value, unit), pixel_size) for value in (1.0, 2.0))
            except ParameterError:
                continue
            found[unit] = {"label": label, "cyc": one, "isPeriod": two < one}
        return found

    def _cycles(self, radius: Radius, pixel_size: str) -> float:
        sides = self._first.metadata.pixel_size if self._first.metadata else None
        meters = parse_pixel_size(pixel_size) if pixel_size else sides.across if sides else None
        known = radius.with_pixel(meters) if meters else radius
        return known.bins(*self._size) / min(self._size)

    def for_pixels(self, transfer: Transfer) -> Transfer:
        """Return a transfer function resolved by the size of the file's pixels; raises ParameterError."""
        return for_pixels_of(self._first, transfer, self.source)[0]

    def described(self, start: dict[str, Any], filters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the file's properties for the page; ``start`` is its first request, ``filters`` are the commands."""
        page = self.page(0)
        picture = page.picture
        (height, width), planes = page.size, picture.planes
        sides = picture.metadata.pixel_size if picture.metadata else None
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
            "maxval": picture.maxval,
            "units": self.units(),
            "shapes": [
                {"name": name, "takes": "order" if each.has_order else "width" if each.widest else None}
                for name, each in SHAPES.items()
            ],
            "commands": {name: list(options) for name, options in filters.items()},
            "outputs": list(MODES),
            "scaled": list(SCALED),
            "edges": list(EDGES),
            "start": start,
        }

    def _proposed(self, folder: str | None) -> str:
        """Return a name in a folder, by default the file's, of a lossless format."""
        given = Path(self.source)
        suffix = given.suffix.lower()
        keeps = suffix in images.extensions(read_only=False) and not images.is_lossy(given.name)
        if self.pages > 1:
            keeps = keeps or suffix == ".gif"
        return str(Path(folder or given.parent, f"{given.stem}-filtered{given.suffix if keeps else '.png'}"))


def at(planes: Array, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the samples at points ``(count, 2)``, x and y; points beyond the borders have the nearest ones."""
    x, y = np.clip(points.T, 0, np.array(planes.shape[:0:-1])[:, None] - 1)
    return planes[:, y, x].astype(np.float64)


def histogram(planes: Array, between: tuple[float, float]) -> list[int]:
    """Return the number of samples between two levels, in BARS equal parts, counted on an even subset."""
    step = max(1, int((planes.size / COUNTED) ** 0.5))
    return [int(count) for count in np.histogram(planes[:, ::step, ::step], BARS, between)[0]]


def _working(size: images.Size) -> int:
    """Return the bytes needed beside a picture: its spectrum, and the filters that are kept ready."""
    return size.width * size.height * (40 + 16 * size.channels)
