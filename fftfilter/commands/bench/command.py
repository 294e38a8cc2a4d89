"""What makes a function a benchmark's command, and how it is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ... import startup
from ..shared.options import combined, device_option, verbose_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...bench.benchmark import Benchmark, Setting

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
    from ...bench import plot as diagram
    from ...bench.benchmark import Setting
    from ...bench.tables import FORMATS

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
