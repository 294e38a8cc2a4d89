"""The range that a histogram finds, with the answers in sight."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.output.histogram import ByHistogram, counted, counted_samples, range_of
from fftfilter.output.modes import Auto
from fftfilter.output.rounding import NOISE


def ends(values, output="magnitude", percent=10.0):
    found = range_of(np.atleast_2d(np.array(values, np.float64)), output, Auto(percent))
    return None if found is None else (found.low, found.high)


def test_half_of_the_samples_are_beyond_each_end_of_a_magnitude():
    assert ends(np.arange(1, 1001)) == (pytest.approx(50, abs=1), pytest.approx(950, abs=1))
    assert ends(-np.arange(1, 1001)) == (pytest.approx(50, abs=1), pytest.approx(950, abs=1))


def test_signed_values_have_a_symmetric_range():
    assert ends(np.arange(-1000, 0), "signed") == (pytest.approx(-900, abs=1), pytest.approx(900, abs=1))


def test_one_far_value_does_not_matter():
    low, high = ends([*range(1000), 1e5])
    assert (low, high) == (pytest.approx(50, abs=13), pytest.approx(950, abs=13))


def test_nothing_saturated_is_the_whole_range():
    assert ends([1, 2, 4], percent=0) == (pytest.approx(1, abs=0.002), 4)


@pytest.mark.parametrize("output", ["magnitude", "signed"])
def test_zeros_have_no_range(output):
    assert ends([0, 0], output) is None
    for size in (1e-312, 1e-306):  # nor have values whose bins would have no width
        assert ends([size, 3 * size], output) is None


def test_equal_values_are_white_or_nearly():
    low, high = ends([5, 5, 5])
    assert 4.99 < low < high <= 5


@pytest.mark.parametrize("bins", [-41, 41])
def test_values_that_are_moved_by_bins_move_both_ends(bins):
    values, moved = np.arange(1, 1001.0)[None], bins * 1000 / 4096
    found = range_of(values, "magnitude", Auto(10), bins)
    assert (found.low, found.high) == (pytest.approx(50 + moved, abs=1), pytest.approx(950 + moved, abs=1))
    whole = range_of(values, "magnitude", Auto(0), bins)  # nothing is beyond the first and the last bin
    assert (whole.low, whole.high) == (pytest.approx(max(0, 1 + moved), abs=1), 1000)


def test_kernels_are_told_how_many_samples_are_smaller_than_each_end():
    for output, ends in (("magnitude", [25.25, 479.75]), ("signed", [454.5, 454.5])):
        (wanted,) = ByHistogram(output, Auto(10), np.dtype("u1"), 255).wanted(505)
        np.testing.assert_allclose(wanted["smaller"] + wanted["part"], ends)


def test_kernels_are_told_the_ramp_from_0_to_1_which_has_no_unit():
    """Values are four times what they should be, as is their noise."""
    (wanted,) = ByHistogram("magnitude", Auto(10), np.dtype("u1"), 255).wanted(505, 4)
    assert [wanted[name]["of_largest"] for name in ("of_range", "of_largest")] == [0, 1]
    for name in "of_range", "of_largest":
        (stretch, white, noise) = (wanted[name][each] for each in ("stretch", "white", "noise"))
        assert (stretch, white, noise) == (255, np.float32(1 - 2**-16), np.float32(4 * NOISE))
    assert not wanted["is_symmetric"]
    assert ByHistogram("signed", Auto(10), np.dtype("u1"), 255).wanted(505)["is_symmetric"] == [1]


def test_of_a_large_plane_some_samples_are_counted():
    found = [counted(*size) for size in ((255, 999), (512, 512), (2048, 1024), (4096, 4096), (1, 1 << 20))]
    assert found == [(1, 1), (4, 2), (8, 2), (64, 2), (4, 2)]
    assert counted_samples(513, 511) == 171 * 256
    rows = np.repeat(np.arange(1024.0)[:, None], 1024, axis=1)
    assert ends(rows) == (pytest.approx(51, abs=8), pytest.approx(972, abs=8))
