"""From magnitudes to gray levels on the host: ranges, rounding and the noise floor, with the answers in sight."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fftfilter.images import Depth
from fftfilter.output.modes import Range
from fftfilter.output.ramp import Gray, of_values, on_valid, pixels, ramps
from fftfilter.output.rounding import NOISE
from tests.helpers import quantized

U8, U16, F32 = Depth(np.dtype(np.uint8), 255), Depth(np.dtype(np.uint16), 1000), Depth(np.dtype(np.float32), 1)


def levels(values, scale, depth, white=255):
    return of("magnitude", np.array(values, np.float32), depth, scale=scale, white=white)[0]


@pytest.mark.parametrize(
    ("depth", "wanted"),
    [
        (U8, [12, 0, 25, 127, 254, 255, 255]),
        (U16, [50, 0, 100, 500, 999, 1000, 1000]),
        (F32, [0.05, 0, 0.1, 0.5, 0.999, 1, 1]),
    ],
)
def test_a_range_is_mapped_to_all_levels_truncated_and_clipped(depth, wanted):
    assert levels([-5, 0, 10, 50, 99.9, 100, 200], Range(0, 100), depth) == pytest.approx(wanted)


def test_a_range_may_begin_anywhere():
    assert levels([10, 20, 40, 60, 80], Range(20, 60), U8) == [0, 0, 127, 255, 255]
    assert levels([0, 10, 20], Range(-20, 20), U8) == [127, 191, 255]


def test_a_range_may_be_parts_of_the_inputs_white():
    assert levels([0, 100, 200], Range(0, 0.5, of_white=True), U8, white=400) == [0, 127, 255]


def test_a_level_missed_by_rounding_counts_as_reached():
    # 99.99999 is 100 that lost its last bit; 99.99 is not.
    assert levels([99.99999, 99.99], Range(0, 255), U8) == [100, 99]


def test_what_rounding_left_short_of_the_largest_is_white_but_floats_stay():
    assert levels([1 - 4e-6, 1 - 1e-4], Range(0, 1), U8) == [255, 254]
    assert levels([1 - 4e-6], Range(0, 1), F32) == [np.float32(1 - 4e-6)]


@given(st.integers(0, 2**32 - 1), st.sampled_from([U8, U16]))
def test_it_is_what_the_formula_gives_for_the_range_from_0_to_the_largest(seed, depth):
    values = np.random.default_rng(seed).uniform(0, 90, (4, 5))
    wanted = quantized(values, 255.0, depth.dtype, depth.maxval)
    np.testing.assert_array_equal(of("magnitude", values, depth)[0], wanted)
    np.testing.assert_array_equal(of("magnitude", values, depth, scale=Range(0, values.max()))[0], wanted)


def test_floats_are_neither_nudged_nor_rounded_to_white():
    for depth, wanted in ((U8, (255, 1 / 2048, 1 - 2**-16, 2**-14)), (F32, (1, 0, 1, 0))):
        (ramp,) = ramps("magnitude", gray=Gray(1, depth.dtype, depth.maxval))
        assert tuple(ramp[["stretch", "shift", "white", "undecided"]]) == wanted


# Outputs


def of(output, values, depth=U8, *, scale=None, noise=0.0, white=255):
    (ramp,) = ramps(output, scale, gray=Gray(white, depth.dtype, depth.maxval))
    found, clipped, *_ = pixels(np.array(values, np.float64), ramp, noise / NOISE, depth.dtype)
    return found.tolist(), clipped


def test_keep_rounds_half_up_and_counts_what_it_clips():
    assert of("keep", [-9, -0.4, 0.4, 0.5, 99.4, 255.4, 300, 400]) == ([0, 0, 0, 1, 99, 255, 255, 255], 3 / 8)


def test_what_is_clipped_is_a_part_of_the_valid_samples():
    values, holes = np.array([[[-9.0, 300, 5, 6, 7, 8, 300, -9]]]), np.arange(8).reshape(1, 1, 8) > 3
    gray = Gray(255, np.dtype("u1"), 255)
    made = on_valid(values, values.copy(), holes, ramps("keep", gray=gray), gray=gray, deviation=300)
    assert made.clipped == 0.5
    assert made.pixels.tolist() == [[[0, 255, 5, 6, 7, 8, 255, 0]]]


@pytest.mark.filterwarnings("error")
def test_ramps_beyond_single_precision_are_finite_for_kernels():
    gray = Gray(1, np.dtype("u1"), 255)
    for scale in (Range(-1e-60, 1e-60), Range(1e-60, 2e-60)):
        (ramp,) = of_values(ramps("signed", scale, gray=gray))
        assert ramp["stretch"] == np.finfo(np.float32).max
        assert np.isfinite(ramp["shift"])
    (ramp,) = of_values(ramps("keep", units=[1e60], gray=gray))
    assert (ramp["stretch"], ramp["top"]) == (np.finfo(np.float32).max, 255)


@pytest.mark.filterwarnings("error")
def test_a_range_of_values_next_to_0_is_mapped_in_double_precision():
    (ramp,) = ramps("magnitude", Range(0, 2e-40), gray=Gray(1, np.dtype("u1"), 255))
    made = pixels(np.float32([[[0, 0.5e-40, 1e-40, 2e-40, 9e-40]]]), ramp, 9e-40, np.uint8)
    assert made.pixels.tolist() == [[[0, 63, 127, 255, 255]]]


def test_ramps_are_those_of_values_that_kernels_have_in_other_units():
    gray = Gray(1, np.dtype("u1"), 255)
    (own,) = of_values(ramps("magnitude", gray=gray), 4)  # a part of the largest value, whatever its unit is
    assert (own["stretch"], own["white"], own["noise"]) == (255, np.float32(1 - 2**-16), np.float32(4 * NOISE))
    (given,) = of_values(ramps("magnitude", Range(0, 8), gray=gray), 4)
    assert (given["stretch"], given["white"]) == (np.float32(255 / 32), np.float32(32 * (1 - 2**-16)))


@pytest.mark.filterwarnings("error")
def test_what_stands_in_holes_is_beyond_a_narrower_type():
    given, gray = np.array([[[1e300, 0.5]]]), Gray(1, np.dtype("f4"), 1)
    holes = np.array([[[True, False]]])
    made = on_valid(given * 0.5, given, holes, ramps("keep", gray=gray), gray=gray, deviation=1)
    assert made.pixels.tolist() == [[[np.inf, 0.25]]]


def test_what_stands_in_holes_becomes_the_nearest_level():
    given = np.array([[[np.nan, np.inf, -np.inf, 0.25, 0.2538, 2, -1, 1]]], np.float32)
    holes, gray = np.arange(8).reshape(1, 1, 8) < 7, Gray(1, np.dtype("u1"), 255)
    made = on_valid(given.copy(), given, holes, ramps("keep", gray=gray), gray=gray, deviation=1)
    assert made.pixels.tolist() == [[[0, 255, 0, 64, 65, 255, 0, 255]]]
    whole, gray = np.uint8([[[0, 20, 45, 100]]]), Gray(100, np.dtype("u1"), 255)
    for holes in (whole < 100, whole < 256):
        made = on_valid(whole.astype(float), whole, holes, ramps("keep", gray=gray), gray=gray, deviation=1)
        assert made.pixels.tolist() == [[[0, 51, 115, 255]]]


def test_keep_maps_the_inputs_white_to_the_outputs():
    assert of("keep", [0, 50, 100, 101], white=100) == ([0, 128, 255, 255], 1 / 4)
    assert of("keep", [0, 50, 100], U16, white=100) == ([0, 500, 1000], 0)


def test_keep_leaves_floats_as_they_are():
    assert of("keep", [-2, 0.25, 7], F32, white=1) == ([-2, 0.25, 7], 0)


@pytest.mark.parametrize(
    ("depth", "wanted"), [(U8, [0, 128, 255, 191]), (U16, [0, 500, 1000, 750]), (F32, [0, 0.5, 1, 0.75])]
)
def test_signed_has_zero_in_the_middle_and_the_largest_magnitude_at_an_end(depth, wanted):
    assert of("signed", [-8, 0, 8, 4], depth) == (wanted, 0)


def test_signed_takes_a_scale_and_counts_what_it_clips():
    assert of("signed", [-20, -10, 0, 10], scale=Range(-10, 10)) == ([0, 0, 128, 255], 1 / 4)
    # An end that rounding left beyond the range is none.
    assert of("signed", [-10.001, 0, 10.001, 12], F32, scale=Range(-10, 10)) == ([0, 0.5, 1, 1], 1 / 4)


@pytest.mark.parametrize(("output", "middle"), [("signed", 128), ("magnitude", 0)])
def test_rounding_noise_is_zero(output, middle):
    assert of(output, [1, -1], scale=Range(-1, 1) if output == "signed" else Range(0, 1), noise=1.1)[0] == [middle] * 2
    assert of(output, [7e-40, -7e-40], noise=1e-5)[0] == [middle] * 2


@pytest.mark.parametrize("unit", [0.25, 1, 4])
def test_a_given_range_is_in_gray_levels_whatever_a_value_of_1_is(unit):
    """Its middle is no white, and what rounding leaves short of its end is."""
    (ramp,) = ramps("magnitude", Range(0, 10), [unit], gray=Gray(255, np.dtype("u1"), 255))
    levels = np.array([0, 5, 9.9, 10 * (1 - 2**-17), 10, 11])
    assert pixels(levels / unit, ramp, 0, np.uint8).pixels.tolist() == [0, 127, 252, 255, 255, 255]


def test_a_white_that_no_value_reaches_is_no_warning():
    values = np.array([[[1.0, -2.0]]], np.float32)
    (ramp,) = ramps("magnitude", Range(0, 1e300), gray=Gray(1, np.dtype("u1"), 255))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = pixels(values, ramp, 2.0, np.uint8).pixels
    assert made.tolist() == [[[0, 0]]]
