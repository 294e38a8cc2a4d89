"""Filters over images with missing pixels: by NaN, by masked arrays, by the argument ``missing``."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import call
from fftfilter.images.picture import Depth
from fftfilter.missing import waves_of
from fftfilter.output.modes import MODES, Auto
from fftfilter.output.rounding import NUDGE, Difference
from fftfilter.work.verify import references_of
from tests.helpers import COMMAND

SIZE = (12, 10)
TRANSFERS = [H.lowpass("4px"), H.highpass("6px", shape="gaussian"), H.notch((0.2, 0.1)), H.stripes(90)]


@pytest.fixture
def image(rng):
    return rng.integers(1, 256, SIZE, np.uint8)


@pytest.fixture
def holes(rng):
    return rng.random(SIZE) < 0.2


@pytest.mark.parametrize("transfer", [H.lowpass("4px"), H.notch((0.2, 0.1)), H.stripes(90), H.wiener()], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_image_that_is_given_stays(image, holes, transfer, dtype):
    given = image.astype(dtype)
    with Filter(transfer, **COMMAND) as f:
        f(given, missing=holes)
    assert np.array_equal(given, image)


DTYPES = ["uint8", "uint16", "float32", "float64"]
OUTPUTS = [
    ("magnitude", None, "wrap"),
    ("magnitude", Auto(5), "mirror"),
    ("keep", None, "mirror"),
    ("signed", (-20, 20), "wrap"),
    ("real", None, "wrap"),
]
# Every two of a transfer function, a type and an output meet.
MET = [(TRANSFERS[(i + j) % 4], DTYPES[i], *OUTPUTS[j]) for i in range(4) for j in range(5)]


@pytest.mark.parametrize(("transfer", "dtype", "output", "scale", "edges"), MET, ids=str)
def test_valid_samples_are_those_of_the_reference_and_the_others_stay(
    image, holes, transfer, dtype, output, scale, edges
):
    white = {"uint8": 255, "uint16": 65535}.get(dtype, 1)
    image = (image * (white / 255)).astype(dtype)
    with Filter(transfer, output=output, scale=scale, edges=edges) as f:
        made = f(image, missing=holes)
        assert np.array_equal(made[holes], image[holes].astype(made.dtype))
        image[holes] = 0 if image.dtype.kind == "u" else np.nan
        assert np.array_equal(f(image, missing=holes)[~holes], made[~holes])
        if image.dtype.kind == "f":
            assert np.array_equal(f(image), f(image, missing=holes), equal_nan=True)
        largest = f.extremes()[0][1]
    depth = Depth(np.dtype(made.dtype), white if MODES[output].name != "real" else 1)
    references = references_of(
        image[None], white, transfer, output, scale=f._description.scale, depth=depth, edges=edges, holes=holes[None]
    )
    met = []
    for wanted, values, unit in references:
        assert largest == pytest.approx(np.abs(values[0][~holes]).max(), rel=1e-5)
        met.append(Difference.of(f(image, missing=holes)[None], wanted, depth.maxval, unit=unit))
    assert any(each.is_right for each in met), met


@pytest.mark.parametrize("output", ["keep", "real"])
def test_floats_near_the_end_of_single_precision_stay_finite(image, holes, output):
    image = image.astype(np.float32)
    image[0, 0], image[2, 5] = 0, 3e38
    image[holes] = np.nan
    with Filter(H.lowpass("5px"), output=output, edges="wrap") as f:
        made = f(image)
        assert np.isfinite(made[~holes]).all()
        assert f.extremes()[0][1] == pytest.approx(np.abs(made[~holes]).max())
        np.testing.assert_allclose(made[~holes], f(image / 4)[~holes] * 4, rtol=1e-6)


def test_a_masked_array_gives_one(image, holes):
    made = fftfilter.lowpass(np.ma.MaskedArray(image, holes), **COMMAND)
    assert np.array_equal(np.ma.getmaskarray(made), holes)
    assert np.array_equal(made.data, fftfilter.lowpass(image, missing=holes, **COMMAND))
    plain = fftfilter.lowpass(np.ma.MaskedArray(image, False), **COMMAND)
    assert np.array_equal(plain, fftfilter.lowpass(image, **COMMAND))


def test_ranges_come_from_valid_samples_alone(image, holes):
    """A hole at the border of a bright object must not decide what is white."""
    bright = np.where(holes, 255, image // 4).astype(np.uint8)
    made = fftfilter.highpass(bright, missing=holes, **COMMAND)
    assert made[~holes].max() == 255


def test_pictures_of_a_stack_are_as_if_alone(image, holes):
    stack = np.stack([image, image, image])
    missing = np.stack([np.zeros_like(holes), holes, np.ones_like(holes)])
    made = fftfilter.highpass(stack, missing=missing, **COMMAND)
    assert np.array_equal(made[0], fftfilter.highpass(image, **COMMAND))
    assert np.array_equal(made[1], fftfilter.highpass(image, missing=holes, **COMMAND))
    assert np.array_equal(made[2], image), "of which nothing is valid"


def test_channels_share_a_scale_and_may_have_holes_of_their_own(rng, holes):
    picture = rng.normal(size=(*SIZE, 3)).astype(np.float32)
    picture[2, 3, 1] = np.nan
    made = fftfilter.lowpass(picture, channel_axis=-1, output="keep", edges="wrap")
    assert np.argwhere(np.isnan(made)).tolist() == [[2, 3, 1]]
    made = fftfilter.lowpass(picture, channel_axis=-1, missing=holes, **COMMAND)
    assert np.nanmax(made[~holes]) == 1
    by_channel = H.lowpass("4px") * H.notch((0.2, 0.1), channels=(1,))
    made = Filter(by_channel, output="keep", edges="wrap")(picture, channel_axis=-1, missing=holes)
    assert np.array_equal(made[holes], picture[holes], equal_nan=True)
    with pytest.raises(ParameterError, match="has no scale in common"):
        Filter(by_channel, **COMMAND)(picture, channel_axis=-1, missing=holes)


def test_the_steps_of_a_picture_with_holes_are_seen_and_its_engine_is_known(image, holes):
    seen = []
    with Filter(H.lowpass(3), engine="book", **COMMAND) as book:
        book(image, missing=holes, observe=lambda name, _: seen.append(name))
        assert (book.engine, bool(seen)) == ("book", True)
    with Filter(H.lowpass(3), **COMMAND) as f:
        f(image, missing=holes)
        assert f.engine == "fused"


def test_a_stream_takes_images_with_holes(image, holes):
    given = np.where(holes, np.nan, image)
    with Filter(H.lowpass("4px"), **COMMAND) as f:
        for made in f.stream([image, given, np.ma.MaskedArray(image, holes)]):
            assert made.shape == SIZE
        assert np.ma.is_masked(made)


def test_undecided_samples_are_filtered_again_in_double_precision(rng, holes):
    near_edges = (rng.integers(0, 255, SIZE) + 0.5 - NUDGE + 1e-6 * rng.random(SIZE)) / 255
    with Filter(H.lowpass("3cyc"), precision="single", edges="wrap") as f:
        made = f(near_edges, missing=holes, dtype=np.uint8)
        assert f.weak() == 1
    assert np.array_equal(made[~holes], np.ceil(255 * near_edges[~holes]))


def test_little_on_a_bright_ground_has_all_its_digits(rng, holes):
    ground = (60000 + rng.integers(0, 2, SIZE)).astype(np.uint16)
    made, far = (fftfilter.highpass(each, "8px", missing=holes, **COMMAND) for each in (ground, ground - 60000))
    assert np.abs(made[~holes].astype(int) - far[~holes]).max() <= 8


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (np.ones((3, 3), bool), r"missing is an array of shape \(3, 3\) and type bool: give bools, .* \(12, 10\)"),
        (np.ones(SIZE, int), "type int"),
        (5, r"shape \(\)"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(image, missing, message):
    with pytest.raises(ParameterError, match=message):
        fftfilter.lowpass(image, missing=missing, **COMMAND)


def test_infinite_samples_are_refused(image, holes):
    given = np.where(holes, np.nan, image)
    given[0, 0] = np.inf
    with pytest.raises(ParameterError, match="NaN or infinite, the first at row"):
        fftfilter.lowpass(given, **COMMAND)
    with pytest.raises(ParameterError, match="1 values are NaN or infinite, the first at row 0, column 0"):
        fftfilter.lowpass(given, missing=holes & (np.indices(SIZE)[0] > 0), **COMMAND)


def test_complex_values_have_no_magnitude_with_holes(image, holes):
    gains = np.zeros(SIZE)
    gains[1, 2] = 1
    with pytest.raises(
        ParameterError, match=r"^a magnitude of complex values takes no missing pixels: take output real, or fill them$"
    ):
        fftfilter.apply_mask(image, gains, missing=holes, **COMMAND)
    assert fftfilter.apply_mask(image, gains, missing=holes, output="real", edges="wrap").shape == SIZE


def test_for_a_weak_result_holes_are_filled_in_double_precision():
    """A high-pass beyond all of a smooth picture leaves what rounding leaves in the holes, and that is not it."""
    y, x = np.mgrid[:96, :80]
    smooth = np.cos(2 * np.pi * y / 96) + np.cos(2 * np.pi * x / 80)
    holes = np.random.default_rng(1).random(smooth.shape) < 0.06
    holes[40:60, 30:50] = True
    smooth = (smooth + 0.7).astype(np.float32)
    made = []
    for precision, given in (("single", smooth), ("double", smooth), ("double", smooth.astype(np.float64))):
        with Filter(H.highpass("0.45cyc", shape="butterworth", order=4), precision=precision, **COMMAND) as filter_:
            made.append(filter_(given, missing=holes, dtype=np.float32)[~holes])
    assert np.abs(made[0] - made[2]).max() < 1e-6  # of white
    assert np.abs(made[1] - made[2]).max() < 1e-6


def test_a_result_that_the_offset_nearly_cancels_is_made_in_double_precision():
    """A low-pass takes the board away, and the offset that went around the transforms as well."""
    y, x = np.mgrid[:379, :369]
    board = np.where((x + y) % 2, 16384, -16383).astype(np.int16)
    holes = np.random.default_rng(1).random(board.shape) < 0.06
    made = []
    for precision in ("single", "double"):
        with Filter(H.lowpass(3), output="signed", precision=precision, edges="wrap") as filter_:
            made.append(filter_(board, missing=holes, dtype=np.float32, white=65535)[~holes])
    assert np.abs(made[0] - made[1]).max() < 1e-5  # of white


def test_floats_of_16_bits_and_bytes_come_back_in_more_levels(image, holes):
    given = (image / 255).astype(np.float16)
    with Filter(H.lowpass(3), output="keep", edges="wrap") as filter_, np.errstate(all="raise"):
        wanted = filter_(given.astype(np.float32), missing=holes, dtype=np.uint16)
        assert np.array_equal(filter_(given, missing=holes, dtype=np.uint16), wanted)
        made = filter_(image, missing=holes, dtype=np.uint16, levels=255)
    assert np.array_equal(made[holes], image[holes])


def test_floats_of_16_bits_stay_outside_of_a_region_in_more_levels(image):
    given = (image / 255).astype(np.float16)
    with Filter(H.lowpass(3), output="keep", region=(2, 2, 5, 5), feather=0, edges="wrap") as filter_:
        made = filter_(given, dtype=np.uint16)
    assert np.array_equal(made[:2], np.floor(given[:2] * np.float32(65535) + 0.5))


def test_stripes_do_not_go_on_through_a_fifth_of_the_picture():
    holes = np.arange(100).reshape(1, 10, 10) < 20
    assert waves_of(H.stripes(0, width="0.01cyc"), holes) is None
    assert waves_of(H.stripes(0, width="0.01cyc"), holes & (np.arange(10) > 0)) is not None


def test_the_samples_that_may_be_undecided_are_a_part_of_the_valid_ones(monkeypatch, rng):
    """Of 3600, of which 1800 are valid: 2.4 may be."""
    image, holes = rng.integers(0, 256, (60, 60), np.uint8), np.arange(3600).reshape(60, 60) % 2 == 0
    own = call.on_valid
    monkeypatch.setattr(call, "on_valid", lambda *given, **how: own(*given, **how)._replace(undecided=3 / 3600))
    with Filter(H.lowpass(5), output="keep", edges="wrap") as filter_:
        filter_(image, missing=holes)
        assert filter_.weak() == 1
