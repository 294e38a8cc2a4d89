"""The answer to a request: the filtered picture, and the words beside it.

Filters are kept ready, and only retuned for a new cutoff. The words are the command line, the Python call, the
recipe, H by frequency, the histogram and cautions.
"""

from __future__ import annotations

import json
import shlex
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Pixels
from ..filters import Filter
from ..images.picture import MAXVAL_OF
from ..output.modes import AUTO, MODES, STACK, Auto, Output, Range
from ..output.ramp import Gray
from ..transfer import Transfer
from ..transfer.fitted import Curve
from ..transfer.peaks import Notch
from ..work.opened import cautions_on_missing
from ..work.saved import folder_of, saved_of
from .request import Request
from .session import Measured, Worker
from .shown import MAP, FilePage, Kind, around_gray, at, eight_bits, frame, histogram, joined, reduced

# Number of filters that are kept ready, each with buffers of four bytes a pixel: for dragging and for rest, for the
# result and for the removed part.
READY = 4
# Points of the curve up to 1 cycle per pixel, of which those up to a corner of the spectrum are sent.
CURVE, CORNER = 512, 0.5**0.5
# The part of the largest value of floats that cannot be seen.
UNSEEN = 1 / 65535


@dataclass(eq=False)
class Answer:
    """The picture that answers a request."""

    request: Request
    page: FilePage
    measured: Measured
    """What the request does to the picture."""
    output: Output
    """The output that is shown."""
    planes: Array
    """Gray levels of the output, ``(channels, height, width)``, reduced by :attr:`level`."""
    level: int
    clipped: float | None
    """The part of the samples that became black or white, None if unknown."""
    seconds: float
    is_same: bool = False
    """Whether the result is the picture as it was: nothing to remove was found."""

    def frame(self) -> bytes:
        """Return the requested view as a frame."""
        request, kind = self.request, Kind.REMOVED if self.request.removed else Kind.RESULT
        place = request.view[:2] if request.view else (0, 0)
        return frame(kind, self.pixels(), number=request.id, level=request.level, place=place)

    def pixels(self) -> Pixels:
        """Return the requested view."""
        request, (height, width) = self.request, self.planes.shape[1:]
        x0, y0, x1, y1 = request.view or (0, 0, self.level * width, self.level * height)
        # A view beyond the borders shows the last pixels.
        left, top = min(x0 // self.level, width - 1), min(y0 // self.level, height - 1)
        part = self.planes[:, top : -(-y1 // self.level), left : -(-x1 // self.level)]
        if not request.removed:
            black, white, gamma = 0.0, float(self.page.picture.maxval), 1.0
            if MODES[self.output].keeps_levels:
                black, white, gamma = request.levels or self.page.shown  # as the input
            part = eight_bits(part, (black, white, gamma))
        part = self.page.checkered(part, self.level, left, top)
        return joined([reduced(np.ascontiguousarray(plane), request.level // self.level) for plane in part])

    def values(self, points: NDArray[np.int64]) -> dict[str, Any]:
        """Return the number of the request and the output's gray levels at points ``(count, 2)``, x and y."""
        if self.level > 1 or self.request.removed:
            return {}
        return {"id": self.request.id, "after": at(self.planes, points, self.page.holes)}


class Answers(Worker):
    """A thread that answers requests on one device, which is opened for the first one."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ready: OrderedDict[tuple[Any, ...], Filter] = OrderedDict()

    def answer(self, request: Request) -> Answer:
        """Filter the page of a request, on this thread; raises FftfilterError."""
        started, recipe, session = perf_counter(), request.recipe, request.session
        page = session.page(request.page)
        page.check_level(request.level)
        measured = session.measured(recipe, request.page)
        transfer = measured.transfer
        # While something is dragged, the picture is filtered at the resolution of the view.
        level = page.levels[0] if request.rest else request.level
        tuned = transfer if level == 1 else transfer.in_cycles(*page.size, level)
        picture, takes_missing = page.picture, recipe.how.takes_missing
        planes = page.planes(level) if takes_missing or level > 1 else picture.planes
        output = "real" if request.removed else _looked_at(recipe.output, tuned)
        # Filters that keep the gray levels have no such options.
        own = {"output": output, "scale": None if request.removed else recipe.scale} if recipe.how.has_outputs else {}
        region = recipe.region
        if request.marked and level > 1:
            region = request.marked.reduced(level, *planes.shape[1:])
        options = {**recipe.options, **own, "device": session.device}
        filter_ = self._filter(recipe.how.maker(), planes.shape, tuned, options)
        clipped, white, is_float = None, picture.maxval, planes.dtype.kind == "f"
        least = page.range[1] * UNSEEN if is_float else 0.5
        if request.removed:
            lost = np.subtract(planes, filter_(planes, channel_axis=0), dtype=np.float32)
            lost = lost if region is None else lost * region.weight(*planes.shape[1:])
            is_same, made = bool(abs(lost.max()) < least > abs(lost.min())), around_gray(lost)
        else:
            # While something is dragged, values that were filled once are filtered.
            holes = page.holes if takes_missing and request.rest and level == 1 else None
            made = filter_(planes, channel_axis=0, levels=white, white=white, missing=holes)
            if not (is_float or recipe.mode.is_values):
                clipped = filter_.clipped()[0]
            if region:
                made = region.blended(planes, made, holes, Gray(white, made.dtype, white))
            rows = zip(planes.reshape(-1, planes.shape[2]), made.reshape(-1, planes.shape[2]), strict=True)
            is_same = MODES[output].keeps_levels and all((abs(a - b.astype(float)) <= least).all() for a, b in rows)
        return Answer(request, page, measured, output, made, level, clipped, perf_counter() - started, is_same)

    def _filter(
        self, kind: type[Filter], shape: tuple[int, ...], transfer: Transfer, options: dict[str, Any]
    ) -> Filter:
        key = (kind, shape, *sorted(options.items()))
        found = self._ready.get(key)
        if found is None:
            # Other filters have opened the device already.
            alike = (each.with_options for each in self._ready.values() if type(each) is kind)
            found = next(alike, kind)(transfer, **options)
            if len(self._ready) >= READY:
                self._ready.popitem(last=False)[1].close()
            self._ready[key] = found
        elif found.transfer != transfer:
            found.retune(transfer)
        self._ready.move_to_end(key)
        return found


def _looked_at(output: Output, transfer: Transfer) -> Output:
    """Return the output to show: plain values have no black and white, so another output stands for them."""
    if not MODES[output].is_values:
        return output
    return "keep" if float(transfer.gain(64, 64, 1, 1)[0, 0]) > 0.5 else "signed"


# Words


def words(answer: Answer, *, is_mapped: bool) -> list[str | bytes]:
    """Return all words on an answer as JSON, and, unless ``is_mapped``, H over the spectrum as a frame."""
    request, page, recipe, session = answer.request, answer.page, answer.request.recipe, answer.request.session
    # Of gains that differ by channel, those of the first are shown, but the notches of all.
    parts = answer.measured.transfer.parts
    shown = Transfer(tuple(each for each in parts if not isinstance(each, Curve) or each.channels in (None, (0,))))
    gains = np.fft.fftshift(shown.in_cycles(*page.size).gain(MAP, MAP))
    # The command would print these cautions.
    notes = [*filter(None, [answer.measured.note]), *answer.measured.asked.cautions(*page.size)]
    if recipe.how.takes_missing:
        notes += cautions_on_missing(page.missing)
    if recipe.mode.is_absolute:
        notes = [*notes, *page.cautions, *recipe.mode.cautions(recipe.scale)]
    holes = page.holes if answer.level == 1 else None
    told = {
        "id": request.id,
        "command": command_line(request.words, session.source, session.target),
        "python": python_call(answer),
        "recipe": f"{saved_of(recipe).text(folder_of(session.target))}\n",
        "preset": saved_of(request.preset).text(""),
        "mask": request.mask,
        "ms": round(answer.seconds * 1e3, 2),
        "curve": curve(shown, *page.size),
        "histogram": None if request.removed else histogram(answer.planes, page.range, holes),
        "clipped": answer.clipped,
        "waves": waves(answer.measured.transfer, *page.size) if recipe.method == "descreen" else [],
        "note": "; ".join(notes) or None,
        "same": answer.is_same,
        "gain_map": None if is_mapped else "changed",
    }
    # 255 is a gain of 1, 0 one of 0.
    pixels = np.rint(np.clip(gains, 0, 1) * 255).astype(np.uint8)
    return [json.dumps(told), *([] if is_mapped else [frame(Kind.GAIN, pixels, number=request.id)])]


def command_line(options: Sequence[str], source: str, target: str) -> str:
    """Return a command line for a shell."""
    # A name that begins with a dash would be an option.
    names = [f"./{name}" if name.startswith("-") else name for name in (source, target)]
    return shlex.join(["fftfilter", *options, *names])


def python_call(answer: Answer) -> str:
    """Return the lines of Python that make the same pixels."""
    session, recipe, picture = answer.request.session, answer.request.recipe, answer.page.picture
    own: dict[str, Any] = {"auto": None, "device": session.device}
    if isinstance(recipe.scale, Range):
        own["scale"] = (recipe.scale.low, recipe.scale.high)
    elif isinstance(recipe.scale, Auto):
        own["scale"] = (AUTO, recipe.scale.saturated)
    call = repr(recipe.filter_for(answer.measured.asked, **own))
    kind, _, given = call.partition("(")
    imports = "from fftfilter import {}, transfer as H\n\n"
    if session.pages > 1 or recipe.region is not None:
        if not recipe.how.has_outputs:
            return f"# {kind} takes one picture after the other, and all of it: use the command"
        scale = f", scale={STACK!r}" if recipe.span == STACK else ""
        names = f"{session.source!r}, {session.target!r}"
        return f"{imports.format('filter_stack')}filter_stack({names}, {given.removesuffix(')')}{scale})"
    has_colors = len(picture.planes) > 1
    image = "image" if picture.alpha is None else "image[..., :3]" if has_colors else "image[..., 0]"
    image += ", channel_axis=-1" if has_colors else ""
    if picture.alpha is not None and answer.page.holes is not None and recipe.how.takes_missing:
        image += ", missing=image[..., -1] == 0"
    if picture.maxval != MAXVAL_OF[picture.planes.dtype]:
        image += f", white={picture.maxval}, levels={picture.maxval}"
    if not recipe.how.has_outputs:
        imports = f"from {recipe.how.maker().__module__} import {{}}\nfrom fftfilter import transfer as H\n\n"
    return f"{imports.format(kind)}result = {call}({image})"


def waves(transfer: Transfer, height: int, width: int) -> list[dict[str, float]]:
    """Return the places of notches, and their widths, in cycles per pixel."""
    return [
        {"fx": part.at[0], "fy": part.at[1], "width_cyc": part.width.cycles(height, width)}
        for part in transfer.parts
        if isinstance(part, Notch)
    ]


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
