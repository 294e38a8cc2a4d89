"""``bench``: the papers' tables on this device, and the peers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import startup
from ..memory import lacking
from .shared.options import combined, device_option, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..bench.benchmark import Benchmark, Setting
    from .shared.options import F

# Of a number: itself, its transform here and on the device, and what is between.
BYTES_PER_NUMBER = 64


@click.group()
def bench() -> None:
    """Measure the papers' tables and other libraries on this device.

    Prints a table with the median and the spread of several runs, after one to warm up. Times are those of OpenCL's
    events; `peers` and `transforms` take wall time. Every result is compared with the reference first: a wrong one is
    not timed. Published figures stand in the table with the hardware that they were taken on. Ctrl-C prints what was
    measured so far.

    \b
    Example: fftfilter bench engines
             fftfilter bench radix --n 2^20 --markdown --plot radix.png
    """


# What makes a function a benchmark's command, and how it is run

_options = combined(
    device_option,
    click.option(
        "--precision",
        type=click.Choice(["single", "double"]),
        default="single",
        show_default=True,
        help="Precision of all computation.",
    ),
    click.option(
        "--runs",
        type=click.IntRange(1, 10_000),
        default=9,
        show_default=True,
        metavar="N",
        help="Number of measurements of each thing, after one run to warm up.",
    ),
    click.option("--json", "form", flag_value="json", help="Print the table as JSON."),
    click.option("--csv", "form", flag_value="csv", help="Print the table as CSV."),
    click.option("--markdown", "form", flag_value="markdown", help="Print the table as Markdown."),
    click.option(
        "--plot",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Also draw the table to a picture (needs matplotlib).",
    ),
    verbose_option,
)


def benchmark_command(function: Callable[..., Any]) -> click.Command:
    """Return the command of a function that calls :func:`run`, with the options of all benchmarks."""
    return click.command(context_settings={"help_option_names": ["-h", "--help"]})(_options(function))


def run(
    prepare: Callable[[Setting], Benchmark],
    *,
    device: str | None,
    precision: str,
    runs: int,
    form: str | None,
    plot: Path | None,
    verbose: int,  # noqa: ARG001  its callback does it
) -> None:
    """Measure a benchmark; print and draw its table, also if the measurement ends early."""
    from ..bench import plot as diagram
    from ..bench.benchmark import Setting
    from ..bench.tables import FORMATS

    startup.resume_collector()
    if plot is not None:
        diagram.check(plot)
    benchmark = prepare(Setting(device, precision, runs))
    try:
        for i, step in enumerate(benchmark.steps):
            _show_progress(f"{i + 1}: {step}")
    finally:
        _show_progress("")
        if benchmark.table.rows:
            benchmark.finish()
            click.echo(FORMATS[form or "text"](benchmark.table))
            if plot is not None:
                diagram.draw([benchmark.table], plot)


def _show_progress(what: str) -> None:
    """Show on stderr what is measured, in place of what was shown before; only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{what}", err=True, nl=False)


# Options of several benchmarks: sizes and lengths


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


engine_option = click.option("--engine", metavar="NAME", default="book", show_default=True, help="FFT algorithm.")


def length_option(name: str, usual: str, text: str) -> Callable[[F], F]:
    """Return the decorator for an option whose value is a power of two; ``text`` is its help."""
    return click.option(name, callback=power_of_two, metavar="N", default=usual, show_default=True, help=text)


# The papers' tables


@benchmark_command
@engine_option
@click.option(
    "--side",
    type=click.IntRange(min=1),
    callback=side_that_fits,
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
def stages(*, engine: str, side: int, transpose: str | None, **given: Any) -> None:
    """Time each step against the work-group size (the book's Table 6.1).

    \b
    Example: fftfilter bench stages
             fftfilter bench stages --transpose plain --csv
    """
    from ..bench.paper_filters import stages as prepare

    run(lambda setting: prepare(setting, engine=engine, side=side, transpose=transpose), **given)


@benchmark_command
@length_option("--n", "2^24", "Length of the transform, a power of two.")
def radix(*, n: int, **given: Any) -> None:
    """Time one long transform against the radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ..bench.paper_transforms import radix as prepare

    run(lambda setting: prepare(setting, n=n), **given)


@benchmark_command
@engine_option
@length_option("--largest", "4096", "Largest size, a power of two; the first is 64.")
def sizes(*, engine: str, largest: int, **given: Any) -> None:
    """Time transfers, N transforms of N, one of N^2, one 2-D of N x N (the stream paper's Table 1).

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ..bench.paper_transforms import sizes as prepare

    run(lambda setting: prepare(setting, engine=engine, largest=largest), **given)


@benchmark_command
@length_option("--n", "2^14", "Length of the transform, a power of two.")
def speedup(*, n: int, **given: Any) -> None:
    """Time p work-items against one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ..bench.paper_transforms import speedup as prepare

    run(lambda setting: prepare(setting, n=n), **given)


@benchmark_command
@size_option("256x256, 512x512, 1000x750, 1024x1024", "256x256", "512x512", "1000x750", "1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only this engine; may be given several times.")
def engines(*, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...], **given: Any) -> None:
    """Time every engine on the same images.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine stockham
    """
    from ..bench.paper_filters import engines as prepare

    run(lambda setting: prepare(setting, shapes=shapes, names=names), **given)


# Beside other libraries


@benchmark_command
@size_option("seven sizes on a CPU, eleven on a GPU")
@click.option("--radius", metavar="R", help="Radius of the high-pass, as highpass takes it.  [default: n/8]")
def peers(*, shapes: tuple[tuple[int, int], ...], radius: str | None, **given: Any) -> None:
    """Time the same high-pass by this program and by other libraries, in turn.

    Those that are installed take part: NumPy, SciPy, pyFFTW, mkl_fft, OpenCV, PyTorch on the CPU; CuPy with planned
    cuFFT, the same as a CUDA graph, cuFFT alone, PyTorch, VkFFT on a GPU. Wall time. The extra "peers" of this package
    has those for the CPU.

    \b
    Example: fftfilter bench peers
             fftfilter bench peers --size 640x480 --radius 50%
    """
    from ..bench.peers.table import peers as prepare

    run(lambda setting: prepare(setting, shapes=[(1, *shape) for shape in shapes], radius=radius), **given)


@benchmark_command
@size_option("six sizes on a CPU, seven on a GPU")
def transforms(*, shapes: tuple[tuple[int, int], ...], **given: Any) -> None:
    """Time plain FFTs by this program and by other libraries, in turn.

    fft2, ifft2, rfft2, irfft2, and fft of rows, of single precision. Those that are installed take part: NumPy, SciPy,
    pyFFTW, mkl_fft, PyTorch on the CPU; planned cuFFT by CuPy on a GPU, on data that stay there. Wall time.

    \b
    Example: fftfilter bench transforms
             fftfilter bench transforms --size 1531x1021
    """
    from ..bench.peers.transforms import transforms as prepare

    run(lambda setting: prepare(setting, shapes=[(1, *shape) for shape in shapes]), **given)


for each in (stages, radix, sizes, speedup, engines, peers, transforms):
    bench.add_command(each)
