"""What ImageJ and OME say of all pages, for those that are kept."""

from __future__ import annotations

import pytest

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
