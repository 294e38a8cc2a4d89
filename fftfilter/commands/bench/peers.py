"""Beside other libraries: ``bench peers``, ``transforms``."""

from __future__ import annotations

from typing import Any

import click

from .command import benchmark_command, run
from .options import size_option


@benchmark_command
@size_option("seven sizes on a CPU, eleven on a GPU")
@click.option("--radius", metavar="R", help="Radius of the high-pass, as highpass takes it.  [default: n/8]")
def peers(*, shapes: tuple[tuple[int, int], ...], radius: str | None, **given: Any) -> None:
    """Time the same high-pass by this program and by other libraries, in turn.

    Those that are installed take part: NumPy, SciPy, pyFFTW, mkl_fft, OpenCV, PyTorch on the CPU; CuPy with planned
    cuFFT, the same as a CUDA graph, cuFFT alone, PyTorch, VkFFT on a GPU. Wall time. The extra "peers" of this package
    has those for the CPU.

    \b
    Example: fftfilter bench peers
             fftfilter bench peers --size 640x480 --radius 50%
    """
    from ...bench.peers.table import peers as prepare

    run(lambda setting: prepare(setting, shapes=[(1, *shape) for shape in shapes], radius=radius), **given)


@benchmark_command
@size_option("six sizes on a CPU, seven on a GPU")
def transforms(*, shapes: tuple[tuple[int, int], ...], **given: Any) -> None:
    """Time plain FFTs by this program and by other libraries, in turn.

    fft2, ifft2, rfft2, irfft2, and fft of rows, of single precision. Those that are installed take part: NumPy, SciPy,
    pyFFTW, mkl_fft, PyTorch on the CPU; planned cuFFT by CuPy on a GPU, on data that stay there. Wall time.

    \b
    Example: fftfilter bench transforms
             fftfilter bench transforms --size 1531x1021
    """
    from ...bench.peers.transforms import transforms as prepare

    run(lambda setting: prepare(setting, shapes=[(1, *shape) for shape in shapes]), **given)
