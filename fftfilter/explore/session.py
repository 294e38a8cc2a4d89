"""The pictures that a page may open: a file, the folder around it; and the threads that work on them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from .. import images, memory
from ..analysis.found import Peak
from ..analysis.power import Spectrum
from ..analysis.search import AutoNotches, Left
from ..errors import FftfilterError, ParameterError, ReadError, TooLargeError, WriteError
from ..files.messages import as_error, quoted_if_odd
from ..files.sources import is_drawn_mask
from ..files.urls import is_name
from ..images.formats import FORMATS, extension_of
from ..output.modes import MODES, SCALED
from ..system import threads
from ..text import Angle
from ..transfer import Transfer
from ..transfer.product import EDGES
from ..transfer.shapes import SHAPES
from ..transfer.units import Radius, parse_pixel_size, parsed
from ..work.opened import for_pixels_of, spectrum_of
from ..work.recipe import USUAL, Recipe
from .shown import FilePage

# The factors by which a picture that does not fit into memory is reduced before it is filtered.
FINEST = (1, 2, 4, 8)
# Pages that are kept: one that is drawn, one that is filtered. And what was measured for recipes, a few kB each.
KEPT, MEASURED = 2, 200
# The units of a cutoff, with the words for them; lengths need the size of a pixel.
UNITS = {"um": "µm", "nm": "nm", "mm": "mm", "in": "in", "px": "px", "bins": "cycles", "cyc": "cyc/px"}
UNITS |= {"%": "% Nyquist", "lpi": "lpi", "lp/mm": "lp/mm", "arcsec": "arcsec", "deg": "°"}
UNITS |= {"km": "km", "m": "m", "a": "Å", "pm": "pm", "/nm": "/nm"}
# Extensions of formats that have floats.
FLOATS = {suffix for suffix, kind in FORMATS.items() if kind.gray == 32}
# Most files that are listed, and most that are open.
MOST, OPEN = 500, 3
# Most characters of a name in a message. The status of a refusal: a file is in the way, or not what is shown.
NAME, CONFLICT = 60, 409
# What tells the work of a thread to stop.
_STOP = threading.local()


class StoppedError(FftfilterError):
    """Nobody waits for the result of this work."""


class RefusedError(FftfilterError):
    """What is refused with a status and, for the page, ``more`` than a message."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.more = status, more


class ChangedError(RefusedError):
    """The file of a session is not the one that a page shows."""

    def __init__(self, source: str) -> None:
        line = f"{quoted_if_odd(source)} is not the file that was opened: open it again"
        super().__init__(CONFLICT, line, changed=True)


def check() -> None:
    """Raise StoppedError if nobody waits for the work of this thread."""
    if hasattr(_STOP, "event") and _STOP.event.is_set():
        raise StoppedError("canceled")


class Worker:
    """A thread that does one thing after the other. What nobody waits for any more is dropped, or stops."""

    def __init__(self, name: str) -> None:
        self._thread = threads(1, name)

    async def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns. If this is canceled, the function is not begun, or its checks raise."""
        stop = threading.Event()

        def work() -> Any:
            _STOP.event = stop
            check()
            return function(*arguments)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            stop.set()

    def end(self) -> None:
        """Drop what waits."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Measured(NamedTuple):
    """What a recipe does to a page."""

    asked: Transfer  # its transfer function, with notches for the waves that were found
    # The same with the gains that follow from the page; the screens of colors are those of opponent channels.
    transfer: Transfer
    note: str  # what was found, in words


class Session:
    """The open file, and the place of its output; ``device`` filters it. Threads may share it.

    Raises ReadError, TooLargeError and ParameterError for a file that cannot be read.
    """

    def __init__(
        self, source: str, target: str | None = None, device: str | None = None, folder: str | None = None
    ) -> None:
        self.source, self.device = source, device

        def working(size: images.Size) -> int:
            how = memory.How(Transfer(()), MODES["real"], {})
            return size.read + memory.of_page(memory.Pixels.of_size(size), how) // self.finest**2

        data = images.raw(source)
        for self.finest in FINEST:
            try:
                self._found = images.opened(data, source, working=working)
                break
            except TooLargeError:
                if self.finest == FINEST[-1]:
                    raise
        self.pages = len(self._found) if isinstance(self._found, images.Pages) else 1
        self._lock = threading.RLock()
        self._pages: dict[int, FilePage] = {}
        self._mean: Spectrum | None = None
        self._waves: dict[AutoNotches, tuple[list[Peak], Left]] = {}
        self._measured: dict[tuple[Any, ...], Measured] = {}
        self.target = target or self._proposed(folder)
        self.folder = os.path.realpath(os.path.dirname(self.target) or ".")  # noqa: PTH120  as it is typed
        """The only folder that a page may write into."""
        with as_error(ReadError, f"{quoted_if_odd(source)}: cannot be read"):  # it may be gone meanwhile
            self.opened = os.stat(source)  # noqa: PTH116  likewise
        self.size, first = self.page(0).size, self.page(0).picture
        # For the size of its pixels, which one sample is enough to keep.
        self._first = replace(first, planes=first.planes[:, :1, :1].copy(), alpha=None)
        self._sides = first.metadata.pixel_size if first.metadata else None

    def page(self, number: int) -> FilePage:
        """Return a page, counted from 0; the last ones are kept. Raises ReadError, ParameterError."""
        with self._lock:
            if number not in self._pages:
                if not 0 <= number < self.pages:
                    raise ParameterError(f"page {number} is not one of {self.pages}, counted from 0")
                picture = self._found.read(number) if isinstance(self._found, images.Pages) else self._found
                page = FilePage(picture, self.device, USUAL.holes(picture, self.source), self.finest)
                if number and page.size != self.size:
                    (height, width), first = page.size, self.size
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
        with suppress(OSError):
            return version_of(os.stat(self.source)) != version_of(self.opened)  # noqa: PTH116  likewise
        return True

    def waves(self, auto: AutoNotches) -> list[Peak]:
        """Return the waves that ``notch --auto`` removes from the file; raises ParameterError, and as checks do."""
        if auto not in self._waves:
            if self._mean is None and self.pages == 1:
                self._mean = self.page(0).spectrum
            elif self._mean is None:
                self._mean = spectrum_of(self._found, device=self.device, check=check)
            check()
            self._waves[auto] = auto.peaks(self._mean)
        return self._waves[auto][0]

    def is_measured(self, recipe: Recipe, number: int) -> bool:
        """Whether :meth:`measured` has nothing to look for in the picture."""
        return not (recipe.auto or recipe.transfer.is_fitted) or self._key(recipe, number) in self._measured

    def measured(self, recipe: Recipe, number: int) -> Measured:
        """Return what a recipe does to a page; raises ParameterError, and as checks do."""
        if (key := self._key(recipe, number)) in self._measured:
            return self._measured[key]
        filter_ = recipe.filter_for(self.for_pixels(recipe.transfer))
        if not (recipe.auto or recipe.transfer.is_fitted):
            return Measured(filter_.transfer, filter_.transfer, "")
        page, peaks = self.page(number), self.waves(recipe.auto) if recipe.auto else []
        planes = page.middle
        if not recipe.how.takes_missing:
            page.picture.refuse_not_finite(self.source)
            planes = page.picture.planes if self.finest == 1 else planes
        holes = page.holes if page.holes is not None and planes.shape == page.holes.shape else None
        made = filter_.fit(planes, page.picture.maxval, peaks, holes)
        note = made.note
        if recipe.auto and not (peaks or note or recipe.auto.keep):
            left = self._waves[recipe.auto][1]
            note = recipe.auto.left(left, "a notch by hand") if left else recipe.auto.nothing(left)
        if len(self._measured) >= MEASURED:
            self._measured.clear()
        self._measured[key] = Measured(filter_.without(peaks), made.transfer, note)
        return self._measured[key]

    def _key(self, recipe: Recipe, number: int) -> tuple[Any, ...]:
        return recipe.transfer, recipe.method, recipe.auto, recipe.edges, recipe.mode.is_scaled, number

    def number(self, text: str, unit: str, pixel_size: str) -> dict[str, Any]:
        """Return the cutoff that a text means beside a unit: a unit in the text goes first. Raises ParameterError."""
        _, given = parsed(text, "cutoff", "a number, such as 8, or one with a unit, such as 8px or 40um")
        found = Radius.parse(text if given else text + unit.removeprefix("bins"), "cutoff")
        return {"value": found.value, "unit": found.unit, "cyc": self._of_pixels(found, pixel_size).cycles(*self.size)}

    def units(self, pixel_size: str = "") -> dict[str, dict[str, Any]]:
        """Return the units of a cutoff: what 1 of it is in cycles per pixel, and whether it is a period."""
        found = {}
        for unit, label in UNITS.items():
            try:
                each = [self._of_pixels(Radius(value, unit), pixel_size) for value in (1.0, 2.0)]
                one, two = (radius.cycles(*self.size) for radius in each)
            except ParameterError:
                continue
            found[unit] = {"label": label, "cyc": one, "isPeriod": two < one, "stretch": each[0].stretch}
        return found

    def _of_pixels(self, radius: Radius, pixel_size: str) -> Radius:
        sides = parse_pixel_size(pixel_size) if pixel_size else self._sides and self._sides[:2]
        return radius.with_pixel(sides) if sides else radius

    def for_pixels(self, transfer: Transfer) -> Transfer:
        """Return a transfer function resolved by the size of the file's pixels; raises ParameterError."""
        return for_pixels_of(self._first, transfer, self.source)[0]

    def described(self, start: dict[str, Any], filters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the file's properties for the page; ``start`` is its first request, ``filters`` are the commands."""
        (height, width), picture, sides, size = self.size, self._first, self._sides, None
        if sides and not isinstance(sides.across, Angle):
            size = {"text": sides.text, "across_m": sides.across, "down_m": sides.down, "source": sides.source}
        takes = {name: "order" if each.has_order else "width" if each.widest else None for name, each in SHAPES.items()}
        return {
            "name": Path(self.source).name,
            "version": version_of(self.opened),
            "width": width,
            "height": height,
            "channels": len(picture.planes),
            "depth": "float" if picture.planes.dtype.kind == "f" else 8 * picture.planes.itemsize,
            "pages": self.pages,
            "pixel_size": size,
            "out": (out := Path(self.target)).name,
            "out_real": out.name if out.suffix.lower() in FLOATS else out.with_suffix(".tif").name,
            "folder": self.folder,
            "levels": self.page(0).levels,
            "maxval": picture.maxval,
            "units": self.units(),
            "shapes": takes,
            "commands": filters,
            "outputs": list(MODES),
            "scaled": list(SCALED),
            "edges": list(EDGES),
            "start": start,
        }

    def _proposed(self, folder: str | None) -> str:
        """Return a name in a folder, by default the file's, of a lossless format."""
        given = Path(self.source)
        suffix = extension_of(given.name)
        keeps = suffix.lower() in images.extensions(read_only=False) and not images.is_lossy(given.name)
        keeps |= self.pages > 1 and suffix.lower() == ".gif"
        stem = given.name.removesuffix(suffix)
        return str(Path(folder or given.parent, f"{stem}-filtered{suffix if keeps else '.png'}"))


class Folder:
    """The folder of a file; ``first`` is its session. Threads may share it."""

    def __init__(self, first: Session) -> None:
        self._source, self._target, self._device = Path(first.source), first.target, first.device
        self.path = self._source.parent
        self._lock = threading.Lock()
        self._open = {self._source.name: first}
        self._dropped: dict[str, str] = {}
        self.saved: set[str] = set()
        """The paths of the files that the page has saved."""
        self._place: TemporaryDirectory[str] | None = None

    def names(self) -> list[str]:
        """Return the names of its pictures, after those that were dropped on the page."""
        return [*self._dropped, *self.own_names()[:MOST]]

    def inputs(self) -> list[str]:
        """Return the names of its pictures without those that the page has saved."""
        return [each for each in self.own_names() if str(self.path.resolve() / each) not in self.saved]

    def own_names(self) -> list[str]:
        """Return the names of its pictures."""
        suffixes = images.extensions(read_only=True)
        with as_error(ReadError, f"{quoted_if_odd(str(self.path))}: cannot be read"):
            found = [
                each for each in self.path.iterdir() if extension_of(each.name).lower() in suffixes and each.is_file()
            ]
        return sorted(each.name for each in found if not is_drawn_mask(each.name))

    def add(self, name: str, data: bytes) -> str:
        """Take a file that was dropped on the page, and return its name; raises ParameterError, ReadError.

        It is kept in a folder for this user alone until the end, as commands filter files.
        """
        with self._lock:
            self._place = self._place or TemporaryDirectory(prefix="fftfilter-")
        suffix = extension_of(name := Path(name).name)
        if not is_name(name) or suffix.lower() not in images.extensions(read_only=True):
            raise ParameterError("this is not a picture by its name")
        stem = name.removesuffix(suffix)
        free = next(each for i in count(1) if (each := f"{stem}{i if i > 1 else ''}{suffix}") not in self.names())
        path = Path(self._place.name, free)
        with as_error(WriteError, f"{quoted_if_odd(free[:NAME])}: cannot be kept"):
            path.write_bytes(data)
        self._dropped[free] = str(path)
        try:
            self.session(free)
        except FftfilterError as error:
            del self._dropped[free]
            path.unlink(missing_ok=True)
            error.args = (str(error).replace(str(path), free),)
            raise
        return free

    def end(self) -> None:
        """Remove files that were dropped."""
        if self._place:
            self._place.cleanup()

    def session(self, name: object, *, anew: bool = False, keep: bool = True) -> Session:
        """Return the session of a file, by default the first one; raises FftfilterError.

        With ``anew``, a file that has changed is opened again. Without ``keep`` it is only looked at.
        """
        with self._lock:
            name = self._source.name if name in (None, "") else str(name)
            found = self._open.get(name)
            if found and not ((anew or not keep) and found.has_changed):
                return found
            if found is None and name not in self.names():
                raise ParameterError("this is not a picture of the folder")
            path = self._dropped.get(name) or str(self._source.with_name(name))
            target = self._target if name == self._source.name else None
            made = Session(path, target, self._device, str(Path(self._target).parent))
            if not keep:
                return made
            self._open.pop(name, None)
            for old in [*self._open][: 1 - OPEN]:
                del self._open[old]
            self._open[name] = made
            return made


def version_of(found: os.stat_result) -> str:
    """Return what differs between a file and what has taken its place."""
    return f"{found.st_mtime_ns}-{found.st_size}"
