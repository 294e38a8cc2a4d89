"""``fftfilter bench``: statistics and tables from invented numbers, then each experiment once, small."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.helpers import SAMPLES

from fftfilter.staged import algorithms
from fftfilter import cli
from fftfilter.bench import environment, experiments, folder_race, overlap, peers, plot, published, race, start, tables
from fftfilter.bench.compare import Stats, gflops, ratio
from fftfilter.bench.experiments import Setting
from fftfilter.bench.measure import Times, check_picture, check_transform, measure
from fftfilter.bench.photographs import photograph
from fftfilter.bench.tables import HERE, Lines, Table
from fftfilter.commands.bench import bench
from fftfilter.device.choice import Device, choose
from fftfilter.errors import ParameterError, RefusedError, WriteError
from fftfilter.filters import Filter
from fftfilter.device.launcher import Launcher, Timing
from fftfilter.transforms import Transform


@pytest.fixture
def table():
    made = Table(
        "Invented",
        {"name": "name", "hardware": "on", "n": "n", "ms": "ms", "rate": "Gflop/s"},
        ("name", "hardware"),
        Lines(("name", "hardware"), "n", ("ms",), "n", "ms"),
        {"device": "abacus", "date": "1202-01-01"},
        ["A note."],
    )
    made.put(("fast", HERE), n=8, ms=Stats(0.125, 0.1, 0.15, 9), rate=12.5)
    made.put(("slow", HERE), n=16, ms=Stats(1234.5, 1200, 1300, 3))
    return made


def test_statistics():
    assert Stats.of([3, 1, 2, 5, 4]) == Stats(3, 2, 4, 5)
    assert Stats.of([7.0]) == Stats(7.0, 7.0, 7.0, 1)
    assert Stats(4, 3, 5, 9).spread == 0.25
    assert Stats(0, 0, 0, 2).spread == 0
    assert Stats(4, 3, 5, 9).times(10) == Stats(40, 30, 50, 9)
    assert gflops(1 << 24, 0.3) == pytest.approx(6.7, abs=0.02)  # the published 300 ms of a GTX 285
    assert ratio(3, 2) == 1.5


def test_times_of_steps():
    times = Times([{"write": 1, "butterfly": 2, "read": 3}, {"write": 1, "butterfly": 4}])
    assert times.steps == ["write", "butterfly", "read"]
    assert times.of("butterfly").median == 3
    assert times.without().median == 3
    assert times.of(*times.steps) == Stats.of([6, 5])


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
def test_numbers_have_three_digits_that_count(value, shown):
    assert tables.number(value) == shown


def test_a_table_as_text(table):
    assert tables.text(table).splitlines() == [
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
    assert tables.markdown(table).splitlines() == [
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
    assert list(csv.reader(tables.comma_separated(table).splitlines())) == [
        ["name", "hardware", "n", "ms", "ms_low", "ms_high", "ms_runs", "rate"],
        ["fast", "here", "8", "0.125", "0.1", "0.15", "9", "12.5"],
        ["slow", "here", "16", "1234.5", "1200", "1300", "3", ""],
    ]


def test_a_table_as_json(table):
    read = json.loads(tables.as_json(table))
    assert read["about"] == {"device": "abacus", "date": "1202-01-01"}
    assert read["rows"][0]["ms"] == {"median": 0.125, "low": 0.1, "high": 0.15, "runs": 9}
    assert read["notes"] == ["A note."]


def test_published_figures_stand_behind_ones_own(table):
    other = published.Published("A paper", "ENIAC, 1946", "ENIAC", {"fast": {"ms": 5.0}, "else": {"ms": 6.0}})
    table.beside(other, lambda row: str(row["name"]))
    assert [(row["name"], row["hardware"]) for row in table.rows] == [
        ("fast", "here"),
        ("fast", "ENIAC, 1946"),
        ("slow", "here"),
    ]
    assert table.rows[1]["ms"] == 5.0
    assert table.notes[-1] == "ENIAC, 1946: ENIAC; A paper."


def test_what_the_sources_printed():
    assert published.BOOK.rows["butterfly"]["1"] == 37.75
    assert published.BOOK.rows["transpose"]["512"] == 0.96
    assert published.RADIX[1].rows["workgroup r=32"] == {"ms": 810, "gflops": 2.5}
    assert published.STREAM.rows["1024"] == {"write": 7.2, "read": 23.2, "rows": 39, "long": 99, "image": 121}


class FakeLauncher:
    """Hands out times 1, 2, 3 ... seconds; the first belong to the run that warms up."""

    def __init__(self):
        self.count = 0

    def timings(self):
        self.count += 1
        return [Timing("butterfly", 1, float(self.count))]


def test_the_first_run_only_warms_up():
    calls = []
    times = measure(FakeLauncher(), lambda: calls.append(1), runs=4)
    assert [run["butterfly"] for run in times.runs] == [2, 3, 4, 5]
    assert len(calls) == 5


def test_slow_work_is_measured_less_often():
    assert len(measure(FakeLauncher(), lambda: None, runs=100, patience=0).runs) == 3


def test_a_wrong_result_is_refused():
    launcher = Launcher(choose())
    x = np.ones(64, np.complex64)
    check_transform("right", launcher, x, x, 64)
    for wrong in (x * (1 + 1e-5), x * np.nan):
        with pytest.raises(RefusedError, match=r"wrong .* not timed"):
            check_transform("wrong", launcher, wrong, x, 64)
    picture = np.zeros((10, 10), np.uint8)
    check_picture("right", launcher, picture + (np.arange(100) == 7).reshape(10, 10), picture)
    for off in (picture + 1, picture + 2 * (np.arange(100) == 7).reshape(10, 10)):
        with pytest.raises(RefusedError, match="pixels differ"):
            check_picture("wrong", launcher, off, picture)


def invoke(*arguments):
    done = CliRunner().invoke(bench, [*arguments, "--runs", "1"], catch_exceptions=False)
    assert done.stderr == ""  # progress is for terminals
    return done.stdout


def rows_of(*arguments):
    return json.loads(invoke(*arguments, "--json"))["rows"]


def test_stages():
    rows = rows_of("stages", "--side", "16")
    here = {row["step"]: row for row in rows if row["hardware"] == HERE}
    assert {"write", "spin_factors", "bit_reversal", "butterfly", "transpose", "mask", "normalize", "read"} <= set(here)
    assert {"1", "16", "32", "64"} <= set(here["butterfly"])
    assert {row["step"] for row in rows if row["hardware"] == "GT200, 2009"} == set(published.BOOK.rows)


def test_radix():
    rows = rows_of("radix", "--n", "64")
    here = [(row["algorithm"], row["radix"]) for row in rows if row["hardware"] == HERE]
    assert here[:5] == [*((f"stockham radix={r}", r) for r in (2, 4, 8, 16)), ("workgroup r=1", 2)]
    assert ("workgroup r=32", 64) in here
    assert ("workgroup-coalesced r=32", 64) in here
    assert all(row["gflops"] > 0 for row in rows)


def test_sizes():
    rows = rows_of("sizes", "--largest", "64", "--engine", "stockham")
    assert [(row["N"], row["hardware"]) for row in rows] == [(64, HERE), (64, "FX 5900 XT, 2005")]
    assert all(rows[0][column]["median"] > 0 for column in ("write", "read", "rows", "long", "image"))


def test_speedup():
    rows = rows_of("speedup", "--n", "16")
    assert [(row["algorithm"], row["p"]) for row in rows] == [
        ("iterative", 1),
        *(("binary-exchange", p) for p in (1, 2, 4, 8, 16)),
    ]


def test_engines():
    names = {"book", "dif", "dft"}
    rows = rows_of("engines", "--size", "16x8", "--size", "6x5", *(f"--engine={name}" for name in names))
    for size in ("6 x 5", "16 x 8"):
        of_size = [row for row in rows if row["size"] == size]
        assert {row["engine"] for row in of_size} == names
        ratios = [row["ratio"] for row in of_size]
        assert ratios[0] == 1
        assert ratios == sorted(ratios)


def test_all_engines_are_compared_by_default():
    assert set(experiments.engine_names()) >= set(algorithms.names())


def test_what_was_too_slow_is_left_out_at_larger_sizes(monkeypatch):
    monkeypatch.setattr(experiments, "TOO_SLOW", 0.0)
    text = invoke("sizes", "--largest", "256")
    assert "\n64 " in text
    assert "\n128 " not in text
    assert "Left out where a smaller size took more than" in text


def test_an_interrupt_keeps_what_was_measured(monkeypatch):
    run = Transform.run

    def interrupted(self):
        if self.shape == (1, 1, 64) and self._stages[0].group == (4, 1):
            raise KeyboardInterrupt
        run(self)

    monkeypatch.setattr(Transform, "run", interrupted)
    done = CliRunner().invoke(cli.cli, ["bench", "radix", "--n", "64", "--runs", "1", "--csv"])
    assert "interrupted" in done.stderr
    assert done.exit_code == 130
    assert [line.partition(",")[0] for line in done.stdout.splitlines() if ",here," in line][-1] == "workgroup r=2"


@pytest.mark.parametrize("arguments", [["radix", "--n", "100"], ["radix", "--n", "2^40"], ["engines", "--size", "0x4"]])
def test_lengths_and_sizes_that_cannot_be_meant(arguments):
    done = CliRunner().invoke(bench, arguments)
    assert done.exit_code == 2
    assert "such as" in done.stderr


def test_the_experiments_are_commands_of_bench_alone():
    papers = {"stages", "radix", "sizes", "speedup", "engines"}
    here = {"peers", "start", "stream", "folder", "png-levels", "cluster", "tune"}
    assert set(bench.commands) == papers | here
    assert not set(cli.cli.list_commands(None)) & {"stages", "radix", "sizes", "speedup"}


def test_peers_are_checked_timed_and_compared(monkeypatch):
    """One library stands for all of them: what is installed differs from machine to machine."""
    monkeypatch.setattr(peers, "find_spec", lambda name: name if name == "numpy" else None)
    monkeypatch.setattr(race, "REST", 0.0)
    monkeypatch.setattr(race, "CPU_TARGETS", {(1, 40, 60): 1e-9})
    made = race.race(Setting(runs=3))
    assert len(list(made.steps)) == 2
    ours, theirs = made.table.rows
    assert (ours["size"], ours["who"], theirs["who"]) == ("60 x 40", "fftfilter", "numpy")
    assert theirs["ratio"] == pytest.approx(theirs["ms"].median / ours["ms"].median)
    assert (theirs["target"], theirs["reached"]) == (1e-9, "yes")


def test_a_gpu_is_judged_beside_its_memory(monkeypatch):
    """On PoCL, with a NumPy job in CuPy's place: what is tested is the race, not the device."""
    monkeypatch.setattr(Device, "is_gpu", True)
    monkeypatch.setattr(race, "gpu_jobs", lambda stack, gain: list(peers.cpu_jobs(stack[0], gain))[:1])
    monkeypatch.setattr(race, "GPU_TARGETS", {(1, 40, 60): {"numpy": 1e9, race.FLOOR: 1e-9}})
    made = race.race(Setting(runs=3))
    assert len(list(made.steps)) == 2
    ours, theirs, floor = made.table.rows
    assert floor["ratio"] == pytest.approx(floor["ms"].median / ours["ms"].median)
    assert (theirs["reached"], floor["reached"]) == ("no", "yes")


def test_a_peer_with_another_picture_is_not_timed(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: name if name == "numpy" else None)
    monkeypatch.setattr(peers, "_levels", lambda values: (values > 0).astype(np.uint8))
    with pytest.raises(RefusedError, match="numpy computes another picture"):
        list(race.race(Setting(runs=3), shapes=[(1, 8, 8)]).steps)


@pytest.mark.parametrize("as_gpu", [False, True])
def test_a_stream_is_timed_beside_its_parts(as_gpu, monkeypatch):
    monkeypatch.setattr(Device, "is_gpu", as_gpu)
    monkeypatch.setattr(overlap, "SECONDS", 0.0)
    made = overlap.overlap(Setting(runs=3), shapes=[(2, 24, 20)])
    assert list(made.steps) == ["2 of 20 x 24"]
    (row,) = made.table.rows
    slowest = max(row[part].median for part in (overlap.SLOWER if as_gpu else ("calls",)))
    assert row["ratio"] == pytest.approx(row["locked"].median / slowest)
    assert made.table.columns.keys() <= row.keys()


def test_a_wrong_stream_is_not_timed(monkeypatch):
    monkeypatch.setattr(Filter, "stream", lambda _, images: (255 - image for image in images))
    with pytest.raises(RefusedError, match="the stream computes wrongly"):
        list(overlap.overlap(Setting(runs=3), shapes=[(1, 8, 8)]).steps)


def test_starts_are_whole_processes_beside_the_script(monkeypatch):
    monkeypatch.setattr(start, "SMALL", (16, 24))
    made = start.start(Setting(runs=1), shapes=[(16, 24)], image=SAMPLES / "camera.pgm")
    assert len(list(made.steps)) == 3
    made.finish()
    assert [(row["what"], row["size"], row["who"]) for row in made.table.rows] == [
        ("--help", "", "fftfilter"),
        ("--version", "", "fftfilter"),
        ("highpass", "24 x 16", "fftfilter"),
        ("highpass", "24 x 16", "script"),
        ("highpass, first use", "24 x 16", "fftfilter"),
        ("highpass, peak memory", "24 x 16", "fftfilter"),
    ]
    warm, script, _first, peak = made.table.rows[2:]
    assert warm["ratio"] == pytest.approx(warm["ms"].median / script["ms"].median)
    assert 30 < peak["memory"] < 2000
    assert warm["target"] == "1.50 times"
    assert "reached" in warm
    assert "reached" in peak


def test_targets_of_starts():
    """From invented numbers, on both sides of each target."""
    made = start.start(Setting(runs=1))
    size = {"shape": (4096, 4096), "command": ()}
    jobs = [start.Job("--help", "fftfilter", ()), start.Job("highpass", "fftfilter", **size)]
    jobs += [start.Job("highpass", "script", **size), start.Job("highpass, first use", "fftfilter", **size)]
    jobs.append(start.Job("highpass, peak memory", "fftfilter", **size))

    def judged(*values, is_pocl=True):
        for job, value in zip(jobs, values, strict=True):
            start._put(made.table, job, **({"memory": value} if job is jobs[-1] else {"ms": Stats.of([value])}))
        start._judge(made.table, jobs, is_pocl=is_pocl)
        return [(row.get("target"), row.get("reached")) for row in made.table.rows]

    targets = ["150 ms", "1.00 times", None, "1500 ms", "388 MB"]
    assert judged(100.0, 500.0, 900.0, 1400.0, 200.0) == list(
        zip(targets, ["yes", "yes", None, "yes", "yes"], strict=True)
    )
    assert judged(200.0, 950.0, 900.0, 1600.0, 400.0) == list(zip(targets, ["no", "no", None, "no", "no"], strict=True))
    made.table.rows.clear()
    assert judged(100.0, 500.0, 900.0, 1400.0, 200.0, is_pocl=False)[3] == (None, None)


def test_a_script_with_another_picture_is_not_timed(monkeypatch):
    monkeypatch.setattr(start, "SCRIPT", start.SCRIPT.replace("shorter / 8", "shorter / 4"))
    with pytest.raises(RefusedError, match="script computes another picture"):
        list(start.start(Setting(runs=1), shapes=[(16, 24)]).steps)


def test_a_process_that_fails_is_told():
    with pytest.raises(RefusedError, match=r"exit code 2: fftfilter: No such command 'none'"):
        start._run(start._program("none"))


def test_programs_are_timed_in_their_users_environment(monkeypatch):
    """What opening a device sets for this process would be a burden to several others."""
    monkeypatch.setenv("POCL_AFFINITY", "1")
    monkeypatch.setenv("SOMETHING", "else")
    there = environment.users_environment({"MORE": "1"})
    assert (there.get("POCL_AFFINITY"), there["SOMETHING"], there["MORE"]) == (None, "else", "1")


def test_a_folder_is_raced_and_judged(monkeypatch):
    """What is installed of the peers differs from machine to machine: NumPy and Pillow always are."""
    monkeypatch.setattr(folder_race, "contenders", lambda: ["fftfilter", "pillow_alone", "numpy_and_pillow"])
    monkeypatch.setattr(folder_race, "OF_FLOOR", {"png": 1e-9})
    monkeypatch.setattr(folder_race, "OF_BEST_PEER", {})
    made = folder_race.folder_race(Setting(runs=1), files=[folder_race.Files(3, 40, "png")])
    assert len(list(made.steps)) == 4
    ours, floor, theirs = made.table.rows
    assert (ours["who"], floor["who"], theirs["who"]) == ("fftfilter", "decode + encode", "NumPy, Pillow")
    assert floor["ratio"] == pytest.approx(ours["rate"].median / floor["rate"].median)
    assert (floor["target"], floor["reached"], theirs["target"]) == (1e-9, "yes", 1)


@pytest.mark.parametrize("who", folder_race.PEERS)
@pytest.mark.parametrize("kind", ["png", "pgm"])
def test_every_peer_of_a_folder_makes_the_same_pictures(who, kind, tmp_path):
    if who not in folder_race.contenders():
        pytest.skip(f"{who} is not installed")
    track = folder_race.Track(Setting(), folder_race.Files(3, 40, kind), tmp_path, 1)
    track.run(who)  # raises if not
    assert track.rates[who][0] > 0


def test_a_peer_of_a_folder_with_another_picture_is_not_timed(tmp_path):
    track = folder_race.Track(Setting(), folder_race.Files(1, 40, "pgm"), tmp_path, 1)
    track.wanted = {name: 255 - wanted for name, wanted in track.wanted.items()}
    with pytest.raises(RefusedError, match=r"NumPy, Pillow makes another picture of 00000\.pgm"):
        track.run("numpy_and_pillow")
    track.help = tmp_path / "nowhere"
    with pytest.raises(RefusedError, match=r"wrote 0 of 1 files; leave it out\. It said: FileNotFoundError"):
        track.run("pillow_alone")


def test_photographs_are_all_different_and_the_same_in_each_run():
    first, again, other = photograph(0, 300), photograph(0, 300), photograph(1, 300)
    assert first.shape == (300, 300)
    np.testing.assert_array_equal(first, again)
    assert np.count_nonzero(first != other) > 80_000


def test_levels_of_png_trade_time_for_size():
    table = json.loads(invoke("png-levels", "--side", "64", "--runs", "1", "--json"))
    sizes = [row["kb"] for row in table["rows"]]
    assert sizes[0] > 64 * 64 / 1e3 > sizes[1] > sizes[9]
    assert sizes[9] == table["rows"][9]["pillow_kb"]


def test_folders_to_race_that_cannot_be_meant():
    done = CliRunner().invoke(bench, ["folder", "--files", "500"])
    assert (done.exit_code, "such as 500x512" in done.stderr) == (2, True)


def test_lines_of_a_plot(table):
    table.put(("fast", "ENIAC"), n=8, ms=5.0)
    assert plot.series(table) == {"fast": [(8, 0.125)], "slow": [(16, 1234.5)], "fast, ENIAC": [(8, 5.0)]}
    table.lines = Lines(("name",), None, ("1", "32"), "work-group size", "ms")
    table.rows = [{"name": "mask", "hardware": HERE, "1": 4.0, "32": Stats(2, 1, 3, 9)}]
    assert plot.series(table) == {"mask": [(1, 4.0), (32, 2)]}


def test_a_plot_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    invoke("speedup", "--n", "8", "--plot", str(tmp_path / "speedup.png"))
    assert (tmp_path / "speedup.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_drawn_is_refused_first(tmp_path, table):
    pytest.importorskip("matplotlib")
    with pytest.raises(ParameterError, match="is no picture"):
        invoke("speedup", "--n", "8", "--plot", str(tmp_path / "speedup.xyz"))
    with pytest.raises(WriteError, match="cannot be written"):
        plot.draw([table], tmp_path / "nowhere" / "table.png")
