"""Options of several benchmarks: sizes and lengths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from ...memory import lacking

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..shared.options import F


# Of a number: itself, its transform here and on the device, and what is between.
BYTES_PER_NUMBER = 64


def refuse_oversize(given: object, numbers: int) -> None:
    """Raise BadParameter if a benchmark of that many numbers takes more memory than is free."""
    if (free := lacking(BYTES_PER_NUMBER * numbers)) is not None:
        taken = BYTES_PER_NUMBER * numbers
        raise click.BadParameter(f"{given} takes {taken:,} bytes, more than the {free:,} of memory that are free")


def pairs(given: tuple[str, ...], what: str) -> tuple[tuple[int, int], ...]:
    """Return pairs of numbers that are given as 500x512; raises BadParameter, which says ``what`` is expected."""
    found = []
    for text in given:
        match = re.fullmatch(r"([1-9]\d{,8})x([1-9]\d{,8})", text)
        if match is None:
            raise click.BadParameter(f"{text!r} is invalid: {what}")
        found.append((int(match[1]), int(match[2])))
    return tuple(found)


def size_option(shown_default: str, *default: str) -> Callable[[F], F]:
    """Return the decorator for --size, whose values arrive as ``shapes``, (height, width).

    ``shown_default`` is the default in the help.
    """
    return click.option(
        "--size",
        "shapes",
        callback=_shapes,
        metavar="WxH",
        multiple=True,
        default=default,
        help=f"Size of an image, width x height; may be given several times.  [default: {shown_default}]",
    )


def _shapes(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    found = pairs(given, "give width x height, such as 640x480")
    for width, height in found:
        refuse_oversize(f"{width}x{height}", width * height)
    return tuple((height, width) for width, height in found)


def side_that_fits(_: click.Context, __: click.Parameter, given: int) -> int:
    """Return the side of a square image."""
    refuse_oversize(given, given * given)
    return given


def power_of_two(_: click.Context, parameter: click.Parameter, given: str) -> int:
    """Return a length that is given as a number or as 2^24."""
    match = re.fullmatch(r"2\^(\d{1,2})|(\d{1,10})", given)
    n = 0 if match is None else int(match[2]) if match[2] else 1 << int(match[1])
    if n < 2 or n & (n - 1) or n > 1 << 30:
        raise click.BadParameter(f"{given!r} is invalid: give a power of two from 2 to 2^30, such as 2^20")
    refuse_oversize(given, n * n if parameter.name == "largest" else n)
    return n
