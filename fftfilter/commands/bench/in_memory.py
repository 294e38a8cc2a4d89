"""The fused engine on pictures in memory: beside other libraries, as a stream, tuned. Wall time."""

from __future__ import annotations

from typing import Any

import click

from .group import experiment, run
from .options import size_option


@experiment
@size_option("all with a target")
@click.option("--radius", metavar="R", help="Of the high-pass, as highpass takes it.  [default: n/8]")
def peers(*, shapes: tuple[tuple[int, int], ...], radius: str | None, **given: Any) -> None:
    """Time this filter and other libraries on the same job, in one interleaved run.

    Those that are installed: on the CPU NumPy, SciPy, pyFFTW, mkl_fft, OpenCV, PyTorch; on a GPU CuPy with planned
    cuFFT, cuFFT alone, PyTorch, VkFFT. Wall time. pip install 'fftfilter[peers]' brings those of the CPU.

    \b
    Example: fftfilter bench peers
             fftfilter bench peers --size 640x480 --radius 50%
    """
    from ...bench.race import race

    run(lambda setting: race(setting, shapes=[(1, *shape) for shape in shapes], radius=radius), **given)


@experiment
@size_option("512x512 to 8192x8192")
def stream(*, shapes: tuple[tuple[int, int], ...], **given: Any) -> None:
    """Time a stream of images beside copying in, filtering and copying out alone.

    On a GPU the three overlap: a stream should take no longer than the slowest of them. Wall time.

    \b
    Example: fftfilter bench stream
             fftfilter bench stream --size 1920x1080
    """
    from ...bench.overlap import overlap

    run(lambda setting: overlap(setting, shapes=[(1, *shape) for shape in shapes]), **given)


@experiment
@size_option("several from 512x512 to 4096x4096")
@click.option("--count", type=click.IntRange(min=1), metavar="N", default=1, show_default=True, help="Images a stack.")
def tune(*, shapes: tuple[tuple[int, int], ...], count: int, **given: Any) -> None:
    """Find what is faster on this device than the defaults, and remember it for the filters.

    Choices that leave every bit of the result as it is: how many transforms share a work-group on a GPU, how strips
    are read on a CPU. Kept in the cache folder by device, driver, version and size.

    \b
    Example: fftfilter bench tune
             fftfilter bench tune --size 1920x1080 --count 4
    """
    from ...bench import tune as tuning

    run(lambda setting: tuning.tune(setting, shapes=[(count, *shape) for shape in shapes]), **given)
