"""Reduced pictures, and the same filter for them."""

from __future__ import annotations

import os
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.analysis.found import Harmonic, Peak
from fftfilter.analysis.search import AutoNotches
from fftfilter.errors import ParameterError
from fftfilter.explore.answers import Answer, command_line
from fftfilter.explore.request import levels_of, number_of, peaks
from fftfilter.explore.session import Session
from fftfilter.explore.shown import (
    GRAYS,
    FilePage,
    around_gray,
    at,
    eight_bits,
    extremes,
    halved,
    histogram,
    levels,
)
from fftfilter.images import Picture
from fftfilter.transfer.fitted import Curve
from fftfilter.work.recipe import Recipe
from tests.explore.conftest import unpacked


def test_levels_end_where_there_is_enough_to_see():
    assert levels(512, 512) == [1]
    assert levels(4096, 4096) == [1, 2, 4, 8]
    assert levels(1024, 512) == [1, 2]
    assert levels(1023, 1023) == [1]
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


def test_one_pixel_is_described():
    page = FilePage(Picture(np.full((1, 1, 1), 77, np.uint8), None, 255, "PNG"), None, None, 1)
    assert page.about()["histogram"][77 * 128 // 255] == 1


def test_of_the_pages_of_a_file_two_are_kept(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((4, 12, 10), np.uint8), photometric="minisblack")
    session = Session(str(tmp_path / "in.tif"))
    pages = [session.page(number) for number in range(4)]
    assert session.page(2) is pages[2]
    assert session.page(1) is not pages[1]


def test_a_part_that_ends_within_a_reduced_pixel_has_it():
    places = []
    page = SimpleNamespace(checkered=lambda planes, *place: places.append(place) or planes)
    view = SimpleNamespace(view=(0, 2, 3, 5), removed=True, level=2)
    answer = Answer(view, page, None, "keep", np.zeros((1, 6, 5), np.uint8), 2, None, 0)  # type: ignore[arg-type]
    assert answer.pixels().shape == (2, 2)
    assert places == [(2, 0, 1)]  # the level, and the corner in its pixels


def test_a_point_beyond_the_border_has_the_value_of_the_pixel_next_to_it():
    points = np.array([[5, 0], [0, 5], [2, 1], [-1, -1]])
    assert at(np.arange(6).reshape(1, 2, 3), points, None) == [[2, 3, 5, 0]]


def test_the_name_of_a_file_is_no_option_of_the_command():
    assert command_line(["lowpass"], "-in.png", "a b.png") == "fftfilter lowpass ./-in.png 'a b.png'"


def test_of_equal_samples_there_is_a_level_to_show_as_white():
    assert extremes(np.full((1, 2, 2), 7.0)) == (7, 8)


def test_the_levels_to_show_leave_one_of_2000_samples_out_at_each_end():
    planes = np.arange(10_001, dtype=np.float32).reshape(1, 1, -1)
    assert extremes(planes) == (5, 9995)
    assert extremes(planes, 0) == (0, 10_000)
    page = FilePage(Picture(planes, None, 1, "TIFF"), None, None, 1)
    assert (page.shown, page.range, page.about()["auto"]) == ((5, 9995, 1), (0, 10_000), (5, 9995, 1))
    eight = FilePage(Picture(planes.astype(np.uint8), None, 200, "PPM"), None, None, 1)
    assert (eight.shown, eight.range) == ((0, 200, 1), (0, 200))


@pytest.mark.parametrize("count", [5, 300, 70_000])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_levels_are_shown_from_black_to_white_by_gamma(dtype, count):
    planes = np.resize(np.array([0, 50, 75, 150, 200], dtype), (1, 1, count))
    assert eight_bits(planes, (50, 150, 1))[0, 0, :5].tolist() == [0, 0, 64, 255, 255]
    assert eight_bits(planes, (50, 150, 2))[0, 0, :5].tolist() == [0, 0, 128, 255, 255]
    assert eight_bits(planes, (0, 200, 0.5))[0, 0, :5].tolist() == [0, 16, 36, 143, 255]


@pytest.mark.parametrize(
    "given", [3, [], [0, 1], [0, 1, 1, 1], [1, 1, 1], [2, 1, 1], [0, 1, 0], [0, 1, 101], [0, 1e31, 1], [0, "1", 1]]
)
def test_levels_that_cannot_be_shown_are_refused(given):
    with pytest.raises(ParameterError, match="give black below white"):
        levels_of(given)
    assert levels_of([-3, 1.5, 0.01]) == (-3, 1.5, 0.01)


def test_the_number_of_a_request_has_32_bits():
    given = (7, -1, (1 << 40) + 5, "7", None)
    assert [number_of({"id": each}) for each in given] == [7, (1 << 32) - 1, 5, 0, 0]


def test_squares_of_two_grays_keep_their_places_in_a_part_of_the_picture():
    holes = np.zeros((2, 40, 60), bool)
    holes[0, 10:30], holes[1, 35, 50] = True, True
    page = FilePage(Picture(np.full((2, 40, 60), 7, np.uint8), None, 255, "PNG"), None, holes, 1)
    whole = page.checkered(page.picture.planes, 1)
    assert page.missing == pytest.approx((20 * 60 + 1) / (2 * 40 * 60))
    assert [*whole[0, 15, :17]] == [GRAYS[0]] * 8 + [GRAYS[1]] * 8 + [GRAYS[0]]
    assert [*whole[0, 10:25:8, 0]] == [GRAYS[0], GRAYS[1]]
    assert {*whole[:, 35, 50]} <= {*GRAYS}
    assert (whole[:, :10] == 7).all()
    part = page.checkered(page.picture.planes[:, 12:30, 5:50], 1, 5, 12)
    assert (part == whole[:, 12:30, 5:50]).all()
    assert page.checkered(page.picture.planes[:, ::2, ::2], 2)[0, 10, :9].tolist() == [GRAYS[1]] * 4 + [
        GRAYS[0]
    ] * 4 + [GRAYS[1]]


def test_a_spectrum_is_that_of_one_channel_or_the_mean_of_all():
    y, x = np.mgrid[:32, :48]
    planes = np.stack([100 * np.cos(np.pi / 4 * x), 100 * np.cos(np.pi / 2 * y), 0 * x]).astype(np.float32)
    page = FilePage(Picture(planes, None, 1, "TIFF"), None, None, 1)
    first, second, both = (page.spectrum_pixels(channel) for channel in (0, 1, None))
    assert first.shape == (48, 48)
    assert first[24, 30] == second[36, 24] == both[24, 30] == both[36, 24] == 255
    assert first[36, 24] == second[24, 30] == 0


def test_a_wave_has_the_mean_amplitude_of_the_channels_and_the_phase_at_the_corner():
    y, x = np.mgrid[:64, :48]
    wave = np.cos(2 * np.pi * (0.125 * x + 0.25 * y) + 1)
    page = FilePage(Picture(np.stack([10 * wave + 3, 30 * wave]).astype(np.float32), None, 1, "TIFF"), None, None, 1)
    assert page.wave(0.125, 0.25) == pytest.approx({"amplitude": 20, "phase": 1}, abs=1e-3)
    assert page.wave(0.25, 0.125)["amplitude"] == pytest.approx(0, abs=1e-3)


def test_waves_and_their_harmonics_have_the_widths_of_their_notches():
    first = Peak(0.1, 0.05, 30, 9, 0.01, harmonics=(Harmonic((2,), Peak(0.2, 0.1, 20, 3, 0.02)),))
    asked = []
    session = SimpleNamespace(waves=lambda auto: asked.append(auto.strength) or [first])
    (told,) = peaks(session, {"strength": "25"})["peaks"]  # type: ignore[arg-type]
    assert (told["fx"], told["width_cyc"]) == (0.1, 0.01)
    assert [(each["fx"], each["width_cyc"]) for each in told["harmonics"]] == [(0.2, 0.02)]
    peaks(session, {})  # type: ignore[arg-type]
    assert asked == [25, 18]


def test_a_histogram_has_no_missing_samples():
    planes = np.arange(12, dtype=np.uint8).reshape(1, 3, 4)
    assert sum(histogram(planes, (0, 12), None)) == 12
    assert [i for i, count in enumerate(histogram(planes, (0, 16), None)) if count] == [*range(0, 96, 8)]
    assert sum(histogram(planes, (2, 7), None)) == 6
    assert sum(histogram(planes, (0, 12), planes % 4 == 1)) == 9


def test_waves_that_are_found_get_the_shape_that_is_asked_for(tmp_path):
    x = np.arange(64)
    Image.fromarray(np.rint(128 + 90 * np.cos(x) * np.ones((64, 1))).astype(np.uint8)).save(tmp_path / "in.png")
    recipe = Recipe(H.Transfer(()), output="keep", auto=AutoNotches(shape="cosine", insists=True))
    parts = Session(str(tmp_path / "in.png")).measured(recipe, 0).asked.parts
    assert {part.shape for part in parts if part.kind == "notch"} == {"cosine"}


def test_a_file_that_was_written_again_has_changed_though_it_is_as_long(tmp_path):
    path = tmp_path / "in.pgm"
    path.write_bytes(b"P5 4 3 255\n" + bytes(12))
    session = Session(str(path))
    assert not session.has_changed
    os.utime(path, ns=(1, 1))
    assert session.has_changed


def test_the_middle_of_a_spectrum_is_white_whatever_the_picture_s_mean_is():
    x = np.arange(64)
    wave = np.tile(100 * np.cos(np.pi / 4 * x) + 10 * np.cos(np.pi / 2 * x) + 500, (64, 1)).astype(np.float32)
    pixels = FilePage(Picture(wave[None], None, 1, "TIFF"), None, None, 1).spectrum_pixels()
    assert pixels[32, 32] == pixels[32, 40] == 255
    assert pixels[32, 48] == 255 - 2 * 20  # in half decibels


def test_what_is_removed_lies_around_128():
    assert around_gray(np.array([[[-1, -0.359, 0, 0.359, 1]]], np.float32)).tolist() == [[[1, 82, 128, 174, 255]]]


def test_a_view_of_a_result_is_shown_by_the_levels_that_are_asked_for_unless_it_has_its_own():
    def pixels(output, levels):
        page = SimpleNamespace(
            checkered=lambda planes, *_: planes, picture=SimpleNamespace(maxval=200), shown=(50, 150, 1)
        )
        view = SimpleNamespace(view=None, removed=False, level=1, levels=levels)
        planes = np.array([[[0, 50, 100, 150, 200]]], np.uint8)
        return Answer(view, page, None, output, planes, 1, 1, None, 0).pixels()[0].tolist()  # type: ignore[arg-type]

    assert pixels("keep", None) == [0, 0, 128, 255, 255]
    assert pixels("keep", (0, 100, 2)) == [0, 180, 255, 255, 255]
    assert pixels("magnitude", None) == pixels("signed", (0, 100, 2)) == [0, 64, 128, 191, 255]


@pytest.mark.parametrize(("level", "removed"), [(2, False), (1, True)])
def test_values_are_told_of_a_result_at_its_own_resolution_alone(level, removed):
    request = SimpleNamespace(id=3, removed=removed)
    answer = Answer(request, SimpleNamespace(holes=None), None, "keep", np.zeros((1, 2, 2)), level, None, 0)  # type: ignore[arg-type]
    assert answer.values(np.array([[0, 0]])) == {}
    whole = Answer(SimpleNamespace(id=3, removed=False), answer.page, None, "keep", np.eye(2)[None], 1, None, 0)  # type: ignore[arg-type]
    assert whole.values(np.array([[0, 0], [1, 0]])) == {"id": 3, "after": [[1, 0]]}


@pytest.mark.parametrize("size", [(40, 64), (41, 63)])
def test_a_picture_is_the_sum_of_its_mean_and_all_of_its_waves(size):
    height, width = size
    y, x = np.mgrid[:height, :width]
    waves = [30 * np.cos(2 * np.pi * (3 * x / width + 2 * y / height)), 12 * np.cos(2 * np.pi * 7 * y / height)]
    page = FilePage(Picture(np.rint(100 + sum(waves)).astype(np.uint8)[None], None, 255, "PNG"), None, None, 1)

    def summed(count):
        return np.frombuffer(page.strongest(count), np.uint8)[-height * width :].reshape(size).astype(float)

    assert (summed(0) == 100).all()
    assert np.abs(summed(1) - (100 + waves[0])).max() < 1.5
    assert np.abs(summed(2) - (100 + sum(waves))).max() < 1.5
    for count in (height * width, 1 << 30):
        assert (summed(count) == page.pixels(1)).all()


def test_the_sum_of_a_long_strip_takes_little_memory():
    planes = np.tile(np.arange(200, dtype=np.uint8), (1, 20, 2000))
    page = FilePage(Picture(planes, None, 255, "PNG"), None, None, 1)
    page.pixels(1)
    tracemalloc.start()
    made = page.strongest(5)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6
    _, _, _, width, height, level, *_ = unpacked(made)[0]
    assert (width * level, height * level) == (pytest.approx(400_000, abs=level), pytest.approx(20, abs=level))
