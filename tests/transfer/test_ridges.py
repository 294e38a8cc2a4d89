"""Stripes: their gains beside the formula, and pictures whose stripes they take out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.transfer import reference
from fftfilter.transfer.ridges import Amount, Bands, FittedStripes, Stripes, no_stripes


@pytest.mark.parametrize("size", [(64, 48), (63, 63)], ids=str)
@pytest.mark.parametrize("angle", [0, 90, 33, -120])
def test_stripes_follow_their_formula(size, angle):
    fx, fy = np.fft.fftfreq(size[1]), np.fft.fftfreq(size[0])[:, None]
    along = np.cos(np.radians(angle)) * fx - np.sin(np.radians(angle)) * fy
    wanted = np.where(np.hypot(fx, fy) < 0.1, 1, 1 - np.exp(-np.log(2) * (along / 0.03) ** 2))
    got = H.stripes(angle, width="0.03cyc", spare="10px").gain(*size)
    inside = (np.abs(fx) < 0.499) & (np.abs(fy) < 0.499)
    np.testing.assert_allclose(got[inside], wanted[inside], atol=1e-12)


@pytest.mark.parametrize("size", [(98, 98), (49, 93), (93, 49), (10, 10)], ids=str)
def test_a_frequency_at_the_radius_to_spare_is_not_below_it(size):
    """As an ideal low-pass decides it: on square images by whole numbers, 3-4-5 triangles, too."""
    for spare in range(1, min(size) // 2):
        gains = H.stripes(0, spare=spare, width="1e6cyc").gain(*size)  # of which nothing else is left
        np.testing.assert_array_equal(gains > 0.5, H.lowpass(spare).gain(*size) == 1)


@pytest.mark.parametrize("size", [(64, 48), (98, 98), (63, 64)], ids=str)
def test_stripes_are_even_also_at_the_highest_frequency(size):
    gains = H.stripes(33, width="0.03cyc").gain(*size)
    np.testing.assert_array_equal(gains, np.roll(gains[::-1, ::-1], (1, 1), (0, 1)))


@pytest.mark.parametrize("angle", [0, 90, 33])
@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_scan_stripes_are_taken_out(engine, angle, rng):
    # Stripes of several periods that repeat in the picture, or at 33 degrees almost: 13/20 is their slope in bins.
    y, x = np.mgrid[:64, :64]
    step = {0: (0, 1), 90: (1, 0), 33: (13, 20)}[angle]
    spread = (6, 11, 25) if angle != 33 else (1,)
    waves = sum(9 * np.cos(2 * np.pi * m * (step[0] * x + step[1] * y) / 64 + m) for m in spread)
    clean = 100 + 10 * reference.filtered(rng.normal(size=(64, 64)), H.lowpass(5).gain(64, 64)).real
    with Filter(H.stripes(angle, width="0.015cyc", spare=5), output="real", engine=engine, edges="wrap") as stripes:
        restored = stripes((clean + waves).astype(np.float32))
    assert np.abs(restored - clean).max() < 0.01 * np.abs(waves).max()


def test_the_angle_is_that_of_the_picture_also_of_one_that_is_not_square():
    # They rise to the right: 45 degrees, with a period of 8 pixels along both sides.
    y, x = np.mgrid[:64, :128]
    rising = np.cos(2 * np.pi * (x + y) / 8)
    left = [reference.filtered(rising, H.stripes(angle, width="0.01cyc").gain(64, 128)).real for angle in (45, -45)]
    assert np.abs(left[0]).max() < 1e-9
    np.testing.assert_allclose(left[1], rising, atol=1e-9)


@pytest.mark.parametrize(
    ("angle", "options", "message"),
    [
        ("flat", {}, "angle 'flat' is not a number of degrees: give 0 for horizontal stripes, 33.5, or auto$"),
        (float("inf"), {}, "angle inf is not a number of degrees"),
        (10**400, {}, "is not a number of degrees"),
        (0, {"width": 0}, "width '0' must be finite"),
        (0, {"spare": "8furlong"}, "spare '8furlong' has an unknown unit"),
    ],
)
def test_invalid_values_are_refused_at_once(angle, options, message):
    with pytest.raises(ParameterError, match=message):
        H.stripes(angle, **options)


def test_the_usual_width_and_the_usual_spare_go_with_what_is_given():
    assert str(H.stripes(0, width="0.01cyc")) == "stripes at 0 degrees, width 0.01cyc, spare 40px"
    assert str(H.stripes(0, spare="20px")) == "stripes at 0 degrees, width 0.003cyc, spare 20px"
    assert str(H.stripes(33.5)) == "stripes at 33.5 degrees, as the picture has them"
    assert str(H.stripes("auto")) == "stripes that the picture has"


def fitted(angle):
    """Return stripes of which a half, a quarter and an eighth is taken at 0, 1/6 and 1/3 cycles across them."""
    return FittedStripes(angle, 24, (0.5, 0.25, 0.125), Amount(3.25, "levels"), (1,))


def test_the_stripes_of_a_picture_follow_their_formula():
    assert str(fitted(33.456)) == "stripes at 33.46 degrees, offsets of 3.2 levels in channel 1"
    # At 45 degrees they rise to the right: their frequencies lie on the diagonal, right and down.
    gain = fitted(45).gain(12, 12)
    assert (
        gain[1, 1] == gain[-1, -1] == pytest.approx(1 - np.interp(2**0.5 / 12, [0, 1 / 6, 1 / 3], (0.5, 0.25, 0.125)))
    )
    assert gain[1, -1] == pytest.approx(1 - 0.5 * np.exp(-((24 * 2**0.5 / 12 / 0.85) ** 2) / 2))
    assert (gain[6] == 1).all(), "the highest frequency stays"
    assert (gain[:, 6] == 1).all()


@pytest.mark.parametrize("angle", [0, 90, 180, 30])
@pytest.mark.parametrize("is_gain", [False, True])
def test_lines_are_taken_out_of_pixels_as_they_were_added(angle, is_gain, rng):
    """Of a profile that changes along the lines, where they are upright."""
    y, x = np.mgrid[:300, :40]
    turn = np.radians(angle)
    lines = 400 if angle == 30 else 40 if angle == 90 else 300
    profiles = rng.normal(0, 0.1, (1 if angle == 30 else 3, lines))
    across, part = (x, (y + 0.5) / 300) if angle == 90 else (y, (x + 0.5) / 40)
    if angle == 30:
        across = x * np.sin(turn) + y * np.cos(turn)
    added = sum(np.interp(across, np.arange(lines), each) * np.cos(np.pi * k * part) for k, each in enumerate(profiles))
    plane = 5.0 + rng.random((300, 40))
    bands = Bands(angle, tuple(map(tuple, profiles)), is_gain, 1, Amount(1, "%" if is_gain else ""))
    for floor in (0.0, 0.25):
        left = plane.copy()
        bands.take_out_of(left, floor)
        alone = plane * np.exp(-added) if is_gain else plane - added
        np.testing.assert_allclose(left, floor * plane + (1 - floor) * alone)
    assert (bands.gain(12, 10) == 1).all()


def test_bands_of_a_reduced_picture_are_the_means_of_their_lines():
    bands = Bands(90, ((1.0, 2.0, 3.0, 4.0, 5.0),), False, 2, Amount(1.5, ""))
    assert bands.reduced(2, 7, 5).profiles == ((1.5, 3.5, 5.0),)
    assert bands.reduced(2, 5, 7) is None, "the middle of a larger picture"


@pytest.mark.parametrize(
    ("bands", "words"),
    [
        (Bands(0, ((1.0,),), True, 16, Amount(2.13, "%")), "bands of 16 rows at 0 degrees, gains of 2.1 %"),
        (Bands(90, ((1.0,),), False, 3, Amount(0.00123, "")), "bands of 3 columns at 90 degrees, offsets of 0.00123"),
        (Bands(90, ((1.0,),), False, 1, Amount(4, "levels")), "lines at 90 degrees, offsets of 4.0 levels"),
        (Bands(30, ((1.0,),), False, 8, Amount(4, ""), (2,)), "bands of 8 px at 30 degrees, offsets of 4 in channel 2"),
        (Bands(0, ((1.0,),), False, 0, Amount(4, "")), "stripes at 0 degrees, offsets of 4"),
    ],
)
def test_bands_are_told_by_width_angle_and_amount(bands, words):
    assert str(bands) == words


def test_where_there_are_no_stripes_it_is_said_what_to_try():
    assert no_stripes(Stripes("auto"), {}) == (
        "no stripes are found: if there are faint ones, try --angle 0 for rows, 90 for columns, notch --auto for moire"
    )
    assert no_stripes(Stripes("auto"), {90.0: "content", 12.345: "content"}) == (
        "no stripes are found: lines at 12.35 and 90 degrees look like a part of the picture, such as edges, and stay; "
        "try --angle 12.35 if they are a fault, notch --auto for moire"
    )
    assert no_stripes(Stripes("auto"), {90.0: "content", 0.0: "wide"}) == (
        "no stripes are found: bands at 0 degrees are too wide, with too few steps to tell them from edges, lines at "
        "90 degrees look like a part of the picture, such as edges, and stay; try --angle 0 if they are a fault, notch "
        "--auto for moire"
    )
    assert no_stripes(Stripes(0.0), {}) == (
        "no stripes are found at 0 degrees: to take out what lies along them all the same, try --width 0.003cyc"
    )
    assert no_stripes(Stripes(0.0), {0.0: "content"}).endswith(
        "lines there are blurred as edges are; try --width 0.003cyc"
    )
    faint = {12.345: "content", 30.0: "faint"}
    assert no_stripes(Stripes("auto"), faint).startswith(
        "no stripes are found: waves at 30 degrees are faint, lines at "
    )
    assert no_stripes(Stripes("auto"), faint).endswith(", and stay; try --waves --angle 30")
    assert no_stripes(Stripes("auto", waves=True), {}) == ""
    assert no_stripes(Stripes("auto", waves=True), {30.0: "faint"}) == (
        "waves at 30 degrees are faint, and stay: try stripes --waves --angle 30"
    )


def test_stripes_that_all_stay_are_said():
    stays = H.stripes(0, spare="1px")
    assert stays.cautions(64, 64) == ["spare 1px lies beyond the highest frequency of the stripes at 0: they all stay"]
    assert H.stripes(0, spare="3px").cautions(64, 64) == []
    # The ridge of 45 degrees ends in a corner, 45.25 cycles away.
    for spare, count in ((45, 0), (46, 1)):
        assert len(H.stripes(45, spare=spare).cautions(64, 64)) == count


def test_stripes_are_printed_reported_and_pickled():
    stripes = H.stripes(33, spare="20px")
    assert eval(repr(stripes)) == stripes  # noqa: S307  our own
    assert str(stripes) == "stripes at 33 degrees, width 0.003cyc, spare 20px"
    assert stripes.given() == {"kind": "stripes", "angle": 33.0, "width": "0.003cyc", "spare": "20px"}
    assert pickle.loads(pickle.dumps(stripes)) == stripes  # noqa: S301  our own
    assert stripes != H.stripes(33)


def test_right_angles_are_even_along_the_axes_whatever_their_sign_is():
    assert [H.stripes(angle).is_even_along_axes for angle in (0, 90, -90, 180, 30)] == [True] * 4 + [False]
