"""Filters small images on Oclgrind: what test_oclgrind.py starts, in a process of its own.

    python oclgrind_run.py cpu | cpu-workers | gpu | one-launch

Every result is held to the reference. Oclgrind writes its reports to stderr.
"""

from __future__ import annotations

import sys

import numpy as np

from fftfilter import transfer as H
from fftfilter.device.choice import choose
from fftfilter.device.launcher import Launcher
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.long import LongPlan
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.plan import plan
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.output.ground import deviation
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.scale import Auto
from fftfilter.output.stack import Stack
from fftfilter.transfer import reference

rng = np.random.default_rng(3)
launcher = Launcher(choose("oclgrind"))


def check(make, transfer, shape, dtype="uint8", *, real=False, histogram=False):
    """Filter random pixels, and raise unless the result is within a level of the reference."""
    white = 1 if dtype == "float32" else 255
    pixels = (rng.random(shape) * white).astype(dtype)
    if len(pixels) > 1:
        pixels[1] = 0.1 * white  # nothing but rounding noise is left of it
    out = np.dtype("float32" if real else dtype)
    pipeline = make(launcher, transfer, Stack(*shape, pixels.dtype, out, None if real else white))
    got = pipeline.run(pixels)
    gain = transfer.gain(*shape[1:])
    for image, result in zip(pixels, got, strict=True):
        if real:
            assert np.abs(result - reference.filtered(image, gain).real).max() <= 1e-3, (shape, transfer)
        else:
            wanted = reference.filter_image(image, gain, dtype, white)
            assert np.abs(result.astype(float) - wanted).max() <= 1, (shape, transfer)
    if histogram:
        pipeline.run(pixels, ByHistogram("signed", Auto(50), out, white))
        assert pipeline.clipped()[0] > 0.3


def cpu():
    """All files of the CPU form, every kind of pixel, shape and output."""

    def make(launcher, transfer, stack):
        return FusedCpuPipeline(launcher, transfer, stack, lanes=4)

    high = H.highpass(2)
    check(make, high, (1, 1, 1))
    check(make, high, (2, 9, 13), histogram=True)
    check(make, high, (1, 4, 67))
    check(make, H.lowpass(2), (1, 67, 8), real=True)
    check(make, H.lowpass(2), (1, 80, 9), "uint16")
    check(make, H.highpass(2, shape="butterworth"), (1, 7, 80), "float32")
    check(make, H.highpass(2, shape="gaussian"), (2, 6, 9), real=True)
    check(make, H.mask(high.gain(6, 9)), (1, 6, 9))


def cpu_workers():
    """The CPU form shared by two workers, which take tasks and wait for each other."""

    def make(launcher, transfer, stack):
        return FusedCpuPipeline(launcher, transfer, stack, lanes=4, workers=2)

    check(make, H.highpass(2), (2, 9, 13), histogram=True)
    check(make, H.lowpass(2), (1, 16, 40))
    check(make, H.lowpass(2), (1, 67, 8), real=True)


def gpu():
    """In one step, then in rounds through local memory, then in two steps."""
    sizes = {10**4: ((10, 6), (3, 17)), 80: ((32, 1), (17, 1)), 5: ((12, 16), (15, 1), (3, 15), (11, 11))}
    for numbers, shapes in sizes.items():
        limits = Limits(local_bytes=4 * numbers + RESERVED_BYTES, group_wanted=4)

        def make(launcher, transfer, stack, limits=limits):
            return FusedGpuPipeline(launcher, transfer, stack, limits=limits)

        for height, width in shapes:
            planned = plan(height, width, limits)
            is_long = [isinstance(side, LongPlan) for side in (planned.rows, planned.columns)]
            assert any(is_long) == (numbers < max(height, width)), (height, width)
            check(make, H.highpass(), (2, height, width))
    check(make, H.highpass(), (2, 11, 11), real=True)
    check(make, H.highpass(), (2, 3, 17), histogram=True)
    ramp = np.arange(2 * 300, dtype=np.uint16).reshape(2, 20, 15)
    pipeline = FusedGpuPipeline(launcher, H.highpass(), Stack(*ramp.shape, ramp.dtype, ramp.dtype, 65535))
    pipeline.run(ramp)
    assert (pipeline.deviations() == deviation(ramp)).all()


def one_launch():
    """All steps in one launch."""

    def make(launcher, transfer, stack):
        made = FusedGpuPipeline(launcher, transfer, stack, limits=Limits(group_wanted=4), one_launch=True)
        assert made.launch_count == 1
        return made

    check(make, H.highpass(), (2, 10, 10))


{"cpu": cpu, "cpu-workers": cpu_workers, "gpu": gpu, "one-launch": one_launch}[sys.argv[1]]()
sys.stdout.write("all done\n")
