from __future__ import annotations

import pytest

from benchmarks.stream import BOUNDS, stream
from fftfilter.bench.measure import Setting


@pytest.mark.parametrize("parts", [False, True])
def test_a_stream_is_timed_beside_its_parts(parts):
    """The parts on PoCL's CPU, which runs the kernels of GPUs, too."""
    steps = []
    setting = Setting(runs=3, progress=steps.append)
    stream(setting, shapes=[(2, 12, 10)], parts=parts, seconds=0)
    assert steps == ["2 of 10 x 12"]
    (row,) = setting.made.rows
    slowest = max(row[part].median for part in (BOUNDS if parts else ("calls",)))
    assert row["ratio"] == pytest.approx(row["locked"].median / slowest)
    assert setting.made.columns.keys() <= row.keys()
