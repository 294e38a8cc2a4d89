"""The papers' tables, each measured once, small: through the commands where these take all that is needed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter.bench import HERE, measure
from fftfilter.bench.measure import Setting, Times
from fftfilter.commands.bench import BAINVILLE, BOOK, STREAM, bench, engines, sizes, speedup, stages
from fftfilter.errors import ParameterError
from fftfilter.staged import algorithms


def filled(setting, benchmark, **options):
    """Measure everything; return the table."""
    benchmark(setting, **options)
    return setting.made


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    """The names of what was compared with a reference, as it has to be before it is timed."""
    found, check = [], measure.check

    def noted(what, launcher, got, wanted):
        check(what, launcher, got, wanted)
        assert launcher is not None
        found.append(what)

    monkeypatch.setattr(measure, "check", noted)
    return found


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
    # Of the whole tables, so that no figure is mistyped.
    assert sum(sum(row) for row in BOOK.rows.values()) == pytest.approx(90.68)
    assert sum(sum(row) for row in STREAM.rows.values()) == pytest.approx(373.82)
    for radix, ms, gflops in (row for each in BAINVILLE for row in each.rows.values()):
        assert gflops == pytest.approx(5 * 24 * 2**24 / (ms * 1e-3) / 1e9, rel=0.04)
        assert radix in (2, 4, 8, 16, 64, 256)


def test_stages_have_every_step_of_the_book(setting, checked, monkeypatch):
    monkeypatch.setattr("fftfilter.commands.bench.SIZES", (1, 64, 1 << 30))
    table = filled(setting, stages, engine="book", side=4, transpose=None)
    here = {row["step"]: row for row in table.rows if row["hardware"] == HERE}
    assert set(BOOK.rows) <= set(here)
    assert {row["step"] for row in table.rows if row["hardware"] == BOOK.label} == set(BOOK.rows)
    assert list(table.columns) == ["step", "hardware", "1", "64"]
    assert checked == ["book", "book"]
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


def test_sizes_stand_beside_the_published_ones(checked):
    here, published = rows_of("sizes", "--largest", "64", "--engine", "stockham")
    assert (here["N"], here["hardware"]) == (64, HERE)
    assert checked == ["stockham at N = 64"] * 3
    assert all(here[column]["median"] > 0 for column in ("write", "read", "rows", "long", "image"))
    assert published == {"N": 64, "hardware": STREAM.label, **STREAM.figures("64")}


def test_sizes_end_where_a_run_is_too_slow(setting, monkeypatch):
    monkeypatch.setattr("fftfilter.commands.bench.TOO_SLOW", 0.0)
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


def test_engines_are_sorted_by_their_ratio_to_the_fastest(checked):
    names = ("fused", "numpy", "book", "dif")
    rows = rows_of("engines", "--size", "64x8", "--size", "8x8", *(f"--engine={name}" for name in names))
    assert [row["size"] for row in rows] == ["8 x 8"] * 4 + ["64 x 8"] * 4
    assert checked == [*names, *names]
    for of_size in (rows[:4], rows[4:]):
        assert {row["engine"] for row in of_size} == set(names)
        fastest = of_size[0]["ms"]["median"]
        assert [row["ratio"] for row in of_size] == sorted(row["ms"]["median"] / fastest for row in of_size)


def test_an_engine_that_is_too_slow_is_left_out_at_larger_sizes(setting, monkeypatch):
    monkeypatch.setattr("fftfilter.commands.bench.TOO_SLOW", 0.0)
    table = filled(setting, engines, shapes=[(4, 4), (8, 8)], names=("book",))
    assert [row["size"] for row in table.rows] == ["4 x 4"]
    assert table.notes[-1] == "Left out where a smaller size took more than 0 s: book."


# Which work is measured, of which every run is said to have taken so many seconds


@pytest.fixture
def measured(monkeypatch):
    """What is measured: its name, the shape of its data, and how many axes are transformed by which work-groups."""
    asked = []

    def times_of(_, what, data, wanted, *, engine, options=None, axes=1, work_group_size=None):
        algorithms.load(engine, **options or {})
        asked.append((what, data.shape, axes, work_group_size))
        np.testing.assert_allclose(wanted, np.fft.fftn(data, axes=(-2, -1)[-axes:]))
        seconds = {"write": 0.001, "butterfly": 0.002 * axes, "read": 0.004, "iterative": 0.5, "binary_exchange": 0.25}
        return Times([seconds])

    monkeypatch.setattr(measure, "times_of", times_of)
    return asked


def test_sizes_double_and_have_rows_one_long_transform_and_an_image(setting, measured):
    table = filled(setting, sizes, engine="stockham", largest=128)
    assert measured == [
        (f"stockham at N = {n}", shape, axes, None)
        for n in (64, 128)
        for shape, axes in (((1, n, n), 1), ((1, 1, n * n), 1), ((1, n, n), 2))
    ]
    row = table.rows[0]
    assert [row[name].median for name in ("write", "read", "rows", "long", "image")] == [1, 4, 752, 752, 754]
    assert table.title == "Milliseconds of transfers and transforms, engine stockham"
    assert table.notes[1] == "Here all numbers are complex; the paper's are real."


def test_each_work_item_has_a_compute_unit_of_its_own_while_there_are_some(setting, measured):
    units = setting.device.cl_device.max_compute_units
    table = filled(setting, speedup, n=512)
    assert measured[0] == ("iterative", (1, 1, 512), 1, None)
    assert [each[3] for each in measured[1:]] == [min(64, max(1, -(-(1 << i) // units))) for i in range(10)]
    assert [row["speedup"] for row in table.rows] == [1.0, *[2.0] * 10]
    assert [row["ms"].median for row in table.rows] == [500, *[250] * 10]


def test_stages_are_those_of_the_engine_and_transposition_that_are_asked_for(setting, monkeypatch):
    def profiled(_, engine, **options):
        asked.append((engine, options))
        raise ParameterError("enough")

    asked = []
    monkeypatch.setattr(setting, "profiled", profiled)
    for engine, count in (("dif", 1), ("book", 2)):
        with pytest.raises(ParameterError, match="enough"):
            stages(setting, engine=engine, side=4, transpose="plain")
        assert setting.made.title.endswith(f"high-pass of 4 x 4, engine {engine}")
        assert len(setting.made.notes) == count  # the book's figures are of its own engine
    assert asked == [(engine, {"work_group_size": 1, "transpose": "plain"}) for engine in ("dif", "book")]
