"""What is said of a result: the command line, the Python call, H along the frequencies, the histogram."""

from __future__ import annotations

import shlex
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..images.picture import MAXVAL_OF
from ..output.modes import MODES
from ..output.scale import AUTO, STACK, Auto, parse
from ..transfer import Transfer
from .session import MAP
from .shown import Kind, frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .answers import Answer
    from .session import FilePage, Session

    Gains = NDArray[np.float64]
    Pixels = NDArray[np.uint8]

# Points of the curve up to 1 cycle per pixel, of which those up to a corner of the spectrum are sent.
CURVE, CORNER = 512, 0.5**0.5
# Samples that a histogram counts.
COUNTED = 1 << 16


def words(answer: Answer, session: Session, gains: Gains) -> dict[str, Any]:
    """Return all of it as JSON has it; ``gains`` are :func:`gains_of` the answer."""
    page = session.page(answer.request.page)
    return {
        "id": answer.request.id,
        "command": command_line(answer.request.words, session.source, session.target),
        "python": python_call(answer, session),
        "ms": round(answer.seconds * 1e3, 2),
        "curve": curve(answer.transfer, *page.size),
        "histogram": histogram(answer.planes),
        "clipped": answer.clipped,
        "share": share(page, gains),
        "note": "; ".join(notes(answer, session)) or None,
    }


def command_line(options: Sequence[str], source: str, target: str) -> str:
    """Return what a shell takes."""
    # A name that begins with a dash would be an option.
    names = [f"./{name}" if name.startswith("-") else name for name in (source, target)]
    return shlex.join(["fftfilter", *options, *names])


def python_call(answer: Answer, session: Session) -> str:
    """Return the lines of Python that give the same pixels."""
    described, picture = answer.described, session.page(answer.request.page).picture
    options: dict[str, Any] = {"output": described.output, "scale": _scale(described.scale), **described.filter}
    usual = signature(Filter).parameters
    made = "".join(f", {name}={value!r}" for name, value in options.items() if value != usual[name].default)
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
    """Return the range of a command line as Python has it."""
    if text == STACK:
        return text
    found = parse(text)
    return (AUTO, found.saturated) if isinstance(found, Auto) else found and (found.low, found.high)


def curve(transfer: Transfer, height: int, width: int) -> dict[str, list[float]] | None:
    """Return H of the radial parts by frequency, None if there are none."""
    radial = Transfer(tuple(part for part in transfer.parts if not part.has_direction))
    if not radial.parts:
        return None
    # At half of each frequency, as a row of a grid ends at half a cycle.
    gains = radial.in_cycles(height, width, 0.5).gain(2 * CURVE, 2 * CURVE, 1, CURVE)[0]
    frequency = np.arange(CURVE) / CURVE
    inside = frequency <= CORNER
    return {"frequency": frequency[inside].round(6).tolist(), "gain": gains[inside].round(5).tolist()}


def gains_of(answer: Answer, session: Session) -> Gains:
    """Return H over the spectrum, MAP x MAP, DC in the middle."""
    transfer = answer.transfer.in_cycles(*session.page(answer.request.page).size)
    return np.asarray(np.fft.fftshift(transfer.gain(MAP, MAP)))


def gain_map(answer: Answer, gains: Gains) -> bytes:
    """Return H over the spectrum as a frame: 255 is a gain of 1, 0 one of 0."""
    pixels = np.rint(np.clip(gains, 0, 1) * 255).astype(np.uint8)
    return frame(Kind.GAIN, pixels, number=answer.request.id)


def share(page: FilePage, gains: Gains) -> float | None:
    """Return about which part of the power is removed; None until the spectrum is there."""
    if "spectrum" not in vars(page):
        return None
    lost = float((page.power_map * np.square(1 - gains)).sum())
    return round(lost / (float(page.power_map.sum()) or 1.0), 6)


def histogram(planes: Pixels) -> dict[str, list[int]]:
    """Return how many samples have each of the 256 levels that are shown, of some that are evenly spread."""
    step = max(1, int((planes.size / COUNTED) ** 0.5))
    counts = np.bincount(planes[:, ::step, ::step].ravel(), minlength=256)
    return {"edges": [0, 255], "counts": counts.tolist()}


def notes(answer: Answer, session: Session) -> list[str]:
    """Return the lines of the command that say what users may not expect."""
    page, described = session.page(answer.request.page), answer.described
    found = answer.transfer.cautions(*page.size)
    if MODES[described.output].is_absolute:
        given_range = parse(described.scale)
        found = [*found, *page.cautions, *(given_range.cautions() if given_range else ())]
    return found
