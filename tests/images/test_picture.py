"""What is said of a picture's samples."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.errors import ReadError
from fftfilter.images import Picture
from fftfilter.output.modes import MODES
from tests.images.helpers import picture

BEYOND = "samples below 0 or above 1 are black or white in OUT: write floats, to .tif, .pfm or .npy"
INTEGERS = "integers that are signed, or of more than 16 bits: the output has floats, from 0 to 1"
NEGATIVE = "samples below 0: the output is the magnitude of the filtered values, which has no sign"


@pytest.mark.parametrize(
    ("samples", "mode", "is_of_floats", "wanted"),
    [
        ([-0.1, 1], "keep", False, [BEYOND]),
        ([0, 1.1], "keep", False, [BEYOND]),
        ([0, 1], "keep", False, []),
        ([-0.1, 1.1], "keep", True, []),
        ([-0.1, 1], "magnitude", True, [NEGATIVE]),
        ([0, 7], "magnitude", False, []),
        ([-0.1, 1], "real", True, []),
    ],
)
def test_floats_that_an_output_does_not_show_as_they_are_are_told(samples, mode, is_of_floats, wanted):
    for missing in np.nan, -9999:
        given = Picture(np.array([[[*samples, missing]]], np.float32), None, 1, "TIFF")
        holes = np.array([[[False, False, True]]])
        assert given.cautions(MODES[mode], holes, is_of_floats=is_of_floats) == wanted


def test_integers_that_become_floats_are_told():
    given = Picture(np.array([[[0, 70000]]], np.float32), None, 1, "TIFF", integers=np.dtype(np.int32))
    assert given.cautions(MODES["magnitude"], is_of_floats=True) == [INTEGERS]
    assert given.cautions(MODES["magnitude"], is_of_floats=False) == []
    assert given.cautions(MODES["keep"], is_of_floats=True) == []


def test_levels_of_8_and_16_bits_are_as_they_are():
    for dtype in np.uint8, np.uint16:
        assert picture(dtype=dtype).cautions(MODES["magnitude"], is_of_floats=True) == []
        picture(dtype=dtype).refuse_not_finite("x")


def test_a_sample_that_is_not_finite_is_found_in_any_channel_and_holes_are_left_out():
    planes = np.zeros((3, 4, 5), np.float32)
    planes[1, 2, 3] = planes[2, 0, 0] = np.nan
    given, holes = Picture(planes, None, 1, "TIFF"), np.isnan(planes)
    with pytest.raises(ReadError, match=r"^x: 2 of 60 samples are NaN, .* the first at x=3, y=2;"):
        given.refuse_not_finite("x")
    holes[1] = False
    with pytest.raises(ReadError, match=r"^x: 1 of 60 samples are NaN, .* the first at x=3, y=2;"):
        given.refuse_not_finite("x", holes)
