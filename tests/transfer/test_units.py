"""Radii as they are given: numbers with units, and what is none."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.text import Angle, length_text
from fftfilter.transfer.units import LARGEST, Radius, parse_pixel_size
from fftfilter.work.saved import words_of_part


@pytest.mark.parametrize(
    ("text", "bins"),
    [("40", 40), ("8px", 12.5), ("0.125cyc", 12.5), ("25%", 12.5), (" 1e1 ", 10), ("2.5PX", 40), (12, 12), (0.5, 0.5)],
)
def test_units_on_an_image_of_100_by_200(text, bins):
    assert Radius.parse(text).bins(100, 200) == bins


@pytest.mark.parametrize(("text", "bins"), [("1e-200", 1e-100), ("1e200", 1e100), ("1e300px", 1e-100)])
def test_radii_beyond_which_no_filter_changes_are_those_at_the_end(text, bins):
    assert Radius.parse(text).bins(9, 12) == bins


@pytest.mark.parametrize("text", ["40", "8px", "0.125cyc", "25%"])
def test_a_radius_is_printed_as_it_was_given(text):
    assert str(Radius.parse(text)) == text


def test_physical_units_need_the_size_of_a_pixel_and_others_have_none():
    for text in ("2um", "3mm", "1in", "150lpi", "12lp/mm", "5arcsec", "1deg"):
        assert Radius.parse(text).is_physical
    for text in ("40", "8px", "0.125cyc", "25%"):
        radius = Radius.parse(text)
        assert not radius.is_physical
        assert radius.with_pixel((65e-9, 65e-9)) == radius
    assert Radius.parse("2um").family == Radius.parse("150lpi").family != Radius.parse("5arcsec").family
    assert len({Radius.parse(text).family for text in ("8px", "0.1cyc", "25%")}) == 1


def test_a_radius_is_written_as_a_number_or_with_its_unit_to_the_last_digit():
    given = ["2000px", 3000, 0.1, "0.30000000000000004cyc", 1e300, "1e+16px", "1.5um"]
    assert [Radius.parse(each).as_given() for each in given] == given


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "-inf", "0px", 0, -1, float("nan"), "1e999"], ids=str)
def test_a_radius_is_finite_and_above_zero(text):
    with pytest.raises(ParameterError, match=r"^radius '.*' must be finite and greater than zero: give a number"):
        Radius.parse(text)


@pytest.mark.parametrize("text", ["", "px", "abc", "1.2.3", "4 5", "--4", "%"])
def test_a_radius_is_a_number(text):
    with pytest.raises(ParameterError, match=r"^inner '.*' is not a number: give a number"):
        Radius.parse(text, "inner")


def test_an_unknown_unit_is_refused_with_the_known_ones():
    with pytest.raises(
        ParameterError,
        match=r"unknown unit 'furlong': give a number \(cycles across the shorter side\), or one with px, cyc, % or a "
        r"physical unit: 40, 8px, 0.125cyc, 25%, 2.6um, 15km, 2.3A, 0.43/nm, 150lpi, 12lp/mm, 5arcsec$",
    ):
        Radius.parse("8furlong")


def test_a_radius_is_the_same_frequency_on_an_image_of_twice_the_sides():
    for text in ("40", "8px", "0.125cyc", "25%", "2.6um", "150lpi"):
        radius = Radius.parse(text).with_pixel((65e-9, 65e-9))
        assert radius.on_twice_the_sides().bins(128, 256) / 128 == radius.bins(64, 128) / 64


# Physical units


@pytest.mark.parametrize(
    ("text", "pixel", "period"),
    [
        ("2.6um", "65nm", 40),
        ("2.6\N{MICRO SIGN}m", "65nm", 40),
        ("2.6\N{GREEK SMALL LETTER MU}m", "0.065 um", 40),
        ("130 nm", "65nm", 2),
        ("0.5mm", "0.05mm", 10),
        ("3cm", "1mm", 30),
        ("1e-3m", "0.5mm", 2),
        ("1in", "300dpi", 300),
        ("150lpi", "300dpi", 2),
        ("150LPI", "0.1in", 1 / 15),
        ("12lp/mm", "0.01mm", 100 / 12),
        ("15km", "30m", 500),
        ("2.3A", "0.1nm", 2.3),
        ("2.3\N{ANGSTROM SIGN}", "0.1 A", 23),
        ("500pm", "1A", 5),
        ("0.5/nm", "0.2nm", 10),
        ("4/km", "10m", 25),
    ],
)
def test_physical_units_on_pixels_of_a_size(text, pixel, period):
    radius = Radius.parse(text).with_pixel(parse_pixel_size(pixel))
    assert radius.bins(100, 200) == pytest.approx(100 / period, rel=1e-12)
    assert Radius.parse(str(radius)) == Radius.parse(text)


UNEQUAL = "7um,10um"
GRID = np.fft.fftfreq(128) / 7, np.fft.fftfreq(90)[:, None] / 10  # in cycles per micrometer


@pytest.mark.parametrize("size", [UNEQUAL, ("7um", "10um"), (7e-6, 1e-5)])
def test_on_pixels_of_two_sides_a_length_is_an_ellipse_and_a_number_of_pixels_a_circle(size):
    of_length, of_pixels = H.lowpass("101um", shape="gaussian"), H.highpass("50px", shape="butterworth")
    made = (of_length * of_pixels).with_pixel_size(size)
    wanted = 2.0 ** -((np.hypot(*GRID) * 101) ** 2)
    assert np.allclose(made.gain(90, 128), wanted * of_pixels.gain(90, 128), atol=1e-12)
    assert np.allclose(made.in_cycles(90, 128, 2.0).gain(45, 64)[:9, :9], made.gain(90, 128)[:9, :9], atol=1e-12)
    assert made.radial is None
    (ring, other) = made.marks(90, 128)
    assert (ring.radius, ring.stretch, other.stretch) == (pytest.approx(7 / 101), pytest.approx(10 / 7), 1)
    assert eval(repr(made), {"H": H}) == made  # noqa: S307
    assert str(made).startswith("lowpass, gaussian, radius 101um * ")


def test_notches_and_stripes_on_pixels_of_two_sides():
    (fx, fy), notch = GRID, H.notch((0.1, 0.2), width="0.002/um").with_pixel_size(UNEQUAL)
    near = (2.0 ** -((np.hypot(fx - sign * 0.1 / 7, fy - sign * 0.2 / 10) / 0.002) ** 2) for sign in (1, -1))
    assert np.allclose(notch.gain(90, 128), np.prod([1 - each for each in near], axis=0), atol=1e-6)
    rows = H.stripes(0, width="0.001/um", spare="101um").with_pixel_size(UNEQUAL)
    wanted = np.where(np.hypot(*GRID) * 101 < 1, 1, 1 - 2.0 ** -((fx / 0.001) ** 2))
    assert np.allclose(rows.gain(90, 128)[1:-1, 1:-1], wanted[1:-1, 1:-1], atol=1e-12)
    assert "--pixel-size=7" in " ".join(words_of_part(notch.parts[0]))


def test_cutoffs_on_pixels_of_two_sides_are_filtered_by_every_engine(rng):
    image, gain = rng.random((90, 128)).astype(np.float32), H.lowpass("101um").with_pixel_size(UNEQUAL).gain(90, 128)
    wanted = np.fft.ifft2(np.fft.fft2(image) * gain).real
    for engine in ("fused", "book", "numpy"):
        made = fftfilter.lowpass(image, "101um", output="real", edges="wrap", pixel_size=UNEQUAL, engine=engine)
        assert np.allclose(made, wanted, atol=1e-6), engine
    of_axes = fftfilter.lowpass(image, "101um", output="real", edges="wrap", pixel_size=("10um", "7um"), axes=2)
    assert np.allclose(of_axes, wanted, atol=1e-6)


def test_a_period_of_whole_pixels_is_so_to_the_last_digit():
    """Or an ideal filter would not pass the same frequencies: 0.3 / 0.1 is not 3."""
    for period, pixel in (("0.3mm", "0.1mm"), ("1.5um", "500nm"), ("0.6arcsec", "0.2arcsec"), ("100lpi", "300dpi")):
        assert Radius.parse(period).with_pixel(parse_pixel_size(pixel)).bins(30, 40) == 10


@pytest.mark.parametrize(("text", "pixel"), [("1e308lpi", "1e300m"), ("1e-320nm", "65nm")])
def test_a_radius_above_all_numbers_is_beyond_every_frequency(text, pixel):
    assert Radius.parse(text).with_pixel(parse_pixel_size(pixel)).bins(100, 200) == LARGEST


def test_physical_units_without_a_pixel_size_name_both_ways_out():
    radius = Radius.parse("2.6um")
    assert radius.is_physical
    with pytest.raises(ParameterError, match=r"^2.6um needs the size of a pixel: .*65nm.* px, cyc or %"):
        radius.bins(100, 200)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("65", "'65' has no unit: give a length, an angle, or dots per inch: 65nm, 0.1mm, 0.2arcsec, 300dpi"),
        ("65px", "'65px' has an unknown unit 'px'"),
        ("0nm", "must be finite and greater than zero"),
        ("1e-320nm", "is out of range: give a length, an angle, or dots per inch: 65nm, 0.1mm"),
        ("1e-320dpi", "is out of range"),
        ("7um,", "'' is not a number"),
        ("7um,1arcsec", "is neither one side nor two of one kind"),
        ("1um,2um,3um", "is neither one side nor two of one kind"),
        ("1nm,1m", "has sides too different to compute with"),
        ("x", "is not a number"),
    ],
)
def test_a_pixel_size_is_a_length(given, message):
    with pytest.raises(ParameterError, match=f"^pixel size .*{message}"):
        parse_pixel_size(given)


@pytest.mark.parametrize(
    ("text", "pixel"),
    [("1um", "1e-320 m"), ("1e+308m", "65 nm"), ("4.94066e-324%", None)],
)
def test_a_radius_below_all_numbers_is_refused(text, pixel):
    radius = Radius.parse(text)
    radius = radius.with_pixel(parse_pixel_size(pixel)) if pixel else radius
    of_pixels = f" of pixels of {length_text(parse_pixel_size(pixel)[0])}" if pixel else ""
    with pytest.raises(
        ParameterError, match=rf"^{re.escape(text)}{of_pixels} is no frequency that can be computed with: give a "
    ):
        radius.bins(100, 200)


@pytest.mark.parametrize(
    ("meters", "text"),
    [
        (6.5e-8, "65 nm"),
        (2.6e-6, "2.6 um"),
        (0.0254 / 72, "0.3528 mm"),
        (3.0, "3 m"),
        (900.0, "900 m"),
        (1500.0, "1.5 km"),
        (5e-10, "0.5 nm"),
        (1e-4, "0.1 mm"),
        (99e-6, "99 um"),
    ],
)
def test_a_length_is_said_in_the_unit_that_suits_it(meters, text):
    assert length_text(meters) == text


# Angles


def test_a_radius_in_arcsec_is_a_period_on_the_sky():
    radius = Radius.parse("5arcsec").with_pixel(parse_pixel_size("0.5arcsec"))
    assert radius.bins(100, 200) == 10
    assert Radius.parse("1deg").with_pixel(parse_pixel_size("6arcmin")).bins(100, 200) == 10
    assert Radius.parse("50mas").with_pixel(parse_pixel_size("0.005arcsec")).bins(100, 200) == 10


def test_units_are_parts_of_each_other():
    same = [
        ("1deg", "60arcmin", "3600arcsec", "3.6e6mas", f"{math.pi / 180!r}rad"),
        ("1m", "100cm", "1000mm", "1e6um", "1e9nm", f"{1 / 0.0254!r}in", "0.0254dpi"),
    ]
    for texts in same:
        sizes = [parse_pixel_size(text)[0] for text in texts]
        assert sizes == pytest.approx([sizes[0]] * len(texts), rel=1e-12)
    assert parse_pixel_size("1rad") == parse_pixel_size("1m") == parse_pixel_size(1) == (1, 1)


@pytest.mark.parametrize("text", ["2 deg", "0.1 deg", "5 arcmin", "1.5 arcsec", "0.1 arcsec", "99 mas", "3 mas"])
def test_an_angle_is_said_in_the_unit_that_suits_it(text):
    assert length_text(parse_pixel_size(text)[0]) == text


@pytest.mark.parametrize(
    ("radius", "size", "message"),
    [
        ("5arcsec", "65nm", "5arcsec is an angle, and the pixel size, 65 nm, is a length: give another --pixel-size"),
        ("5um", "1arcmin", "5um is a length, and the pixel size, 1 arcmin, is an angle"),
    ],
)
def test_a_length_beside_an_angle_is_refused(radius, size, message):
    with pytest.raises(ParameterError, match=message):
        H.lowpass(radius).with_pixel_size(size)


def test_an_angle_needs_the_size_of_a_pixel():
    with pytest.raises(ParameterError, match=r"^5arcsec needs the size of a pixel: .* such as 0.2arcsec"):
        Radius.parse("5arcsec").bins(10, 12)


def test_a_function_of_angles_is_written_and_read():
    made = H.lowpass("5arcsec").with_pixel_size("0.2arcsec")
    assert eval(repr(made), {"H": H}) == made  # noqa: S307
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert (again, type(again.pixel_size), length_text(again.pixel_size)) == (made, Angle, "0.2 arcsec")
    assert f"--pixel-size={made.pixel_size!r}" in words_of_part(made.parts[0])
    assert H.lowpass(made.given()["radius"]).with_pixel_size(made.given()["pixel_size"]) == made
