"""The answer to a request: the filtered picture, and the words beside it.

Filters are kept ready, and only retuned for a new cutoff. The words are the command line, the Python call, H by
frequency, the histogram and cautions.
"""

from __future__ import annotations

import shlex
from collections import OrderedDict
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..filters.description import DEFAULTS
from ..images.picture import MAXVAL_OF
from ..output.modes import AUTO, MODES, STACK, Auto, check_scale, parse_scale
from ..transfer import Transfer
from .session import MAP
from .shown import Kind, around_gray, frame, joined, reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..output.modes import Output, Scale
    from .request import CommandLine, Described, Request
    from .session import FilePage, Session

    Array = NDArray[Any]
    Gains = NDArray[np.float64]
    Pixels = NDArray[np.uint8]

# Number of filters that are kept ready, each with buffers of four bytes a pixel: for dragging and for rest, for the
# result and for the removed part.
READY = 4
# Points of the curve up to 1 cycle per pixel, of which those up to a corner of the spectrum are sent.
CURVE, CORNER = 512, 0.5**0.5
# Number of samples that a histogram counts.
COUNTED = 1 << 16


@dataclass(eq=False)
class Answer:
    """The picture that answers a request."""

    request: Request
    page: FilePage
    described: Described
    transfer: Transfer
    """For the picture itself; radii in physical units are resolved by its pixel size."""
    planes: Pixels
    """Pixels to show, ``(channels, height, width)``, reduced by :attr:`level`."""
    level: int
    clipped: float | None
    """The part of the samples that became black or white, None if unknown."""
    seconds: float

    def frame(self) -> bytes:
        """Return the requested view as a frame."""
        request, (height, width) = self.request, self.planes.shape[1:]
        x0, y0, x1, y1 = request.view or (0, 0, self.level * width, self.level * height)
        # A view beyond the borders shows the last pixels.
        left, top = min(x0 // self.level, width - 1), min(y0 // self.level, height - 1)
        part = self.planes[:, top : -(-y1 // self.level), left : -(-x1 // self.level)]
        pixels = joined([reduced(np.ascontiguousarray(plane), request.level // self.level) for plane in part])
        kind = Kind.REMOVED if request.removed else Kind.RESULT
        return frame(kind, pixels, number=request.id, level=request.level, place=(x0, y0))


class Answers:
    """Answers requests on one device, which is opened for the first one; for one thread."""

    def __init__(self, session: Session, commands: CommandLine) -> None:
        self._session, self._commands = session, commands
        self._ready: OrderedDict[tuple[Any, ...], Filter] = OrderedDict()

    def answer(self, request: Request) -> Answer:
        """Filter the page of a request; raises FftfilterError, in the words of the command."""
        started = perf_counter()
        described = self._commands.describe(request.words)
        transfer = self._session.for_pixels(described.transfer)
        given_range = parse_scale(described.scale)
        check_scale(described.output, STACK if described.scale == STACK else given_range)
        page = self._session.page(request.page)
        page.check_level(request.level)
        # While something is dragged, the picture is filtered at the resolution of the view.
        level = 1 if request.rest else request.level
        tuned = transfer if level == 1 else transfer.in_cycles(*page.size, level)
        clipped = None
        if request.removed:
            made = self._removed(page.planes(level), described, tuned)
        else:
            output = _looked_at(described.output, tuned)
            filter_ = self._filter(page.planes(level).shape, described, tuned, output, given_range)
            white = page.white if MODES[output].keeps_levels else page.picture.maxval
            made = filter_(page.planes(level), channel_axis=0, dtype=np.uint8, levels=255, white=white)
            if white == page.picture.maxval and not MODES[described.output].is_values:
                clipped = filter_.clipped()[0]
        return Answer(request, page, described, transfer, made, level, clipped, perf_counter() - started)

    def _removed(self, planes: Array, described: Described, transfer: Transfer) -> Pixels:
        """Return the picture minus the filtered values, with 0 as mid-grey; DC is left out."""
        values = self._filter(planes.shape, described, transfer, "real", None)(planes, channel_axis=0)
        return around_gray(np.subtract(planes, values, dtype=np.float32))

    def _filter(
        self, shape: tuple[int, ...], described: Described, transfer: Transfer, output: Output, scale: Scale | None
    ) -> Filter:
        """Return a filter for pictures of a shape, tuned to a transfer function."""
        key = (shape, output, scale, *sorted(described.filter.items()))
        found = self._ready.get(key)
        if found is not None:
            if found.transfer != transfer:
                found.retune(transfer)
        else:
            # Other filters have opened the device already.
            other = next(iter(self._ready.values()), None)
            if other is None:
                found = Filter(transfer, output=output, scale=scale, **described.filter)
            else:
                found = other.with_options(transfer, output=output, scale=scale, **described.filter)
            if len(self._ready) >= READY:
                self._ready.popitem(last=False)[1].close()
            self._ready[key] = found
        self._ready.move_to_end(key)
        return found


def _looked_at(output: Output, transfer: Transfer) -> Output:
    """Return the output to show: plain values have no black and white, so another output stands for them."""
    if not MODES[output].is_values:
        return output
    return "keep" if float(transfer.gain(64, 64, 1, 1)[0, 0]) > 0.5 else "signed"


# Words


def words(answer: Answer, session: Session, gains: Gains) -> dict[str, Any]:
    """Return all words on an answer, ready for JSON; ``gains`` are its :func:`gains_of`."""
    return {
        "id": answer.request.id,
        "command": command_line(answer.request.words, session.source, session.target),
        "python": python_call(answer, session),
        "ms": round(answer.seconds * 1e3, 2),
        "curve": curve(answer.transfer, *answer.page.size),
        "histogram": histogram(answer.planes),
        "clipped": answer.clipped,
        "share": share(answer.page, gains),
        "note": "; ".join(notes(answer)) or None,
    }


def command_line(options: Sequence[str], source: str, target: str) -> str:
    """Return a command line for a shell."""
    # A name that begins with a dash would be an option.
    names = [f"./{name}" if name.startswith("-") else name for name in (source, target)]
    return shlex.join(["fftfilter", *options, *names])


def python_call(answer: Answer, session: Session) -> str:
    """Return the lines of Python that make the same pixels."""
    described, picture = answer.described, answer.page.picture
    options: dict[str, Any] = {"output": described.output, "scale": _scale(described.scale), **described.filter}
    made = "".join(f", {name}={value!r}" for name, value in options.items() if value != DEFAULTS[name])
    imports = "from fftfilter import {}, transfer as H\n\n"
    if session.pages > 1:
        names = f"{session.source!r}, {session.target!r}"
        return f"{imports.format('filter_stack')}filter_stack({names}, {answer.transfer!r}{made})"
    has_colors = len(picture.planes) > 1
    image = "image" if picture.alpha is None else "image[..., :3]" if has_colors else "image[..., 0]"
    image += ", channel_axis=-1" if has_colors else ""
    if picture.maxval != MAXVAL_OF[picture.planes.dtype]:
        image += f", white={picture.maxval}, levels={picture.maxval}"
    return f"{imports.format('Filter')}result = Filter({answer.transfer!r}{made})({image})"


def _scale(text: str) -> str | tuple[str, float] | tuple[float, float] | None:
    """Return the range of a command line as an argument of Python."""
    if text == STACK:
        return text
    found = parse_scale(text)
    return (AUTO, found.saturated) if isinstance(found, Auto) else found and (found.low, found.high)


def curve(transfer: Transfer, height: int, width: int) -> dict[str, list[float]] | None:
    """Return H of the radial parts by frequency, None without such parts."""
    radial = Transfer(tuple(part for part in transfer.parts if not part.has_direction))
    if not radial.parts:
        return None
    # At half of each frequency, as a row of a grid ends at half a cycle.
    gains = radial.in_cycles(height, width, 0.5).gain(2 * CURVE, 2 * CURVE, 1, CURVE)[0]
    frequency = np.arange(CURVE) / CURVE
    inside = frequency <= CORNER
    return {"frequency": frequency[inside].round(6).tolist(), "gain": gains[inside].round(5).tolist()}


def gains_of(answer: Answer) -> Gains:
    """Return H over the spectrum, MAP x MAP, DC in the middle."""
    return np.asarray(np.fft.fftshift(answer.transfer.in_cycles(*answer.page.size).gain(MAP, MAP)))


def gain_map(answer: Answer, gains: Gains) -> bytes:
    """Return H over the spectrum as a frame: 255 is a gain of 1, 0 one of 0."""
    pixels = np.rint(np.clip(gains, 0, 1) * 255).astype(np.uint8)
    return frame(Kind.GAIN, pixels, number=answer.request.id)


def share(page: FilePage, gains: Gains) -> float | None:
    """Return the part of the power that is removed, about; None until the spectrum is computed."""
    if "spectrum" not in vars(page):
        return None
    lost = float((page.power_map * np.square(1 - gains)).sum())
    return round(lost / (float(page.power_map.sum()) or 1.0), 6)


def histogram(planes: Pixels) -> dict[str, list[int]]:
    """Return the number of samples at each of the 256 levels, counted on an even subset."""
    step = max(1, int((planes.size / COUNTED) ** 0.5))
    counts = np.bincount(planes[:, ::step, ::step].ravel(), minlength=256)
    return {"edges": [0, 255], "counts": counts.tolist()}


def notes(answer: Answer) -> list[str]:
    """Return the cautions that the command would print."""
    found, mode = answer.transfer.cautions(*answer.page.size), MODES[answer.described.output]
    if mode.is_absolute:
        found = [*found, *answer.page.cautions, *mode.cautions(parse_scale(answer.described.scale))]
    return found
