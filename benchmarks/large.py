"""``python -m benchmarks.large``: pictures that do not fit into memory, strip by strip and, where they fit, as a whole.

Makes a picture of each side in a folder, filters it by the command, and prints a table in Markdown: seconds, seconds of
the processor, and the most memory, as the system tells them of each process.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import numpy as np

from fftfilter.text import bytes_of

ROWS = 64
# The largest side that is filtered as a whole, too, and the least address space that libraries are content with.
AS_A_WHOLE, SMALLEST = 20_000, 1_000_000_000
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
    """Return the row of a command; ``limit`` is the memory of a large picture, which becomes that of its process."""

    def limited() -> None:
        if sys.platform != "win32" and limit and limit >= SMALLEST:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True, preexec_fn=limited
    )
    seconds = perf_counter() - start
    code, processor, memory, said = json.loads(done.stdout)
    way = re.search(r"filtered in (.*?);", said)
    said = way[1] if way else "as a whole" if code == 0 else said.strip().splitlines()[-1][:60]
    said = re.sub(r" in /\S+", "", said)
    return f"| {side} x {side} | {name} | {said} | {memory / 1e3:,.0f} | {seconds:.1f} | {processor:.1f} |"


@click.command()
@click.option("--sides", default="8000,20000", help="The sides of the pictures.")
@click.option("--memories", default="400MB,2GB", help="What strips may take, for each side.")
@click.option("--folder", type=click.Path(exists=True), help="Where the pictures are made.")
def main(sides: str, memories: str, folder: str | None) -> None:
    """Print the table."""
    ours = [sys.executable, "-m", "fftfilter"]
    click.echo("| size | filter | way | MB | seconds | of the processor |\n| --- | --- | --- | ---: | ---: | ---: |")
    with TemporaryDirectory(dir=folder) as place:
        source, target = Path(place, "in.pgm"), Path(place, "out.tif")
        for side, memory in zip(map(int, sides.split(",")), memories.split(","), strict=True):
            make_picture(source, side)
            for name, words in FILTERS.items():
                click.echo(
                    row(name, side, [*ours, *words, "--memory", memory, str(source), str(target)], bytes_of(memory))
                )
                if side <= AS_A_WHOLE:
                    click.echo(row(name, side, [*ours, *words, str(source), str(target)]))


if __name__ == "__main__":
    main()
