"""The answer to a request: the filtered picture, and the words beside it.

A moving pointer sends many requests over a WebSocket, and the newest one is answered, one at a time.

Filters are kept ready, and only retuned for a new cutoff. The words are the command line, the Python call, the
recipe, H by frequency, the histogram and cautions.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web
from numpy.typing import NDArray

from ..arrays import Array, Pixels
from ..errors import FftfilterError
from ..filters import Filter
from ..images.picture import MAXVAL_OF
from ..output.modes import AUTO, MODES, STACK, Auto, Output, Range
from ..output.ramp import Gray
from ..transfer import Transfer
from ..transfer.fitted import Curve
from ..transfer.peaks import Notch
from ..work.opened import cautions_on_missing
from ..work.saved import folder_of, saved_of
from .request import Commands, Request, field_of, levels_of, number_of, read, view_of
from .session import ChangedError, Folder, Measured, Session, Worker
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
    measured: Measured  # what the request does to the picture
    output: Output  # the output that is shown
    planes: Array  # gray levels of the output, ``(channels, height, width)``, reduced by :attr:`level`
    level: int
    clipped: float | None  # the part of the samples that became black or white, None if unknown
    seconds: float
    is_same: bool = False  # whether the result is the picture as it was: nothing to remove was found

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


# Most bytes of a request.
LARGEST = 1 << 17
# Seconds between two text updates: people read no faster.
APART = 0.2
# Seconds between two pings to a page.
HEARTBEAT = 30
# What is done before a picture is filtered, by the command.
LOOKS = {"descreen": "Looking for a printer's screen", "wiener": "Measuring the noise"}
# The start of a message that asks for gray levels at points, the most points, and the most pixels of a loupe.
VALUES, MOST_POINTS, LOUPE = '{"values"', 2048, 1 << 20


class Live:
    """Answers the requests of one page. ``filtering`` filters for all pages, ``long`` searches for waves."""

    def __init__(self, folder: Folder, commands: Commands, filtering: Answers, long: Worker) -> None:
        self._folder, self._commands, self._filtering, self._long = folder, commands, filtering, long
        self._newest, self._newer = "", asyncio.Event()
        self._number: int | None = None
        self._command: object = None
        self._session: Session | None = None
        self._unsaid: Answer | None = None
        self._said_at = 0.0
        self._mapped: Transfer | None = None
        self._last: Answer | None = None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer until the page closes its socket."""
        self._socket = socket = web.WebSocketResponse(compress=False, max_msg_size=LARGEST, heartbeat=HEARTBEAT)
        await socket.prepare(request)
        answering = asyncio.create_task(self._answer_all())
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                if message.data.startswith(VALUES):
                    for told in await self._filtering.do(self._values, message.data):
                        await self._send(told)
                    continue
                self._newest = message.data
                self._newer.set()
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await answering
        return socket

    async def _answer_all(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(APART if self._unsaid else None):
                    await self._newer.wait()
            try:
                if is_new := self._newer.is_set():
                    await self._answer()
                # The picture first: while the browser draws it, there is time for words.
                if self._unsaid and (not is_new or monotonic() - self._said_at >= APART):
                    await self._say(self._unsaid)
            except ConnectionError:
                raise
            except Exception as raised:  # noqa: BLE001  the page must not wait forever
                self._unsaid, source = None, self._session.source if self._session else ""
                has_changed = self._session and self._session.has_changed  # such as a stack that has fewer pages now
                error = ChangedError(source) if has_changed else raised
                line = line_of(error)
                # The path of the file may contain the name of an option.
                field = field_of(line.replace(source or line, ""), self._command, self._commands)
                told = {"id": self._number, "error": line, "field": field, "changed": isinstance(error, ChangedError)}
                await self._send(json.dumps(told))

    async def _answer(self) -> None:
        """Send the frame that answers the newest request, unless a newer one comes; raises what goes wrong."""
        self._newer.clear()
        self._number = self._unsaid = self._command = self._session = None
        given = read(self._newest)
        self._number, self._command = number_of(given), given.get("command")
        request: Request = await self._filtering.do(self._asked, given)
        asked = request.recipe, request.page
        if not request.session.is_measured(*asked):
            doing = LOOKS.get(request.words[0], "Looking for patterns")
            await self._send(json.dumps({"id": self._number, "doing": doing}))
            if not await self._before_newer(self._long.do(request.session.measured, *asked)):
                return
        answer: Answer = await self._filtering.do(self._filtering.answer, request)
        await self._send(await self._filtering.do(answer.frame))
        self._last = self._unsaid = answer

    async def _say(self, answer: Answer) -> None:
        """Send the words about an answer, and the map of its gains if they changed."""
        self._said_at, transfer = monotonic(), answer.measured.transfer
        for message in await self._filtering.do(lambda: words(answer, is_mapped=transfer == self._mapped)):
            await self._send(message)
        self._mapped, self._unsaid = transfer, None

    def _asked(self, given: dict[str, Any]) -> Request:
        self._session = self._folder.session(given.get("file"))
        return Request.of(given, self._commands, self._folder)

    async def _before_newer(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Wait for work, and cancel it if a newer request comes; return whether it was done. Raises its errors."""
        newer, done = asyncio.create_task(self._newer.wait()), asyncio.create_task(work)
        try:
            await asyncio.wait({newer, done}, return_when=asyncio.FIRST_COMPLETED)
            if is_done := done.done():
                done.result()  # raises its error
            return is_done
        finally:
            newer.cancel()
            done.cancel()

    def _values(self, text: str) -> list[str | bytes]:
        """Return the gray levels at the points of a message, before and after filtering; then its view of both."""
        told: dict[str, Any] = {}
        parts: list[bytes] = []
        with suppress(FftfilterError, LookupError, ValueError, TypeError, OverflowError):
            given = read(text)
            points = np.array(given["values"], np.int64).reshape(-1, 2)[:MOST_POINTS]
            page = self._folder.session(given.get("file")).page(given["page"])
            after = self._last.values(points) if self._last and self._last.page is page else {}
            told = {"tag": given["tag"], "before": at(page.picture.planes, points, page.holes), **after}
            view = view_of(given.get("view"))
            if view and (view[2] - view[0]) * (view[3] - view[1]) <= LOUPE:
                levels, level = levels_of(given.get("levels")), page.levels[0]
                halves = [page.pixels(level, levels, [each // level for each in view])]
                if after and self._last:
                    asked = replace(self._last.request, view=view, level=1, levels=levels)
                    halves.append(replace(self._last, request=asked).pixels())
                both, number = np.concatenate(halves, axis=1), after.get("id", 0)
                parts = [frame(Kind.LOUPE, both, number=number, level=level, place=view[:2])]
        return [json.dumps({"values": told}), *parts]

    async def _send(self, message: str | bytes) -> None:
        if isinstance(message, str):
            await self._socket.send_str(message)
        else:
            await self._socket.send_bytes(message)


def line_of(error: Exception) -> str:
    """Return an error in one line, as the command line prints it, also for unexpected errors."""
    if isinstance(error, FftfilterError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory: take a smaller picture"
    return f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
