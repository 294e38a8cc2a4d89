"""A cluster on this machine, a process for each worker."""

from __future__ import annotations

import pytest

from benchmarks.cluster import cluster
from fftfilter.bench.measure import Setting
from tests.helpers import needs


@needs("distributed")
def test_what_a_cluster_costs_is_measured():
    steps = []
    setting = Setting(runs=1, progress=steps.append)
    cluster(setting, formats=["pgm"], sides=[64], tasks=10, pixels=1)
    assert steps == ["trivial tasks", "chunks of 64 files, nothing done", "pgm of 64 x 64"]
    rows = {row["what"]: row for row in setting.made.rows}
    assert {"trivial tasks", "pgm of 64 x 64, the cluster", "most memory of the scheduler"} <= set(rows)
    assert rows["pgm of 64 x 64, in"]["value"] == pytest.approx((64 * 64 + 13) / 1e3)
