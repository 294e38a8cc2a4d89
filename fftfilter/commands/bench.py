"""``bench``: the tables of papers, measured on this device."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import startup
from ..system import lacking
from .options import GroupedOption, device_option, precision_option, trace_option

if TYPE_CHECKING:
    from ..bench.measure import Setting

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
    *(
        GroupedOption(f"--{form.lower()}", "form", flag_value=form.lower(), help=f"Print the table as {form}.")
        for form in ("JSON", "CSV", "Markdown")
    ),
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


# Sizes and lengths: values of options


def refuse_oversize(given: object, numbers: int) -> None:
    """Raise BadParameter if a benchmark of that many numbers takes more memory than is free."""
    taken = BYTES_PER_NUMBER * numbers
    if (free := lacking(taken)) is not None:
        raise click.BadParameter(f"{given} takes {taken:,} bytes, more than the {free:,} of free memory")


def pair(text: str, advice: str) -> tuple[int, int]:
    """Return two numbers that are given as 500x512; raises BadParameter with ``advice``."""
    match = re.fullmatch(r"([1-9]\d{,8})x([1-9]\d{,8})", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is invalid: {advice}")
    return int(match[1]), int(match[2])


def shape(text: str) -> tuple[int, int]:
    """Return (height, width) of an image's size, such as 640x480; raises BadParameter."""
    width, height = pair(text, "give width x height, such as 640x480")
    refuse_oversize(text, width * height)
    return height, width


def side(text: str) -> int:
    """Return the side of a square image; raises BadParameter."""
    n = click.IntRange(min=1)(text)
    refuse_oversize(n, n * n)
    return int(n)


def _power_of_two(text: str) -> int:
    match = re.fullmatch(r"2\^(\d{1,2})|(\d{1,10})", text)
    n = 0 if match is None else int(match[2]) if match[2] else 1 << int(match[1])
    if n < 2 or n & (n - 1) or n > 1 << 30:
        raise click.BadParameter(f"{text!r} is invalid: give a power of two from 2 to 2^30, such as 2^20")
    return n


def length(text: str) -> int:
    """Return a length that is given as a number or as 2^24; raises BadParameter."""
    n = _power_of_two(text)
    refuse_oversize(text, n)
    return n


def largest_side(text: str) -> int:
    """Return the side of a square image, a power of two; raises BadParameter."""
    n = _power_of_two(text)
    refuse_oversize(text, n * n)
    return n


def size_option(usual: str) -> Callable[..., Any]:
    """Return the decorator for --size, which gives ``shapes`` (height, width), none for those that are ``usual``."""
    text = f"Size of an image, width x height; may be given several times.  [default: {usual}]"
    return click.option("--size", "shapes", type=shape, metavar="WxH", multiple=True, help=text)


usual_option = partial(click.option, metavar="N", show_default=True)
engine_option = click.option("--engine", metavar="NAME", default="book", show_default=True, help="FFT algorithm.")
length_option = partial(usual_option, "--n", type=length, help="Length of the transform, a power of two.")


# The papers' tables


@bench.add_command
@benchmark_command
@engine_option
@usual_option("--side", type=side, default="512", help="Side of the square image.")
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


@bench.add_command
@benchmark_command
@length_option(default="2^24")
def radix(setting: Setting, *, n: int) -> None:
    """Time one long transform by radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ..bench import papers

    papers.radix(setting, n=n)


@bench.add_command
@benchmark_command
@engine_option
@usual_option("--largest", type=largest_side, default="4096", help="Largest size, a power of two; the first is 64.")
def sizes(setting: Setting, *, engine: str, largest: int) -> None:
    """Time transfers and FFTs by size (the stream paper's Table 1).

    For each N: transfers, N transforms of N, one of N^2, and one 2-D of N x N.

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ..bench import papers

    papers.sizes(setting, engine=engine, largest=largest)


@bench.add_command
@benchmark_command
@length_option(default="2^14")
def speedup(setting: Setting, *, n: int) -> None:
    """Compare p work-items with one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ..bench import papers

    papers.speedup(setting, n=n)


@bench.add_command
@benchmark_command
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
