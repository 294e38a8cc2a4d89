"""Options of several measurements: sizes, files, lengths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..shared.options import F


def image_sizes(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return sizes such as 640x480, width x height, as (height, width)."""
    return tuple((height, width) for width, height in _pairs(given, "size: give width x height, such as 640x480"))


def folder_files(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return folders such as 500x512, count x side."""
    return _pairs(given, "folder: give count x side, such as 500x512")


def _pairs(given: tuple[str, ...], what: str) -> tuple[tuple[int, int], ...]:
    """Return pairs of numbers that are given as 500x512; click tells of which option a wrong one was."""
    pairs = []
    for text in given:
        match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
        if match is None:
            raise click.BadParameter(f"{text!r} is no {what}")
        pairs.append((int(match[1]), int(match[2])))
    return tuple(pairs)


def size_option(by_default: str, *default: str) -> Callable[[F], F]:
    """Return the decorator for --size; ``by_default`` is what its help says of sizes that are not given."""
    return click.option(
        "--size",
        "shapes",
        callback=image_sizes,
        metavar="WxH",
        multiple=True,
        default=default,
        help=f"Size of an image, width x height; may be given several times.  [default: {by_default}]",
    )


formats_option = click.option(
    "--format",
    "formats",
    type=click.Choice(["png", "pgm"]),
    multiple=True,
    default=("png", "pgm"),
    show_default=True,
    help="Of the files; may be given several times.",
)


def power_of_two(context: click.Context, option: click.Parameter, given: str) -> int:
    """Return a length that is given as a number or as 2^24."""
    match = re.fullmatch(r"2\^(\d{1,2})|(\d{1,10})", given)
    n = 0 if match is None else int(match[2]) if match[2] else 1 << int(match[1])
    if n < 2 or n & (n - 1) or n > 1 << 30:
        raise click.BadParameter(
            f"{given!r} is no length: give a power of two from 2 to 2^30, such as 2^20", ctx=context, param=option
        )
    return n
