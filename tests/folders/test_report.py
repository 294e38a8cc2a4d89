"""The report of a folder's run, and its journal: what the first may not replace, what a full disk does to both."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.files.sources import Folder
from fftfilter.folders import journal
from fftfilter.folders.jobs import Job, Outcome, Settings
from fftfilter.folders.report import Report, _line
from fftfilter.images import PixelSize
from fftfilter.output.modes import Range
from fftfilter.output.rounding import Difference
from fftfilter.region import region_of
from fftfilter.work.recipe import Recipe
from tests.folders.helpers import names, pgm


def run(*arguments):
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    return result.exit_code, result.stderr


def linked(path, to, how):
    path.parent.mkdir(exist_ok=True)
    (path.symlink_to if how == "link" else path.hardlink_to)(to)
    return path


@pytest.fixture
def given(tmp_path):
    for name in ("a.pgm", "b.png.pgm", "deep/c.pgm"):
        pgm(tmp_path / "in" / name)
    pgm(tmp_path / "elsewhere")
    return tmp_path / "in"


REPORTS = {
    "an input": lambda d: d / "in/a.pgm",
    "an input by another way": lambda d: d / "in/deep/../a.pgm",
    "an input in a folder": lambda d: d / "in/deep/c.pgm",
    "an image that --pattern leaves out": lambda d: d / "in/b.png.pgm",
    "a link to an input": lambda d: linked(d / "r.jsonl", d / "in/a.pgm", "link"),
    "a hard link to an input": lambda d: linked(d / "r.jsonl", d / "in/deep/c.pgm", "hard link"),
    "what an input is a link to": lambda d: linked(d / "in/deep/d.pgm", d / "elsewhere", "link") and d / "elsewhere",
    "an output": lambda d: d / "out/a.pgm",
    "a link to an output": lambda d: linked(d / "r.jsonl", d / "out/deep/c.pgm", "link"),
    "what is remembered": lambda d: d / "out" / journal.NAME,
    "a part of what is remembered behind a URL": lambda d: d / "out" / f"{journal.PREFIX}17.jsonl",
}


@pytest.mark.skipif(os.name != "posix", reason="needs links")
@pytest.mark.parametrize("what", REPORTS)
@pytest.mark.parametrize(
    "options", [("-r", "--pattern", "[!b]*"), ("-rn", "--pattern", "[!b]*"), ("-r", "--in-place")], ids=str
)
def test_a_report_that_would_replace_a_file_of_the_run_is_refused(tmp_path, given, what, options):
    report = REPORTS[what](tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, said = run(
        "highpass", *options, "--report", report, given, given if "--in-place" in options else tmp_path / "out"
    )
    assert (code, said.count("\n")) == (2, 1), said
    assert "--report" in said
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["in/report.jsonl", "a new.txt", "old.jsonl"])
def test_another_file_may_be_the_report_and_is_overwritten(tmp_path, given, name, recwarn):
    (tmp_path / "old.jsonl").write_text("old\n" * 99)
    linked(given / "link.pgm", given / "a.pgm", "link")
    report = (tmp_path / name).as_uri() if " " in name else tmp_path / name  # %20, as URLs have it
    for _ in range(2):
        assert run("highpass", "-qr", "--report", report, given, tmp_path / "out") == (0, "")
        assert (tmp_path / name).read_text().count('"done"') == 4
    gc.collect()
    told = [str(each.message) for each in recwarn if each.category is ResourceWarning]
    assert [each for each in told if str(tmp_path) in each] == []


def test_a_line_says_all_that_is_known_of_a_file():
    outcome = Outcome(
        job=Job(1, "in.tif", "out.tif"),
        pages=2,
        shape=(3, 64, 80),
        dtype="uint16",
        clipped=0.25,
        missing=0.5,
        extremes=(0.0, 9.0),
        notes=["a note", "another one"],
        difference=Difference(65535, False, 1, 3, 3, 2 * 3 * 64 * 80, 65535),
        pixel_size=PixelSize(5e-7, 1e-6, "resolution"),
        seconds={"read": 0.0125},
        bytes=99,
        stamp=journal.Stamp(88, 0),
        device="a CPU",
    )
    given = Recipe(
        H.lowpass("2um") * H.highpass(), options={"edges": "mirror", "depth": None}, output="signed", scale=Range(-1, 2)
    )
    assert _line(outcome, Settings(given)) == {
        "input": "in.tif",
        "output": "out.tif",
        "status": "done",
        "bytes": 99,
        "output_bytes": 88,
        "width": 80,
        "height": 64,
        "channels": 3,
        "type": "uint16",
        "pages": 2,
        "filter": {
            "kind": "product",
            "parts": [
                {"kind": "lowpass", "shape": "ideal", "radius": "2um"},
                {"kind": "highpass", "shape": "ideal", "radius": "8"},
            ],
            "pixel_size": "5e-07m,1e-06m",
            "edges": "mirror",
        },
        "peaks": None,
        "found": ["a note", "another one"],
        "output_mode": "signed",
        "scale": {"low": -1, "high": 2, "of_white": False},
        "extremes": (0.0, 9.0),
        "clipped": 0.25,
        "missing": 0.5,
        "difference": {"largest": 1, "white": 65535, "samples": 3, "of": 30720},
        "milliseconds": {"read": 12.5},
        "seconds": 0.0125,
        "device": "a CPU",
        "error": None,
        "code": None,
    }
    given = Recipe(H.lowpass(3), output="keep", region=region_of((0, 1, 2, 3), None, 4))
    part = {"kind": "lowpass", "shape": "ideal", "radius": "3", "region": "0,1,2,3", "feather": 4.0}
    assert _line(Outcome(job=Job(1, "a", "b")), Settings(given))["filter"] == part


def test_a_report_can_be_read_while_the_run_goes_on(tmp_path):
    report = Report(str(tmp_path / "r.jsonl"), pytest.fail)
    report.open()
    for count in (1, 2):
        report.add(Outcome(job=Job(count, "a.png", "b.png")), Settings(Recipe(H.lowpass(3))))
        assert (tmp_path / "r.jsonl").read_text().count('"input": "a.png"') == count
    report.close()


def test_a_report_that_cannot_be_begun_is_told_before_the_work(tmp_path, given):
    report = tmp_path / "none/r.jsonl"
    said = f"fftfilter: {report}: cannot be written: No such file or directory; choose another file\n"
    assert run("highpass", "-r", "--report", report, given, tmp_path / "out") == (1, said)
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize("processes", [1, 2])
def test_each_file_has_the_status_that_the_summary_counts(tmp_path, given, processes):
    report = tmp_path / "report.jsonl"

    def statuses(*options):
        code, _ = run("highpass", "-r", "--processes", processes, "--report", report, *options, given, tmp_path / "out")
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        return code, {Path(line["input"]).name: (line["status"], line["error"] is None) for line in lines}

    assert statuses("--skip-existing")[1]["a.pgm"] == ("done", True)
    pgm(given / "new.pgm", 5)
    (given / "b.png.pgm").write_bytes(b"P5 ")
    said = {
        "a.pgm": ("skipped", True),
        "b.png.pgm": ("failed", False),
        "c.pgm": ("skipped", True),
        "new.pgm": ("done", True),
    }
    assert statuses("--skip-existing") == (1, said)
    # What is skipped is compared, too, if that is asked for.
    assert statuses("--skip-existing", "--verify", "9")[1]["a.pgm"] == ("skipped", True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_report_on_a_full_disk_is_told_once_and_missed_at_the_end(tmp_path, given):
    code, said = run("highpass", "-qr", "--report", "/dev/full", given, tmp_path / "out")
    assert code == 1
    assert said == "fftfilter: /dev/full: cannot be written (No space left on device); the report is incomplete\n"
    assert names(tmp_path / "out") == names(given)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_journal_on_a_full_disk_is_told_once_and_costs_nothing(tmp_path, given, monkeypatch):
    out = tmp_path / "out"
    monkeypatch.setattr(Folder, "open", lambda _, path, flags: os.open(path, flags))
    linked(out / journal.NAME, Path("/dev/full"), "link")
    code, said = run("highpass", "-q", given, out)
    assert code == 0
    assert said == (
        f"fftfilter: {out}: cannot note what is done (No space left on device); --skip-existing will do it again\n"
    )
    assert names(out) == ["a.pgm", "b.png.pgm"]


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
@pytest.mark.parametrize("what", ["a link", "a link to nothing", "a pipe"])
def test_what_stands_in_place_of_a_journal_is_neither_read_nor_written(tmp_path, given, what):
    out = tmp_path / "out"
    out.mkdir()
    mine = tmp_path / "mine.txt"
    if what == "a pipe":
        os.mkfifo(out / journal.NAME)
    else:
        linked(out / journal.NAME, mine, "link")
    if what == "a link":
        mine.write_text("mine\n" * 3000)
    why = f"{journal.NAME} is no regular file"
    for options in ((), ("--skip-existing",)):
        code, said = run("highpass", "-q", *options, given, out)
        assert code == 0
        assert said == f"fftfilter: {out}: cannot note what is done ({why}); --skip-existing will do it again\n"
    assert names(out) == ["a.pgm", "b.png.pgm"]
    assert mine.exists() == (what == "a link")
    assert what != "a link" or mine.read_text() == "mine\n" * 3000
