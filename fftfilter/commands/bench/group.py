"""The group, what all its commands share, and how each goes through its measurements."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..shared.options import device_option, together, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...bench.experiments import Experiment, Setting


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


@click.group()
def bench() -> None:
    """Measure the papers' tables, and what users wait for, on this device.

    Times are OpenCL's events, or wall time where a command says so, after a run to warm up: the median of several with
    its spread, on stdout as a table. Each result is compared with the reference first; a wrong one is not timed. The
    published figures stand beside one's own, with the hardware that they were taken on. Ctrl-C keeps what was
    measured.

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
    from ...bench import plot as drawing
    from ...bench.experiments import Setting
    from ...bench.tables import FORMATS

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
