from __future__ import annotations

import numpy as np

from benchmarks.photographs import photograph


def test_photographs_differ_from_each_other_and_are_the_same_in_every_run():
    first, again, other = photograph(0, 300), photograph(0, 300), photograph(1, 300)
    assert first.shape == (300, 300)
    np.testing.assert_array_equal(first, again)
    assert np.count_nonzero(first != other) > 80_000
