"""``bench``: the tables of papers, measured on this device, with the published figures where there are some.

stages    the steps of a filter by work-group size: the book's Table 6.1
engines   whole filters by every engine
radix     one long transform by radix: Bainville
sizes     transfers and transforms by size: the stream paper
speedup   a transform by parallel work-items: McCarthy
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import system
from ..bench import HERE, Lines, Published, Stats, Table
from ..device_choice import FUSED, NUMPY
from ..system import lacking
from ..transfer import highpass
from .options import GroupedOption, device_option, precision_option, trace_option

if TYPE_CHECKING:
    from ..bench.measure import Setting
    from ..device.opencl import Device
    from ..filters import Filter

# Memory of a number of the input: itself, its transforms on the host and on the device, and the steps in between.
BYTES_PER_NUMBER = 64
# Seconds of one run; an engine or a column that takes longer is left out at larger sizes.
TOO_SLOW = 2.0


def _note_left_out(table: Table, what: Iterable[str]) -> None:
    if names := ", ".join(sorted(what)):
        table.notes.append(f"Left out where a smaller size took more than {TOO_SLOW:g} s: {names}.")


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


# The book: the steps of a filter against the work-group size

# Milliseconds for a 512 x 512 image against the work-group size. The rows have this program's names of the steps; the
# book calls them membuf write, spinFactor, bitReverse, butterfly, normalize, transpose, highPassFilter, membuf read.
BOOK = Published(
    "The OpenCL Programming Book (Fixstars), Table 6.1",
    "GT200, 2009",
    "a GT200-class GPU of NVIDIA with 30 compute units, December 2009",
    ("1", "16", "32", "64", "128", "256", "512"),
    {
        "write": (0.54, 0.53, 0.36, 0.52, 0.53, 0.54, 0.53),
        "spin_factors": (0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01),
        "bit_reversal": (6.54, 0.60, 0.47, 0.47, 0.49, 0.50, 0.51),
        "butterfly": (37.75, 3.12, 2.87, 3.02, 3.41, 3.60, 3.88),
        "normalize": (2.86, 0.20, 0.12, 0.09, 0.09, 0.10, 0.10),
        "transpose": (2.83, 1.53, 1.49, 1.42, 1.07, 0.95, 0.96),
        "mask": (1.51, 0.10, 0.07, 0.06, 0.06, 0.06, 0.07),
        "read": (0.62, 0.57, 0.57, 0.61, 0.58, 0.56, 0.58),
    },
)

# Work-group sizes: those of the book, and the larger powers of two of other devices.
SIZES = (1, 16, *(1 << i for i in range(5, 20)))


@engine_option
@usual_option("--side", type=side, default="512", help="Side of the square image, 1 or more.")
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
    from ..bench import measure

    sizes = [size for size in SIZES if size <= setting.device.work_group_limit]
    table = setting.table(
        f"Milliseconds of each step against the work-group size: high-pass of {side} x {side}, engine {engine}",
        {"step": "step", "hardware": "on", **{str(size): str(size) for size in sizes}},
        Lines(("step", "hardware"), None, tuple(str(size) for size in sizes), "work-group size", "ms"),
    )
    transfer = highpass()
    image, wanted = measure.filter_case(transfer, side, side)
    try:
        for size in sizes:
            setting.progress(f"work-group size {size}")
            with setting.profiled(transfer, engine, work_group_size=size, transpose=transpose) as filter_:
                measure.check(engine, filter_.launcher, filter_(image), wanted)

                def work(filter_: Filter = filter_) -> None:
                    filter_.close()  # so that the spin factors are computed in every run, as in the book
                    filter_(image)

                times = measure.measure(filter_.launcher, work, setting.runs)
            for step in times.steps:
                table.put((step, HERE), **{str(size): times.total(step).times(measure.MS)})
            table.put(("all", HERE), **{str(size): times.total(*times.steps).times(measure.MS)})
    finally:
        if engine == "book":
            table.beside(BOOK)


# All engines

SHAPES = ((256, 256), (512, 512), (750, 1000), (1024, 1024))


@size_option("256x256, 512x512, 1000x750, 1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only this engine; may be given several times.")
def engines(setting: Setting, *, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...]) -> None:
    """Time every engine on the same images.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine pease
    """
    from ..bench import measure
    from ..staged import algorithms

    table = setting.table(
        "A high-pass by every engine",
        {name: name for name in ("size", "engine")}
        | {"ms": "ms on the device", "with transfers": "with transfers", "ratio": "times the fastest"},
        Lines(("engine",), "pixels", ("ms",), "pixels", "ms"),
    )
    transfer = highpass()
    slow: set[str] = set()
    try:
        for height, width in sorted(shapes or SHAPES, key=lambda shape: shape[0] * shape[1]):
            size = f"{width} x {height}"
            image, wanted = measure.filter_case(transfer, height, width)
            for name in names or (FUSED, NUMPY, *algorithms.names()):
                if name in slow:
                    continue
                setting.progress(f"{size}: {name}")
                with setting.profiled(transfer, name) as filter_:
                    measure.check(name, filter_.launcher, filter_(image), wanted)
                    times = measure.measure(filter_.launcher, partial(filter_, image), setting.runs)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(name)
                whole = {"with transfers": times.total(*times.steps).times(measure.MS)}
                table.put((size, name), pixels=height * width, ms=seconds.times(measure.MS), **whole)
    finally:
        order = {row["size"]: i for i, row in enumerate(table.rows)}
        medians = {id(row): row["ms"].median for row in table.rows if isinstance(row["ms"], Stats)}
        fastest = {size: min(medians[id(row)] for row in table.rows if row["size"] == size) for size in order}
        for row in table.rows:
            row["ratio"] = measure.ratio(medians[id(row)], fastest[row["size"]])
        table.rows.sort(key=lambda row: (order[row["size"]], row["ratio"]))
        _note_left_out(table, slow)


# Bainville: one long transform against the radix

# Milliseconds and Gflop/s of one work-group per DFT, by r.
_GTX_285 = {1: (3500, 0.57), 2: (1300, 1.5), 4: (560, 3.6), 8: (300, 6.7), 32: (420, 4.8), 128: (685, 2.9)}
_HD_5870 = {1: (8100, 0.25), 2: (3700, 0.54), 4: (2000, 1.0), 8: (1200, 1.7), 32: (810, 2.5), 128: (920, 2.2)}
_PAGE = "E. Bainville, OpenCL Fast Fourier Transform (2010, updated 2011), n = 2^24, single precision"
BAINVILLE = tuple(
    Published(_PAGE, label, hardware, ("radix", "ms", "gflops"), {f"workgroup r={r}": (2 * r, *by_r[r]) for r in by_r})
    for label, hardware, by_r in (
        ("GTX 285, 2010", "GeForce GTX 285", _GTX_285),
        ("HD 5870, 2010", "Radeon HD 5870", _HD_5870),
    )
)


@length_option(default="2^24")
def radix(setting: Setting, *, n: int) -> None:
    """Time one long transform by radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ..bench import measure

    table = setting.table(
        f"One transform of n = {n}: time and Gflop/s (5 n log2 n / time) against the radix",
        {"algorithm": "algorithm", "hardware": "on", "radix": "radix", "ms": "ms", "gflops": "Gflop/s"},
        Lines(("line", "hardware"), "radix", ("gflops",), "radix", "Gflop/s"),
    )
    data, wanted = measure.transform_case(setting, (1, 1, n))
    try:
        for name, options, value in _radices(setting.device, n, data.itemsize):
            label = " ".join([name, *(f"{key}={option}" for key, option in options.items())])
            setting.progress(label)
            seconds = measure.times_of(setting, label, data, wanted, engine=name, options=options).without_transfers()
            rate = measure.gflops(n, seconds.median)
            table.put((label, HERE), line=name, radix=value, ms=seconds.times(measure.MS), gflops=rate)
    finally:
        for source in BAINVILLE:
            table.beside(source)


def _radices(device: Device, n: int, number_bytes: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield the algorithm, options and radix of each row of the table, up to the limits of the device."""
    from ..staged.algorithms import COALESCED

    yield from (("stockham", {"radix": value}, value) for value in (2, 4, 8, 16) if value <= n)
    fits = min(device.work_group_limit, device.cl_device.local_mem_size // (2 * number_bytes), n // 2)
    for name, largest in (("workgroup", fits), ("workgroup-coalesced", min(fits, COALESCED))):
        yield from ((name, {"r": 1 << i}, 2 << i) for i in range(largest.bit_length()))


# The stream paper: transfers, N transforms of N, one of N^2 and one 2-D of N x N

# Milliseconds for real sequences: transfers, N 1-D transforms of N, one 1-D of N^2, one 2-D of N x N.
STREAM = Published(
    "Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU "
    "(2005), Table 1",
    "FX 5900 XT, 2005",
    "GeForce FX 5900 XT (nv35), BrookGPU, AGP 8x",
    ("write", "read", "rows", "long", "image"),
    {
        "64": (0.02, 0.16, 0.96, 1.71, 1.85),
        "128": (0.07, 0.58, 1.2, 2.0, 2.9),
        "256": (0.37, 1.6, 2.8, 4.5, 6.5),
        "512": (1.7, 5.8, 9.2, 17.9, 22.6),
        "1024": (7.2, 23.2, 39, 99, 121),
    },
)


@engine_option
@usual_option("--largest", type=largest_side, default="4096", help="Largest size, a power of two; the first is 64.")
def sizes(setting: Setting, *, engine: str, largest: int) -> None:
    """Time transfers and FFTs by size (the stream paper's Table 1).

    For each N: transfers, N transforms of N, one of N^2, and one 2-D of N x N.

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ..bench import measure

    headings = "to device", "from device", "N 1-D of N", "one 1-D of N^2", "one 2-D of N x N"
    columns = dict(zip(STREAM.columns, headings, strict=True))
    table = setting.table(
        f"Milliseconds of transfers and transforms, engine {engine}",
        {"N": "N", "hardware": "on", **columns},
        Lines(("hardware",), "N", tuple(columns), "N", "ms"),
        "Here all numbers are complex; the paper's are real.",
    )
    slow: set[str] = set()
    try:
        n = 64
        while n <= largest:
            for column in ("rows", "long", "image"):
                if column in slow:
                    continue
                setting.progress(f"N = {n}: {columns[column]}")
                shape, axes = {"rows": ((1, n, n), 1), "long": ((1, 1, n * n), 1), "image": ((1, n, n), 2)}[column]
                data, wanted = measure.transform_case(setting, shape, axes)
                times = measure.times_of(setting, f"{engine} at N = {n}", data, wanted, engine=engine, axes=axes)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(column)
                table.put((n, HERE), **{column: seconds.times(measure.MS)})
                if column == "rows":
                    transfers = {step: times.total(step).times(measure.MS) for step in ("write", "read")}
                    table.put((n, HERE), **transfers)
            n *= 2
    finally:
        table.beside(STREAM)
        _note_left_out(table, [columns[column] for column in slow])


# McCarthy: the parallel against the sequential transform on the same device


@length_option(default="2^14")
def speedup(setting: Setting, *, n: int) -> None:
    """Compare p work-items with one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ..bench import measure

    table = setting.table(
        f"Binary exchange by p work-items against one work-item (iterative), one transform of n = {n}",
        {"algorithm": "algorithm", "p": "p", "ms": "ms", "speedup": "speedup"},
        Lines(("algorithm",), "p", ("speedup",), "p, work-items", "speedup", linear=True),
        "Without the bit reversal behind both, which is the same. The paper printed no figures.",
    )
    units = setting.device.cl_device.max_compute_units
    data, wanted = measure.transform_case(setting, (1, 1, n))
    setting.progress("iterative")
    sequential = measure.times_of(setting, "iterative", data, wanted, engine="iterative").total("iterative")
    table.put(("iterative", 1), ms=sequential.times(measure.MS), speedup=1.0)
    p = 1
    while p <= n:
        setting.progress(f"p = {p}")
        # A work-group runs on one compute unit: while there are units left, each work-item has its own.
        group = min(64, setting.device.work_group_limit, max(1, -(-p // units)))
        how: dict[str, Any] = {"engine": "binary-exchange", "options": {"p": p}, "work_group_size": group}
        seconds = measure.times_of(setting, f"binary-exchange p={p}", data, wanted, **how).total("binary_exchange")
        ratio = measure.ratio(sequential.median, seconds.median)
        table.put(("binary-exchange", p), ms=seconds.times(measure.MS), speedup=ratio)
        p *= 2


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
        from ..bench import FORMATS, check_plot, draw
        from ..bench.measure import Setting

        system.resume_collector()
        if plot is not None:
            check_plot(plot)
        setting = Setting(device, precision, runs, _show_progress)
        try:
            function(setting, **own)
        finally:
            _show_progress("")
            if (table := setting.made) and table.rows:
                click.echo(FORMATS[form or "text"](table))
                if plot is not None:
                    draw(table, plot)

    return click.command(params=[*_options], context_settings={"help_option_names": ["-h", "--help"]})(measured)


def _show_progress(text: str) -> None:
    """Replace the line of progress on stderr; only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


for _function in (stages, radix, sizes, speedup, engines):
    bench.add_command(benchmark_command(_function))
