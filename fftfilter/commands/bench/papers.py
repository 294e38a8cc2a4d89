"""The papers' tables: ``bench stages``, ``radix``, ``sizes``, ``speedup``, ``engines``."""

from __future__ import annotations

from typing import Any

import click

from .command import benchmark_command, run
from .options import power_of_two, side_that_fits, size_option


@benchmark_command
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="FFT algorithm.")
@click.option(
    "--side",
    type=click.IntRange(min=1),
    callback=side_that_fits,
    metavar="N",
    default=512,
    show_default=True,
    help="Side of the square image.",
)
@click.option(
    "--transpose",
    type=click.Choice(["tiled", "plain", "float4"]),
    help="How the image is transposed.  [default: the engine's own]",
)
def stages(*, engine: str, side: int, transpose: str | None, **given: Any) -> None:
    """Time each step against the work-group size (the book's Table 6.1).

    \b
    Example: fftfilter bench stages
             fftfilter bench stages --transpose plain --csv
    """
    from ...bench.papers.stages import stages as prepare

    run(lambda setting: prepare(setting, engine=engine, side=side, transpose=transpose), **given)


@benchmark_command
@click.option(
    "--n",
    callback=power_of_two,
    metavar="N",
    default="2^24",
    show_default=True,
    help="Length of the transform, a power of two.",
)
def radix(*, n: int, **given: Any) -> None:
    """Time one long transform against the radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ...bench.papers.radix import radix as prepare

    run(lambda setting: prepare(setting, n=n), **given)


@benchmark_command
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="FFT algorithm.")
@click.option(
    "--largest",
    callback=power_of_two,
    metavar="N",
    default="4096",
    show_default=True,
    help="Largest size, a power of two; the first is 64.",
)
def sizes(*, engine: str, largest: int, **given: Any) -> None:
    """Time transfers, N transforms of N, one of N^2, one 2-D of N x N (the stream paper's Table 1).

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ...bench.papers.sizes import sizes as prepare

    run(lambda setting: prepare(setting, engine=engine, largest=largest), **given)


@benchmark_command
@click.option(
    "--n",
    callback=power_of_two,
    metavar="N",
    default="2^14",
    show_default=True,
    help="Length of the transform, a power of two.",
)
def speedup(*, n: int, **given: Any) -> None:
    """Time p work-items against one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ...bench.papers.speedup import speedup as prepare

    run(lambda setting: prepare(setting, n=n), **given)


@benchmark_command
@size_option("256x256, 512x512, 1000x750, 1024x1024", "256x256", "512x512", "1000x750", "1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only this engine; may be given several times.")
def engines(*, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...], **given: Any) -> None:
    """Time every engine on the same images.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine stockham
    """
    from ...bench.papers.engines import engines as prepare

    run(lambda setting: prepare(setting, shapes=shapes, names=names), **given)
