from __future__ import annotations

import pytest

from benchmarks.explore import chromium, explore
from fftfilter.bench.benchmark import Setting
from fftfilter.errors import RefusedError


def test_results_are_counted_while_a_handle_is_dragged():
    try:
        chromium()
    except RefusedError as error:
        pytest.skip(str(error))
    benchmark = explore(Setting(runs=1), shapes=[(96, 96)], seconds=1.0)
    assert list(benchmark.steps) == ["96 x 96"]
    (row,) = benchmark.table.rows
    assert row["level"] == 1
    assert row["rate"].median > 0
    assert 0 < row["drawn"] < row["painted"] <= row["painted_95"]
