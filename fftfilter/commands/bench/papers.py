"""The papers' tables: steps, radices, sizes, speedup, engines. Times are OpenCL's events."""

from __future__ import annotations

from typing import Any

import click

from .group import experiment, run
from .options import power_of_two, size_option


@experiment
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="The FFT algorithm.")
@click.option(
    "--side", type=click.IntRange(min=1), metavar="N", default=512, show_default=True, help="Side of the square image."
)
@click.option(
    "--transpose",
    type=click.Choice(["tiled", "plain", "float4"]),
    help="How the picture is transposed.  [default: the engine's own]",
)
def stages(*, engine: str, side: int, transpose: str | None, **given: Any) -> None:
    """Time of each step against the work-group size (the book's Table 6.1).

    \b
    Example: fftfilter bench stages
             fftfilter bench stages --transpose plain --csv
    """
    from ...bench import experiments

    run(lambda setting: experiments.stages(setting, engine=engine, side=side, transpose=transpose), **given)


@experiment
@click.option(
    "--n",
    callback=power_of_two,
    metavar="N",
    default="2^24",
    show_default=True,
    help="Length of the transform, a power of two.",
)
def radix(*, n: int, **given: Any) -> None:
    """Time and Gflop/s of one long transform against the radix (Bainville).

    \b
    Example: fftfilter bench radix
             fftfilter bench radix --n 2^20 --plot radix.png
    """
    from ...bench import experiments

    run(lambda setting: experiments.radix(setting, n=n), **given)


@experiment
@click.option("--engine", metavar="NAME", default="book", show_default=True, help="The FFT algorithm.")
@click.option(
    "--largest",
    callback=power_of_two,
    metavar="N",
    default="4096",
    show_default=True,
    help="Largest size, a power of two; the first is 64.",
)
def sizes(*, engine: str, largest: int, **given: Any) -> None:
    """Time of transfers, N transforms of N, one of N^2, one 2-D of N x N (the stream paper's Table 1).

    \b
    Example: fftfilter bench sizes --engine pease
             fftfilter bench sizes --largest 1024 --json
    """
    from ...bench import experiments

    run(lambda setting: experiments.sizes(setting, engine=engine, largest=largest), **given)


@experiment
@click.option(
    "--n",
    callback=power_of_two,
    metavar="N",
    default="2^14",
    show_default=True,
    help="Length of the transform, a power of two.",
)
def speedup(*, n: int, **given: Any) -> None:
    """Speedup of p work-items over one on the same device (McCarthy).

    \b
    Example: fftfilter bench speedup --plot speedup.png
    """
    from ...bench import experiments

    run(lambda setting: experiments.speedup(setting, n=n), **given)


@experiment
@size_option("256x256, 512x512, 1000x750, 1024x1024", "256x256", "512x512", "1000x750", "1024x1024")
@click.option("--engine", "names", metavar="NAME", multiple=True, help="Only these; may be given several times.")
def engines(*, shapes: tuple[tuple[int, int], ...], names: tuple[str, ...], **given: Any) -> None:
    """Every engine on the same images, with the ratio to the fastest.

    \b
    Example: fftfilter bench engines
             fftfilter bench engines --size 640x480 --engine book --engine stockham
    """
    from ...bench import experiments

    run(lambda setting: experiments.engines(setting, shapes=shapes, names=names), **given)
