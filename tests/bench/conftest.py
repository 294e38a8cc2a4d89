"""A table of invented numbers."""

from __future__ import annotations

import pytest

from fftfilter.bench import HERE, Lines, Stats, Table


@pytest.fixture
def table():
    made = Table(
        "Invented",
        {"name": "name", "hardware": "on", "n": "n", "ms": "ms", "rate": "Gflop/s"},
        Lines(("name", "hardware"), "n", ("ms",), "n", "ms"),
        {"device": "abacus", "date": "1202-01-01"},
        ["A note."],
    )
    made.put(("fast", HERE), n=8, ms=Stats(0.125, 0.1, 0.15, 9), rate=12.5)
    made.put(("slow", HERE), n=16, ms=Stats(1234.5, 1200, 1300, 3))
    return made
