"""Processes that read and write beside the device's. A driver that is only registered passes for a GPU's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.folders import test_team
from click.testing import CliRunner
from hypothesis import given as given_that
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin
from tests.folders.test_run import names, pgm

from fftfilter.cli import cli
from fftfilter.folders import codec_processes, shared_memory
from fftfilter.folders.batch import Batch
from fftfilter.folders.codec_processes import CodecProcesses
from fftfilter.folders.crew import Crew, crew
from fftfilter.folders.jobs import DONE, FAILED, DeviceLostError, Job, Settings
from fftfilter.folders.shared_memory import Arena, View
from fftfilter.folders.team import Team

pytestmark = pytest.mark.skipif(not shared_memory.is_possible(), reason="needs Linux's files without a name")


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """Register a driver that is not there."""
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors/missing.icd").write_text("libmissing.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "vendors"))


@pytest.fixture
def pictures(tmp_path, rng):
    """All kinds of pictures, and files that are none."""
    folder = tmp_path / "in"
    for i in range(40):
        pgm(folder / f"{i}.pgm", i)
    pgm(folder / "wide.pgm", 3, 64, 300)
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "kept")
    color = rng.integers(0, 256, (30, 20, 4), dtype=np.uint8)
    Image.fromarray(color).save(folder / "color.png", pnginfo=info, dpi=(300, 300))
    Image.fromarray(rng.integers(0, 65536, (30, 20), dtype=np.uint16)).save(folder / "deep.png")
    Image.fromarray(rng.random((30, 20), dtype=np.float32)).save(folder / "float.tif")
    (folder / "zero.png").touch()
    (folder / "cut.pgm").write_bytes((folder / "0.pgm").read_bytes()[:-5])
    return folder


def children(pid):
    return test_team.children(pid, "codec_server")


def process(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "fftfilter", "highpass", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def told(report):
    """Return what a report says of each file but for times."""
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {
        Path(line["input"]).name: {**line, "output": None, "milliseconds": set(line["milliseconds"])} for line in lines
    }


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "options",
    [(), ("--scale", "folder"), ("--scale", "0:40", "--strip", "--preserve-times", "--format", "png")],
    ids=" ".join,
)
def test_they_write_and_tell_what_threads_do(tmp_path, pictures, options):
    done = {}
    for how, count in ("threads", 1), ("processes", 3):
        out, report = tmp_path / how, tmp_path / f"{how}.jsonl"
        done[how] = process("--processes", count, "--report", report, *options, pictures, out), told(report)
        assert done[how][0].returncode == 1, done[how][0].stderr
        assert "2 failed" in done[how][0].stderr
    assert done["processes"][1] == done["threads"][1]
    assert sorted(done["processes"][0].stderr.splitlines()[:2]) == sorted(done["threads"][0].stderr.splitlines()[:2])
    assert names(tmp_path / "processes") == names(tmp_path / "threads")
    for name in names(tmp_path / "threads"):
        one, other = tmp_path / "threads" / name, tmp_path / "processes" / name
        assert one.read_bytes() == other.read_bytes(), name
        if "--preserve-times" in options:
            assert one.stat().st_mtime_ns == other.stat().st_mtime_ns


@pytest.mark.usefixtures("gpu")
def test_what_is_done_is_skipped(tmp_path, pictures):
    for status in "filtered", "skipped":
        done = process("--processes", "2", "--skip-existing", pictures, tmp_path / "out")
        assert f"44 {status}" in done.stderr.replace("44 of 46 files filtered", "44 filtered"), done.stderr


def run(jobs, count=1, settings=None):
    """Do jobs with so many processes; return the outcomes by number, and what is told."""
    with CodecProcesses(count) as codecs, Batch(settings or Settings("highpass"), "cpu", codecs) as batch:
        return {outcome.job.number: outcome for outcome in batch.run(iter(jobs))}, codecs.warnings


def test_files_of_a_process_that_dies_are_done_by_another(tmp_path, pictures):
    jobs = [Job(i, str(pictures / f"{i}.pgm"), str(tmp_path / f"{i}.pgm")) for i in range(40)]

    def interrupted():
        for job in jobs:
            if job.number in (5, 25):
                os.kill(children(os.getpid())[0], signal.SIGKILL)
            yield job

    outcomes, warnings = run(interrupted())
    assert {outcome.status for outcome in outcomes.values()} == {DONE}
    assert len(outcomes) == 40
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert 1 <= len(warnings) <= 2
    assert "exit code -9" in warnings[0]


def test_only_the_file_that_two_processes_die_of_is_given_up(tmp_path, pictures):
    jobs = [Job(i, str(pictures / f"{i}.pgm"), str(tmp_path / f"{i}.pgm")) for i in range(20)]
    (pictures / "3.pgm").unlink()
    with test_team.deadly(pictures / "3.pgm", os.getpid(), "codec_server"):
        outcomes, warnings = run(jobs)
    assert [number for number, outcome in outcomes.items() if outcome.status != DONE] == [3]
    assert outcomes[3].status == FAILED
    assert "3.pgm: given up: a process that reads and writes files died (exit code -9)" in str(outcomes[3].error)
    assert len(outcomes) == 20
    assert len(warnings) == 2


def test_those_of_a_team_read_its_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.pgm")
    job = Job(0, str(tmp_path / "pipe.pgm"), str(tmp_path / "out.pgm"))
    readers = []

    def look():
        writer = os.open(tmp_path / "pipe.pgm", os.O_WRONLY)  # waits for a reader
        workers = test_team.children(os.getpid())
        while not readers:
            codecs = [codec for worker in workers for codec in children(worker)]
            readers.extend(codec for codec in codecs if "pipe.pgm" in test_team.opened(codec))
        os.close(writer)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    with Team(["cpu"], codecs=1) as team:
        (outcome,) = team.run(iter([job]), Settings("highpass"), [])
    looking.join(10)
    assert len(readers) == 1
    assert "empty (0 bytes)" in outcome.error


def test_pictures_that_wait_for_others_of_their_size_give_way_when_memory_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(codec_processes, "_MOST_BYTES", 1 << 18)
    jobs = []
    for i in range(60):
        given = pgm(tmp_path / f"in/{i}.pgm", i, 96 + i % 2 * 32, 120)
        jobs.append(Job(i, str(given), str(tmp_path / f"{i}.pgm")))
    outcomes, _ = run(jobs)
    assert [outcome.status for outcome in outcomes.values()] == [DONE] * 60


def test_processes_that_cannot_start_are_told(tmp_path, monkeypatch):
    pgm(tmp_path / "in.pgm")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(DeviceLostError, match=r"died \(exit code 1\) at its start"):
        run([Job(0, str(tmp_path / "in.pgm"), str(tmp_path / "out.pgm"))])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_program_that_cannot_be_started_again_is_one_line(tmp_path, monkeypatch, device):
    pgm(tmp_path / "in/0.pgm")
    monkeypatch.setattr(sys, "executable", "/missing/python")
    options = ["--device", device, "--processes", "2"]
    done = CliRunner().invoke(cli, ["highpass", *options, str(tmp_path / "in"), str(tmp_path / "out")])
    wanted = "fftfilter: /missing/python: cannot be started once more: no such file or directory; give --processes 1\n"
    assert (done.exit_code, done.stderr) == (1, wanted)


def test_a_limit_on_files_leaves_threads():
    code = (
        "import resource; from fftfilter.folders import shared_memory as memory\n"
        "print(memory.is_possible()); resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        "print(memory.is_possible())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\nFalse\n"


@pytest.mark.usefixtures("gpu")
def test_they_end_with_their_parent_and_say_nothing(tmp_path):
    given = tmp_path / "in"
    for i in range(200):
        pgm(given / f"{i}.pgm", i)
    started = subprocess.Popen(
        [sys.executable, "-m", "fftfilter", "highpass", "--processes", "3", given, tmp_path / "out"],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "out").is_dir() and time.monotonic() < deadline:
        time.sleep(0.01)
    processes = children(started.pid)
    assert len(processes) == 3
    started.kill()
    assert started.stderr.read() == ""
    started.wait(20)
    while any(Path(f"/proc/{each}").exists() for each in processes) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(Path(f"/proc/{each}").exists() for each in processes)


@pytest.mark.usefixtures("gpu")
def test_which_processes_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr("fftfilter.folders.crew.processors", lambda: 8)
    for i in range(130):
        pgm(tmp_path / f"in/{i}.pgm")
    started = []
    monkeypatch.setattr(codec_processes.CodecProcesses, "__init__", lambda _, count: started.append(count))
    monkeypatch.setattr(codec_processes.CodecProcesses, "__exit__", lambda *_: None)

    def codecs(device, asked=None):
        started.clear()
        with crew(tmp_path / "in", tmp_path / "out", [device], asked, recursive=False) as has:
            assert isinstance(has, Crew)
            assert has.team is None
        return sum(started)

    assert [codecs(device) for device in (None, "gpu", "0", "cpu")] == [4, 4, 4, 0]
    assert [codecs(None, asked) for asked in (1, 2, 7)] == [0, 2, 7]
    (tmp_path / "vendors/missing.icd").rename(tmp_path / "vendors/pocl.icd")
    assert codecs(None) == 0


# The memory that they share


@hypothesis_settings(max_examples=60, deadline=None)
@given_that(st.lists(st.one_of(st.integers(1, 30_000), st.integers(-5, -1)), max_size=60))
def test_blocks_never_overlap_and_are_used_again(steps):
    """Positive numbers take so many bytes, negative ones give a block back."""
    descriptor = shared_memory.create()
    arena, view, taken = Arena(descriptor), View(descriptor), []
    for number, step in enumerate(steps):
        if step < 0 and taken:
            block, size, content = taken.pop(step % len(taken))
            assert view.upto(block.start + size)[block.start : block.start + size] == content
            arena.give_back(block)
        elif step > 0:
            block, content = arena.take(step), bytes([number]) * step
            assert block.start % 4096 == 0
            arena.upto(block.start + step)[block.start : block.start + step] = content
            taken.append((block, step, content))
    for block, size, content in taken:
        assert view.upto(block.start + size)[block.start : block.start + size] == content
        arena.give_back(block)
    assert arena.used == 0
    assert arena.take(1).start == 0
    os.close(descriptor)


def test_a_large_block_goes_back_to_the_system():
    descriptor = shared_memory.create()
    arena = Arena(descriptor)
    for size, kept in (1 << 20, True), (100 << 20, False):
        block = arena.take(size)
        arena.upto(block.start + size)[block.start : block.start + size] = bytes(size)
        assert os.fstat(descriptor).st_blocks * 512 >= size
        arena.give_back(block)
        assert (os.fstat(descriptor).st_blocks * 512 >= size) == kept
    os.close(descriptor)


def test_memory_that_the_system_does_not_have_is_told():
    descriptor = shared_memory.create()
    arena = Arena(descriptor)
    kept = arena.take(5000)
    with pytest.raises(MemoryError):
        arena.take(1 << 62)
    assert arena.take(1).start == 8192
    arena.give_back(kept)
    with pytest.raises(MemoryError):
        arena.take(1 << 62)
    assert (arena.take(1).start, arena.used) == (0, 8192)
    os.close(descriptor)
