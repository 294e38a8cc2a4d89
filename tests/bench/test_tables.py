"""Tables of invented numbers, in every format."""

from __future__ import annotations

import csv
import json
import sys

import pytest

from fftfilter import bench
from fftfilter.bench import HERE, Lines, Published, Stats
from fftfilter.errors import ParameterError, WriteError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.000813, "0.000813"),
        (0.01, "0.0100"),
        (0.54, "0.540"),
        (37.75, "37.8"),
        (999.6, "1000"),
        (9.95, "9.95"),
        (9.996, "10.0"),
        (8100, "8100"),
    ],
)
def test_numbers_have_three_significant_digits(value, shown):
    assert bench.number(value) == shown


def test_a_table_as_text(table):
    assert bench.text(table).splitlines() == [
        "Invented",
        "device: abacus",
        "date: 1202-01-01",
        "",
        "name  on     n          ms  Gflop/s",
        "fast  here   8  0.125 ±20%     12.5",
        "slow  here  16    1234 ±4%",
        "",
        "A note.",
    ]


def test_a_table_as_markdown(table):
    assert bench.markdown(table).splitlines() == [
        "**Invented**",
        "",
        "device abacus, date 1202-01-01",
        "",
        "| name | on | n | ms | Gflop/s |",
        "| --- | --- | --: | --: | --: |",
        "| fast | here | 8 | 0.125 ±20% | 12.5 |",
        "| slow | here | 16 | 1234 ±4% |  |",
        "",
        "A note.",
    ]


def test_a_table_as_csv(table):
    table.put(("slow", "ENIAC"), n=16, ms=5.0)
    assert list(csv.reader(bench.comma_separated(table).splitlines())) == [
        ["name", "hardware", "n", "ms", "ms_low", "ms_high", "ms_runs", "rate"],
        ["fast", "here", "8", "0.125", "0.1", "0.15", "9", "12.5"],
        ["slow", "here", "16", "1234.5", "1200", "1300", "3", ""],
        ["slow", "ENIAC", "16", "5.0", "", "", "", ""],
    ]


def test_a_table_as_json(table):
    read = json.loads(bench.as_json(table))
    assert read["about"] == {"device": "abacus", "date": "1202-01-01"}
    assert read["rows"][0]["ms"] == {"median": 0.125, "low": 0.1, "high": 0.15, "runs": 9}
    assert read["notes"] == ["A note."]


def test_published_figures_follow_the_row_of_their_name(table):
    rows = {"fast": (8, 5.0), "no such row": (8, 6.0)}
    table.beside(Published("A paper", "ENIAC, 1946", "ENIAC, Philadelphia", ("n", "ms"), rows))
    assert [(row["name"], row["hardware"]) for row in table.rows] == [
        ("fast", "here"),
        ("fast", "ENIAC, 1946"),
        ("slow", "here"),
    ]
    assert (table.rows[1]["n"], table.rows[1]["ms"]) == (8, 5.0)
    assert table.notes[-1] == "ENIAC, 1946: ENIAC, Philadelphia; A paper."


# As a diagram


def test_rows_are_points_of_lines(table):
    table.put(("fast", "ENIAC"), n=8, ms=5.0)
    assert bench.series(table) == {"fast": [(8, 0.125)], "slow": [(16, 1234.5)], "fast, ENIAC": [(8, 5.0)]}


def test_columns_are_points_of_lines(table):
    table.lines = Lines(("name",), None, ("1", "32"), "work-group size", "ms")
    table.rows = [{"name": "mask", "hardware": HERE, "1": 4.0, "32": Stats(2, 1, 3, 9)}]
    assert bench.series(table) == {"mask": [(1, 4.0), (32, 2)]}


def test_several_columns_are_lines_of_their_headings(table):
    table.lines = Lines(("hardware",), "n", ("ms", "rate"), "n", "ms")
    assert bench.series(table) == {"ms": [(8, 0.125), (16, 1234.5)], "Gflop/s": [(8, 12.5)]}
    table.put(("fast", "ENIAC"), n=8, ms=5.0)
    assert bench.series(table)["ms, ENIAC"] == [(8, 5.0)]
    table.lines = Lines(("hardware",), "n", ("ms",), "n", "ms")
    assert bench.series(table) == {HERE: [(8, 0.125), (16, 1234.5)], "ENIAC": [(8, 5.0)]}


def test_a_diagram_has_logarithmic_axes_and_says_what_is_on_them(table, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, path, **_: drawn.append((figure, path)))
    table.lines = Lines(("name",), "n", ("ms",), "length", "time in ms", linear=True)
    bench.draw(table, tmp_path / "table.png")
    ((figure, path),) = drawn
    (axes,) = figure.axes
    assert path == tmp_path / "table.png"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("length", "time in ms")
    assert axes.get_title() == "Invented\nabacus, 1202-01-01"
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert lines == {"fast": ([8], [0.125]), "slow": ([16], [1234.5]), "linear speedup": ([8, 16], [8, 16])}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [*lines]


def test_a_row_that_is_there_gets_more_cells(table):
    table.put(("slow", HERE), rate=2.0)
    assert len(table.rows) == 2
    assert table.rows[1] == {"name": "slow", "hardware": HERE, "n": 16, "ms": Stats(1234.5, 1200, 1300, 3), "rate": 2.0}


def test_a_diagram_is_a_picture(tmp_path, table):
    pytest.importorskip("matplotlib")
    bench.draw(table, tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_extension_is_refused(tmp_path):
    pytest.importorskip("matplotlib")
    bench.check_plot(tmp_path / "table.svg")
    with pytest.raises(ParameterError, match=r"cannot draw .*xyz': choose one of the extensions .*pdf, .*png, .*svg"):
        bench.check_plot(tmp_path / "table.xyz")


def test_a_folder_that_is_missing_is_an_error(tmp_path, table):
    pytest.importorskip("matplotlib")
    with pytest.raises(WriteError, match=r"cannot be written: .*; choose another folder$"):
        bench.draw(table, tmp_path / "missing" / "table.png")


def test_without_matplotlib_nothing_is_measured_first(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ParameterError, match=r"^--plot needs matplotlib: .* 'fftfilter-opencl\[plot\]'$"):
        bench.check_plot(tmp_path / "table.svg")
