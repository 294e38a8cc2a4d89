"""``python -m benchmarks.volume --side 2048 --memory 4GB``: a volume from an OME-Zarr, larger than memory.

Makes a cube of uint16 in a folder, filters it by the command (a low-pass at the default cutoff, mirrored edges), and
prints a row in Markdown. Six of its rows are compared with what becomes of the waves that it is made of, in float64.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
import zarr
from numpy.typing import NDArray

from .large import measured

Values = NDArray[np.float64]

CHUNK = 64, 256, 256
WORDS = ["lowpass", "--axes", "zyx", "--output", "keep", "--edges", "mirror"]


def waves(side: int) -> list[tuple[float, Values, Values, Values]]:
    """Return the terms of which the volume is a sum: products of a factor and of functions of x, y and z."""
    n, one = np.arange(side, dtype=float), np.ones(side)
    dither = n * 7919 % 64 - 0.5 + 20000  # less what is cut off, in the mean
    return [
        (9000, np.sin(n / 170), np.cos(n / 500), np.cos(n / 57)),
        (9000, np.cos(n / 170), np.sin(n / 500), np.cos(n / 57)),
        (6000, np.cos(n / 97), np.cos(n / 31), one),
        (-6000, np.sin(n / 97), np.sin(n / 31), one),
        (1, dither, one, one),
    ]


def make_volume(folder: Path, side: int) -> None:
    """Write the volume, a layer of chunks at a time."""
    group = zarr.create_group(folder)
    array = group.create_array("0", shape=(side,) * 3, chunks=tuple(min(each, side) for each in CHUNK), dtype=np.uint16)
    for first in range(0, side, CHUNK[0]):
        part = np.full((min(CHUNK[0], side - first), side, side), 0.5, np.float32)
        for factor, x, y, z in waves(side):
            part += (factor * z[first : first + CHUNK[0], None, None] * y[:, None] * x).astype(np.float32)
        array[first : first + len(part)] = part.astype(np.uint16)
    level: dict[str, Any] = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 1]}]}
    image: dict[str, Any] = {"axes": [{"name": name, "type": "space"} for name in "zyx"], "datasets": [level]}
    group.attrs["ome"] = {"version": "0.5", "multiscales": [image]}


def largest_difference(folder: Path, side: int) -> float:
    """Return by how many levels rows of the result differ from the exact ones at most."""
    array, kept = zarr.open_array(folder / "0", mode="r"), np.arange(side // 4)
    room = (side // 4) ** 2 - kept[:, None] ** 2 - kept**2
    count = np.ceil(np.sqrt(np.maximum(room, 0))).astype(int)  # of frequencies along y below the cutoff
    cosines = np.cos(np.pi * (np.arange(side)[:, None] + 0.5) * kept / side)
    back = cosines * np.where(kept == 0, 1, 2) / side
    found = 0.0
    for z, y in ((0, 0), (side - 1, 5), (side // 2, side // 3), (63, side - 1), (64, side // 2), (side // 3, 17)):
        row = np.zeros(side)
        for factor, *parts in waves(side):
            across, down, along = (part @ cosines for part in parts)
            sums = np.r_[0, np.cumsum(down * back[y])]
            row += factor * (back @ (across * (sums[count] * (along * back[z])).sum(axis=1)))
        found = max(found, float(np.abs(np.asarray(array[z, y], float) - row).max()))
    return found


@click.command()
@click.option("--side", default=512, help="That of the cube.")
@click.option("--memory", default="400MB", help="What the command may take.")
@click.option("--folder", type=click.Path(exists=True), help="Where the volume is made.")
def main(side: int, memory: str, folder: str | None) -> None:
    """Print the row."""
    with TemporaryDirectory(dir=folder) as place:
        source, target = Path(place, "in.zarr"), Path(place, "out.zarr")
        make_volume(source, side)
        words = [sys.executable, "-m", "fftfilter", *WORDS, "--memory", memory, str(source), str(target)]
        way, columns = measured(words)
        click.echo(
            "| side | way | MB | seconds | of the processor | levels |\n| ---: | --- | ---: | ---: | ---: | ---: |"
        )
        click.echo(f"| {side} | {way} | {columns} {largest_difference(target, side):.2f} |")


if __name__ == "__main__":
    main()
