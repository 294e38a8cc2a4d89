from __future__ import annotations

import pytest

from fftfilter.bench.compare import Stats, gflops, ratio


def test_statistics_are_the_median_and_the_quartiles():
    assert Stats.of([3, 1, 2, 5, 4]) == Stats(3, 2, 4, 5)
    assert Stats.of([7.0]) == Stats(7.0, 7.0, 7.0, 1)
    assert Stats(4, 3, 5, 9).times(10) == Stats(40, 30, 50, 9)


def test_the_spread_is_half_the_distance_between_the_quartiles():
    assert Stats(4, 3, 5, 9).spread == 0.25
    assert Stats(0, 0, 0, 2).spread == 0


def test_gflops_are_those_of_the_published_times():
    assert gflops(1 << 24, 0.3) == pytest.approx(6.7, abs=0.02)  # the published 300 ms of a GTX 285


def test_ratios():
    assert ratio(3, 2) == 1.5
    assert ratio(3, 0) == float("inf")
