"""The command line of the soak."""

from __future__ import annotations

import random
import sys
import time

import click

from fftfilter.system import cores
from tests.soak.cases import ROUND
from tests.soak.rounds import soak, summary


@click.command()
@click.option("--minutes", type=float, default=1.0, show_default=True, help="How long.")
@click.option("--case", type=int, metavar="SEED", help="Do one case, and say what was compared.")
@click.option("--first", type=int, metavar="SEED", help="Where to begin.  [default: anywhere]")
@click.option("--processes", type=click.IntRange(min=1), default=cores(), help="Side by side.  [default: one a core]")
@click.option("--threads/--no-threads", default=True, help="Whether threads share a filter, in one case of eight.")
def command(*, minutes: float, case: int | None, first: int | None, processes: int, threads: bool) -> None:
    """Compare random cases with the float64 reference; the exit code is 1 if one is wrong."""
    if case is not None:
        results = [next(soak(time.monotonic() + 1, case, 1, threads))]
        click.echo(f"{results[0].case}\n{results[0].said}")
    else:
        first = random.SystemRandom().randrange(10**6) * ROUND if first is None else first
        began = time.monotonic()
        results = []
        for result in soak(began + 60 * minutes, first, processes, threads):
            results.append(result)
            if not result.is_right:
                option = "" if threads else " --no-threads"
                click.echo(f"python -m tests.soak --case {result.seed}{option}  # {result.case}: {result.said}")
        click.echo("\n".join(summary(results, time.monotonic() - began)))
    sys.exit(not all(result.is_right for result in results))


if __name__ == "__main__":
    command()
