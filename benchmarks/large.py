"""``python -m benchmarks.large``: pictures that do not fit into memory, strip by strip and, where they fit, as a whole.

Makes a picture of each side in a folder, filters it by the command, and prints a table in Markdown: seconds, seconds of
the processor, and the most memory, as the system tells them of each process. Other programs have rows where they are
installed.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import numpy as np

ROWS = 64
FLATTEN = ["highpass", "--radius", "200px", "--shape", "gaussian", "--output", "keep"]
FILTERS = {
    "flatten, 200 px": FLATTEN,
    "the same, mirrored": [*FLATTEN, "--edges", "mirror"],
    "Butterworth": ["highpass", "--radius", "200px", "--shape", "butterworth", "--output", "keep"],
}
# Measures a command in a process of its own, whose parent is small: a child begins with its parent's memory.
MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, done.stdout]))
"""


def make_picture(file: Path, side: int) -> None:
    """Write a picture of waves and noise, a few rows of which are in memory."""
    x, noise = np.arange(side, dtype=np.float32), np.random.default_rng(0).normal(0, 12, (ROWS, side))
    with file.open("wb") as out:
        out.write(b"P5\n%d %d\n255\n" % (side, side))
        for top in range(0, side, ROWS):
            y = np.arange(top, min(top + ROWS, side), dtype=np.float32)[:, None]
            levels = 128 + 60 * np.sin(x / 170 + y / 500) + 40 * np.cos(y / 310 + x / 97)
            levels += np.roll(noise, top * 7919 % side, axis=1)[: len(y)]
            out.write(levels.clip(0, 255).astype(np.uint8).tobytes())


def row(name: str, side: int, command: list[str], limit: int | None = None) -> str:
    """Return the row of a command; ``limit`` is the address space that it may have, in bytes."""

    def limited() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True, preexec_fn=limited
    )
    seconds = perf_counter() - start
    import json

    code, processor, memory, said = json.loads(done.stdout)
    way = re.search(r"filtered in (.*?);", said)
    said = way[1] if way else "as a whole" if code == 0 else said.strip().splitlines()[-1][:60]
    said = re.sub(r" in /\S+", "", said)
    return f"| {side} x {side} | {name} | {said} | {memory / 1e3:,.0f} | {seconds:.1f} | {processor:.1f} |"


@click.command()
@click.option("--sides", default="8000,20000", help="The sides of the pictures.")
@click.option("--limit", default=2_048_000_000, help="The address space of what is filtered strip by strip, in bytes.")
@click.option("--folder", type=click.Path(exists=True), help="Where the pictures are made.")
def main(sides: str, limit: int, folder: str | None) -> None:
    """Print the table."""
    ours = [sys.executable, "-m", "fftfilter"]
    click.echo("| size | filter | way | MB | seconds | of the processor |\n| --- | --- | --- | ---: | ---: | ---: |")
    with TemporaryDirectory(dir=folder) as place:
        source, target = Path(place, "in.pgm"), Path(place, "out.tif")
        for side in map(int, sides.split(",")):
            make_picture(source, side)
            for name, words in FILTERS.items():
                click.echo(row(name, side, [*ours, *words, "--memory", f"{limit}", str(source), str(target)], limit))
                if side <= 20_000:
                    click.echo(row(name, side, [*ours, *words, str(source), str(target)]))
            if vips := shutil.which("vips"):
                script = (
                    f"{vips} mask_gaussian {place}/m.v {side} {side} {side / 200 / (side / 2)} 0.5 --reject && "
                    f"{vips} freqmult {source} {place}/m.v {place}/out.v"
                )
                click.echo(row("libvips freqmult", side, ["sh", "-c", script]))


if __name__ == "__main__":
    main()
