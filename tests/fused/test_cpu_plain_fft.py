"""Plain FFTs by the CPU form: every kind of numbers, axes and lengths against numpy.fft.

Sizes share the radices of ``test_cpu.py``: programs are compiled for a set of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.errors import TooLargeError
from fftfilter.fused import Shape, plain_fft
from fftfilter.fused.cpu.plain_fft import SIGNAL, CpuTransform, LongChirp, long, split
from fftfilter.fused.cpu.program import vector_width
from tests.helpers import assert_exact_radices, assert_transform

# (count, height, width), chosen by what they make the kernels do
SIZES = [
    (1, 1, 1),  # no stage at all
    (3, 1, 40),  # rows of a height of one, images that share the strips
    (1, 60, 2),  # narrower than a vector: padded, and cut again
    (2, 60, 324),  # several strips, the last moved left; several groups, the last filled up
    (1, 36, 225),  # an odd width: no column in the middle
    (1, 67, 60),  # Bluestein in the columns alone
    (2, 60, 67),  # Bluestein in the rows alone
]


def numbers(shape, dtype="c8"):
    rng = np.random.default_rng(11)
    if dtype == "c8":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (200 * rng.random(shape)).astype(dtype)


def run(launcher, data, source, scale=1.0, **how):
    made, largest = CpuTransform(launcher, data, how.pop("pixel", np.dtype("f4")), **how).run(source, scale)
    assert made.shape == data.target
    parts = made.view(np.float32) if made.dtype == np.complex64 else made
    assert largest == pytest.approx(np.abs(parts).max(), rel=1e-6)  # that of columns computed twice, too
    return made


def lengths(*sides):
    """Return the length whose bound holds for all sides."""
    return max(sides) if all(side & (side - 1) == 0 for side in sides) else 60


# Each radix alone and next to others, primes by their definition, and Bluestein's convolution
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 11, 13, 15, 17, 24, 31, 45, 67, 77, 120, 143])
def test_every_radix_is_exact(cpu, n):
    x = numbers((1, 64, n))
    assert_exact_radices(run(cpu, Shape("complex", "rows", *x.shape), x), np.fft.fft(x))
    upright = x.reshape(1, n, 64)
    inverse = run(cpu, Shape("complex", "columns", *upright.shape, inverse=True), upright, 1 / n)
    assert_exact_radices(inverse.swapaxes(1, 2), np.fft.ifft(upright, axis=1).swapaxes(1, 2))


@pytest.mark.parametrize("size", SIZES)
def test_complex_numbers_there_and_back(cpu, size):
    x, (_, height, width) = numbers(size), size
    there = run(cpu, Shape("complex", "both", *size), x)
    assert_transform(there, np.fft.fft2(x), lengths(height, width))
    back = run(cpu, Shape("complex", "both", *size, inverse=True), x, 1 / (height * width))
    assert_transform(back, np.fft.ifft2(x), lengths(height, width))


@pytest.mark.parametrize("size", SIZES)
def test_real_numbers_to_both_spectra_and_back(cpu, size):
    x, y, (_, height, width) = numbers(size, "f4"), numbers((*size[:2], size[2] // 2 + 1)), size
    whole = run(cpu, Shape("real", "both", *size), x)
    assert_transform(whole, np.fft.fft2(x), lengths(height, width))
    inverse = run(cpu, Shape("real", "both", *size, inverse=True), x, 1 / (height * width))
    assert_transform(inverse, np.fft.ifft2(x), lengths(height, width))
    half = run(cpu, Shape("real", "both", *size, half=True), x)
    assert_transform(half, np.fft.rfft2(x), lengths(height, width))
    # A spectrum of no real array: what NumPy makes of it.
    back = run(cpu, Shape("values", "both", *size, half=True), y, 1 / (height * width))
    assert_transform(back, np.fft.irfft2(y, s=size[1:]), lengths(height, width))


@pytest.mark.parametrize("kind", ["complex", "real"])
@pytest.mark.parametrize(("height", "width"), [(60, 2), (5, 324), (36, 225), (60, 67), (67, 60)])
def test_rows_and_columns_alone(cpu, kind, height, width):
    x = numbers((2, height, width), "c8" if kind == "complex" else "f4")
    rows = run(cpu, Shape(kind, "rows", 1, 2 * height, width), x.reshape(1, -1, width))
    assert_transform(rows, np.fft.fft(x).reshape(rows.shape), 60)
    columns = run(cpu, Shape(kind, "columns", 2, height, width), x)
    assert_transform(columns, np.fft.fft(x, axis=1), 60)
    back = run(cpu, Shape(kind, "columns", 2, height, width, inverse=True), x, 1 / height)
    assert_transform(back, np.fft.ifft(x, axis=1), 60)


@pytest.mark.parametrize("size", [(1, 36, 60), (1, 36, 225), (1, 67, 60), (2, 60, 67)])
def test_each_column_of_half_a_spectrum_is_exact(cpu, size):
    """Those that are their own mirror image, and those that are not."""
    for column in (0, 1, size[2] // 2 - 1, size[2] // 2):
        y = np.zeros((*size[:2], size[2] // 2 + 1), np.complex64)
        y[..., column] = numbers(size[:2])
        back = run(cpu, Shape("values", "both", *size, half=True), y, 1 / (size[1] * size[2]))
        wanted = np.fft.irfft2(y, s=size[1:])
        assert np.linalg.norm(back - wanted) <= 1e-6 * np.linalg.norm(wanted)


@pytest.mark.parametrize("kind", ["complex", "real"])
@pytest.mark.parametrize("along", ["both", "rows", "columns"])
def test_the_largest_part_is_found_whether_it_is_real_or_imaginary(cpu, kind, along):
    y, x = np.mgrid[:60, :36]
    turns = 2 * np.pi * ((along != "rows") * 7 * y / 60 + (along != "columns") * 5 * x / 36)
    for wave in (np.sin(turns), np.cos(turns)):
        run(cpu, Shape(kind, along, 1, 60, 36), wave[None].astype("c8" if kind == "complex" else "f4"))


@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_pixels_are_read_as_they_are(cpu, dtype):
    x = numbers((2, 8, 512), dtype)
    half = run(cpu, Shape("real", "both", *x.shape, half=True), x, pixel=x.dtype)
    assert_transform(half, np.fft.rfft2(x), 60)


@pytest.mark.parametrize(("kind", "lanes"), [("complex", 4), ("real", 8), ("values", 4)])
def test_vectors_of_any_length_give_the_same(cpu, kind, lanes):
    size = (2, 60, 324)
    shape = Shape(kind, "both", *size, half=kind != "complex")
    x = numbers(shape.source, "f4" if kind == "real" else "c8")
    assert_transform(run(cpu, shape, x, lanes=lanes), run(cpu, shape, x), 60)


def test_parts_that_fit_a_small_cache_give_the_same(cpu):
    size, small = (1, 60, 324), 16 * 8 * vector_width(cpu.device)
    x, y = numbers(size), numbers((1, 60, 163))
    for shape, source in ((Shape("complex", "both", *size), x), (Shape("values", "both", *size, half=True), y)):
        made = CpuTransform(cpu, shape, part_bytes=small)
        assert made.rows.whole_stages >= 1
        wanted = CpuTransform(cpu, shape).run(source)[0]
        np.testing.assert_array_equal(made.run(source)[0], wanted)


def test_columns_of_two_strips_are_the_same_in_each_run(cpu):
    transform = CpuTransform(cpu, Shape("values", "both", 1, 60, 324, half=True))
    source = numbers((1, 60, 163))
    first = transform.run(source)[0].copy()
    for _ in range(100):
        np.testing.assert_array_equal(transform.run(source)[0], first)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same(cpu, workers):
    size = (3, 60, 324)
    x = numbers(size)
    shape = Shape("complex", "both", *size)
    made = CpuTransform(cpu, shape, workers=workers)
    expected = CpuTransform(cpu, shape).run(x)[0]
    for _ in range(3):  # what a run leaves behind must not reach the next one
        np.testing.assert_array_equal(made.run(x)[0], expected)


# Long and few, long and many, a large prime, a length with a square factor alone.
@pytest.mark.parametrize(("rows", "n"), [(1, 3600), (17, 1 << 14), (2, 4099), (3, 1 << 12)])
def test_long_rows_go_as_matrices(cpu, rows, n):
    x = numbers((1, rows, n))
    for inverse, reference in ((False, np.fft.fft), (True, np.fft.ifft)):
        made = plain_fft(cpu, Shape("complex", "rows", 1, rows, n, inverse), np.dtype("f4"))
        assert isinstance(made, LongChirp) or made.kind == SIGNAL
        result, largest = made.run(x, 1 / n if inverse else 1)
        assert_transform(result, reference(x), n)
        assert largest == pytest.approx(np.abs(result.view(np.float32)).max())


def test_only_rows_that_are_few_or_long_go_as_matrices(cpu):
    lanes = vector_width(cpu.device)

    def goes(along, rows, n):
        return long(cpu, Shape("complex", along, 1, rows, n)) is not None

    assert [goes("rows", rows, 1024) for rows in (1, lanes - 1, lanes)] == [True, True, False]
    assert [goes("rows", 1, 1023), goes("rows", lanes, (1 << 14) - 1), goes("rows", lanes, 1 << 14)] == [0, 0, 1]
    assert not goes("both", 1, 1024)
    assert not goes("columns", 1, 1024)


def test_a_matrix_is_as_even_as_its_sides_can_be_and_each_is_a_vector_at_least():
    assert split(3600, 16) == (60, 60)
    assert split(3601 * 16, 16) is None  # of a prime of 277
    assert [split(16 * 17, lanes) for lanes in (8, 16, 17)] == [(16, 17), (16, 17), None]


def test_a_long_prime_takes_the_memory_of_two_transforms(cpu):
    made = plain_fft(cpu, Shape("complex", "rows", 1, 2, 4099), np.dtype("f4"))
    length, sides = len(made._filter), made._there.shape
    shape = Shape("complex", "rows", 1, 2, length)
    one = CpuTransform(cpu, shape, sides=(sides.height, sides.width))
    assert made.device_bytes == 2 * one.device_bytes


@pytest.mark.parametrize(("rows", "n"), [(60, 36), (2, 4099)])
def test_a_transform_takes_another_scale_and_forgets_what_was_larger(cpu, rows, n):
    x = numbers((1, rows, n))
    made = plain_fft(cpu, Shape("complex", "rows", *x.shape), np.dtype("f4"))
    for scale in (8, 1, 0.5):
        result, largest = made.run(x, scale)
        assert_transform(result, scale * np.fft.fft(x), n)
        assert largest == pytest.approx(np.abs(result.view(np.float32)).max())


def test_nan_and_infinity_are_seen(cpu):
    x = numbers((1, 60, 324))
    for bad in (np.nan, np.inf):
        x[0, 3, 4] = bad
        assert not np.isfinite(CpuTransform(cpu, Shape("complex", "both", *x.shape)).run(x)[1])


def test_many_sizes_are_one_program(cpu):
    device = Launcher(Device(0, cpu.device.cl_device))
    rng = np.random.default_rng(7)
    for height, width in rng.integers(1, 200, (40, 2)):
        x = numbers((1, height, width))
        made, _ = CpuTransform(device, Shape("complex", "both", *x.shape)).run(x)
        assert_transform(made, np.fft.fft2(x), 60)
    assert device.device._build.cache_info().currsize == 1


class Full(Device):
    """A device without memory, which notes what it was asked to hold."""

    checked = ()

    def check_memory(self, what, buffers):
        self.checked = buffers
        raise TooLargeError(what)


def test_memory_is_checked_for_pixels_as_they_are_and_for_all_arrays(cpu):
    device = Full(0, cpu.device.cl_device)
    with pytest.raises(TooLargeError):
        plain_fft(Launcher(device), Shape("real", "both", 3, 36, 60, half=True), np.dtype("u1"))
    kept, *arrays = device.checked
    assert arrays == [3 * 36 * 60, 3 * 36 * 31 * 8]
    assert kept > 8 * 36 * 60  # strips between the steps


def test_too_large_is_said_before_anything_is_allocated(cpu):
    with pytest.raises(TooLargeError, match="a transform of 2 x 262144 x 131072"):
        CpuTransform(cpu, Shape("complex", "both", 2, 1 << 18, 1 << 17))
