"""``bench transforms``."""

from __future__ import annotations

from typing import Any

from .command import benchmark_command, run
from .options import size_option


@benchmark_command
@size_option("six sizes on a CPU, seven on a GPU")
def transforms(*, shapes: tuple[tuple[int, int], ...], **given: Any) -> None:
    """Time bare transforms by this program and by other libraries, in turn.

    fft2, ifft2, rfft2, irfft2, and fft of rows, of single precision. Those that are installed take part: NumPy, SciPy,
    pyFFTW, mkl_fft, PyTorch on the CPU; planned cuFFT by CuPy on a GPU, on data that stay there. Wall time.

    \b
    Example: fftfilter bench transforms
             fftfilter bench transforms --size 1531x1021
    """
    from ...bench.peers.transforms import transforms as prepare

    run(lambda setting: prepare(setting, shapes=[(1, *shape) for shape in shapes]), **given)
