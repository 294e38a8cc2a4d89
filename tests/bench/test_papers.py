"""The papers' tables, each measured once, small: through the commands where these take all that is needed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fftfilter.bench import papers
from fftfilter.bench.measure import Setting
from fftfilter.bench.papers import BAINVILLE, BOOK, STREAM, engines, sizes, stages
from fftfilter.bench.tables import HERE
from fftfilter.commands.bench import bench


def filled(setting, benchmark, **options):
    """Measure everything; return the table."""
    assert list(benchmark(setting, **options))
    return setting.made


def rows_of(*command):
    """Run a command of ``fftfilter bench``; return the rows of its table."""
    done = CliRunner().invoke(bench, [*command, "--runs", "1", "--json"], catch_exceptions=False)
    assert done.stderr == ""  # progress is for terminals
    return json.loads(done.stdout)["rows"]


@pytest.fixture(scope="module")
def setting():
    return Setting(runs=1)


def test_the_published_figures_are_those_of_the_sources():
    assert BOOK.figures("butterfly")["1"] == 37.75
    assert BOOK.figures("transpose")["512"] == 0.96
    assert BAINVILLE[1].figures("workgroup r=32") == {"radix": 64, "ms": 810, "gflops": 2.5}
    assert STREAM.figures("1024") == {"write": 7.2, "read": 23.2, "rows": 39, "long": 99, "image": 121}


def test_stages_have_every_step_of_the_book(setting, monkeypatch):
    monkeypatch.setattr(papers, "SIZES", (1, 64, 1 << 30))
    table = filled(setting, stages, side=4)
    here = {row["step"]: row for row in table.rows if row["hardware"] == HERE}
    assert set(BOOK.rows) <= set(here)
    assert {row["step"] for row in table.rows if row["hardware"] == BOOK.label} == set(BOOK.rows)
    assert list(table.columns) == ["step", "hardware", "1", "64"]
    for size in ("1", "64"):
        steps = [row[size].median for step, row in here.items() if step != "all"]
        assert here["all"][size].median == pytest.approx(sum(steps))


def test_stages_take_any_engine():
    done = CliRunner().invoke(bench, ["stages", "--side", "4", "--engine", "none"])
    assert "'none'" in str(done.exception)


def test_radix_has_all_algorithms_and_both_published_devices():
    rows = rows_of("radix", "--n", "2^2")
    assert [(row["algorithm"], row["radix"]) for row in rows if row["hardware"] == HERE] == [
        *((f"stockham radix={r}", r) for r in (2, 4)),
        *((f"workgroup r={r}", 2 * r) for r in (1, 2)),
        *((f"workgroup-coalesced r={r}", 2 * r) for r in (1, 2)),
    ]
    for row in rows:
        if row["hardware"] == HERE:  # 5 n log2 n operations
            assert row["gflops"] == pytest.approx(5 * 4 * 2 / (row["ms"]["median"] * 1e-3) / 1e9)
    assert [(row["hardware"], row["radix"]) for row in rows if row["algorithm"] == "workgroup r=2"] == [
        (HERE, 4),
        ("GTX 285, 2010", 4),
        ("HD 5870, 2010", 4),
    ]


def test_sizes_stand_beside_the_published_ones():
    here, published = rows_of("sizes", "--largest", "64", "--engine", "stockham")
    assert (here["N"], here["hardware"]) == (64, HERE)
    assert all(here[column]["median"] > 0 for column in ("write", "read", "rows", "long", "image"))
    assert published == {"N": 64, "hardware": STREAM.label, **STREAM.figures("64")}


def test_sizes_end_where_a_run_is_too_slow(setting, monkeypatch):
    monkeypatch.setattr(papers, "TOO_SLOW", 0.0)
    table = filled(setting, sizes, largest=256, engine="stockham")
    assert [row["N"] for row in table.rows if row["hardware"] == HERE] == [64]
    assert table.notes[-1] == (
        "Left out where a smaller size took more than 0 s: N 1-D of N, one 1-D of N^2, one 2-D of N x N."
    )


def test_speedup_doubles_the_work_items():
    rows = rows_of("speedup", "--n", "4")
    assert [(row["algorithm"], row["p"]) for row in rows] == [
        ("iterative", 1),
        *(("binary-exchange", p) for p in (1, 2, 4)),
    ]
    assert rows[3]["speedup"] == pytest.approx(rows[0]["ms"]["median"] / rows[3]["ms"]["median"])


def test_engines_are_sorted_by_their_ratio_to_the_fastest():
    names = ("fused", "book", "dif")
    rows = rows_of("engines", "--size", "64x8", "--size", "8x8", *(f"--engine={name}" for name in names))
    assert [row["size"] for row in rows] == ["8 x 8"] * 3 + ["64 x 8"] * 3
    for of_size in (rows[:3], rows[3:]):
        assert {row["engine"] for row in of_size} == set(names)
        fastest = of_size[0]["ms"]["median"]
        assert [row["ratio"] for row in of_size] == sorted(row["ms"]["median"] / fastest for row in of_size)


def test_an_engine_that_is_too_slow_is_left_out_at_larger_sizes(setting, monkeypatch):
    monkeypatch.setattr(papers, "TOO_SLOW", 0.0)
    table = filled(setting, engines, shapes=[(4, 4), (8, 8)], names=("book",))
    assert [row["size"] for row in table.rows] == ["4 x 4"]
    assert table.notes[-1] == "Left out where a smaller size took more than 0 s: book."
