"""The filtered picture of a request. Filters are kept ready, and only retuned for a new cutoff."""

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
    from .session import FilePage, Session

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Number of filters that are kept ready, each with buffers of four bytes a pixel: for dragging and for rest, for the
# result and for the removed part.
READY = 4


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
        given_range = parse(described.scale)
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
