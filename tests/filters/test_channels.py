"""``channels``: the luminance or the chroma of a color picture alone, by every engine, rounded once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter, call
from fftfilter.images import Depth
from fftfilter.transfer import reference
from fftfilter.work.verify import references_of
from tests.helpers import COMMAND, assert_gray_levels
from tests.output.test_luma import by_matrix

SIZE = (12, 10)
LOW = H.lowpass(3, shape="gaussian")
PARTS = {"luminance": [0], "chroma": [1, 2]}
each_part = pytest.mark.parametrize("channels", PARTS)


@pytest.fixture
def picture(rng):
    return rng.integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def wanted(picture, channels, transfer=LOW):
    """Return the filtered values, by JPEG's matrix."""
    planes = np.moveaxis(picture, -1, 0)
    gain = transfer.gain(*SIZE)
    values = by_matrix(planes, lambda plane: reference.filtered(plane, gain).real, PARTS[channels])
    return np.moveaxis(values, 0, -1)


@each_part
@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_it_is_the_picture_with_one_part_filtered(picture, channels, engine):
    options = {"engine": engine, "channels": channels, "channel_axis": -1}
    values = fftfilter.lowpass(picture, 3, shape="gaussian", output="real", **({"edges": "wrap"} | options))
    np.testing.assert_allclose(values, wanted(picture, channels), atol=2e-3)
    kept = fftfilter.lowpass(picture, 3, shape="gaussian", output="keep", **({"edges": "wrap"} | options))
    assert_gray_levels(kept, np.floor(wanted(picture, channels) + 0.5).clip(0, 255).astype(np.uint8))


@each_part
def test_the_mean_is_kept_by_keep_and_not_by_real(picture, channels):
    for output, transfer in (("keep", H.highpass(2).keeping_mean()), ("real", H.highpass(2))):
        with Filter(H.highpass(2), output=output, channels=channels, edges="wrap") as f:
            got = f(picture.astype(np.float32), channel_axis=-1, white=255.0, levels=None)
        scale = 255 if output == "keep" else 1
        np.testing.assert_allclose(got * scale, wanted(picture, channels, transfer), atol=5e-3)


@each_part
def test_sixteen_bits_and_other_whites_are_kept(picture, channels):
    wide = picture.astype(np.uint16) * 4
    with Filter(LOW, output="keep", channels=channels, edges="wrap") as f:
        got = f(wide, channel_axis=-1, white=1020, levels=510)
        assert f.extremes()[0][1] == pytest.approx(np.abs(wanted(wide, channels)).max(), rel=1e-5)
    off = np.abs(got - np.floor(wanted(wide, channels).clip(0, 1020) / 2 + 0.5))
    assert off.max() <= 1
    assert np.count_nonzero(off) <= 1


@each_part
@pytest.mark.parametrize("dtype", ["uint16", "uint32", "float32"])
def test_weak_detail_on_a_bright_background_is_exact(picture, channels, dtype):
    bright = (picture % 3).astype(dtype) + np.array({"uint16": 60000, "uint32": 4e9}.get(dtype, 9e6), dtype)
    with Filter(H.highpass(2), output="real", channels=channels, edges="wrap") as f:
        got = f(bright, channel_axis=-1)
        assert f.weak() == (channels == "luminance" and dtype != "uint32")  # which is in double precision at once
    right = wanted(bright, channels, H.highpass(2))
    # The other part stays, and with it the background.
    np.testing.assert_allclose(got, right, atol=1e-5 * np.abs(right).max())


@each_part
def test_what_passes_everything_gives_the_picture_back(picture, channels):
    with Filter(H.Transfer(()), output="keep", channels=channels, edges="wrap") as f:
        np.testing.assert_array_equal(f(picture, channel_axis=-1), picture)


def test_gray_pictures_are_luminance_and_have_no_chroma(picture):
    gray, stack = picture[..., 0], np.moveaxis(picture, -1, 0)
    with (
        Filter(LOW, output="keep", channels="luminance", edges="wrap") as f,
        Filter(LOW, output="keep", edges="wrap") as plain,
    ):
        for given in (gray, stack):
            np.testing.assert_array_equal(f(given), plain(given))
    with Filter(LOW, output="keep", channels="chroma", edges="wrap") as f:
        for given in (gray, stack):
            np.testing.assert_array_equal(f(given), given)
        np.testing.assert_array_equal(f(gray[None], channel_axis=0), gray[None])
        assert len(f.extremes()) == len(f.clipped()) == 1


@pytest.mark.parametrize("transfer", [H.lowpass("1px"), H.stripes("auto")], ids=str)
def test_the_largest_magnitude_is_told_behind_0_as_without_channels(rng, transfer):
    bright = rng.integers(40, 200, (48, 40, 3), dtype=np.uint8)
    for part in ("all", "luminance"):
        with Filter(transfer, output="keep", channels=part, edges="wrap") as f:
            f(bright, channel_axis=-1)
            assert f.extremes() == [(0, pytest.approx(bright.max(), rel=1e-4))]


def test_the_steps_of_the_part_that_is_filtered_are_shown(picture):
    seen = {}
    with Filter(LOW, output="keep", channels="luminance", engine="book", edges="wrap") as f:
        f(picture, channel_axis=-1, observe=lambda name, array: seen.update({name: array}))
    luminance = picture @ [0.299, 0.587, 0.114]
    # Floats, which are divided by a power of two.
    np.testing.assert_allclose(256 * seen["image"][0], luminance, atol=1e-3)
    np.testing.assert_allclose(256 * seen["spectrum"][0], np.fft.fft2(luminance).T, atol=0.1)


def test_clipped_samples_are_counted(picture):
    with Filter(H.highpass(2), output="keep", channels="luminance", edges="wrap") as f:
        f(np.where(picture > 127, 255, 0).astype(np.uint8), channel_axis=-1)
        assert f.clipped()[0] > 0.1


def test_samples_on_an_edge_between_two_levels_are_decided_in_double_precision():
    # 9 and 10 in turn become 9.5 and 9.5 minus a 2048th, which is where levels are rounded up from.
    turns = (np.indices(SIZE).sum(axis=0) % 2).astype(np.uint8)
    picture = np.stack([turns, turns, turns], -1) + np.uint8(9)
    gains = np.full(SIZE, -1 / 1024)
    gains[0, 0] = 1
    with Filter(H.mask(gains), output="keep", channels="luminance", edges="wrap") as f:
        got = f(picture, channel_axis=-1)
        assert f.weak() == 1
        with f.with_options(engine="stockham", precision="double") as double:
            np.testing.assert_array_equal(got, double(picture, channel_axis=-1))
            assert double.weak() == 0


def test_bools_and_floats_of_any_size_are_taken(picture):
    with Filter(LOW, output="keep", channels="chroma", edges="wrap") as f:
        whole = f((picture > 100) * np.uint8(255), channel_axis=-1)
        np.testing.assert_array_equal(f(picture > 100, channel_axis=-1), whole, strict=True)
        huge = (picture / 255 * 3e38).astype(np.float32)
        assert np.isfinite(f(huge, channel_axis=-1)).all()
        with pytest.raises(ParameterError, match="1 values are NaN or infinite"):
            f(np.where(np.indices(picture.shape).sum(axis=0) == 0, np.inf, picture), channel_axis=-1)


@each_part
@pytest.mark.parametrize("output", ["keep", "real"])
def test_missing_pixels_come_back_and_have_no_influence(picture, channels, output):
    holes = np.indices(SIZE).sum(axis=0) % 5 == 0
    made = []
    transfer = LOW * H.notch((0.3, 0.2), width=2)
    for value in (0, 255):
        given = np.where(holes[..., None], np.uint8(value), picture)
        with Filter(transfer, output=output, channels=channels, depth=12, edges="wrap") as f:
            made.append(f(given, channel_axis=-1, missing=holes))
        assert (made[-1][holes] == value).all()
        planes = np.moveaxis(given, -1, 0)
        options = {"scale": None, "depth": Depth(made[-1].dtype, 255), "edges": "wrap", "channels": channels}
        of = {**options, "holes": np.broadcast_to(holes, planes.shape)}
        (right,) = references_of(planes, 255, transfer.with_depth(12), output, **of)
        off = np.abs(np.moveaxis(made[-1], -1, 0) - right.wanted.astype(float))
        assert off.max() <= (1 if output == "keep" else 5e-3)
    np.testing.assert_array_equal(made[0][~holes], made[1][~holes])


def test_streams_copies_and_other_options_do_the_same(picture):
    with Filter(LOW, output="keep", channels="luminance", edges="wrap") as f:
        first = f(picture, channel_axis=-1)
        np.testing.assert_array_equal(next(f.stream([picture], channel_axis=-1)), first)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(picture, channel_axis=-1), first)  # noqa: S301
        again = f.with_options(H.highpass(2), channels="chroma").with_options(LOW, channels="luminance")
        np.testing.assert_array_equal(again(picture, channel_axis=-1), first)
        f.retune(H.highpass(2))
        f.retune(LOW)
        np.testing.assert_array_equal(f(picture, channel_axis=-1), first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": "luma", "output": "keep"}, "channels 'luma' is invalid: choose all, luminance, chroma"),
        ({"channels": "luminance"}, "output magnitude has other gray levels: choose output keep or real"),
        ({"channels": "chroma", "output": "signed"}, "output signed has other gray levels: choose output keep or real"),
    ],
)
def test_what_has_no_meaning_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        Filter(LOW, **(COMMAND | options))


def test_notches_of_some_channels_are_refused():
    with pytest.raises(ParameterError, match=r"notches of some channels .* not for its chroma: choose all"):
        Filter(H.notch((0.1, 0.2), channels=(0,)), output="keep", channels="chroma", edges="wrap")


def test_all_is_the_default(picture):
    with Filter(LOW, channels="all", **COMMAND) as f, Filter(LOW, **COMMAND) as plain:
        np.testing.assert_array_equal(f(picture, channel_axis=-1), plain(picture, channel_axis=-1))


def test_colors_of_which_many_samples_are_undecided_are_made_in_double_precision(monkeypatch, rng):
    """Twice as many as may be; of double precision none is."""
    image, own = rng.integers(0, 256, (12, 10, 3), np.uint8), call.pixels

    def pixels(values, *given):
        return own(values, *given)._replace(undecided=3 / values.size if values.dtype == np.float32 else 0.0)

    monkeypatch.setattr(call, "pixels", pixels)
    with Filter(H.lowpass(3), output="keep", channels="luminance", edges="wrap") as filter_:
        for options in ({}, {"dtype": np.uint16, "levels": 1000, "white": 300}):
            got = filter_(image, channel_axis=-1, **options)
            assert filter_.weak() == 1
            with filter_.with_options(engine="stockham", precision="double") as double:
                np.testing.assert_array_equal(got, double(image, channel_axis=-1, **options))
