"""Notches: their gains beside the formula, and a picture whose wave they take out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.preview.report import about_filter
from fftfilter.transfer import reference

SIZES = [(64, 64), (48, 63)]


def frequencies(height, width):
    return np.fft.fftfreq(width), np.fft.fftfreq(height)[:, None]


def apart(size, x, y):
    """The distance of all frequencies from one, in cycles per pixel: the nearest of its repetitions."""
    fx, fy = frequencies(*size)
    return np.min([np.hypot(fx - x - i, fy - y - j) for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)


def gaussian(d):
    return np.exp(-np.log(2) * d**2)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("at", [(0.2, -0.11), (0.48, 0.49)])
def test_a_notch_follows_its_formula(size, at):
    wanted = np.prod([1 - gaussian(apart(size, s * at[0], s * at[1]) / 0.04) for s in (1, -1)], axis=0)
    np.testing.assert_allclose(H.notch(at, width="0.04cyc").gain(*size), wanted, atol=1e-12)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("at", [(0.5, 0.5), (-0.5, 0.5), (0.5, 0), (0, -0.5), (0.5, 0.25)])
def test_a_peak_that_is_its_own_conjugate_counts_once(size, at):
    """At 0 and the highest frequency alone; (0.5, 0.25) is one of two."""
    signs = (1,) if 0.25 not in at else (1, -1)
    wanted = np.prod([1 - gaussian(apart(size, s * at[0], s * at[1]) / 0.04) for s in signs], axis=0)
    np.testing.assert_allclose(H.notch(at, width="0.04cyc").gain(*size), wanted, atol=1e-12)


@pytest.mark.parametrize("parts", [2, 3, 49, 93, 103])
def test_the_last_harmonic_is_the_highest_frequency_whatever_rounding_says(parts):
    notch = H.notch((0.5 / parts, 0), width="0.001cyc", harmonics=1000)
    (taken_out,) = notch.parts
    assert len(taken_out.peaks()) == 2 * parts - 1  # the last one once
    assert notch.gain(2, 2 * parts)[0].round(6).tolist() == [1, *[0] * (2 * parts - 1)]


def test_harmonics_are_multiples_up_to_the_highest_frequency():
    one, three = H.notch((0.125, 0.0625)), H.notch((0.125, 0.0625), harmonics=3)
    product = one * H.notch((0.25, 0.125)) * H.notch((0.375, 0.1875))
    np.testing.assert_allclose(three.gain(64, 64), product.gain(64, 64), atol=1e-12)
    many = H.notch((0.125, 0), width=1, harmonics=9).gain(64, 64)
    assert np.flatnonzero(many[0] < 0.1).tolist() == [8, 16, 24, 32, 40, 48, 56]


@pytest.mark.parametrize("shape", ["gaussian", "butterworth", "cosine", "fermi"])
@pytest.mark.parametrize("at", [(0.25, 0.125), (0.5, 0.0)])
def test_gain_is_half_at_the_width(shape, at):
    gains = H.notch(at, width=2, shape=shape).gain(64, 64)
    x, y = (int(64 * each) for each in at)
    assert gains[y, x] == 0
    assert gains[y + 2, x] == pytest.approx(0.5, abs=1e-4)  # the conjugate's falloff reaches it
    assert gains[-y, -x] == 0


def test_an_ideal_notch_takes_out_what_is_nearer():
    assert (H.notch((0.25, 0.125), width=1.5, shape="ideal").gain(64, 64) == 0).sum() == 18


def test_a_mirrored_notch_takes_the_peaks_of_its_mirror_images_out_too():
    one, other = (H.notch((0.25, y), harmonics=2) for y in (0.125, -0.125))
    both = H.notch((0.25, 0.125), harmonics=2, mirrored=True)
    np.testing.assert_allclose(both.gain(48, 63), (one * other).gain(48, 63))
    assert both.is_even_along_axes
    assert not one.is_even_along_axes
    on_an_axis = H.notch((0.25, 0), mirrored=True)  # whose mirror images are itself
    np.testing.assert_array_equal(on_an_axis.gain(48, 63), H.notch((0.25, 0)).gain(48, 63))


def test_of_a_reduced_picture_the_highest_frequency_is_left():
    assert H.notch((0.25, -0.1)).in_cycles(64, 64, 2).parts[0].at == (0.5, -0.2)
    assert H.notch((0.1, -0.26)).in_cycles(64, 64, 2).parts == ()


def test_a_peak_is_marked_by_its_frequency_to_four_digits():
    marks = list(H.notch((0.123456, -0.04), width="0.01cyc").marks(12, 10))
    assert [(each.label, each.fx, each.fy) for each in marks] == [
        ("0.1235,-0.04", 0.123456, -0.04),
        ("0.1235,-0.04", -0.123456, 0.04),
    ]


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_wave_is_taken_out_of_a_picture(engine, rng):
    y, x = np.mgrid[:64, :64]
    smooth = H.lowpass(6).gain(64, 64)
    clean = 100 + 10 * reference.filtered(rng.normal(size=(64, 64)), smooth).real
    wave = 20 * np.cos(2 * np.pi * (13 * x - 21 * y) / 64)
    with Filter(H.notch((13 / 64, -21 / 64), width="0.02cyc"), output="real", engine=engine, edges="wrap") as notch:
        restored = notch((clean + wave).astype(np.float32))
    assert np.abs(restored - clean).max() < 0.01


@pytest.mark.parametrize(
    ("at", "options", "message"),
    [
        (
            (0, 0),
            {},
            r"[(]0, 0[)] is not a peak: give FX,FY in cycles per pixel, each from -0.5 to 0.5 and not both 0, such as",
        ),
        ((0.6, 0), {}, "is not a peak"),
        ((10**400, 0), {}, "is not a peak"),
        (0.3, {}, "is not a peak"),
        ((0.1, float("nan")), {}, "is not a peak"),
        ((0.1, 0.1), {"width": "wide"}, "width 'wide' is not a number"),
        ((0.1, 0.1), {"shape": "square"}, "'square' is not a shape"),
        ((0.1, 0.1), {"harmonics": 0}, "harmonics 0 is invalid"),
        ((1e-11, 0), {"harmonics": 1001}, "harmonics 1001 is invalid: give a whole number from 1 to 1000"),
        ((0.1, 0.1), {"harmonics": True}, "harmonics True is invalid"),
        ((0.1, 0.1), {"harmonics": 2.0}, "harmonics 2.0 is invalid"),
        ((0.1, 0.1), {"channels": (True,)}, "channels .* are invalid: give whole numbers from 0 up, such as"),
        ((0.1, 0.1), {"channels": ()}, r"channels \(\) are invalid"),
        ((0.1, 0.1), {"channels": (-1,)}, "channels .* are invalid"),
    ],
)
def test_invalid_values_are_refused_at_once(at, options, message):
    with pytest.raises(ParameterError, match=message):
        H.notch(at, **options)


def test_a_notch_between_the_frequencies_is_said():
    narrow = H.notch((0.1, 0.1), width="0.0001cyc")
    (said,) = narrow.cautions(64, 64)
    assert said.startswith("width 0.0001cyc of the notch at 0.1,0.1 is narrower than the distance to the nearest")
    assert narrow.cautions(100, 100) == narrow.cautions(50, 100) == []
    assert H.notch((0.25, 0.1), width="0.0001cyc").cautions(50, 64) == []


def test_a_notch_is_printed_reported_and_pickled():
    notch = H.notch((0.123, -0.047), width="0.01cyc", harmonics=3)
    assert eval(repr(notch)) == notch  # noqa: S307  our own
    assert str(notch) == "notch at 0.123,-0.047, gaussian, width 0.01cyc, 3 harmonics"
    assert notch.given() == {
        "kind": "notch",
        "at": [0.123, -0.047],
        "width": "0.01cyc",
        "shape": "gaussian",
        "harmonics": 3,
    }
    assert pickle.loads(pickle.dumps(notch)) == notch  # noqa: S301  our own
    assert notch != H.notch((0.123, -0.047))


def test_many_notches_are_described_by_their_number():
    made = H.lowpass(5) * H.notch((0.1, 0.2)) * H.notch((0.2, 0.1)) * H.notch((0.3, 0.1))
    assert about_filter(made, None, None) == str(made)
    assert about_filter(made * H.notch((0.4, 0.1)), 6, "luminance") == (
        "lowpass, ideal, radius 5 * 4 notches, depth 6 dB, luminance alone"
    )


def test_channels_have_the_notches_that_are_theirs():
    all_of_them, red, others = H.lowpass(5), H.notch((0.1, 0.2), channels=[0]), H.notch((0.3, 0.2), channels=(2, 1, 2))
    both = all_of_them * red * others
    assert both.of_channels(3) == [all_of_them * red, all_of_them * others, all_of_them * others]
    assert both.of_channels(1) == [both]  # a gray picture has them all
    assert (all_of_them * H.notch((0.1, 0.2))).of_channels(3) == [all_of_them * H.notch((0.1, 0.2))]
    assert eval(repr(others)) == others  # noqa: S307  our own
    assert str(others) == "notch at 0.3,0.2, gaussian, width 0.006cyc, channels 1, 2"
    assert others.given()["channels"] == [1, 2]


def test_an_ideal_notch_passes_what_lies_at_its_width_as_an_ideal_cutoff_does():
    gain = H.notch((0.25, 0), width="0.125cyc", shape="ideal").gain(8, 8)
    assert gain[0].tolist() == [1, 1, 0, 1, 1, 1, 0, 1]


def test_the_peak_of_the_longest_wave_that_a_float_tells_from_dc_is_taken_out():
    gain = H.notch((1e-320, 0), harmonics=3).gain(4, 4)  # of whose multiples more lie below 0.5 than a float can count
    assert (gain[0, 0], gain[2, 2]) == (0, 1)
