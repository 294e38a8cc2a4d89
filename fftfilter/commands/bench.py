"""``bench``: the tables of papers, measured on this device."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import startup
from ..system import lacking
from .options import GroupedOption, device_option, precision_option, trace_option

if TYPE_CHECKING:
    from ..bench.measure import Setting

F = TypeVar("F", bound="Callable[..., Any]")

# Memory of a number of the input: itself, its transforms on the host and on the device, and the steps in between.
BYTES_PER_NUMBER = 64


@click.group()
def bench() -> None:
    """Measure this device: the tables of papers.

    Prints a table with the median and the spread of several runs, after one run to warm up. Times come from OpenCL's
    events. Every result is first compared with a reference, and a wrong one is not timed. Published figures are shown
    beside yours, with their hardware. Ctrl-C prints the rows measured so far.

    \b
    Example: fftfilter bench engines
             fftfilter bench radix --n 2^20 --markdown --plot radix.png
    """


# The options of all benchmarks, and how they are run

_options = [
    device_option,
    precision_option,
    GroupedOption(
        "--runs N",
        type=click.IntRange(1, 10_000),
        default=9,
        help="Number of measurements of each thing, after one run to warm up.",
    ),
    GroupedOption("--json", "form", flag_value="json", help="Print the table as JSON."),
    GroupedOption("--csv", "form", flag_value="csv", help="Print the table as CSV."),
    GroupedOption("--markdown", "form", flag_value="markdown", help="Print the table as Markdown."),
    GroupedOption(
        "--plot FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Also draw the table to a picture (needs matplotlib).",
    ),
    trace_option,
]


def benchmark_command(function: Callable[..., None]) -> click.Command:
    """Return the command of a benchmark: a function of a :class:`Setting`, whose table it makes, and its own options.

    The command adds the options of all benchmarks. It prints and draws the table, even if the measurement ends early.
    """

    @wraps(function)
    def measured(
        *, device: str | None, precision: str, runs: int, form: str | None, plot: Path | None, **own: Any
    ) -> None:
        from ..bench import tables
        from ..bench.measure import Setting

        startup.resume_collector()
        if plot is not None:
            tables.check_plot(plot)
        setting = Setting(device, precision, runs, _show_progress)
        try:
            function(setting, **own)
        finally:
            _show_progress("")
            if (table := setting.made) and table.rows:
                click.echo(tables.FORMATS[form or "text"](table))
                if plot is not None:
                    tables.draw(table, plot)

    return click.command(params=[*_options], context_settings={"help_option_names": ["-h", "--help"]})(measured)


def _show_progress(text: str) -> None:
    """Replace the line of progress on stderr; only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


# Options of several benchmarks: sizes and lengths


def refuse_oversize(given: object, numbers: int) -> None:
    """Raise BadParameter if a benchmark of that many numbers takes more memory than is free."""
    taken = BYTES_PER_NUMBER * numbers
    if (free := lacking(taken)) is not None:
        raise click.BadParameter(f"{given} takes {taken:,} bytes, more than the {free:,} of free memory")


def pairs(given: tuple[str, ...], advice: str) -> tuple[tuple[int, int], ...]:
    """Return pairs of numbers given as 500x512; raises BadParameter with ``advice``."""
    found = []
    for text in given:
        match = re.fullmatch(r"([1-9]\d{,8})x([1-9]\d{,8})", text)
        if match is None:
            raise click.BadParameter(f"{text!r} is invalid: {advice}")
        found.append((int(match[1]), int(match[2])))
    return tuple(found)


def size_option(usual: str) -> Callable[[F], F]:
    """Return the decorator for --size, which gives ``shapes`` (height, width), none for those that are ``usual``."""
    return click.option(
        "--size",
        "shapes",
        callback=_shapes,
        metavar="WxH",
        multiple=True,
        help=f"Size of an image, width x height; may be given several times.  [default: {usual}]",
    )


def _shapes(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    found = pairs(given, "give width x height, such as 640x480")
    for width, height in found:
        refuse_oversize(f"{width}x{height}", width * height)
    return tuple((height, width) for width, height in found)


def _side(_: click.Context, __: click.Parameter, given: int) -> int:
    refuse_oversize(given, given * given)
    return given


def _power_of_two(_: click.Context, parameter: click.Parameter, given: str) -> int:
    """Return a length that is given as a number or as 2^24."""
    match = re.fullmatch(r"2\^(\d{1,2})|(\d{1,10})", given)
    n = 0 if match is None else int(match[2]) if match[2] else 1 << int(match[1])
    if n < 2 or n & (n - 1) or n > 1 << 30:
        raise click.BadParameter(f"{given!r} is invalid: give a power of two from 2 to 2^30, such as 2^20")
    refuse_oversize(given, n * n if parameter.name == "largest" else n)
    return n


engine_option = click.option("--engine", metavar="NAME", default="book", show_default=True, help="FFT algorithm.")


def length_option(name: str, usual: str, text: str) -> Callable[[F], F]:
    """Return the decorator for an option whose value is a power of two; ``text`` is its help."""
    return click.option(name, callback=_power_of_two, metavar="N", default=usual, show_default=True, help=text)


# The papers' tables


def of_papers(function: Callable[..., None]) -> None:
    """Add a benchmark to the group."""
    bench.add_command(benchmark_command(function))


@of_papers
@engine_option
@click.option(
    "--side",
    type=click.IntRange(min=1),
    callback=_side,
    metavar="N",
    default=512,
    show_default=True,
    help="Side of the square image.",
)
@click.option(
    "--transpose",
    type=click.Choice(["tiled", "plain", "float4"]),
    help="How the image is transposed.  [default: the engine's own]",
)
def stages(setting: Setting, *, engine: str, side: int, transpose: str | None) -> None:
    """Time each step by work-group size (the book's Table 6.1).

    \b
    Example: fftfilter bench stages
             fftfilter bench stages --transpose plain --csv
    """
    from ..bench import papers

    papers.stages(setting, engine=engine, side=side, transpose=transpose)


@of_papers
@length_option("--n", "2^24", "Length of the transform, a power of two.")
def radix(setting: Setting, *, n: int) -> None:
    """Time one long transform by radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ..bench import papers

    papers.radix(setting, n=n)


@of_papers
@engine_option
@length_option("--largest", "4096", "Largest size, a power of two; the first is 64.")
def sizes(setting: Setting, *, engine: str, largest: int) -> None:
    """Time transfers and FFTs by size (the stream paper's Table 1).

    For each N: transfers, N transforms of N, one of N^2, and one 2-D of N x N.

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ..bench import papers

    papers.sizes(setting, engine=engine, largest=largest)


@of_papers
@length_option("--n", "2^14", "Length of the transform, a power of two.")
def speedup(setting: Setting, *, n: int) -> None:
    """Compare p work-items with one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ..bench import papers

    papers.speedup(setting, n=n)


@of_papers
@size_option("256x256, 512x512, 1000x750, 1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only this engine; may be given several times.")
def engines(setting: Setting, *, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...]) -> None:
    """Time every engine on the same images.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine pease
    """
    from ..bench import papers

    papers.engines(setting, shapes=shapes, names=names)
