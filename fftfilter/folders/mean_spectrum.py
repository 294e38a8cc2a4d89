"""The mean power spectrum of many files shows what all pictures of one scanner or sensor have in common.

A mean needs one grid of frequencies. So pictures of several sizes are cropped around their middle to the largest size
that fits into all of them; those of less than half the usual side are left out. Memory holds one mean, and one picture
per thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .. import images, system
from ..analysis.power import Spectrum
from ..analysis.search import SMALLEST
from ..errors import FftfilterError
from ..files.messages import quoted_if_odd
from ..images.pages import ALL
from ..text import Angle
from ..work.opened import first_of, spectrum_bytes, spectrum_of
from ..work.recipe import unmeasured

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..arrays import Holes

    HolesOf = Callable[..., Holes | None]
Measured = tuple[Spectrum, tuple[float, float] | None]


# Threads that decode and transform; more would hold more pictures.
THREADS = 8
# As a part of the usual side of all pictures: smaller ones would take the fine frequencies from the others.
SMALL = 0.5


@dataclass
class MeanSpectrum:
    """The mean power of the pictures of a folder, and the numbers and failures of its files."""

    spectrum: Spectrum | None = None
    """None if there is no picture at all."""
    failed: list[str] = field(default_factory=list)
    """The errors of files that could not be read."""
    left_out: int = 0
    """The number of files that are too small."""
    cropped: int = 0
    pixel: tuple[float, float] | None = None
    """The sides of a pixel in meters, if the first file says them, and no other one says otherwise."""

    def notes(self) -> list[str]:
        """Return a line on pictures that were not taken as they are."""
        if not (made := self.spectrum):
            return []
        cropped = f"{self.cropped} larger ones cropped to their middle {made.width} x {made.height}"
        said = [cropped] * (self.cropped > 0) + [f"{self.left_out} too small and left out"] * (self.left_out > 0)
        return [f"mean of {made.pictures} pictures; {', '.join(said)}"] if said else []


def mean_spectrum(
    names: Sequence[str],
    advance: Callable[[], None],
    asked: images.Asked = ALL,
    *,
    device: str | int | None = None,
    holes: HolesOf = unmeasured,
    how: Mapping[str, Any] = MappingProxyType({}),
) -> MeanSpectrum:
    """Return the mean power of pictures, or of the pages that are asked for.

    ``advance`` is called after each file. ``holes`` returns which samples of a picture, whose file has a ``name``, are
    not looked at; ``how`` are further options of :func:`~fftfilter.work.opened.spectrum_of`.
    """
    found = MeanSpectrum()
    sizes = {}
    for name in names:
        try:
            sizes[name] = _size(name, asked)
        except FftfilterError as error:
            found.failed.append(str(error))
            advance()
    least = max(SMALLEST, SMALL * median([min(size[:2]) for size in sizes.values()] or [0]))
    large = {name: size for name, size in sizes.items() if min(size[:2]) >= least}
    found.left_out = len(sizes) - len(large)
    if not large:
        return found
    height, width = min(size.height for size in large.values()), min(size.width for size in large.values())
    found.cropped = sum((size.height, size.width) != (height, width) for size in large.values())
    for each in _spectra(
        list(large), partial(_of_file, size=(height, width), asked=asked, device=device, holes=holes, how=how)
    ):
        if isinstance(each, str):
            found.failed.append(each)
        elif found.spectrum is None:
            found.spectrum, found.pixel = each
        else:
            found.spectrum.add(each[0])
            found.pixel = found.pixel if each[1] == found.pixel else None
        advance()
    return found


def _size(name: str, asked: images.Asked) -> images.Size:
    """Return the size of the picture in a file, or of the first page that is asked for; raises FftfilterError."""
    size = images.measure(name, asked)
    if size.pages == 1 or (asked.first in (None, 1) and not asked.place):
        return size
    height, width = first_of(
        opened(name, asked if asked.place else asked._replace(last=asked.first, others=()))
    ).planes.shape[1:]
    return size._replace(width=width, height=height)


def _spectra(names: list[str], of_file: Callable[[str], Measured | str]) -> Iterator[Measured | str]:
    """Return the spectrum of each file and the size of its pixels, or why there is none."""
    with system.threads(threads := min(THREADS, system.cores()), "spectrum") as pool:
        waiting: deque[Future[Measured | str]] = deque()
        for name in names:
            waiting.append(pool.submit(of_file, name))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        yield from (each.result() for each in waiting)


def _of_file(
    name: str,
    *,
    size: tuple[int, int],
    asked: images.Asked,
    device: str | int | None,
    holes: HolesOf,
    how: Mapping[str, Any],
) -> Measured | str:
    try:
        found = opened(name, asked)
        return spectrum_of(found, size, device, partial(holes, name=name), **how), pixel_of(found)
    except (FftfilterError, MemoryError) as error:
        return str(error) or f"{quoted_if_odd(name)}: out of memory; take a smaller image"


def opened(name: str, asked: images.Asked = ALL, limit: int | None = None) -> images.Picture | images.Pages:
    """Return the picture of a file, or its pages, if it has several, or those that are asked for; raises ReadError."""
    return images.opened(images.raw(name, limit), name, asked, working=spectrum_bytes)


def pixel_of(found: images.Picture | images.Pages) -> tuple[float, float] | None:
    """Return the sides of a pixel in meters, if the file says them."""
    picture = first_of(found)
    size = picture.metadata.pixel_size if picture.metadata else None
    return (size.across, size.down) if size and not isinstance(size.across, Angle) else None
