"""``python -m benchmarks.large``: pictures that do not fit into memory, strip by strip and, where they fit, as a whole.

Makes a picture of each side in a folder, filters it by the command, and prints a table in Markdown: seconds, seconds of
the processor, and the most memory, as the system tells them of each process.

``--devices gpu,cpu`` prints a row for each device in place of a limited address space and of the whole.

``python -m benchmarks.large --others PYTHON --sides 8000`` prints a table of a low-pass by others: vips, gmt and
convert where they are installed, and Dask in the environment of this Python. Masks and other formats that they need are
made before, and the result is compared with the command's.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import numpy as np

from fftfilter.text import bytes_of

ROWS = 64
DASK = Path(__file__).parent / "by_others" / "dask_in_chunks.py"
# The largest side that is filtered as a whole, too, and the least address space that libraries are content with.
AS_A_WHOLE, SMALLEST = 20_000, 1_000_000_000
FLATTEN = ["highpass", "--radius", "200px", "--shape", "gaussian", "--output", "keep"]
FILTERS = {
    "flatten, 200 px": FLATTEN,
    "the same, mirrored": [*FLATTEN, "--edges", "mirror"],
    "Butterworth": (butterworth := ["highpass", "--radius", "200px", "--shape", "butterworth", "--output", "keep"]),
    "Butterworth, mirrored": [*butterworth, "--edges", "mirror"],
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


def measured(command: list[str], limit: int | None = None) -> tuple[str, str]:
    """Return the way of a command, in words, and its columns; ``limit`` becomes the memory of its process."""

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
    return said, f"{memory / 1e3:,.0f} | {seconds:.1f} | {processor:.1f} |"


def row(name: str, side: int, command: list[str], limit: int | None = None) -> str:
    """Return the row of a command for a picture of a side."""
    return f"| {side} x {side} | {name} | {' | '.join(measured(command, limit))}"


def by_others(source: Path, side: int, python: str, ours: list[str]) -> Iterator[str]:
    """Yield the rows of a Gaussian low-pass of 200 px by others; last is the largest difference, in levels."""
    folder = source.parent
    names = (
        "our.pgm",
        "strips.pgm",
        "mask.v",
        "vips.pgm",
        "in.nc",
        "gmt.nc",
        "mask.pgm",
        "magick.pgm",
        "dask.npy",
        "raw",
    )
    our, strips, mask, vips, grid, gmt, gains, magick, dask, raw = (str(folder / name) for name in names)
    soft = [*ours, "lowpass", "--shape", "gaussian", "--radius", "200px", "--output", "keep"]
    grdfft = ["gmt", "grdfft", grid, f"-G{gmt}", "-F-/200", "-Nf+l"]
    fft = ["convert", str(source), "-fft", "(", "-clone", "0", gains, "-compose", "multiply", "-composite", ")"]
    commands = {
        "fftfilter": ([*soft, str(source), our], our, []),
        "fftfilter --memory 400MB": ([*soft, "--memory", "400MB", str(source), strips], strips, []),
        "vips freqmult": (
            ["vips", "freqmult", str(source), mask, vips],
            vips,
            [["vips", "mask_gaussian", mask, str(side), str(side), "0.01", "0.5", "--reject"]],
        ),
        "gmt grdfft": (
            grdfft,
            gmt,
            [["gmt", "xyz2grd", raw, f"-G{grid}", f"-R0/{side - 1}/0/{side - 1}", "-I1", "-ZTLu"]],
        ),
        "convert -fft (ImageMagick)": (
            [*fft, "-swap", "0,2", "+delete", "-ift", magick],
            magick,
            [["vips", "mask_gaussian", gains, str(side), str(side), "0.01", "0.5", "--reject", "--optical", "--uchar"]],
        ),
        "Dask, in chunks": ([python, str(DASK), str(source), dask, "200"], dask, []),
    }
    Path(raw).write_bytes(source.read_bytes()[-side * side :])
    for name, (command, made, before) in commands.items():
        if shutil.which(command[0]):
            for each in before:
                subprocess.run(each, check=True, stdout=subprocess.DEVNULL)
            said, columns = measured(command)
            said = f"{largest_difference(Path(made), Path(our), side):.1f}" if Path(made).exists() else said
            yield f"| {side} x {side} | {name} | {columns} {said} |"


def largest_difference(made: Path, our: Path, side: int) -> float:
    """Return by how many levels a result differs from the command's at most."""
    if made.suffix == ".nc":
        subprocess.run(f"gmt grd2xyz {made} -ZTLf > {made}.raw", shell=True, check=True)  # noqa: S602
        values = np.fromfile(f"{made}.raw", np.float32)
    else:
        values = np.load(made) if made.suffix == ".npy" else np.frombuffer(made.read_bytes()[-side * side :], np.uint8)
    wanted = np.frombuffer(our.read_bytes()[-side * side :], np.uint8)
    return float(np.abs(values.ravel().astype(np.float32) - wanted).max())


@click.command()
@click.option("--sides", default="8000,20000", help="The sides of the pictures.")
@click.option("--memories", default="400MB,2GB", help="What strips may take, for each side.")
@click.option("--folder", type=click.Path(exists=True), help="Where the pictures are made.")
@click.option("--devices", default="", help="Devices, a row for each of them, such as gpu,cpu.")
@click.option("--others", help="The Python of an environment with Dask: prints the table of other programs.")
def main(sides: str, memories: str, folder: str | None, devices: str, others: str | None) -> None:
    """Print the table."""
    ours = [sys.executable, "-m", "fftfilter"]
    if others:
        click.echo(f"| size | program | MB | seconds | of the processor | levels |\n| --- | --- |{' ---: |' * 4}")
        python = os.path.abspath(others)  # noqa: PTH100  links to an environment's Python stay
        with TemporaryDirectory(dir=folder) as place, chdir(place):  # GMT writes a history where it runs
            for side in map(int, sides.split(",")):
                make_picture(source := Path(place, "in.pgm"), side)
                for line in by_others(source, side, python, ours):
                    click.echo(line)
        return
    click.echo("| size | filter | way | MB | seconds | of the processor |\n| --- | --- | --- | ---: | ---: | ---: |")
    with TemporaryDirectory(dir=folder) as place:
        source, target = Path(place, "in.pgm"), Path(place, "out.tif")
        for side, memory in zip(map(int, sides.split(",")), memories.split(","), strict=False):
            make_picture(source, side)
            for name, words in FILTERS.items():
                files = [str(source), str(target)]
                for device in filter(None, devices.split(",")):  # a GPU's driver takes no limit of the address space
                    click.echo(row(name, side, [*ours, *words, "--memory", memory, "--device", device, *files]))
                if devices:
                    continue
                click.echo(row(name, side, [*ours, *words, "--memory", memory, *files], bytes_of(memory)))
                if side <= AS_A_WHOLE:
                    click.echo(row(name, side, [*ours, *words, str(source), str(target)]))


if __name__ == "__main__":
    main()
