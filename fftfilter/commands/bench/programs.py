"""Whole programs from file to file: one picture, folders, clusters, the coding of PNG. Wall time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .group import experiment, run
from .options import folder_files, formats_option, size_option


@experiment
@size_option("512x512 to 4096x4096")
@click.option(
    "--image",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A picture to filter, mirrored until it fills each size.  [default: a drawn one]",
)
def start(*, shapes: tuple[tuple[int, int], ...], image: Path | None, **given: Any) -> None:
    """Time the command from start to end, beside a NumPy and Pillow script that does the same.

    Help, one PGM after another, the first use ever with empty caches, and the most memory that it takes.

    \b
    Example: fftfilter bench start
             fftfilter bench start --size 640x480 --image photo.jpg
    """
    from ...bench.start import start as prepare

    run(lambda setting: prepare(setting, shapes=shapes, image=image), **given)


@experiment
@click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    default="local",
    show_default=True,
    help="A cluster's scheduler, tcp://HOST:8786, or local to start one here.",
)
@formats_option
@click.option(
    "--side",
    "sides",
    type=click.IntRange(min=1),
    metavar="N",
    multiple=True,
    default=(512, 2048),
    show_default=True,
    help="Side of the square images; may be given several times.",
)
@click.option(
    "--tasks", type=click.IntRange(min=10), metavar="N", default=10_000, show_default=True, help="How many empty tasks."
)
@click.option(
    "--megapixels",
    type=click.IntRange(min=1),
    metavar="N",
    default=100,
    show_default=True,
    help="Of all files of a size together.",
)
def cluster(
    *, address: str, formats: tuple[str, ...], sides: tuple[int, ...], tasks: int, megapixels: int, **given: Any
) -> None:
    """Measure what a Dask cluster costs: tasks and images a second, bytes, memory.

    Its workers have to see this machine's folder for temporary files (TMPDIR).

    \b
    Example: fftfilter bench cluster --runs 3
             fftfilter bench cluster --cluster tcp://127.0.0.1:8786 --side 1024
    """
    from ...bench.cluster import cluster as costs

    pixels = megapixels * 1_000_000
    run(
        lambda setting: costs(setting, address=address, formats=formats, sides=sides, tasks=tasks, pixels=pixels),
        **given,
    )


@experiment
@click.option(
    "--files",
    callback=folder_files,
    metavar="COUNTxSIDE",
    multiple=True,
    default=("500x512", "60x2048"),
    show_default=True,
    help="How many square pictures of which side; may be given several times.",
)
@formats_option
@click.option(
    "--png-level",
    type=click.IntRange(0, 9),
    default=1,
    show_default=True,
    metavar="0-9",
    help="Of every program's output.",
)
def folder(*, files: tuple[tuple[int, int], ...], formats: tuple[str, ...], png_level: int, **given: Any) -> None:
    """Time the filter of a folder beside other programs and bare coding, whole commands in one interleaved run.

    Those that are installed: NumPy with Pillow and OpenCV in pools of processes, ImageMagick, G'MIC. The files lie in
    the folder for temporary ones; TMPDIR=/dev/shm measures without a disk.

    \b
    Example: fftfilter bench folder --runs 3
             fftfilter bench folder --files 100x256 --format pgm
    """
    from ...bench.folder_race import Files, folder_race

    wanted = [Files(count, side, kind) for count, side in files for kind in formats]
    run(lambda setting: folder_race(setting, files=wanted, level=png_level), **given)


@experiment
@click.option(
    "--side",
    type=click.IntRange(min=1),
    metavar="N",
    default=512,
    show_default=True,
    help="Side of the square pictures.",
)
def png_levels(*, side: int, **given: Any) -> None:
    """Time and size of high-passed photographs for each --png-level, and Pillow's beside them.

    \b
    Example: fftfilter bench png-levels
    """
    from ...bench.png_levels import png_levels as levels

    run(lambda setting: levels(setting, side=side), **given)
