"""Filters small images on Oclgrind: what test_oclgrind.py starts, in a process of its own.

    python oclgrind_run.py cpu | cpu-workers | gpu | one-launch

Every result is held to the reference. Oclgrind writes its reports to stderr.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.fused import Shape
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.cpu.plain_fft import CpuTransform
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.plain_fft import GpuTransform
from fftfilter.fused.gpu.plan import LongPlan, plan
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto
from fftfilter.output.ramp import Stack
from fftfilter.output.rounding import deviation, most_undecided
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with

rng = np.random.default_rng(3)
launcher = Launcher(choose("oclgrind"))


def check(
    make, transfer, shape, dtype="uint8", *, real=False, edges="wrap", histogram=False, one_scale=False, again=False
):
    """Filter random pixels, and raise unless the result is within a level of the reference; ``again`` others, too."""
    white = 1 if dtype == "float32" else 255
    pixels = (rng.random(shape) * white).astype(dtype)
    if len(pixels) > 1:
        pixels[1] = 0.1 * white  # nothing but rounding noise is left of it
    out = np.dtype("float32" if real else dtype)
    pipeline = make(launcher, transfer, Stack(*shape, pixels.dtype, out, None if real else white, one_scale=one_scale))
    gain = grid_with(edges, transfer, *shape[1:]).gain()
    if again:
        pipeline.run(pixels[::-1])
    got = pipeline.run(pixels)
    for image, result in zip(pixels[None], got[None], strict=True) if one_scale else zip(pixels, got, strict=True):
        if real:
            assert np.abs(result - reference.filtered(image, gain, edges).real).max() <= 1e-3, (shape, transfer)
        else:
            wanted = reference.filter_image(image, gain, dtype, white, edges)
            assert np.abs(result.astype(float) - wanted).max() <= 1, (shape, transfer)
    if histogram:
        pipeline.run(pixels, ByHistogram("signed", Auto(50), out, white))
        assert pipeline.facts().clipped[0] > 0.3


def check_plain_fft(make, data, along, shape, **how):
    """Transform random numbers, and raise unless the result is that of numpy.fft."""
    wanted_shape = Shape(data, along, *shape, half=data != "complex" and along == "both", **how)
    given = rng.standard_normal(wanted_shape.source).astype(np.float32)
    source = given if data == "real" else (given + 1j * given[::-1, ::-1]).astype(np.complex64)
    made, _ = make(launcher, wanted_shape).run(source)
    if along == "both":
        function = {"complex": np.fft.fft2, "real": np.fft.rfft2, "values": np.fft.irfft2}[data]
        more = {"s": shape[1:], "norm": "forward"} if data == "values" else {}
        wanted = function(source, **more)
    else:
        wanted = np.fft.fft(source, axis=2 if along == "rows" else 1)
    assert np.abs(made - wanted).max() <= 1e-4 * np.abs(wanted).max(), wanted_shape


def cpu():
    """All files of the CPU form, every kind of pixel, shape and output."""

    def make(launcher, transfer, stack):
        return FusedCpuPipeline(launcher, transfer, stack, lanes=4)

    high = H.highpass(2)
    check(make, high, (1, 4, 67))
    check(make, high, (1, 1, 1))
    check(make, high, (2, 9, 13), histogram=True)
    check(make, H.lowpass(2), (1, 67, 8), real=True)
    check(make, H.lowpass(2), (1, 80, 9))
    check(make, H.lowpass(2), (1, 4, 16), "uint16")
    check(make, H.highpass(2, shape="butterworth"), (1, 7, 80))
    check(make, H.highpass(2, shape="butterworth"), (1, 4, 16), "float32")
    check(make, H.highpass(2, shape="gaussian"), (2, 6, 9), real=True)
    check(make, H.mask(high.gain(6, 9)), (1, 6, 9))

    make_mirrored = partial(FusedCpuPipeline, lanes=4, edges="mirror")
    check(make_mirrored, high * H.notch((0.2, 0.1)), (1, 67, 5), edges="mirror")
    check(make_mirrored, high * H.notch((0.2, 0.1)), (1, 4, 67), edges="mirror")
    check(make_mirrored, high, (1, 1, 1), edges="mirror")
    check(make_mirrored, high, (2, 9, 13), edges="mirror")

    def transform(launcher, shape):
        return CpuTransform(launcher, shape, lanes=4)

    def matrix(launcher, shape):
        return CpuTransform(launcher, shape, sides=(4, 5), lanes=4)

    for shape in ((1, 67, 8), (1, 1, 1), (2, 9, 13)):
        for data in ("complex", "real", "values"):
            check_plain_fft(transform, data, "both", shape)
            if data != "values" and shape[0] == 1:
                check_plain_fft(transform, data, "rows", shape)
                check_plain_fft(transform, data, "columns", shape)
    check_plain_fft(matrix, "complex", "rows", (1, 2, 20))


def cpu_workers():
    """The CPU form shared by two workers, which take tasks and wait for each other."""

    def make(launcher, transfer, stack):
        return FusedCpuPipeline(launcher, transfer, stack, lanes=4, workers=2)

    # Each has a side with a large prime factor: one program serves them.
    check(make, H.highpass(2), (2, 9, 67), histogram=True)
    check(make, H.lowpass(2), (1, 67, 40))
    check(make, H.lowpass(2), (1, 67, 8), real=True)


def gpu():
    """In one step, then in rounds through local memory, then in two steps."""
    sizes = {10**4: ((10, 6), (3, 17)), 80: ((32, 1), (17, 1)), 5: ((12, 15), (11, 11))}
    for numbers, shapes in sizes.items():
        limits = Limits(local_bytes=4 * numbers + RESERVED_BYTES, group_wanted=4)

        def make(launcher, transfer, stack, limits=limits):
            return FusedGpuPipeline(launcher, transfer, stack, limits=limits)

        for height, width in shapes:
            planned = plan(height, width, limits)
            is_long = [isinstance(side, LongPlan) for side in (planned.rows, planned.columns)]
            assert any(is_long) == (numbers < max(height, width)), (height, width)
            check(make, H.highpass(), (2, height, width), histogram=(height, width) == (10, 6))
    check(make, H.highpass(), (2, 11, 11), real=True)
    # Real and imaginary parts of one half of a transform, then of the other
    for shape, edges in (((1, 64, 1), "mirror"), ((1, 31, 2), "wrap")):
        limits = Limits(local_bytes=4 * 50 + RESERVED_BYTES, group_wanted=4, convolutions=(64,))
        assert plan(*shape[1:], limits).columns.length_rounds == 2
        check(partial(FusedGpuPipeline, limits=limits, edges=edges), H.highpass(), shape, edges=edges)
    mirrored = partial(FusedGpuPipeline, edges="mirror")
    for transfer in (H.highpass(), H.highpass() * H.notch((0.2, 0.1))):
        check(mirrored, transfer, (2, 10, 7), edges="mirror")
    # The generic program, with its numbers in local and in global memory
    for numbers, shape, edges in ((10**4, (2, 10, 6), "mirror"), (100, (1, 17, 3), "wrap")):
        limits = Limits(local_bytes=4 * numbers + RESERVED_BYTES, group_wanted=8, group=32)
        generic = partial(FusedGpuPipeline, limits=limits, generic=True, edges=edges)
        check(generic, H.highpass() * H.notch((0.2, 0.1)), shape, edges=edges)
    for shape, kinds in (((2, 5, 9), ("complex", "real", "values")), ((1, 12, 10), ("real", "values"))):
        for data in kinds:
            check_plain_fft(GpuTransform, data, "both", shape)
    limits = Limits(local_bytes=4 * 5 + RESERVED_BYTES, group_wanted=4)
    check_plain_fft(partial(GpuTransform, limits=limits), "complex", "both", (2, 12, 15))
    # Rows whose spectra are half as long, beside each other in memory
    check_plain_fft(partial(GpuTransform, limits=Limits(group_wanted=2)), "real", "both", (2, 6, 9))
    ramp = np.arange(2 * 300, dtype=np.uint16).reshape(2, 20, 15)
    pipeline = FusedGpuPipeline(launcher, H.highpass(), Stack(*ramp.shape, ramp.dtype, ramp.dtype, 65535))
    pipeline.run(ramp)
    assert (pipeline.facts().deviations() == deviation(ramp)).all()
    # Whether so little is noise, a group asks in turns, as there are more pixels than work-items.
    faint = np.full_like(ramp, 7)
    faint[:, 17:] = 8
    wanted = [reference.filter_image(image, H.highpass().gain(20, 15), ramp.dtype, 65535) for image in faint]
    assert np.abs(pipeline.run(faint).astype(float) - wanted).max() <= 1


def one_launch():
    """All steps in one launch."""

    def make(launcher, transfer, stack, edges="wrap"):
        made = FusedGpuPipeline(launcher, transfer, stack, limits=Limits(group_wanted=4), one_launch=True, edges=edges)
        assert len(made._launches) == 1
        return made

    check(make, H.highpass(), (2, 10, 10), histogram=True, again=True)
    check(make, H.highpass(), (3, 10, 10), one_scale=True)
    check(partial(make, edges="mirror"), H.highpass("4px"), (2, 8, 8), edges="mirror")
    # Levels beside an edge are counted where values become pixels; white is beside none.
    pixels = ((rng.integers(1, 99, (1, 10, 10)) - 1 / 2048) / 255).astype(np.float32)
    pixels[:, ::2, ::2] = 1
    pipeline = make(launcher, H.lowpass("3cyc"), Stack(1, 10, 10, pixels.dtype, np.dtype("u1"), 255))
    pipeline.run(pixels)
    undecided = pipeline.facts().undecided[0] * most_undecided(pipeline.stack) / pixels.size
    assert 0.5 < undecided < 0.8, undecided


{"cpu": cpu, "cpu-workers": cpu_workers, "gpu": gpu, "one-launch": one_launch}[sys.argv[1]]()
sys.stdout.write("all done\n")
