"""The book's pipeline on a picture, step by step: the result, the kernel and the time of each."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from ..device.programs import folder, source
from ..filters import Filter
from ..output.modes import parse_scale
from ..preview.steps import StepPictures
from .shown import joined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..device.launcher import Timing
    from .request import CommandLine, Request
    from .session import Session

# Most pixels; larger pictures are reduced first.
MOST = 1 << 22
# Most pixels of a side of a step's picture.
SIDE = 1024
# Steps without a kernel.
COPIES = ("read", "write", "copy")


class Steps(NamedTuple):
    """The description of the steps, for JSON, and their pictures as PNG."""

    told: dict[str, Any]
    pictures: list[bytes]


def steps(request: Request, session: Session, commands: CommandLine) -> Steps:
    """Filter the page of a request by the book's pipeline; raises FftfilterError."""
    described = commands.describe(request.words)
    page = session.page(request.page)
    transfer = session.for_pixels(described.transfer)
    height, width = page.size
    level = 1
    while height * width > MOST * level * level:
        level *= 2
    if level > 1:
        transfer = transfer.in_cycles(height, width, level)
    told: list[dict[str, Any]] = []
    pictures: list[bytes] = []
    drawn = StepPictures()
    options = described.filter | {"engine": described.filter.get("engine") or "book", "profile": True}
    run: dict[str, Any] = {"channel_axis": 0, "white": page.picture.maxval}
    with Filter(transfer, output=described.output, scale=parse_scale(described.scale), **options) as book:

        def observe(name: str, planes: NDArray[Any]) -> None:
            kernels = [_kernel(each) for each in book.timings() if each.step not in COPIES]
            kernels.sort(key=lambda kernel: -kernel["seconds"])
            longest = kernels[0] if kernels else {"kernel": None, "source": None}
            about = {"kernel": longest["kernel"], "source": longest["source"], "kernels": kernels}
            seconds = sum(kernel["seconds"] for kernel in kernels)
            told.append({"name": name, **about, "seconds": seconds, "picture": f"steps/{len(told)}.png"})
            pictures.append(_png(drawn.pixels(name, planes)))

        book(page.planes(level), **run)  # to compile the kernels
        book.timings()
        book(page.planes(level), **run, observe=observe)
        total = sum(step["seconds"] for step in told)
        about = {"engine": book.engine, "device": book.launcher.device.name, "level": level}
    return Steps({"steps": told, "total": total, **about}, pictures)


def _kernel(timing: Timing) -> dict[str, Any]:
    """Return the description of a kernel's launches: its file, its source, and their time."""
    file = next(folder().glob(f"staged/**/{timing.step}.cl"), None)
    name = file.relative_to(folder()).as_posix() if file else None
    return {
        "kernel": name or timing.step,
        "source": source(name) if name else None,
        "launches": timing.launches,
        "seconds": timing.seconds,
    }


def _png(planes: NDArray[np.uint8]) -> bytes:
    """Return the picture of a step as PNG, at the size in which it is shown."""
    image = Image.fromarray(joined(planes))
    image.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
