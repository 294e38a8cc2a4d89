"""Plain FFTs by the GPU form, on whatever device there is: every kind of numbers and axes against numpy.fft.

Kernels are compiled for each size: there is one of odd sides, one of even sides, one with Bluestein's, and one that
goes in two steps.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from fftfilter.device.launcher import Launcher
from fftfilter.errors import TooLargeError
from fftfilter.fused import Shape, plain_fft
from fftfilter.fused.gpu import plain_fft as plan
from fftfilter.fused.gpu.plain_fft import GpuTransform
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits, plan_transform
from tests.fused.helpers import Full
from tests.helpers import assert_exact_radices, assert_transform

# Sides from 25 up go in two steps.
TINY = Limits(local_bytes=4 * 24 + RESERVED_BYTES)


def numbers(shape, dtype="c8"):
    rng = np.random.default_rng(11)
    if dtype == "c8":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (200 * rng.random(shape)).astype(dtype)


def run(launcher, shape, source, scale=1.0, **how):
    assert plan.serves(shape, how.get("limits", Limits()))
    made, largest = GpuTransform(launcher, shape, **how).run(source, scale)
    assert made.shape == shape.target
    assert largest == np.abs(made.view(np.float32)).max()
    return made


# All radices, some at a time, and as many stages as there are
@pytest.mark.parametrize(
    "radices",
    [
        (2,),
        (16, 13),
        (14, 11),
        (15, 12),
        (10, 9),
        (8, 7),
        (6, 4),
        (9, 3),
        (5, 5, 5, 5),
        (7, 5, 5, 5, 3),
        (3,),
        (32, 16, 16),
    ],
    ids=str,
)
def test_every_radix_is_exact(launcher, radices):
    n = math.prod(radices)
    assert plan_transform(n, columns=False, count=16).radices == radices
    x = numbers((1, 16, n))
    assert_exact_radices(run(launcher, Shape("complex", "rows", *x.shape), x), np.fft.fft(x))


@pytest.mark.parametrize("size", [(2, 5, 9), (1, 34, 16)])
def test_real_numbers_to_both_spectra_and_back(launcher, size):
    x, y = numbers(size, "f4" if size[0] == 2 else "u1"), numbers((*size[:2], size[2] // 2 + 1))
    pixel = {"pixel": x.dtype}
    if size[0] == 2:
        assert_transform(run(launcher, Shape("real", "both", *size), x, **pixel), np.fft.fft2(x), 60)
    assert_transform(run(launcher, Shape("real", "both", *size, half=True), x, **pixel), np.fft.rfft2(x), 60)
    # A spectrum of no real array: what NumPy makes of it.
    back = run(launcher, Shape("values", "both", *size, half=True), y, 1 / (size[1] * size[2]))
    assert_transform(back, np.fft.irfft2(y, s=size[1:]), 60)


@pytest.mark.parametrize("size", [(2, 5, 9), (1, 34, 16)])
def test_each_column_of_half_a_spectrum_is_exact(launcher, size):
    """Those that are their own mirror image, and those that are not."""
    for column in (0, 1, size[2] // 2):
        y = np.zeros((*size[:2], size[2] // 2 + 1), np.complex64)
        y[..., column] = numbers(size[:2])
        back = run(launcher, Shape("values", "both", *size, half=True), y, 1 / (size[1] * size[2]))
        wanted = np.fft.irfft2(y, s=size[1:])
        assert np.linalg.norm(back - wanted) <= 1e-6 * np.linalg.norm(wanted)


def test_real_numbers_of_which_a_group_has_few_columns_go_as_lines(launcher):
    few, size = Limits(group_wanted=2), (2, 6, 9)
    x = numbers(size, "f4")
    for half, wanted in ((True, np.fft.rfft2(x)), (False, np.fft.fft2(x))):
        shape = Shape("real", "both", *size, half=half)
        assert not plan.is_paired(shape, few)
        assert_transform(run(launcher, shape, x, limits=few), wanted, 60)


def test_complex_numbers_along_both_axes_and_one(launcher):
    size = (2, 5, 9)
    x = numbers(size)
    assert_transform(run(launcher, Shape("complex", "both", *size), x), np.fft.fft2(x), 60)
    assert_transform(run(launcher, Shape("complex", "both", *size, inverse=True), x, 1 / 45), np.fft.ifft2(x), 60)
    assert_transform(run(launcher, Shape("complex", "columns", *size), x), np.fft.fft(x, axis=1), 60)
    rows = run(launcher, Shape("complex", "rows", 1, 10, 9), x.reshape(1, 10, 9))
    assert_transform(rows.reshape(size), np.fft.fft(x), 60)


@pytest.mark.parametrize("kind", ["complex", "real"])
def test_long_sides_go_in_two_steps(launcher, kind):
    size = (2, 30, 45)
    x = numbers(size, "c8" if kind == "complex" else "f4")
    half = kind == "real"
    shape = Shape(kind, "both", *size, half=half)
    assert len(plan.steps(shape, TINY)) == 4
    assert_transform(run(launcher, shape, x, limits=TINY), (np.fft.rfft2 if half else np.fft.fft2)(x), 60)


@pytest.mark.parametrize(
    ("along", "size", "batches"),
    [
        ("both", (512, 512), [4, 4]),
        ("rows", (100, 1024), [4]),
        ("columns", (4096, 4096), [4]),  # whole sectors, also where that is more than the usual work-items
        ("both", (20_000, 3000), [2, 8, 16]),
        ("rows", (2, 20_000), [8, 16]),
    ],
)
def test_groups_take_whole_sectors_of_neighboring_lines(along, size, batches):
    steps = plan.steps(Shape("complex", along, 1, *size))
    assert [step.plan.batch for step in steps] == batches


def test_numbers_that_move_never_stay_in_their_buffer():
    for along in ("rows", "columns", "both"):
        for height in (8, 30):
            steps = plan.steps(Shape("complex", along, 2, height, 45), TINY)
            places = ["source", *plan.places(steps)]
            assert places[-1] == plan.TARGET
            for step, before, after in zip(steps, places, places[1:], strict=False):
                assert step.in_place or before != after


def test_what_is_too_long_is_not_served():
    assert not plan.serves(Shape("complex", "rows", 1, 2, 37), TINY)  # a chirp-z in two steps
    assert not plan.serves(Shape("values", "both", 1, 30, 45, half=True), TINY)
    assert not plan.serves(Shape("complex", "both", 1, 1 << 17, 1 << 17))
    assert plan.serves(Shape("complex", "rows", 3, 1 << 15, 1 << 15))
    assert not plan.serves(Shape("complex", "rows", 4, 1 << 15, 1 << 15))  # places of all arrays have 32 bits


def test_rows_of_real_images_are_paired_forward_along_both_axes_alone():
    shape = Shape("real", "both", 2, 5, 9)
    assert plan.is_paired(shape)
    assert plan.is_paired(Shape("values", "both", 2, 5, 9, half=True))
    others = {"inverse": True, "along": "rows", "data": "complex", "height": 20_000, "width": 20_000}
    assert not any(plan.is_paired(shape._replace(**{name: value})) for name, value in others.items())


def test_memory_is_checked_before_any_is_allocated_for_pixels_as_they_are(launcher):
    device = Full(0, launcher.device.cl_device)
    with pytest.raises(TooLargeError, match="a transform of 2 x 5 x 9"):
        plain_fft(Launcher(device), Shape("real", "both", 2, 5, 9, half=True), np.dtype("u1"))
    *arrays, scratch = device.checked
    assert arrays == [2 * 5 * 9, 8 * 2 * 5 * 5]
    assert scratch >= 8 * 2 * 5 * 5


def test_buffers_on_the_device_are_transformed_without_a_copy(launcher):
    x = numbers((2, 5, 9))
    made = GpuTransform(launcher, Shape("complex", "both", *x.shape))
    assert (made.source_bytes, made.target_bytes, made.device_bytes) == (720, 720, 2 * 720)  # columns are in place
    source, target = launcher.allocate(made.source_bytes), launcher.allocate(made.target_bytes)
    launcher.write(source, x)
    made.enqueue(source, target, 3)
    made.enqueue(source, target)  # at another scale
    result, left = np.empty_like(x), np.empty_like(x)
    launcher.read(result, target)
    launcher.read(left, source)
    assert_transform(result, np.fft.fft2(x), 60)
    np.testing.assert_array_equal(left, x)
