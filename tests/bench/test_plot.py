from __future__ import annotations

import sys

import pytest

from fftfilter.bench import plot
from fftfilter.bench.compare import Stats
from fftfilter.bench.tables import HERE, Lines
from fftfilter.errors import ParameterError, WriteError


def test_rows_are_points_of_lines(table):
    table.put(("fast", "ENIAC"), n=8, ms=5.0)
    assert plot.series(table) == {"fast": [(8, 0.125)], "slow": [(16, 1234.5)], "fast, ENIAC": [(8, 5.0)]}


def test_columns_are_points_of_lines(table):
    table.lines = Lines(("name",), None, ("1", "32"), "work-group size", "ms")
    table.rows = [{"name": "mask", "hardware": HERE, "1": 4.0, "32": Stats(2, 1, 3, 9)}]
    assert plot.series(table) == {"mask": [(1, 4.0), (32, 2)]}


def test_a_diagram_is_a_picture(tmp_path, table):
    pytest.importorskip("matplotlib")
    plot.draw([table], tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_extension_is_refused(tmp_path):
    pytest.importorskip("matplotlib")
    plot.check(tmp_path / "table.svg")
    with pytest.raises(ParameterError, match=r"cannot draw .*xyz'"):
        plot.check(tmp_path / "table.xyz")


def test_a_folder_that_is_missing_is_an_error(tmp_path, table):
    pytest.importorskip("matplotlib")
    with pytest.raises(WriteError, match="cannot be written"):
        plot.draw([table], tmp_path / "missing" / "table.png")


def test_without_matplotlib_nothing_is_measured_first(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ParameterError, match=r"^--plot needs matplotlib: pip install matplotlib$"):
        plot.check(tmp_path / "table.svg")
