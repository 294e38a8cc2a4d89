"""``python -m benchmarks.volumes``: the same low-pass of a volume by this program and by other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import click
import numpy as np

from fftfilter.arrays import Array
from fftfilter.bench.measure import Setting
from fftfilter.device.launcher import Launcher
from fftfilter.filters.description import Description
from fftfilter.filters.gpu_volumes import GpuVolumePipeline
from fftfilter.output.ramp import Stack
from fftfilter.transfer import Transfer, lowpass

from .beside import CORES, CPU_NOTE, OURS, Call, Peer, Shape, on_host, table_of, timed
from .command import benchmark_command, main

GPU_NOTE = "Data stay on the device; cufft pair is cuFFT's forward and inverse alone, by PyTorch."
HOW = {"axes": 3, "output": "real", "edges": "wrap"}
ORDER = 2
# As a part of the frequency of the samples, for scikit-image: that of a low-pass by default.
CUTOFF = 1 / 16


@benchmark_command
@click.option("--side", "sides", type=int, multiple=True, help="Length of a volume, and half of its depth on a CPU.")
def command(setting: Setting, *, sides: tuple[int, ...]) -> None:
    """Time the same low-pass of a volume of floats by fftfilter and other libraries.

    Measures wall time, in turn, of the installed libraries: on a CPU SciPy and scikit-image; on a GPU PyTorch's cuFFT.

    \b
    Example: python -m benchmarks.volumes
             python -m benchmarks.volumes --side 512
    """
    volumes(setting, sides or (256, 512))


def volumes(setting: Setting, sides: tuple[int, ...]) -> None:
    """Measure the milliseconds of a low-pass at the default cutoff, and of a Butterworth's, of each library."""
    is_gpu, rng = setting.device.is_gpu, np.random.default_rng(1)
    title = "The same low-pass of a volume by fftfilter and its peers, float32 to float32"
    table = table_of(setting, title, ("size", "filter", "who"), GPU_NOTE if is_gpu else CPU_NOTE)
    for side in sides:
        shape = (side if is_gpu else side // 2, side, side)
        given, size = rng.random(shape, np.float32), " x ".join(map(str, shape[::-1]))
        butterworth = lowpass(f"{CUTOFF}cyc", shape="butterworth", order=ORDER)
        for name, transfer, libraries in (
            ("ideal", lowpass(), {"scipy": _scipy}),
            ("butterworth", butterworth, {"skimage": _skimage}),
        ):
            setting.progress(f"{size}, {name}: prepare")
            gain = gains(transfer, shape)
            wanted = np.fft.irfftn(np.fft.rfftn(given.astype(float)) * gain, s=shape, axes=(0, 1, 2))
            ours = partial(setting.filter(transfer, **HOW), given)
            peers = on_device(setting, given, transfer) if is_gpu else on_host(ours, libraries, given, gain)
            for who, cells in timed(setting, list(peers), wanted).items():
                table.put((size, name, who), pixels=given.size, **cells)


def gains(transfer: Transfer, shape: Shape) -> Array:
    """Return the gains of a low-pass for the half spectrum of volumes."""
    f = np.sqrt(
        np.fft.fftfreq(shape[0])[:, None, None] ** 2
        + np.fft.fftfreq(shape[1])[:, None] ** 2
        + np.fft.rfftfreq(shape[2]) ** 2
    )
    if "butterworth" in str(transfer):
        return np.asarray(1 / (1 + (f / CUTOFF) ** (2 * ORDER)), np.float32)
    return np.asarray(f < min(shape) / 8 / min(shape), np.float32)


def _scipy(given: Array, gain: Array) -> Call:
    fft = import_module("scipy.fft")

    def call() -> Array:
        spectrum = fft.rfftn(given, workers=CORES)
        spectrum *= gain
        return np.asarray(fft.irfftn(spectrum, s=given.shape, workers=CORES, overwrite_x=True))

    return call


def _skimage(given: Array, _: Array) -> Call:
    butterworth = import_module("skimage.filters").butterworth
    return partial(butterworth, given, CUTOFF, high_pass=False, order=ORDER)


def on_device(setting: Setting, given: Array, transfer: Transfer) -> Iterator[Peer]:
    """Yield this program and the bare transforms, on a volume that stays on the device."""
    launcher, real = Launcher(setting.device), np.dtype(np.float32)
    count, height, width = given.shape
    stack = Stack(count, height, width, real, real, None, one_scale=True)
    pipeline = GpuVolumePipeline(launcher, Description(transfer, HOW), stack)
    yield Peer(OURS, pipeline.enqueue, launcher.queue.finish, partial(pipeline.run, given))
    if find_spec("torch") is not None:
        import torch

        volume = torch.from_numpy(given).cuda()
        pair = partial(_pair, torch.fft, volume)
        yield Peer("cufft pair", pair, torch.cuda.synchronize)


def _pair(fft: object, volume: object) -> None:
    fft.irfftn(fft.rfftn(volume), s=volume.shape)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(command)
