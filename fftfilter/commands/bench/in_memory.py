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
