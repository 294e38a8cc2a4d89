"""The grid of mirrored edges: the same function of frequency, at half the distances."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer import reference
from fftfilter.transfer.grid import parts_along_axes, table_support
from fftfilter.transfer.product import grid_with

EVEN = [
    H.highpass(),
    H.lowpass(3, shape="gaussian"),
    H.bandpass(1, "3px", shape="butterworth"),
    H.bandstop("20px", "3px", shape="cosine", width=1),
    H.notch((0.25, 0)),
    H.notch((0.25, 0.5), width=2),
    H.stripes(90, spare=2),
    H.mask(np.outer(np.hamming(5), np.hamming(7))[[2, 3, 4, 0, 1]][:, [3, 4, 5, 6, 0, 1, 2]], any_size=True),
]
SLANTED = [H.notch((0.25, 0.1)), H.stripes(33), H.mask(np.eye(4), any_size=True), H.highpass() * H.notch((0.25, 0.1))]


@pytest.mark.parametrize("transfer", EVEN + SLANTED, ids=str)
def test_h_is_the_same_function_of_frequency(transfer):
    grid = grid_with("mirror", transfer, 10, 14)
    assert (grid.height, grid.width) == (20, 28)
    # Every second frequency is one of the image's own.
    np.testing.assert_allclose(grid.gain()[::2, ::2], transfer.gain(10, 14), atol=1e-12)


@pytest.mark.parametrize("transfer", EVEN + SLANTED, ids=str)
def test_a_function_knows_whether_it_is_even_along_each_axis(transfer):
    gain = transfer.gain(12, 16)
    is_even = np.allclose(gain, np.roll(gain[:, ::-1], 1, 1), atol=1e-12)
    assert transfer.is_even_along_axes == is_even


def test_parts_add_up():
    gain = SLANTED[0].gain(12, 16)
    even, odd = parts_along_axes(gain)
    np.testing.assert_allclose(even + odd, gain[:, :9])
    np.testing.assert_allclose((even - odd)[:, 1:], gain[:, :7:-1])
    np.testing.assert_allclose(odd, -np.roll(odd[::-1], 1, 0), atol=1e-15)


@pytest.mark.parametrize("transfer", [*EVEN, *SLANTED], ids=str)
def test_no_more_gains_are_computed_than_are_needed(transfer):
    grid = grid_with("mirror", transfer, 10, 14)
    support, table = grid.on_grid()
    if table is not None:
        wanted = grid.gain()
        np.testing.assert_array_equal(
            table * transfer.largest, wanted[:11, : 15 if transfer.is_even_along_axes else 28]
        )
        assert support == table_support(wanted / transfer.largest, 20, 28)


def test_the_reference_is_the_definition(rng):
    image = rng.random((3, 5))
    # Without a filter the image comes back; the mean of rows is that of the mirrored image's.
    np.testing.assert_allclose(reference.filtered(image, np.ones((6, 10)), "mirror").real, image)
    fx = np.fft.fftfreq(10)
    means = reference.filtered(image, np.tile(fx == 0, (6, 1)).astype(float), "mirror").real
    np.testing.assert_allclose(means, np.tile(image.mean(axis=1)[:, None], 5))


def test_what_does_not_fit_is_said_in_the_numbers_that_were_given():
    with pytest.raises(ParameterError, match=r"cutoffs 2\.5 and 4px are the same on 10 x 10 pixels"):
        grid_with("mirror", H.bandpass(2.5, "4px"), 10, 10)
    with pytest.raises(ParameterError, match="with mirrored edges of twice each side"):
        grid_with("mirror", H.mask(np.ones((10, 10))), 10, 10).gain()
