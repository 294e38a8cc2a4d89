"""Reduced pictures, and the same filter for them."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.analysis.search import AutoNotches
from fftfilter.explore.answers import Answer, command_line
from fftfilter.explore.session import Session
from fftfilter.explore.shown import FilePage, around_gray, at, extremes, halved, histogram, levels
from fftfilter.images import Picture
from fftfilter.transfer.fitted import Curve
from fftfilter.work.recipe import Recipe


def test_levels_end_where_there_is_enough_to_see():
    assert levels(512, 512) == [1]
    assert levels(4096, 4096) == [1, 2, 4, 8]
    assert levels(20, 4096) == [1]  # nothing would be left of 20 rows


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_pixel_of_a_reduced_picture_is_the_mean_of_four(dtype):
    planes = np.array([[[0, 2, 8], [4, 5, 9], [6, 8, 1]]], dtype)  # what is left over has fewer
    assert halved(planes).tolist() == [[[2.75, 8.5], [7, 1]] if dtype is np.float32 else [[3, 9], [7, 1]]]
    white = 1 if dtype is np.float32 else np.iinfo(dtype).max
    assert (halved(np.full((3, 4, 4), white, dtype)) == white).all()


@pytest.mark.parametrize(
    "transfer",
    [
        H.lowpass(shape="gaussian"),
        H.bandstop("40px", "9px", shape="butterworth", order=3),
        H.highpass(20, shape="cosine", width=4),
        H.stripes(33, spare="30px"),
        H.notch((0.06, 0.03), harmonics=9),
        H.notch((0.45, 0.1)),  # beyond what a reduced picture has
        H.Transfer((Curve((-6.0, -4.0, -2.0, -1.0), (1.0, 0.8, 0.3, 0.1)),)),
        H.mask(np.hypot(*np.meshgrid(np.fft.fftfreq(96), np.fft.fftfreq(64))) < 0.1),
    ],
    ids=str,
)
def test_a_reduced_filter_has_the_gains_of_the_same_frequencies(transfer):
    """Of a picture of 64 x 96, reduced by 2: of its frequencies the lowest are left.

    The highest of these are left out here: others meet them there, which the picture itself has apart.
    """
    ky, kx = np.arange(-12, 13), np.arange(-18, 19)
    whole, reduced = transfer.gain(64, 96), transfer.in_cycles(64, 96, 2).gain(32, 48)
    np.testing.assert_allclose(reduced[np.ix_(ky, kx)], whole[np.ix_(ky, kx)], atol=1e-9)


@pytest.mark.parametrize("angle", [0, 90])
def test_the_angle_of_stripes_is_that_along_them(angle):
    lines = np.random.default_rng(1).integers(0, 256, 64, np.uint8)
    planes = np.tile(lines if angle else lines[:, None], (64, 1) if angle else (1, 64))[None]
    page = FilePage(Picture(planes, None, 255, "PNG"), None, None, 1)
    assert page.about()["stripes"] == angle


def test_one_pixel_is_described():
    page = FilePage(Picture(np.full((1, 1, 1), 77, np.uint8), None, 255, "PNG"), None, None, 1)
    assert page.about()["stripes"] == 0


def test_of_the_pages_of_a_file_two_are_kept(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((4, 12, 10), np.uint8), photometric="minisblack")
    session = Session(str(tmp_path / "in.tif"))
    pages = [session.page(number) for number in range(4)]
    assert session.page(2) is pages[2]
    assert session.page(1) is not pages[1]


def test_a_part_that_ends_within_a_reduced_pixel_has_it():
    page = SimpleNamespace(checkered=lambda planes, *_: planes)
    view = SimpleNamespace(view=(0, 2, 3, 5), removed=True, level=2)
    answer = Answer(view, page, None, "keep", np.zeros((1, 6, 5), np.uint8), 1, 2, None, 0)  # type: ignore[arg-type]
    assert answer.pixels().shape == (2, 2)


def test_a_point_beyond_the_border_has_the_value_of_the_pixel_next_to_it():
    points = np.array([[5, 0], [0, 5], [2, 1], [-1, -1]])
    assert at(np.arange(6).reshape(1, 2, 3), points, None) == [[2, 3, 5, 0]]


def test_the_name_of_a_file_is_no_option_of_the_command():
    assert command_line(["lowpass"], "-in.png", "a b.png") == "fftfilter lowpass ./-in.png 'a b.png'"


def test_of_equal_samples_there_is_a_level_to_show_as_white():
    assert extremes(np.full((1, 2, 2), 7.0)) == (7, 8)


def test_a_histogram_has_no_missing_samples():
    planes = np.arange(12, dtype=np.uint8).reshape(1, 3, 4)
    assert sum(histogram(planes, (0, 12), None)) == 12
    assert sum(histogram(planes, (0, 12), planes % 4 == 1)) == 9


def test_waves_that_are_found_get_the_shape_that_is_asked_for(tmp_path):
    x = np.arange(64)
    Image.fromarray(np.rint(128 + 90 * np.cos(x) * np.ones((64, 1))).astype(np.uint8)).save(tmp_path / "in.png")
    recipe = Recipe(H.Transfer(()), output="keep", auto=AutoNotches(shape="cosine", insists=True))
    parts = Session(str(tmp_path / "in.png")).measured(recipe, 0).asked.parts
    assert {part.shape for part in parts} == {"cosine"}


def test_a_file_that_was_written_again_has_changed_though_it_is_as_long(tmp_path):
    path = tmp_path / "in.pgm"
    path.write_bytes(b"P5 4 3 255\n" + bytes(12))
    session = Session(str(path))
    assert not session.has_changed
    os.utime(path, ns=(1, 1))
    assert session.has_changed


def test_the_middle_of_a_spectrum_is_white_whatever_the_picture_s_mean_is():
    x = np.arange(64)
    wave = np.tile(np.rint(100 * np.cos(np.pi / 4 * x) + 100), (64, 1)).astype(np.uint8)
    pixels = FilePage(Picture(wave[None], None, 255, "PNG"), None, None, 1).spectrum_pixels()
    assert pixels[32, 32] == pixels[32, 40] == 255


def test_what_is_removed_lies_around_128():
    assert around_gray(np.array([[[-1, -0.359, 0, 0.359, 1]]], np.float32)).tolist() == [[[1, 82, 128, 174, 255]]]
