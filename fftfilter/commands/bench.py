"""``bench``: the tables of papers, measured on this device."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from .. import system
from ..bench import papers
from .options import GroupedOption, device_option, precision_option, trace_option


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

        system.resume_collector()
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


for _function in (papers.stages, papers.radix, papers.sizes, papers.speedup, papers.engines):
    bench.add_command(benchmark_command(_function))
