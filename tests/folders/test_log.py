"""Events for programs: --log json, and what a report says of a run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from fftfilter import __version__
from fftfilter.cli import cli
from fftfilter.files import messages
from fftfilter.files.messages import Progress
from tests.folders.helpers import command, names, pgm
from tests.helpers import Started, needs_posix, unread

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def run(*arguments):
    """Run a command in this process; return its exit code and its lines of standard error, each read as JSON."""
    result = CliRunner().invoke(cli, ["highpass", "--log", "json", *map(str, arguments)])
    return result.exit_code, [json.loads(line) for line in result.stderr.splitlines()]


def lines(report):
    return [json.loads(line) for line in report.read_text().splitlines()]


def test_each_line_of_a_folders_run_is_an_event(tmp_path):
    given = [pgm(tmp_path / f"in/{i}.pgm", i) for i in range(3)]
    given[1].write_bytes(b"P5 ")
    code, events = run("--processes", 1, tmp_path / "in", tmp_path / "out")
    assert code == 1
    assert [each["event"] for each in events] == ["start", "file", "file", "file", "end"]
    assert all(TIME.fullmatch(each["time"]) and each["version"] == __version__ for each in events)
    assert len({each["run"] for each in events}) == 1
    start, *files, end = events
    assert (start["files"], end["done"], end["failed"], end["skipped"]) == (3, 2, 1, 0)
    by_name = {each["input"]: each for each in files}
    good, bad = by_name[str(given[0])], by_name[str(given[1])]
    assert (good["status"], good["code"], good["error"]) == ("done", None, None)
    sizes = given[0].stat().st_size, (tmp_path / "out/0.pgm").stat().st_size
    assert (good["bytes"], good["output_bytes"]) == sizes
    assert good["seconds"] > 0
    assert (bad["status"], bad["code"], bad["output_bytes"]) == ("failed", "ReadError", None)
    assert bad["error"].startswith(f"{given[1]}: ")


def test_errors_and_remarks_are_events_too(tmp_path):
    given, target = pgm(tmp_path / "in/a.pgm"), tmp_path / "out.pgm"
    code, (file, event) = run(tmp_path / "none.pgm", target)
    assert (file["event"], file["status"], file["code"]) == ("file", "failed", "ReadError.ENOENT")
    assert (code, event["event"], event["code"], event["exit_code"]) == (1, "error", "ReadError.ENOENT", 1)
    assert event["message"].startswith(f"{tmp_path}/none.pgm: cannot be read: ")
    code, (event,) = run("--radius", "wide", given, target)
    assert (code, event["event"], event["code"]) == (2, "error", "ParameterError")
    code, (event,) = run("--bogus", given, target)
    assert (code, event["event"], event["exit_code"]) == (2, "error", 2)
    code, (said, done) = run("--scale", "-40:40", given, target)
    assert (code, said["event"], done["event"], done["status"]) == (0, "message", "file", "done")
    assert said["message"].startswith("scale -40:40 begins below 0")
    assert sys.stderr is sys.__stderr__ or "Events" not in repr(sys.stderr)


def test_one_file_has_a_report_also_if_it_fails(tmp_path):
    given, target, report = pgm(tmp_path / "a.pgm"), tmp_path / "out.png", tmp_path / "r.jsonl"
    assert run("--report", report, given, target)[0] == 0
    (line,) = lines(report)
    sizes = given.stat().st_size, target.stat().st_size
    assert (line["status"], line["width"], line["height"], line["output_bytes"]) == ("done", 12, 8, sizes[1])
    assert (line["input"], line["device"] is not None, line["bytes"]) == (str(given), True, sizes[0])
    assert line["filter"]["kind"] == "highpass"
    given.write_bytes(b"P5 ")
    assert run("--report", report, given, target)[0] == 1
    (line,) = lines(report)
    assert (line["status"], line["code"]) == ("failed", "ReadError")
    assert given.name in line["error"]
    code, (event,) = run("--report", given, given, target)
    assert (code, event["code"], given.read_bytes()) == (2, "ParameterError", b"P5 ")


ENDINGS = [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]


@needs_posix
@pytest.mark.parametrize(("number", "word", "code"), ENDINGS)
@pytest.mark.parametrize("words", [("--log", "json"), ("--log=json",), ()])
def test_a_signal_while_the_program_loads_is_said_in_the_way_that_is_wanted(number, word, code, words):
    script = (
        "import os, sys, fftfilter.__main__ as program\n"
        "class Finder:\n"
        f"    find_spec = lambda name, *_: name == 'fftfilter.cli' and os.kill(os.getpid(), {int(number)}) or None\n"
        "sys.meta_path.insert(0, Finder)\n"
        "program.main()"
    )
    ended = [sys.executable, "-c", script, "highpass", *words, "a", "b"]
    done = subprocess.run(ended, capture_output=True, text=True, timeout=60, check=False)
    said = {each: json.loads(done.stderr)[each] for each in ("event", "message", "exit_code")} if words else done.stderr
    event = {"event": "error", "message": word, "exit_code": code}
    assert (done.returncode, done.stdout, said) == (code, "", event if words else f"fftfilter: {word}\n")


@needs_posix
@pytest.mark.parametrize(("number", "word", "code"), ENDINGS)
def test_a_file_that_a_signal_ends_is_said_to_be_ended(tmp_path, number, word, code):
    words = command("--log", "json", "-", tmp_path / "out.pgm")
    with Started(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        waiting.stdin.write(b"P5")
        waiting.stdin.flush()
        while unread(waiting.stdin):
            time.sleep(0.005)
        waiting.send_signal(number)
        assert waiting.wait(20) == code
        file, error = map(json.loads, waiting.stderr.read().splitlines())
    name = "KeyboardInterrupt" if number == signal.SIGINT else "TerminatedError"
    assert (file["status"], file["error"], file["code"]) == ("failed", f"standard input: {word}", name)
    assert (error["event"], error["message"], error["code"], error["exit_code"]) == ("error", word, name, code)
    assert os.listdir(tmp_path) == []  # noqa: PTH208


@pytest.mark.parametrize(("what", "out"), [("a.pgm", "out.pgm"), (".", "out")])
def test_a_dry_run_writes_a_report_of_what_would_be_done(tmp_path, what, out):
    pgm(tmp_path / "in/a.pgm")
    report = tmp_path / "r.jsonl"
    words = ["-n", "--report", report, tmp_path / "in" / what, tmp_path / out]
    result = CliRunner().invoke(cli, ["highpass", *map(str, words)])
    assert result.exit_code == 0, result.stderr
    (line,) = lines(report)
    assert (line["status"], line["width"], line["height"], line["channels"]) == ("planned", 12, 8, 1)
    assert not list(tmp_path.glob("out*"))


def test_a_dry_run_of_a_folder_ends_as_a_run(tmp_path):
    pgm(tmp_path / "in/a.pgm")
    pgm(tmp_path / "in/b.pgm").write_bytes(b"P5 ")
    code, events = run("-n", tmp_path / "in", tmp_path / "out")
    assert (code, [each["event"] for each in events]) == (1, ["start", "file", "file", "message", "end"])
    assert [events[-1][name] for name in ("files", "planned", "skipped", "failed")] == [2, 1, 0, 1]


def test_a_resumed_run_goes_on_in_the_report_and_says_which_run_it_is(tmp_path):
    report = tmp_path / "r.jsonl"
    pgm(tmp_path / "in/a.pgm")
    words = ("--skip-existing", "--report", report, tmp_path / "in", tmp_path / "out")
    assert run(*words)[0] == 0
    pgm(tmp_path / "in/b.pgm", 1)
    assert run(*words)[0] == 0
    first, second, third = lines(report)
    assert [each["status"] for each in (first, second, third)] == ["done", "skipped", "done"]
    assert first["run"] != second["run"] == third["run"]
    assert run("--report", report, tmp_path / "in", tmp_path / "out")[0] == 0
    assert len(lines(report)) == 2


@pytest.mark.parametrize("pattern", [(), ("--pattern", "*.tif")])
def test_a_folder_with_nothing_to_filter_is_no_error_and_said(tmp_path, pattern):
    """An empty folder, and one in which nothing has the name that is wanted."""
    (tmp_path / "in").mkdir()
    if pattern:
        pgm(tmp_path / "in/a.pgm")
    result = CliRunner().invoke(cli, ["highpass", *pattern, str(tmp_path / "in"), str(tmp_path / "out")])
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    assert result.stderr.startswith(f"no image to filter in {tmp_path}/in")
    assert ("none fits --pattern *.tif" in result.stderr) == bool(pattern)
    assert names(tmp_path / "out") == []


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(messages, "SECONDS_BETWEEN_LINES", 0.05)
    for quiet in (True, False):
        bar = Progress(20, quiet=quiet)
        for _ in range(10):
            time.sleep(0.02)
            bar.advance()
        bar.clear()
        said = capsys.readouterr().err.splitlines()
        assert (len(said) > 1) == (not quiet)
        assert all(re.fullmatch(r"fftfilter: \d+/20  [\d.]+/s  0:00:0\d left", line) for line in said)
