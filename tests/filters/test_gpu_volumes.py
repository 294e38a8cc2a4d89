"""Volumes by products of matrices on a device, as GPUs filter them: against NumPy in double precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.errors import TooLargeError
from fftfilter.filters.description import Description
from fftfilter.filters.gpu_volumes import MOST, GpuVolumePipeline
from fftfilter.filters.pipelines import ramps_of
from fftfilter.filters.volumes import VolumePipeline
from fftfilter.output.ramp import Gray, Stack
from fftfilter.plain import NumPyDevice, NumPyLauncher
from tests.helpers import assert_gray_levels

# Axes of one and of two tiles, with lines that end in the middle of one.
SHAPE = 70, 33, 66
FILTERS = [
    H.lowpass("5px"),
    H.highpass("7px", shape="butterworth"),
    H.lowpass("4px", shape="gaussian") * H.highpass("9px"),
    H.lowpass("6px", shape="gaussian").with_depth(6.0),
]


def of_volume(given, out, white):
    return Stack(*given.shape, given.dtype, np.dtype(out), white, one_scale=True)


def described(transfer, axes, edges, output, scale=None):
    return Description(transfer, {"axes": axes, "edges": edges, "output": output, "scale": scale})


def in_double(about, given):
    stack = replace(of_volume(given, np.float64, None), pixel=np.dtype(np.float64))
    return VolumePipeline(NumPyLauncher(NumPyDevice(), precision="double"), about, stack).run(given.astype(np.float64))


@pytest.mark.parametrize(("axes", "edges"), [(3, "wrap"), (3, "mirror"), ("t", "mirror")])
def test_values_are_those_of_double_precision(launcher, axes, edges, rng):
    given = rng.random(SHAPE).astype(np.float32)
    for transfer in FILTERS:
        about = described(transfer, axes, edges, "real")
        made = GpuVolumePipeline(launcher, about, of_volume(given, np.float32, None)).run(given)
        np.testing.assert_allclose(made, in_double(about, given), atol=2e-6, err_msg=str(transfer))


@pytest.mark.parametrize(
    ("output", "scale"), [("magnitude", None), ("signed", None), ("magnitude", (10, 90)), ("keep", None)]
)
def test_pixels_are_those_of_the_host(launcher, output, scale, rng):
    smooth = np.add.outer(np.add.outer(np.arange(24.0) ** 2, 3 * np.arange(22.0)), np.arange(26.0) * 2)
    given = (smooth / 4 + rng.random(smooth.shape) * 20).astype(np.uint8)
    about = described(H.highpass("7px", shape="gaussian"), 3, "mirror", output, scale)
    stack = of_volume(given, np.uint8, 255)
    ramps = ramps_of(about, np.zeros(1, np.int32).tobytes(), Gray(255, given.dtype, 255), given.size)
    here, there = GpuVolumePipeline(launcher, about, stack), VolumePipeline(NumPyLauncher(NumPyDevice()), about, stack)
    made, wanted = here.run(given, ramps), there.run(given, ramps)
    assert made.std() > 1
    assert_gray_levels(made, wanted)
    mine, other = here.facts(), there.facts()
    np.testing.assert_allclose(mine.extremes, other.extremes, rtol=1e-5)
    np.testing.assert_allclose(mine.clipped, other.clipped, atol=1e-3)
    np.testing.assert_allclose(mine.deviations(), other.deviations(), rtol=1e-6)


def test_what_is_filtered_away_is_no_noise(launcher):
    given = np.full((9, 10, 11), 77, np.uint8)
    about = described(H.highpass("5px"), 3, "wrap", "magnitude")
    assert not GpuVolumePipeline(launcher, about, of_volume(given, np.uint8, 255)).run(given).any()


def test_double_precision_is_exact_to_its_digits(launcher, rng):
    if not launcher.device.fp64:
        pytest.skip("needs a device with fp64")
    given = rng.standard_normal((20, 22, 24))
    about = described(FILTERS[2], 3, "mirror", "real")
    double = Launcher(launcher.device, precision="double")
    made = GpuVolumePipeline(double, about, of_volume(given, np.float64, None)).run(given)
    np.testing.assert_allclose(made, in_double(about, given), atol=1e-13)


def test_axes_of_too_many_frequencies_are_left_to_the_host(launcher):
    given = np.zeros((MOST + 2, 1, 2), np.uint8)
    with pytest.raises(TooLargeError, match="takes no products"):
        GpuVolumePipeline(launcher, described(FILTERS[1], "t", "mirror", "real"), of_volume(given, np.float32, None))
