from __future__ import annotations

import pytest

from benchmarks.outputs import WAYS, outputs
from fftfilter.bench.measure import Setting


def test_every_way_is_timed_beside_the_magnitude_of_its_filter():
    steps = []
    setting = Setting(runs=1, progress=steps.append)
    outputs(setting, shapes=[(64, 64)], calls=2)
    assert steps == ["64 x 64"]
    rows = {row["way"]: row for row in setting.made.rows}
    assert list(rows) == list(WAYS)
    for name, way in WAYS.items():
        assert rows[name]["ratio"] == pytest.approx(rows[name]["ms"].median / rows[way.beside]["ms"].median)
    assert rows["slanted"]["ratio"] == rows["magnitude"]["ratio"] == 1
