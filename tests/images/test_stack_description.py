"""What ImageJ and OME say of all pages, for those that are kept."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.images import Asked, opened
from fftfilter.images.tiff_reader import kept_description

IMAGEJ = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\nunit=micron\nmin=0.0\nmax=300.0\n"
OME = '<?xml version="1.0"?><OME><Pixels ID="P" Type="int16" SignificantBits="12" SizeZ="6"/></OME>'


def after(text, chosen, *, keeps_levels=True, are_floats=False):
    return kept_description(text, chosen, 6, keeps_levels=keeps_levels, are_floats=are_floats)


@pytest.mark.parametrize("text", [IMAGEJ, OME, "anything", '{"shape": [6, 8, 9]}'])
def test_a_description_of_all_pages_stays(text):
    assert after(text, range(6)) == text


def test_the_range_that_imagej_shows_is_that_of_the_input():
    assert after(IMAGEJ, range(6), keeps_levels=False) == IMAGEJ.replace("min=0.0\nmax=300.0\n", "")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_file_of_one_page_says_so_too(dtype):
    file = io.BytesIO()
    tifffile.imwrite(file, np.ones((8, 9), dtype), imagej=True, metadata={"min": 3.0, "max": 200.0, "unit": "um"})
    for keeps_levels, left_out in (True, ()), (False, ("ImageJ's range of display",)):
        metadata = opened(file.getvalue(), "x.tif", Asked(keeps_levels=keeps_levels)).metadata
        tags = Image.Exif()
        tags.load(metadata.exif)
        assert ("unit=um" in tags[270], "min=3.0" in tags[270], "max=200.0" in tags[270]) == (True, *[keeps_levels] * 2)
        assert metadata.left_out == left_out


def test_some_pages_of_a_hyperstack_are_slices():
    assert after(IMAGEJ, range(1, 3)) == "ImageJ=1.53t\nimages=2\nslices=2\nunit=micron\nmin=0.0\nmax=300.0\n"


def test_some_frames_are_frames():
    assert after("ImageJ=1.53t\nimages=6\nframes=6\n", range(2)) == "ImageJ=1.53t\nimages=2\nframes=2\n"


def test_one_page_is_no_stack():
    assert after(IMAGEJ, range(2, 3)) == "ImageJ=1.53t\nunit=micron\nmin=0.0\nmax=300.0\n"


def test_ome_says_the_type_of_samples():
    assert after(OME, range(6), are_floats=True) == OME.replace("int16", "float").replace(' SignificantBits="12"', "")


@pytest.mark.parametrize("text", [OME, '{"shape": [6, 8, 9]}'])
def test_what_cannot_be_said_of_some_pages_is_left_out(text):
    assert after(text, range(2)) == ""
