from __future__ import annotations

import pytest

from benchmarks.stream import BOUNDS, stream
from fftfilter.bench.measure import Setting


@pytest.mark.parametrize("parts", [False, True])
def test_a_stream_is_timed_beside_its_parts(parts):
    """The parts on PoCL's CPU, which runs the kernels of GPUs, too."""
    setting = Setting(runs=3)
    steps = stream(setting, shapes=[(2, 64, 64)], parts=parts, seconds=0)
    assert list(steps) == ["2 of 64 x 64"]
    (row,) = setting.made.rows
    slowest = max(row[part].median for part in (BOUNDS if parts else ("calls",)))
    assert row["ratio"] == pytest.approx(row["locked"].median / slowest)
    assert setting.made.columns.keys() <= row.keys()
