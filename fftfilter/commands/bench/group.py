"""The group of the benchmarks' commands."""

from __future__ import annotations

import click

from . import papers, peers


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


for module in (papers, peers):
    for command in vars(module).values():
        if isinstance(command, click.Command):
            bench.add_command(command)
