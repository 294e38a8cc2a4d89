"""The staged pipeline: the book's flow, its intermediate results, and what only it has."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.filters import Filter
from fftfilter.staged.steps import TRANSPOSES
from fftfilter.transfer import reference
from tests.helpers import COMMAND, assert_gray_levels, by_reference

# By code path: one pixel, single rows and columns; both sides direct; one side Bluestein's, the other direct; both
# Bluestein's; square and not; more rows than a tile and a work-group; primes.
SIZES = [(1, 1), (1, 9), (9, 1), (1, 64), (64, 1), (2, 2), (16, 16), (32, 128), (100, 64), (64, 100), (37, 53)]
SIZES += [(300, 451)]

FLOW = [
    "image", "rows", "rows-transposed", "spectrum", "spectrum-masked", "columns-inverse", "columns-transposed",
    "filtered", "magnitude", "output",
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_book_at_every_kind_of_size(size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    assert_gray_levels(fftfilter.highpass(image, engine="book", **COMMAND), by_reference(image, H.highpass()))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_filtered_values_as_they_are_at_every_kind_of_size(size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    wanted = reference.filtered(image, H.lowpass().gain(*size)).real
    got = fftfilter.lowpass(image, engine="book", output="real", edges="wrap")
    assert np.abs(got - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_the_flow_is_the_books():
    seen = []
    book = Filter(H.highpass(), engine="book", **COMMAND)
    book(np.eye(8, 16, dtype=np.uint8), observe=lambda name, array: seen.append((name, array.shape[1:])))
    assert [name for name, _ in seen] == FLOW
    turned = ("rows-transposed", "spectrum", "spectrum-masked", "columns-inverse")
    assert dict(seen) == {name: (16, 8) if name in turned else (8, 16) for name in FLOW}


@pytest.mark.parametrize("output", ["keep", "real"])
def test_of_other_outputs_the_flow_is_the_same_but_for_its_end(output, rng):
    image, seen = rng.integers(0, 256, (8, 16), dtype=np.uint8), []
    book = Filter(H.highpass(2), engine="book", output=output, edges="wrap")
    got = book(image, observe=lambda name, array: seen.append((name, array)))
    assert [name for name, _ in seen] == (FLOW if output == "keep" else FLOW[:-1])
    transfer = H.highpass(2)
    if output == "keep":
        np.testing.assert_array_equal(seen[-1][1][0], got)
        transfer = transfer.keeping_mean()
    wanted = reference.filtered(image, transfer.gain(8, 16))
    np.testing.assert_allclose(dict(seen)["filtered"][0], wanted, atol=1e-3)
    np.testing.assert_allclose(got, wanted.real.clip(0, 255) if output == "keep" else wanted.real, atol=0.51)


def test_intermediate_results_of_double_precision_have_its_digits(rng):
    image, seen = rng.random((8, 16)), {}
    with Filter(H.lowpass(2), precision="double", output="real", edges="wrap") as book:
        book(image, observe=lambda name, array: seen.update({name: array[0]}))
    unit = seen["image"][0, 0].real / image[0, 0]  # floats are divided by a power of two
    np.testing.assert_allclose(seen["spectrum"] / unit, np.fft.fft2(image).T, atol=1e-13)
    np.testing.assert_allclose(seen["image"] / unit, image, rtol=1e-15)


def test_intermediate_results_are_what_their_names_say(rng):
    image = rng.integers(0, 256, (8, 16), dtype=np.uint8)
    seen = {}
    Filter(H.highpass(2), engine="book", **COMMAND)(image, observe=lambda name, array: seen.update({name: array[0]}))
    spectrum = np.fft.fft2(image)
    masked = spectrum * H.highpass(2).gain(8, 16)
    wanted = {
        "image": image,
        "rows": np.fft.fft(image),
        "rows-transposed": np.fft.fft(image).T,
        "spectrum": spectrum.T,
        "spectrum-masked": masked.T,
        "columns-inverse": np.fft.ifft(masked, axis=0).T,
        "columns-transposed": np.fft.ifft(masked, axis=0),
        "filtered": np.fft.ifft2(masked),
        "magnitude": np.abs(np.fft.ifft2(masked)),
    }
    for name, array in wanted.items():
        np.testing.assert_allclose(seen[name], array, atol=1e-6 * np.abs(array).max(), err_msg=name)
    assert_gray_levels(seen["output"], by_reference(image, H.highpass(2)))


def test_dif_leaves_its_spectrum_bit_reversed(rng):
    image = rng.integers(0, 256, (4, 8), dtype=np.uint8)
    seen = {}
    Filter(H.highpass(2), engine="dif", **COMMAND)(image, observe=lambda name, array: seen.update({name: array[0]}))
    wanted = np.fft.fft2(image)[[0, 2, 1, 3]][:, [0, 4, 2, 6, 1, 5, 3, 7]]
    np.testing.assert_allclose(seen["spectrum"].T, wanted, atol=1e-2)
    np.testing.assert_allclose(seen["filtered"], reference.filtered(image, H.highpass(2).gain(4, 8)), atol=1e-3)


def test_the_profile_names_every_step_and_the_transfers():
    with Filter(H.highpass(), engine="book", profile=True, **COMMAND) as highpass:
        highpass(np.eye(16, dtype=np.uint8))
        timings = {timing.step: timing for timing in highpass.timings()}
        assert list(timings) == [
            "write", "spin_factors", "load", "bit_reversal", "butterfly", "transpose", "mask", "normalize",
            "magnitude", "extremes", "quantize", "read",
        ]  # fmt: skip
        assert timings["butterfly"].launches == 4 * 4
        assert all(timing.seconds > 0 for timing in timings.values())
        assert highpass.timings() == []


# Fewer work-items than a row has numbers, and no whole part of them; more than it has.
@pytest.mark.parametrize("size", [3, 1024])
def test_any_work_group_size_gives_the_same_picture(size, rng):
    image = rng.integers(0, 256, (24, 64), dtype=np.uint8)
    assert (
        fftfilter.highpass(image, work_group_size=size, **COMMAND)
        == fftfilter.highpass(image, engine="book", **COMMAND)
    ).all()


def test_all_transposes_give_the_same_picture(rng):
    for size in ((33, 70), (34, 70)):
        image = rng.integers(0, 256, size, dtype=np.uint8)
        tiled, *others = (fftfilter.highpass(image, transpose=kind, **COMMAND) for kind in TRANSPOSES)
        assert_gray_levels(tiled, by_reference(image, H.highpass()))
        assert all((other == tiled).all() for other in others)


def test_double_precision_is_nearer_to_the_reference(camera):
    exact = reference.filtered(camera, H.highpass().gain(512, 512)).real
    errors = [
        np.linalg.norm(
            fftfilter.highpass(camera, output="real", engine="book", precision=precision, edges="wrap") - exact
        )
        / np.linalg.norm(exact)
        for precision in ("single", "double")
    ]
    assert errors[0] < 1e-6
    assert errors[1] < 1e-14


def test_each_picture_of_a_stack_has_a_noise_floor_of_its_own():
    """That of a strong picture would make a weak one beside it black."""
    strong = np.random.default_rng(3).integers(0, 65536, (32, 32)).astype(np.uint16)
    weak = np.full_like(strong, 1000)
    weak[9, 11] += 1
    with Filter(H.bandpass(1.5, 3), engine="book", **COMMAND) as filter_:
        together = filter_(np.stack([strong, weak]))
        assert together[1].max() == 65535
        np.testing.assert_array_equal(together[1], filter_(weak))
