"""Arrays as images: which axis has channels, what is missing, what is white, and the numbers that a device gets."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from fftfilter.arrays import check_finite, gray_of, pixels_of, planes_of, scaled, split, white_of_input
from fftfilter.errors import MissingError, ParameterError
from fftfilter.output.ramp import Gray, Stack

U8, F32 = np.dtype(np.uint8), np.dtype(np.float32)


@pytest.mark.parametrize(("shape", "channels"), [((5, 6, 4), 4), ((6, 5, 1), 1)])
def test_an_array_that_looks_like_a_picture_with_channels_is_refused(shape, channels):
    with pytest.raises(ParameterError) as caught:
        planes_of(np.zeros(shape), None)
    assert str(caught.value) == (
        f"an array of shape {shape} looks like a picture with {channels} channels: give channel_axis=-1; or if it is a "
        f"stack of images {channels} wide, filter them one by one"
    )


@pytest.mark.parametrize("shape", [(4, 6, 4), (6, 4, 3), (5, 6, 5)])
def test_other_arrays_of_three_axes_are_stacks(shape):
    planes, given = planes_of(np.zeros(shape), None)
    assert planes.shape == given == shape


@pytest.mark.parametrize("error", [TypeError, ValueError, RuntimeError, BufferError])
def test_what_no_array_can_be_made_of_is_refused_with_the_first_line_of_the_reason(error):
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise error("call detach() first.\nAt line 9.")

    words = r"^Tensor cannot become a NumPy array: call detach\(\) first: give what numpy.asarray takes$"
    with pytest.raises(ParameterError, match=words):
        planes_of(Tensor(), None)


def test_an_image_without_pixels_is_none():
    for shape in ((0, 5), (5, 0), (2, 0, 5)):
        with pytest.raises(ParameterError, match="is not an image"):
            planes_of(np.zeros(shape), None)


@pytest.mark.parametrize("axis", range(-3, 3))
def test_the_planes_are_the_channels_in_their_order_wherever_these_lie(axis):
    image = np.arange(24).reshape(2, 3, 4)
    planes, given = planes_of(image, axis)
    assert given == (2, 3, 4)
    np.testing.assert_array_equal(planes, [image.take(i, axis) for i in range(image.shape[axis])])


def test_missing_are_nan_masked_samples_and_those_that_are_said_to_be():
    image = np.ma.MaskedArray([[1, np.nan, 3], [4, 5, 6]], [[True, False, False], [False] * 3])
    said = np.array([[False] * 3, [False, False, True]])
    assert split(image, said, None)[1].astype(int).tolist() == [[[1, 1, 0], [0, 0, 1]]]


def test_missing_samples_lie_as_those_of_the_image_or_are_those_of_each_plane():
    image, holes = np.zeros((2, 3, 4)), np.arange(24).reshape(2, 3, 4) % 5 == 0
    wanted = holes.transpose(2, 0, 1)
    for found in (split(image, holes, -1), split(np.ma.MaskedArray(image, holes), None, -1)):
        np.testing.assert_array_equal(found[1], wanted)
    np.testing.assert_array_equal(split(image, holes[..., 0], -1)[1], np.stack([holes[..., 0]] * 4))


@pytest.mark.parametrize(
    ("shape", "axis", "said"),
    [((2, 3), None, r"shape \(2, 3\)$"), ((4, 2, 3), None, r"shape \(4, 2, 3\) or \(2, 3\)$")],
)
def test_the_shapes_that_missing_may_have_are_said_once_each(shape, axis, said):
    words = rf"^missing is an array of shape \(9,\) and type bool: give bools, True where a pixel is missing, of {said}"
    with pytest.raises(ParameterError, match=words):
        split(np.zeros(shape), np.zeros(9, bool), axis)


@pytest.mark.parametrize("white", [9, 9.0, np.uint16(9), np.float32(9), np.float64(9), np.int64(9)], ids=repr)
@pytest.mark.filterwarnings("error")
def test_the_white_of_the_input_is_any_number(white):
    assert white_of_input(white, U8) == 9.0
    assert white_of_input(sys.float_info.max, F32) == sys.float_info.max


def test_levels_are_any_whole_number_up_to_the_largest_of_the_type():
    for levels in (1, 255, np.uint8(9), np.int64(200)):
        assert gray_of({"levels": levels}, U8) == Gray(255.0, U8, int(levels))
    with pytest.raises(
        ParameterError, match=r"^levels 65536 is invalid for uint16: give a whole number from 1 to 65535$"
    ):
        gray_of({"levels": 65536, "dtype": "uint16", "white": 9}, U8)


def test_the_first_value_that_is_not_finite_has_its_row_and_column_in_a_stack_too():
    stack = np.zeros((2, 3, 4))
    stack[1, 2, 3] = stack[1, 2, 1] = np.nan
    with pytest.raises(
        MissingError, match=r"^2 values are NaN or infinite, the first at row 2, column 1: replace them"
    ):
        check_finite(stack)
    stack[0, 1, 2] = -np.inf
    with pytest.raises(ParameterError, match=r"^3 gains are NaN or infinite, the first at row 1, column 2") as caught:
        check_finite(stack, "gains")
    assert not isinstance(caught.value, MissingError)  # for which pixels would be filled


def test_floats_of_each_picture_are_divided_by_a_power_of_2_of_its_own():
    planes = np.array([[[0.5, -3.0]], [[0, 0]], [[1e-30, 0]], [[5, 2]]], np.float32)
    pixels, exponents = pixels_of(planes, Stack(4, 1, 2, F32, F32, 1))
    assert exponents.tolist() == [2, 0, -99, 3]
    assert pixels[[0, 1, 3]].tolist() == [[[0.125, -0.75]], [[0, 0]], [[0.625, 0.25]]]
    pixels, exponents = pixels_of(planes[[0, 3]], Stack(2, 1, 2, F32, F32, 1, one_scale=True))
    assert (pixels.tolist(), exponents.tolist()) == ([[[0.0625, -0.375]], [[0.625, 0.25]]], [3])


def test_numbers_are_scaled_also_by_powers_of_2_that_are_no_numbers():
    for value, exponent in ((2.0**100, -1170), (2.0**-1000, 1100), (3.0, -4)):
        with np.errstate(all="raise"):
            assert scaled(np.array([value]), exponent) == np.ldexp(value, exponent)
