"""A call behind pauses."""

from __future__ import annotations

from benchmarks.pauses import PAUSES_MS, pauses


def test_the_calls_behind_each_pause_are_timed():
    found = pauses(12, warm=1, calls=3)
    assert len(found) == len(PAUSES_MS)
    assert all(seconds > 0 for seconds in found)
