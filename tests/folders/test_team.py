"""Processes that filter: one for each of several devices, or several on one.

PoCL shows as many devices as POCL_DEVICES names.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.helpers import Started
from tests.folders.test_run import names, pgm

from fftfilter.folders.crew import count, useful_processes
from fftfilter.folders.jobs import DONE, Job, Settings, processors
from fftfilter.folders.team import Team

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds its child processes in /proc")

TWO = {"POCL_DEVICES": "pthread pthread"}


def command(*arguments):
    return [sys.executable, "-m", "fftfilter", "highpass", *map(str, arguments)]


def process(*arguments, **environment):
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=120, check=False, env=os.environ | environment
    )


def children(pid, module="folders.worker"):
    """Return the processes that were started to run a module."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            if module in Path(f"/proc/{child}/cmdline").read_text():
                found.append(int(child))
        except OSError:
            continue
    return found


@pytest.fixture
def given(tmp_path):
    for i in range(200):
        pgm(tmp_path / f"in/{i}.pgm", i, 16 + i % 3)
    return tmp_path / "in"


@pytest.mark.parametrize(("devices", "environment"), [("all", TWO), ("0,1", TWO), ("pthread,cpu", {})])
def test_devices_share_a_folder(tmp_path, given, devices, environment):
    (given / "bad.pgm").write_bytes(b"")
    report = tmp_path / "report.jsonl"
    # The simulator that the tests install is a platform too, and must not be among "all".
    if devices == "0,1":
        listed = process("highpass", "-n", given, tmp_path / "out", **environment)
        assert "Oclgrind" not in listed.stdout
        devices = ",".join(str(i) for i in pocl_indices(environment))
    done = process("--device", devices, "--report", report, given, tmp_path / "out", **environment)
    assert done.returncode == 1, done.stderr
    assert "200 of 201 files filtered" in done.stderr
    assert done.stderr.count("\n") == 2
    alone = process("-q", given, tmp_path / "alone")
    assert alone.returncode == 1
    for name in names(tmp_path / "alone"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    statuses = [json.loads(line)["status"] for line in report.read_text().splitlines()]
    assert sorted(statuses) == ["done"] * 200 + ["failed"]
    again = process("--device", devices, "--skip-existing", given, tmp_path / "out", **environment)
    assert "200 skipped" in again.stderr


def pocl_indices(environment):
    told = subprocess.run(
        [sys.executable, "-m", "fftfilter", "devices", "--json"],
        capture_output=True,
        check=True,
        env=os.environ | environment,
    )
    return [d["index"] for d in json.loads(told.stdout)["devices"] if "Portable" in d["platform"]]


def running(tmp_path, given, count):
    """Start a run on two devices that is not over soon, and wait until it has written something."""
    for i in range(200, count):
        pgm(given / f"{i}.pgm", i % 9, 128, 128)
    started = Started(
        command("--device", "all", given, tmp_path / "out"),
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | TWO,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "out").glob("*.pgm"))) < 100 and time.monotonic() < deadline:
        time.sleep(0.005)
    return started


def test_the_files_of_a_process_that_dies_are_done_by_the_other(tmp_path, given):
    with running(tmp_path, given, 1500) as started:
        workers = children(started.pid)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        said = started.communicate(timeout=120)[1]
        assert started.returncode == 0, said
    assert "died (exit code -9); the other devices do its files" in said
    assert "1500 of 1500 files filtered" in said
    assert names(tmp_path / "out") == names(given)
    assert all((tmp_path / "out" / name).stat().st_size == (given / name).stat().st_size for name in names(given))


@contextmanager
def deadly(path, parent, module):
    """Make a file of which the first two processes die that read it: opening a pipe waits for its other end."""
    os.mkfifo(path)

    def kill_readers():
        for _ in range(2):
            writer = os.open(path, os.O_WRONLY)
            while not (readers := [child for child in children(parent, module) if path.name in opened(child)]):
                time.sleep(0.01)
            os.kill(readers[0], signal.SIGKILL)
            while Path(f"/proc/{readers[0]}").exists():  # it still counts as a reader
                time.sleep(0.01)
            os.close(writer)

    killer = threading.Thread(target=kill_readers, daemon=True)
    killer.start()
    yield
    killer.join(10)
    assert not killer.is_alive()


def opened(pid):
    """Return the names of the files that a process has open."""
    return {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}


def test_only_the_file_that_two_processes_die_of_is_given_up(tmp_path, given):
    jobs = [Job(i, str(given / f"{i}.pgm"), str(tmp_path / f"{i}.pgm")) for i in range(200)]
    (given / "3.pgm").unlink()
    warnings = []
    with deadly(given / "3.pgm", os.getpid(), "folders.worker"), Team(["cpu"] * 3) as team:
        outcomes = {each.job.number: each for each in team.run(iter(jobs), Settings("highpass"), warnings)}
    assert [number for number, outcome in outcomes.items() if outcome.status != DONE] == [3]
    assert "3.pgm: given up: the process of device cpu died (exit code -9)" in outcomes[3].error
    assert len(outcomes) == 200
    assert len(warnings) == 2


def test_without_any_device_left_the_run_ends_and_says_how_to_resume(tmp_path, given):
    with running(tmp_path, given, 3000) as started:
        for worker in children(started.pid):
            os.kill(worker, signal.SIGKILL)
        said = started.communicate(timeout=120)[1]
        assert started.returncode == 3, said
    assert "--skip-existing goes on from here" in said
    before = {name for name in names(tmp_path / "out") if not name.startswith(".")}
    assert 0 < len(before) < 3000
    assert process("-q", "--skip-existing", given, tmp_path / "out").returncode == 0
    assert names(tmp_path / "out") == names(given)


def test_an_interrupt_from_the_terminal_reaches_all_processes_and_ends_well(tmp_path, given):
    with running(tmp_path, given, 3000) as started:
        os.killpg(started.pid, signal.SIGINT)
        said = started.communicate(timeout=120)[1]
        assert started.returncode == 130, said
    assert "Traceback" not in said
    done = names(tmp_path / "out")
    assert f"{len(done)} of 3000 files filtered" in said
    assert not [name for name in done if name.startswith(".")]


def test_processes_end_with_their_parent_and_say_nothing(tmp_path, given):
    with running(tmp_path, given, 3000) as started:
        workers = children(started.pid)
        started.kill()
        assert started.communicate(timeout=120)[1] == ""
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_many_files_are_shared_among_processes():
    assert useful_processes(200, 300_000) == 1
    assert useful_processes(300, 300_000) == min(2, processors())
    assert useful_processes(10**6, 300_000) == min(8, processors())
    assert useful_processes(10**6, 4 << 20) == 1


@pytest.mark.parametrize("options", [(), ("--scale", "folder")], ids=str)
def test_processes_on_one_device_write_what_one_does(tmp_path, given, options):
    report = tmp_path / "report.jsonl"
    shared = process("-q", "--processes", "2", "--report", report, *options, given, tmp_path / "shared")
    alone = process("-q", "--processes", "1", *options, given, tmp_path / "alone")
    assert (shared.returncode, alone.returncode) == (0, 0), shared.stderr
    assert names(tmp_path / "shared") == names(given)
    for name in names(given):
        assert (tmp_path / "shared" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes(), name
    assert len({line for line in report.read_text().splitlines() if '"done"' in line}) == 200


def test_settings_that_a_device_cannot_have_are_refused_as_with_one_process(tmp_path, given):
    for processes in ("1", "2"):
        done = process("--processes", processes, "--work-group-size", "100000000", given, tmp_path / "out")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "work-group size" in done.stderr


def test_processes_are_for_folders_of_this_machine(tmp_path, given):
    assert process("--processes", "2", given / "0.pgm", tmp_path / "out.pgm").returncode == 2
    assert process("--processes", "2", "--cluster", "tcp://127.0.0.1:1", given, tmp_path / "out").returncode == 2


def test_files_are_counted_where_they_are(tmp_path):
    for name in ("a.pgm", "b.pgm", "deep/c.pgm", "deep/er/d.pgm"):
        pgm(tmp_path / name)
    (tmp_path / "deep/up").symlink_to(tmp_path)
    assert count(tmp_path, recursive=False) == (2, 108)
    assert count(tmp_path, recursive=True)[0] == 4
    assert count(tmp_path / "missing", recursive=True) == (0, 0)


def test_twenty_thousand_tiny_files_take_no_more_memory_than_a_thousand(tmp_path):
    """What the run and the largest of its processes held at most, in kB, from their own accounts."""
    code = (
        "import resource, sys\n"
        "from fftfilter.cli import cli\n"
        "try:\n    cli(sys.argv[1:])\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "for who in resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN:\n"
        "    print(resource.getrusage(who).ru_maxrss)\n"
    )

    def most(count):
        first = pgm(tmp_path / f"in{count}/0.pgm")
        for i in range(1, count):
            (first.parent / f"{i}.pgm").hardlink_to(first)
        done = subprocess.run(
            [sys.executable, "-c", code, "highpass", "-q", first.parent, tmp_path / f"out{count}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(names(tmp_path / f"out{count}")) == count
        return [int(line) for line in done.stdout.split()]

    few, many = most(1000), most(20_000)
    # A file's name takes some 500 bytes while its folder is done; what became of it, were that kept, 2 kB more.
    assert many[0] - few[0] < 25_000
    assert many[1] - few[1] < 15_000
