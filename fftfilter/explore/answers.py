"""The filtered picture of a request, by filters that are kept ready: with a new cutoff they are only tuned anew."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..output.modes import MODES, check_scale
from ..output.scale import STACK, parse
from .shown import Kind, around_gray, frame, joined, reduced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..output.modes import Output
    from ..output.scale import Scale
    from ..transfer import Transfer
    from .request import CommandLine, Described, Request
    from .session import Session

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Filters that are kept ready, each with buffers of four bytes a pixel: for dragging and for rest, for the result and
# for what is removed.
READY = 4


@dataclass(eq=False)
class Answer:
    """What became of a request."""

    request: Request
    described: Described
    transfer: Transfer
    """For the picture itself; radii in physical units know its pixels."""
    planes: Pixels
    """As they are shown, ``(channels, height, width)``, reduced by :attr:`level`."""
    level: int
    clipped: float | None
    """The part of the samples that became black or white; None if that is not known."""
    seconds: float

    def frame(self) -> bytes:
        """Return the part that is asked for, as a frame."""
        request, (height, width) = self.request, self.planes.shape[1:]
        x0, y0, x1, y1 = request.view or (0, 0, self.level * width, self.level * height)
        # A view beyond the borders has the last pixels.
        left, top = min(x0 // self.level, width - 1), min(y0 // self.level, height - 1)
        part = self.planes[:, top : -(-y1 // self.level), left : -(-x1 // self.level)]
        pixels = joined([reduced(np.ascontiguousarray(plane), request.level // self.level) for plane in part])
        kind = Kind.REMOVED if request.removed else Kind.RESULT
        return frame(kind, pixels, number=request.id, level=request.level, place=(x0, y0))


class Answers:
    """Answers requests on one device, which is opened with the first; for one thread."""

    def __init__(self, session: Session, commands: CommandLine) -> None:
        self._session, self._commands = session, commands
        self._ready: OrderedDict[tuple[Any, ...], Filter] = OrderedDict()

    def answer(self, request: Request) -> Answer:
        """Filter what a request says; raises FftfilterError, in the words of the command."""
        started = perf_counter()
        described = self._commands.describe(request.words)
        transfer = self._session.for_pixels(described.transfer)
        given_range = parse(described.scale)
        check_scale(described.output, STACK if described.scale == STACK else given_range)
        page = self._session.page(request.page)
        page.check_level(request.level)
        # While something is dragged, no more is filtered than the view shows.
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
        return Answer(request, described, transfer, made, level, clipped, perf_counter() - started)

    def _removed(self, planes: Array, described: Described, transfer: Transfer) -> Pixels:
        """Return the picture less the filtered values, 0 in mid-grey; DC is left out."""
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
            # The others have the device open already.
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
    """Return the output that shows what is meant: values as they are have no black and white of their own."""
    if not MODES[output].is_values:
        return output
    return "keep" if float(transfer.gain(64, 64, 1, 1)[0, 0]) > 0.5 else "signed"
