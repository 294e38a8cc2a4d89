"""What a page asks besides results: functions of an open file and of an address's query, for JSON or as a frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..analysis.search import AutoNotches
from ..errors import ParameterError
from ..transfer.fitted import USUAL_STRENGTH
from .request import levels_of, read
from .shown import Kind, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .session import FilePage, Session

    Query = Mapping[str, str]

# Most digits of a number: Python refuses thousands.
MOST_DIGITS = 18


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
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not abs(found) < 1e9:
        raise ParameterError(f"{name} {text[:20]!r} is not a number")
    return found


def _input(session: Session, query: Query) -> bytes:
    level, page = whole(query, "level", 1), page_of(session, query)
    shown = levels_of(read(f'{{"levels": {query["levels"]}}}')["levels"]) if "levels" in query else None
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


def _wave(session: Session, query: Query) -> dict[str, float]:
    return page_of(session, query).wave(_decimal(query, "fx", 0), _decimal(query, "fy", 0))


# What the page draws, by the names of the addresses.
DRAWN: dict[str, Callable[[Session, Query], Any]] = {
    "input": _input,
    "spectrum": _spectrum,
    "about": lambda session, query: page_of(session, query).about(),
    "wave": _wave,
    "number": lambda session, query: session.number(*(query.get(name, "") for name in ("text", "unit", "pixel_size"))),
    "units": lambda session, query: session.units(query.get("pixel_size", "")),
}
# What takes long.
LONG: dict[str, Callable[[Session, Query], Any]] = {"peaks": _peaks}
