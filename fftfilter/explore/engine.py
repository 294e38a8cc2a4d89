"""The filtered picture of a wish, by filters that are kept ready: with a new cutoff they are only tuned anew."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..output.modes import check_scale
from ..output.scale import STACK, parse
from .levels import in_cycles
from .shown import Kind, around_gray, frame, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..output.modes import Output
    from ..output.scale import Given
    from ..transfer import Transfer
    from .session import Session
    from .wish import CommandLine, Described, Wish

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Filters that are kept ready, each with buffers of four bytes a pixel: for dragging and for rest, for the result and
# for what is removed.
READY = 4


@dataclass(eq=False)
class Answer:
    """What became of a wish."""

    wish: Wish
    described: Described
    transfer: Transfer
    """For the picture itself; radii in physical units know its pixels."""
    pixels: Pixels
    """As they are shown: all of the level."""
    clipped: float | None
    """The part of the samples that became black or white; None if that is not known."""
    seconds: float

    def frame(self) -> bytes:
        """Return the part that is wished for, as a frame."""
        kind = Kind.REMOVED if self.wish.removed else Kind.RESULT
        x, y, width, height = self.wish.region or (0, 0, *self.pixels.shape[1::-1])
        part = self.pixels[y : y + height, x : x + width]
        return frame(kind, part, number=self.wish.id, level=self.wish.level, place=(x, y))


class Engine:
    """Answers wishes on one device, which is opened with the first; for one thread."""

    def __init__(self, session: Session, commands: CommandLine) -> None:
        self._session, self._commands = session, commands
        self._ready: OrderedDict[tuple[Any, ...], Filter] = OrderedDict()

    def answer(self, wish: Wish) -> Answer:
        """Filter what a wish says; raises FftfilterError, in the words of the command."""
        started = perf_counter()
        described = self._commands.describe(wish.words)
        transfer = self._session.for_pixels(described.transfer)
        given_range = parse(described.scale)
        check_scale(described.output, STACK if described.scale == STACK else given_range)
        page = self._session.page(wish.page)
        planes = page.planes(wish.level)
        tuned = transfer if wish.level == 1 else in_cycles(transfer, *page.size, wish.level)
        clipped = None
        if wish.removed:
            pixels = joined(self._removed(planes, described, tuned))
        else:
            output = _looked_at(described.output, tuned)
            filter_ = self._filter(planes.shape, described, tuned, output, given_range)
            white = page.white if output == "keep" else page.picture.maxval
            made = filter_(planes, channel_axis=0, dtype=np.uint8, levels=255, white=white)
            pixels = joined(made)
            if white == page.picture.maxval and described.output != "real":
                clipped = filter_.clipped()[0]
        return Answer(wish, described, transfer, pixels, clipped, perf_counter() - started)

    def _removed(self, planes: Array, described: Described, transfer: Transfer) -> Pixels:
        """Return the picture less the filtered values, 0 in mid-grey; DC is left out."""
        values = self._filter(planes.shape, described, transfer, "real", None)(planes, channel_axis=0)
        return around_gray(np.subtract(planes, values, dtype=np.float32))

    def _filter(
        self, shape: tuple[int, ...], described: Described, transfer: Transfer, output: Output, scale: Given | None
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
                found = other.again(transfer, output=output, scale=scale, **described.filter)
            if len(self._ready) >= READY:
                self._ready.popitem(last=False)[1].close()
            self._ready[key] = found
        self._ready.move_to_end(key)
        return found


def _looked_at(output: Output, transfer: Transfer) -> Output:
    """Return the output that shows what is meant: values as they are have no black and white of their own."""
    if output != "real":
        return output
    return "keep" if float(transfer.gain(64, 64, 1, 1)[0, 0]) > 0.5 else "signed"
