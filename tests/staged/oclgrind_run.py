"""Filters small images and transforms short rows on Oclgrind: what test_oclgrind.py starts, in a process of its own.

    python oclgrind_run.py JOB

JOB is "pictures", for every pass, shape, pixel type and transpose; "engines", for every algorithm; or "damages": for
each of DAMAGES all kernels are broken before a single filter, and stderr names it first. Every other result is held to
the reference. Ends by printing which kernels were launched, as JSON; Oclgrind writes its reports to stderr.
"""

from __future__ import annotations

import json
import re
import sys

import numpy as np

import fftfilter
from fftfilter import transfer as H
from fftfilter.device import opencl
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.filters import Filter
from fftfilter.output.ramp import Stack
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import Runner, StagedPipeline
from fftfilter.staged.steps import TRANSPOSES
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES
from tests.helpers import COMMAND, assert_gray_levels, assert_transform, by_reference
from tests.variants import variants

DAMAGES = {
    "no barriers": (r"barrier\([^)]*\);", ""),
    "barriers for some": (r"barrier\([^)]*\);", r"if (get_local_id(0)) \g<0>"),
    "no bounds": (r"if \([^;{}]*>=[^;{}]*\)\s*return;", ""),
}

rng = np.random.default_rng(20261121)
launched = set()


def check_damages():
    """Filter by broken kernels: whatever comes of it, on a device that has built no others."""
    whole = opencl.source
    for damage, (pattern, replacement) in DAMAGES.items():
        opencl.source = lambda name: re.sub(pattern, replacement, whole(name))  # noqa: B023  called at once
        known = choose("oclgrind")
        device = Device(known.index, known.cl_device)
        sys.stderr.write(f"damage: {damage}\n")
        sys.stderr.flush()
        image = random_image("uint8", 1, 8, 8)
        stack = Stack(*image.shape, image.dtype, image.dtype, 255)
        StagedPipeline(Launcher(device), H.highpass(2), stack, algorithm=algorithms.load("book")).run(image)


def watch_launches():
    run, allocate = Runner.run, Launcher.allocate

    def recorded(runner, stages, names):
        stages = tuple(stages)
        run(runner, stages, names)
        launched.update((stage.source, stage.kernel) for stage in stages)

    def spoiled(launcher, size):
        """Fill a new buffer with NaN: what a kernel reads and none has written spoils the result."""
        buffer = allocate(launcher, size)
        launcher.write(buffer, np.full(size, 0xFF, np.uint8))
        return buffer

    Runner.run, Launcher.allocate = recorded, spoiled


def random_image(dtype, *shape):
    if dtype == "float32":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def check_filter(image, transfer, *, one_scale=False, **options):
    got = Filter(transfer, device="oclgrind", **(COMMAND | options))(image, channel_axis=0 if one_scale else None)
    white = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
    pictures = [image] if one_scale or image.ndim == 2 else image
    wanted = np.array([by_reference(each, transfer, image.dtype, white) for each in pictures])
    # Of 16-bit and float pixels, what they are as one of 255 levels.
    assert_gray_levels(got * (255.0 / white), wanted.reshape(image.shape) * (255.0 / white))


def check_pictures():
    for kind in PASSES:
        radii = (1, 3) if "band" in kind else (2,)
        check_filter(random_image("uint8", 8, 8), getattr(H, kind)(*radii), engine="book")
    for shape in SHAPES:
        check_filter(random_image("uint8", 8, 8), H.bandpass(1, 3, shape=shape), engine="book")
    check_filter(random_image("uint8", 6, 8), H.mask(H.highpass(2).gain(6, 8)), engine="book")
    for dtype in ("uint16", "float32"):
        check_filter(random_image(dtype, 8, 16), H.highpass(2), engine="book")
    # Several images, each on its own scale and all on one.
    check_filter(random_image("uint8", 3, 8, 8), H.lowpass(2), engine="book")
    check_filter(random_image("uint8", 3, 8, 8), H.highpass(2), engine="book", one_scale=True)


def check_precisions():
    for size in ((16, 8), (8, 7)):
        check_filter(random_image("uint8", *size), H.highpass(2), engine="book", precision="double")


def check_transposes():
    # Images of more than a tile, and of no whole number of them; several images.
    for turn in TRANSPOSES:
        check_filter(random_image("uint8", 10, 8), H.lowpass(2), transpose=turn, work_group_size=16)
        check_filter(random_image("uint8", 2, 8, 8), H.lowpass(2), transpose=turn)


def check_engine(name):
    # Work-groups of one, some that do not divide the rows; then a side that is Bluestein's.
    check_filter(random_image("uint8", 8, 4), H.highpass(2), engine=name, work_group_size=1)
    check_filter(random_image("uint8", 8, 4), H.highpass(2), engine=name, work_group_size=7)
    check_filter(random_image("uint8", 4, 7), H.highpass(2), engine=name)
    for options in variants(name):
        check_rows(name, options)


def check_rows(name, options):
    """Transform rows shorter and longer than a work-group, one way in single, the other in double precision."""
    for count, n in ((2, 2), (1, 128)):
        x = rng.standard_normal((count, n)) + 1j * rng.standard_normal((count, n))
        assert_transform(fftfilter.fft(x, algorithm=name, device="oclgrind", **options), np.fft.fft(x), n)
        back = fftfilter.ifft(x, algorithm=name, device="oclgrind", precision="double", **options)
        assert_transform(back, np.fft.ifft(x), n)


def main(job):
    watch_launches()
    if job == "damages":
        check_damages()
    elif job == "pictures":
        check_pictures()
        check_precisions()
        check_transposes()
    else:
        for name in algorithms.names():
            check_engine(name)
    sys.stdout.write(json.dumps(sorted(launched)))


if __name__ == "__main__":
    main(sys.argv[1])
