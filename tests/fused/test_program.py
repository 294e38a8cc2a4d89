"""The programs of the CPU form: the first size's own, and the one for any size."""

from __future__ import annotations

import numpy as np

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from tests.fused.helpers import assert_as_the_reference, noise, stack_of

HIGH = H.highpass()


def unused(launcher):
    """The same device, for which nothing was built yet."""
    return Launcher(Device(0, launcher.device.cl_device))


def fused(launcher, image):
    return FusedCpuPipeline(launcher, HIGH, stack_of(image)).run(image)


def test_the_first_size_gets_the_pixels_that_it_gets_later(cpu):
    """8, 4 and 11, and 3, 5, 7 and 13: 11 and 13, which are written out for the first size, are a loop for others."""
    image = noise((1, 352, 1365))
    first, later = unused(cpu), unused(cpu)
    fused(later, noise((1, 8, 8)))
    result = fused(first, image)
    assert_as_the_reference(result, image, HIGH)
    np.testing.assert_array_equal(fused(later, image), result)


def test_many_sizes_are_two_programs(cpu):
    device = unused(cpu)
    rng = np.random.default_rng(7)
    for height, width in ((8, 8), *rng.integers(1, 200, (60, 2))):
        image = noise((1, height, width))
        assert_as_the_reference(fused(device, image), image, HIGH)
    assert device.device._build.cache_info().currsize == 2
