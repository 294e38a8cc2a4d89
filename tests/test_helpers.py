"""What many tests rest on: the helpers that hold results to the contract refuse those that break it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import assert_gray_levels, assert_transform


def test_a_picture_may_be_off_by_one_level_in_one_pixel_of_500():
    wanted = np.full((20, 50), 7, np.uint8)
    got = wanted.copy()
    got[3, [1, 5]] += 1
    assert_gray_levels(got, wanted)
    got[9, 9] -= 1
    with pytest.raises(AssertionError):
        assert_gray_levels(got, wanted)
    with pytest.raises(AssertionError):
        assert_gray_levels(np.where(np.arange(50) == 3, wanted + 2, wanted)[:1], wanted[:1])
    with pytest.raises(AssertionError):
        assert_gray_levels(wanted[:5], wanted)


@pytest.mark.parametrize(("n", "allowed"), [(2, 4e-7), (1024, 1e-6), (1000, 4e-7 * np.log2(1000))])
def test_a_transform_may_be_off_by_what_its_length_allows(n, allowed):
    wanted = np.ones(n)
    assert_transform(wanted * (1 + 0.99 * allowed), wanted, n, np.complex64)
    with pytest.raises(AssertionError):
        assert_transform(wanted * (1 + 1.01 * allowed), wanted, n, np.complex64)
