"""What a page asks besides results: functions of an open file and of an address's query, for JSON or as a frame."""

from __future__ import annotations

import io
from base64 import b64encode
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PIL import Image

from ..analysis.search import USUAL_STRENGTH, AutoNotches
from ..device.programs import folder, source
from ..errors import ParameterError
from ..preview.steps import StepPictures
from .request import levels_of, read
from .shown import Kind, frame, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from ..device.launcher import Timing
    from .request import Request
    from .session import Session
    from .shown import FilePage

    Query = Mapping[str, str]

# Most digits of a number: Python refuses thousands.
MOST_DIGITS = 18
# Most pixels that go through the steps; larger pictures are reduced first.
MOST_PIXELS = 1 << 22
# Most pixels of a side of a step's picture.
SIDE = 1024
# Steps without a kernel.
COPIES = ("read", "write", "copy")


def whole(query: Query, name: str, usual: int) -> int:
    """Return a whole number of a query; raises ParameterError."""
    text = query.get(name, str(usual))
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ParameterError(f"{name} {text!r} is not a whole number")
    return int(text)


def page_of(session: Session, query: Query) -> FilePage:
    """Return the page of a query; raises ReadError, ParameterError."""
    return session.page(whole(query, "page", 0))


def _decimal(query: Query, name: str, usual: float) -> float:
    text = query.get(name, str(usual))
    with suppress(ValueError):
        if abs(found := float(text)) < 1e9:
            return found
    raise ParameterError(f"{name} {text[:20]!r} is not a number")


def _input(session: Session, query: Query) -> bytes:
    level, page = whole(query, "level", 1), page_of(session, query)
    shown = levels_of(read(f'{{"levels": {query.get("levels", "null")}}}')["levels"])
    return frame(Kind.INPUT, page.pixels(level, shown), level=level)


def _spectrum(session: Session, query: Query) -> bytes:
    page, channel = page_of(session, query), whole(query, "channel", 0) if "channel" in query else None
    if channel is not None and channel >= len(page.picture.planes):
        raise ParameterError(f"channel {channel} is not one of {len(page.picture.planes)}, counted from 0")
    return frame(Kind.SPECTRUM, page.spectrum_pixels(channel))


def _peaks(session: Session, query: Query) -> dict[str, Any]:
    found = []
    for peak in session.waves(AutoNotches(_decimal(query, "strength", USUAL_STRENGTH))):
        told = peak.described() | {"width_cyc": peak.width}
        for each, harmonic in zip(told["harmonics"], peak.harmonics, strict=True):
            each["width_cyc"] = harmonic.peak.width
        found.append(told)
    return {"peaks": found}


def steps(request: Request, session: Session) -> dict[str, Any]:
    """Filter by the book's pipeline; return each step's kernels, time, and result as the address of a PNG's data."""
    recipe, page = request.recipe, session.page(request.page)
    transfer = session.for_pixels(recipe.transfer)
    height, width = page.size
    level = 1
    while height * width > MOST_PIXELS * level * level:
        level *= 2
    if level > 1:
        transfer = transfer.in_cycles(height, width, level)
    told: list[dict[str, Any]] = []
    drawn = StepPictures()
    recipe = replace(recipe, options={**recipe.options, "engine": recipe.options["engine"] or "book"})
    run: dict[str, Any] = {"channel_axis": 0, "white": page.picture.maxval}
    with recipe.open(transfer, session.device, profile=True) as book:

        def observe(name: str, planes: NDArray[Any]) -> None:
            timings = [each for each in book.timings() if each.step not in COPIES]
            kernels = [_kernel(each) for each in sorted(timings, key=lambda each: -each.seconds)]
            seconds = sum(each.seconds for each in timings)
            image, file = Image.fromarray(joined(drawn.pixels(name, planes))), io.BytesIO()
            image.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
            image.save(file, "PNG", compress_level=1)
            picture = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
            told.append({"name": name, "kernels": kernels, "seconds": seconds, "picture": picture})

        book(page.planes(level), **run)  # to compile the kernels
        book.timings()
        book(page.planes(level), **run, observe=observe)
    return {"steps": told, "level": level}


def _kernel(timing: Timing) -> dict[str, Any]:
    """Return a kernel's file, its source, and the number of its launches."""
    file = next(folder().glob(f"staged/**/{timing.step}.cl"), None)
    name = file.relative_to(folder()).as_posix() if file else None
    return {"kernel": name or timing.step, "source": source(name) if name else None, "launches": timing.launches}


# What the page draws, by the names of the addresses.
DRAWN: dict[str, Callable[[Session, Query], Any]] = {
    "input": _input,
    "spectrum": _spectrum,
    "about": lambda session, query: page_of(session, query).about(),
    "wave": lambda session, query: page_of(session, query).wave(*(_decimal(query, name, 0) for name in ("fx", "fy"))),
    "number": lambda session, query: session.number(*(query.get(name, "") for name in ("text", "unit", "pixel_size"))),
    "units": lambda session, query: session.units(query.get("pixel_size", "")),
}
# What takes long.
LONG: dict[str, Callable[[Session, Query], Any]] = {"peaks": _peaks}
