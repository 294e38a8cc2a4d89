from __future__ import annotations

from benchmarks.png_levels import png_levels
from fftfilter.bench.measure import Setting


def test_levels_trade_time_for_size():
    steps = []
    setting = Setting(runs=1, progress=steps.append)
    png_levels(setting, side=64, pictures=2)
    assert steps == [f"level {level}" for level in range(10)]
    sizes = [row["kb"] for row in setting.made.rows]
    assert sizes[0] > 64 * 64 / 1e3 > sizes[1] > sizes[9]
    assert sizes[9] == setting.made.rows[9]["pillow_kb"]
