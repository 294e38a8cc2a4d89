"""``bench``: the papers' tables, measured on this device."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import device_option, together, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..bench.experiments import Experiment, Setting
    from .options import F

bench_options = together(
    device_option,
    click.option(
        "--precision",
        type=click.Choice(["single", "double"]),
        default="single",
        show_default=True,
        help="Of all computation.",
    ),
    click.option(
        "--runs",
        type=click.IntRange(min=1),
        default=9,
        show_default=True,
        metavar="N",
        help="Measurements of each thing, after one to warm up.",
    ),
    click.option("--json", "form", flag_value="json", help="Print the table as JSON."),
    click.option("--csv", "form", flag_value="csv", help="Print it as CSV."),
    click.option("--markdown", "form", flag_value="markdown", help="Print it for a document."),
    click.option(
        "--plot",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Draw it as a picture, too (needs matplotlib: pip install 'fftfilter[plot]').",
    ),
    verbose_option,
)


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


@click.group()
def bench() -> None:
    """Measure the papers' tables on this device.

    Times are OpenCL's events after a run to warm up, the median of several with its spread, on stdout as a table.
    Each result is compared with the reference first; a wrong one is not timed. The published figures stand
    beside one's own, with the hardware that they were taken on. Ctrl-C keeps what was measured.

    \b
    Example: fftfilter bench engines
             fftfilter bench radix --n 2^20 --markdown --plot radix.png
    """


def experiment(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a function to the group as a command of its name.

    The function stays a function: each click command in a module of this folder is one of the whole program.
    """
    bench.add_command(click.command()(bench_options(function)))
    return function


@experiment
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="The FFT algorithm.")
@click.option("--side", type=click.IntRange(min=1), metavar="N", default=512, show_default=True, help="Of the image.")
@click.option("--transpose", type=click.Choice(["tiled", "plain", "float4"]), help="By default the engine's own.")
def stages(*, engine: str, side: int, transpose: str | None, **given: Any) -> None:
    """Time of each step against the work-group size (the book's Table 6.1).

    \b
    Example: fftfilter bench stages
             fftfilter bench stages --transpose plain --csv
    """
    from ..bench import experiments

    run(lambda setting: experiments.stages(setting, engine=engine, side=side, transpose=transpose), **given)


@experiment
@click.option(
    "--n", callback=power_of_two, metavar="N", default="2^24", show_default=True, help="Length of the transform."
)
def radix(*, n: int, **given: Any) -> None:
    """Time and Gflop/s of one long transform against the radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ..bench import experiments

    run(lambda setting: experiments.radix(setting, n=n), **given)


@experiment
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="The FFT algorithm.")
@click.option(
    "--largest",
    callback=power_of_two,
    metavar="N",
    default="4096",
    show_default=True,
    help="Sizes go from 64 up to it.",
)
def sizes(*, engine: str, largest: int, **given: Any) -> None:
    """Time of transfers, N transforms of N, one of N^2, one 2-D of N x N (the stream paper's Table 1).

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ..bench import experiments

    run(lambda setting: experiments.sizes(setting, engine=engine, largest=largest), **given)


@experiment
@click.option(
    "--n", callback=power_of_two, metavar="N", default="2^14", show_default=True, help="Length of the transform."
)
def speedup(*, n: int, **given: Any) -> None:
    """Speedup of p work-items over one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ..bench import experiments

    run(lambda setting: experiments.speedup(setting, n=n), **given)


@experiment
@size_option("256x256, 512x512, 1000x750, 1024x1024", "256x256", "512x512", "1000x750", "1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only these; may be given several times.")
def engines(*, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...], **given: Any) -> None:
    """Every engine on the same images, with the ratio to the fastest.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine stockham
    """
    from ..bench import experiments

    run(lambda setting: experiments.engines(setting, shapes=shapes, names=names), **given)


@experiment
@size_option("all with a target")
@click.option("--radius", metavar="R", help="Of the high-pass, as highpass takes it.  [default: n/8]")
def peers(*, shapes: tuple[tuple[int, int], ...], radius: str | None, **given: Any) -> None:
    """Time this filter and other libraries on the same job, in one interleaved run.

    Those that are installed: on the CPU NumPy, SciPy, pyFFTW, mkl_fft, OpenCV, PyTorch; on a GPU CuPy with planned
    cuFFT, cuFFT alone, PyTorch, VkFFT. Wall time. pip install 'fftfilter[peers]' brings those of the CPU.

    \b
    Example: fftfilter bench peers
             fftfilter bench peers --size 640x480 --radius 50%
    """
    from ..bench.race import race

    run(lambda setting: race(setting, shapes=[(1, *shape) for shape in shapes], radius=radius), **given)


@experiment
@size_option("512x512 to 8192x8192")
def stream(*, shapes: tuple[tuple[int, int], ...], **given: Any) -> None:
    """Time a stream of images beside copying in, filtering and copying out alone.

    On a GPU the three overlap: a stream should take no longer than the slowest of them. Wall time.

    \b
    Example: fftfilter bench stream
             fftfilter bench stream --size 1920x1080
    """
    from ..bench.overlap import overlap

    run(lambda setting: overlap(setting, shapes=[(1, *shape) for shape in shapes]), **given)


@experiment
@size_option("several from 512x512 to 4096x4096")
@click.option("--count", type=click.IntRange(min=1), metavar="N", default=1, show_default=True, help="Images a stack.")
def tune(*, shapes: tuple[tuple[int, int], ...], count: int, **given: Any) -> None:
    """Find what is faster on this device than the defaults, and remember it for the filters.

    Choices that leave every bit of the result as it is: how many transforms share a work-group on a GPU, how strips
    are read on a CPU. Kept in the cache folder by device, driver, version and size.

    \b
    Example: fftfilter bench tune
             fftfilter bench tune --size 1920x1080 --count 4
    """
    from ..bench import tune as tuning

    run(lambda setting: tuning.tune(setting, shapes=[(count, *shape) for shape in shapes]), **given)


@experiment
@size_option("512x512 to 4096x4096")
@click.option(
    "--image",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A picture to filter, mirrored until it fills each size.  [default: a drawn one]",
)
def start(*, shapes: tuple[tuple[int, int], ...], image: Path | None, **given: Any) -> None:
    """Time the command from start to end, beside a NumPy and Pillow script that does the same.

    Help, one PGM after another, the first use ever with empty caches, and the most memory that it takes.

    \b
    Example: fftfilter bench start
             fftfilter bench start --size 640x480 --image photo.jpg
    """
    from ..bench.start import start as prepare

    run(lambda setting: prepare(setting, shapes=shapes, image=image), **given)


@experiment
@click.option("--cluster", "address", metavar="ADDRESS", default="local", show_default=True, help="tcp://HOST:8786")
@formats_option
@click.option(
    "--side",
    "sides",
    type=click.IntRange(min=1),
    metavar="N",
    multiple=True,
    default=(512, 2048),
    show_default=True,
    help="Of square images; may be given several times.",
)
@click.option("--tasks", type=click.IntRange(min=10), metavar="N", default=10_000, show_default=True, help="How many.")
@click.option(
    "--megapixels", type=click.IntRange(min=1), metavar="N", default=100, show_default=True, help="Of all files."
)
def cluster(
    *, address: str, formats: tuple[str, ...], sides: tuple[int, ...], tasks: int, megapixels: int, **given: Any
) -> None:
    """Measure what a Dask cluster costs: tasks and images a second, bytes, memory.

    Its workers have to see this machine's folder for temporary files (TMPDIR).

    \b
    Example: fftfilter bench cluster --runs 3
             fftfilter bench cluster --cluster tcp://127.0.0.1:8786 --side 1024
    """
    from ..bench.cluster import cluster as costs

    pixels = megapixels * 1_000_000
    run(
        lambda setting: costs(setting, address=address, formats=formats, sides=sides, tasks=tasks, pixels=pixels),
        **given,
    )


@experiment
@click.option(
    "--files",
    callback=folder_files,
    metavar="COUNTxSIDE",
    multiple=True,
    default=("500x512", "60x2048"),
    show_default=True,
    help="How many square pictures of which side; may be given several times.",
)
@formats_option
@click.option("--png-level", type=click.IntRange(0, 9), default=1, show_default=True, metavar="0-9", help="Of all.")
def folder(*, files: tuple[tuple[int, int], ...], formats: tuple[str, ...], png_level: int, **given: Any) -> None:
    """Time the filter of a folder beside other programs and bare coding, whole commands in one interleaved run.

    Those that are installed: NumPy with Pillow and OpenCV in pools of processes, ImageMagick, G'MIC. The files lie in
    the folder for temporary ones; TMPDIR=/dev/shm measures without a disk.

    \b
    Example: fftfilter bench folder --runs 3
             fftfilter bench folder --files 100x256 --format pgm
    """
    from ..bench.folder_race import Files, folder_race

    wanted = [Files(count, side, kind) for count, side in files for kind in formats]
    run(lambda setting: folder_race(setting, files=wanted, level=png_level), **given)


@experiment
@click.option(
    "--side", type=click.IntRange(min=1), metavar="N", default=512, show_default=True, help="Of the pictures."
)
def png_levels(*, side: int, **given: Any) -> None:
    """Time and size of high-passed photographs for each --png-level, and Pillow's beside them.

    \b
    Example: fftfilter bench png-levels
    """
    from ..bench.png_levels import png_levels as levels

    run(lambda setting: levels(setting, side=side), **given)


def run(
    prepare: Callable[[Setting], Experiment],
    *,
    device: str | None,
    precision: str,
    runs: int,
    form: str | None,
    plot: Path | None,
    verbose: int,  # noqa: ARG001  its callback does it
) -> None:
    """Go through an experiment; print and draw what was measured, also if it ends early."""
    from ..bench import plot as drawing
    from ..bench.experiments import Setting
    from ..bench.tables import FORMATS

    gc.enable()  # see __main__.py
    if plot is not None:
        drawing.check(plot)
    made = prepare(Setting(device, precision, runs))
    try:
        for i, step in enumerate(made.steps):
            show_progress(f"{i + 1}: {step}")
    finally:
        show_progress("")
        if made.table.rows:
            made.finish()
            click.echo(FORMATS[form or "text"](made.table))
            if plot is not None:
                drawing.draw([made.table], plot)


def show_progress(what: str) -> None:
    """Say on stderr what is being measured, over what was said before; only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{what}", err=True, nl=False)
