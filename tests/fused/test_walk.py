"""The 8 x 8 image of docs/fused.md: each block of numbers follows from the one before, and is what the device has."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.fused.cpu import program
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.output.rounding import NUDGE
from tests.fused.helpers import stack_of

TEXT = (Path(__file__).parents[2] / "docs" / "fused.md").read_text()
HIGH = H.highpass(2)
SHOWN = 0.072  # numbers are shown with one decimal, and their imaginary parts with another


def numbers(title):
    """Return the block of numbers under a title; ``3-2.5i`` is complex."""
    block = re.search(rf"^    {title}\n((?:    .+\n)+)", TEXT, re.MULTILINE)[1]
    rows = [[complex(number.replace("i", "j")) for number in line.split()] for line in block.splitlines()]
    return np.array(rows)


def halves(row, opposite):
    """Return a row of the strip and that of the opposite frequency as the two halves of a row, twice what they are."""
    return np.concatenate([row + opposite.conj(), (row - opposite.conj()) / 1j])


def packed(rows):
    """Return rows of both halves as rows of the strip."""
    return rows[..., :4] + 1j * rows[..., 4:]


def test_columns_forward_are_the_transforms_of_the_strip():
    assert packed(numbers("image"))[5].tolist() == [8j, 8j, 8j, 8]
    forward = np.fft.fft(packed(numbers("image")), axis=0)
    np.testing.assert_allclose(forward, numbers("columns forward"), atol=SHOWN)


def test_rows_come_out_of_the_strip_with_their_opposite_ones():
    strip = np.fft.fft(packed(numbers("image")), axis=0)
    unpacked = [halves(strip[ky], strip[-ky]) for ky in (0, 1)]
    np.testing.assert_allclose(unpacked, numbers("rows 0 and 1"), atol=SHOWN)


def test_rows_are_transformed_masked_and_transformed_back():
    strip = np.fft.fft(packed(numbers("image")), axis=0)
    spectra = np.fft.fft([halves(strip[ky], strip[-ky]) for ky in (0, 1)])
    np.testing.assert_allclose(spectra, numbers("spectra"), atol=SHOWN)
    np.testing.assert_array_equal(HIGH.gain(8, 8)[:2], numbers("gains"))
    masked = spectra * numbers("gains") / 16
    np.testing.assert_allclose(masked, numbers("masked"), atol=SHOWN)
    np.testing.assert_allclose(8 * np.fft.ifft(masked), numbers("rows back"), atol=SHOWN)


def test_rows_go_back_into_the_strip():
    strip, back = numbers("columns forward"), numbers("rows back")
    strip[[0, 1]] = packed(back)
    strip[7] = packed(back.conj())[1]
    np.testing.assert_allclose(strip, numbers("rows"), atol=3 * SHOWN)


def test_columns_inverse_are_the_filtered_image():
    inverse = 8 * np.fft.ifft(numbers("rows"), axis=0)
    values = np.concatenate([inverse.real, inverse.imag], axis=1)
    np.testing.assert_allclose(values, numbers("values").real, atol=8 * SHOWN)


def test_pixels_are_values_of_which_the_largest_is_white():
    values = np.abs(numbers("values").real)
    level = np.floor(255 * values / values.max() + NUDGE)
    assert np.abs(level - numbers("pixels").real).max() <= 1  # of the values only one decimal is known
    assert numbers("pixels").real.max() == 255


@pytest.fixture(scope="module")
def pipeline(cpu):
    return FusedCpuPipeline(cpu, HIGH, stack_of(np.empty((1, 8, 8), np.uint8)), lanes=4)


def strips_after(pipeline, steps, images):
    """Return what lies in memory after the first 1, 2 or 3 steps: (count, strips, rows, 2, lanes).

    After the first two steps a row of a strip is the real and the imaginary parts of its packed columns; after the
    third it is the values of the left and of the right columns. After the first two, rows are in the plan's order.
    """
    bound, plan = pipeline._bind(images), pipeline.plan
    pipeline._launch(steps)
    pipeline._pixels(bound)
    found = np.empty((len(images), plan.strips, plan.strip_stride, 2, plan.lanes), np.float32)
    pipeline.launcher.read(found, pipeline._strips)
    return found[:, :, : plan.height]


@pytest.mark.parametrize(("steps", "title"), [(1, "columns forward"), (2, "rows"), (3, "values")])
def test_the_device_has_the_numbers_of_the_document_between_its_steps(pipeline, steps, title):
    image = numbers("image").real.astype(np.uint8)[None]
    strip = strips_after(pipeline, steps, image)[0, 0]
    left, right = strip[:, 0], strip[:, 1]
    got = left + 1j * right if steps < 3 else np.concatenate([left, right], axis=1)
    np.testing.assert_allclose(got, numbers(title), atol=SHOWN)


def test_the_device_makes_the_pixels_of_the_document(pipeline):
    image = numbers("image").real.astype(np.uint8)[None]
    np.testing.assert_array_equal(pipeline.run(image)[0], numbers("pixels").real)


def test_rows_lie_in_the_order_that_the_document_says():
    order = program.plan_axis(16, 64, 0).frequencies()
    assert f"it is {' '.join(map(str, order))}." in " ".join(TEXT.split())
