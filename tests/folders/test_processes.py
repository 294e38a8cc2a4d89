"""Workers on this machine: which are started, what they write, what happens when they die, with real processes.

PoCL shows as many devices as POCL_DEVICES names.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from fftfilter import device_choice, transfer
from fftfilter.errors import ParameterError, ProcessError
from fftfilter.folders import processes
from fftfilter.folders.jobs import DeviceLostError, Job, Settings, Survey
from fftfilter.folders.pool import Pool
from fftfilter.folders.processes import WantedWorkers, choose_workers, described, start_forkserver, started
from fftfilter.work.recipe import Recipe
from tests.files.helpers import environment
from tests.folders.helpers import command, here, names, pgm, process, same, workers
from tests.helpers import Started, needs_pocl_wheel, needs_posix

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds its child processes in /proc")

ENDINGS = [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
HANGUP = getattr(signal, "SIGHUP", None)
TWO = {"POCL_DEVICES": "pthread pthread"}


def with_environment(**variables):
    return {"env": os.environ | variables}


def is_running(pid):
    """Whether a process is there and no zombie, which some containers keep for a while."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def given(tmp_path):
    for i in range(100):
        pgm(tmp_path / f"in/{i}.pgm", i)
    return tmp_path / "in"


# Which are started


def test_few_files_are_done_by_this_process_and_many_by_up_to_a_process_a_core(monkeypatch, tmp_path):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))  # no vendor's driver
    monkeypatch.setattr(processes, "cores", lambda: 16)

    def count(files, size, devices=(None,), wanted=None):
        return choose_workers(Survey(files, files * size), devices, wanted, over_network=False).processes

    assert count(6, 300_000) == 0
    assert count(50, 300_000) == 6
    assert count(500, 300_000) == 16
    assert count(3, 10**6) == 0
    assert count(10**4, 4 << 20) == 0
    assert count(10**6, 100) == 16
    assert count(10**6, 100, wanted=1) == 0
    assert count(2, 100, wanted=5) == 5
    assert count(2, 100, devices=["0", "1"]) == 2
    two = choose_workers(Survey(2), ["0", "1"], 3, over_network=False)
    assert two == WantedWorkers(["0", "1"] * 3, 6, 2, is_asked_for=True)
    assert choose_workers(Survey(2), ["0", "1"], 10, over_network=False).threads == 1
    assert choose_workers(Survey(2), ["0"], 3, over_network=True) == WantedWorkers(["0"] * 3, 3, 5)
    assert choose_workers(Survey(2), ["0"], 20, over_network=False).threads == 1
    for asked in (3, None):
        assert choose_workers(Survey(10**6), [None], asked, over_network=False).is_asked_for == bool(asked)
    assert choose_workers(Survey(10**6), [None], None, over_network=True) == WantedWorkers([None], 0, 16)


@needs_pocl_wheel
@pytest.mark.parametrize("device", [None, "auto", "cpu"])
def test_beside_a_gpu_a_folder_is_filtered_on_the_cores_without_asking_it(monkeypatch, tmp_path, device):
    """Where OpenCL takes a GPU by itself, and pip has brought PoCL."""
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    (tmp_path / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    monkeypatch.setattr(device_choice, "choose", lambda _: pytest.fail("a driver is loaded"))
    monkeypatch.setattr(processes, "cores", lambda: 16)
    assert set(choose_workers(Survey(10**4, 10**9), [device], None, over_network=False).devices) == {"cpu"}


def test_a_gpu_that_is_asked_for_is_taken_by_this_process(monkeypatch):
    monkeypatch.setattr(device_choice, "choose", lambda _: SimpleNamespace(is_gpu=True))
    monkeypatch.setattr(processes, "cores", lambda: 16)
    assert choose_workers(Survey(10**4, 10**9), ["gpu"], None, over_network=False) == WantedWorkers(["gpu"], 0, 16)


# What they write


@pytest.mark.parametrize("options", [(), ("--scale", "folder"), ("--device", "cpu")], ids=str)
def test_processes_write_what_this_process_does(tmp_path, given, options):
    (given / "bad.pgm").write_bytes(b"")
    report = tmp_path / "report.jsonl"
    shared = process("--processes", "2", "--report", report, *options, given, tmp_path / "shared")
    alone = here("-q", "--processes", "1", *options, given, tmp_path / "alone")
    assert (shared.returncode, alone) == (1, 1), shared.stderr
    assert "100 of 101 files filtered" in shared.stderr
    assert "by 2 processes on " in shared.stderr
    assert shared.stderr.count("\n") == 2
    same(tmp_path / "shared", tmp_path / "alone")
    assert names(tmp_path / "shared") == [name for name in names(given) if name != "bad.pgm"]
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert sorted(line["status"] for line in lines if line["status"] != "measured") == ["done"] * 100 + ["failed"]
    again = process("--processes", "2", "--skip-existing", *options, given, tmp_path / "shared")
    assert "100 skipped" in again.stderr


def test_processes_that_share_a_device_share_its_cores(monkeypatch):
    monkeypatch.delenv("POCL_MAX_PTHREAD_COUNT", raising=False)
    usable = len(os.sched_getaffinity(0))
    alone = None if usable == os.cpu_count() else str(usable)
    monkeypatch.setattr(processes, "cores", lambda: 6)
    for devices, threads in ((["cpu"] * 2, "3"), ([None], alone)):
        with started(WantedWorkers(devices, len(devices), 1)) as (processes_of_device,):
            assert processes_of_device.submit(os.getenv, "POCL_MAX_PTHREAD_COUNT").result(60) == threads


@pytest.mark.parametrize(("asked", "each"), [("1", "1"), ("8", "3"), ("many", "3")])
def test_a_process_has_no_more_workers_than_is_asked_for(monkeypatch, asked, each):
    monkeypatch.setattr(processes, "cores", lambda: 6)
    monkeypatch.setenv("POCL_MAX_PTHREAD_COUNT", asked)
    assert processes.share_of_cores(2) == {"POCL_MAX_PTHREAD_COUNT": each}
    assert processes.share_of_cores(1) == {}


def test_the_process_that_shares_the_files_loads_neither_numpy_nor_opencl(tmp_path, given):
    code = (
        "import sys\nfrom fftfilter.cli import cli\n"
        "if __name__ == '__main__':\n"
        "    try: cli()\n"
        "    except SystemExit as end: print(end.code, {'numpy', 'pyopencl'} & set(sys.modules))\n"
    )
    (tmp_path / "run.py").write_text(code)
    command = [sys.executable, tmp_path / "run.py", "highpass", "-q", "--processes", "2", given, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment())
    assert (done.stdout, done.stderr) == ("0 set()\n", "")


@pytest.mark.parametrize(("devices", "variables"), [("all", TWO), ("pthread,cpu", {})])
def test_devices_share_a_folder(tmp_path, given, devices, variables):
    # The simulator that the tests install is a platform too, and must not be among "all".
    listed = process("-n", "--device", devices, given, tmp_path / "out", **with_environment(**variables))
    assert "Oclgrind" not in listed.stdout
    done = process("--device", devices, given, tmp_path / "out", **with_environment(**variables))
    assert done.returncode == 0, done.stderr
    assert "100 of 100 files filtered" in done.stderr
    assert "by 2 processes on " in done.stderr
    assert here("-q", "--processes", "1", given, tmp_path / "alone") == 0
    same(tmp_path / "out", tmp_path / "alone")


def test_settings_that_a_device_cannot_have_are_refused_as_with_one_process(tmp_path, given):
    for count in ("1", "2"):
        done = process("--processes", count, "--work-group-size", "100000000", given, tmp_path / "out")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "work-group size" in done.stderr


def test_processes_are_for_folders_of_this_machine(tmp_path, given):
    assert here("--processes", "2", given / "0.pgm", tmp_path / "out.pgm") == 2
    assert here("--processes", "2", "--cluster", "tcp://127.0.0.1:1", given, tmp_path / "out") == 2


def test_without_a_device_nothing_is_done_and_it_is_said_once(tmp_path, given):
    done = process("--processes", "2", "--device", "warp drive", given, tmp_path / "out")
    assert (done.returncode, "no OpenCL device 'warp drive'" in done.stderr) == (3, True)
    assert "Traceback" not in done.stderr
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize("limit", [24, 40])
def test_where_few_files_may_be_open_a_line_says_so_and_nothing_is_half_written(tmp_path, given, limit):
    def limited(*arguments):
        shell = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command(*arguments)]
        return subprocess.run(shell, capture_output=True, text=True, timeout=120, check=False)

    for options in ((), ("--processes", "2")):
        out = tmp_path / f"out{len(options)}"
        done = limited("-q", *options, given, out)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 3), done.stderr
        assert (done.returncode == 0) == (done.stderr == "") == (out.exists() and names(out) == names(given))
        assert not out.exists() or not [name for name in names(out) if name.startswith(".")]


@needs_posix
def test_a_forkserver_that_is_killed_is_started_again():
    """Before it has forked a process, and after that."""
    from multiprocessing import forkserver

    recipe = Settings(Recipe(transfer.highpass()))
    for _ in range(2):
        start_forkserver()
        os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
        with started(WantedWorkers([None] * 2, 2, 1)) as executors:
            assert list(Pool(executors, 1, 0.0, []).run(iter(()), recipe)) == []
            assert executors[0].submit(os.getpid).result() != os.getpid()


def start_none(monkeypatch, error):
    """Let no process start."""

    def start():
        raise error

    monkeypatch.setattr(processes, "start_forkserver", start)


@pytest.mark.parametrize("error", [OSError(errno.EAGAIN, "Too many"), EOFError("too many"), RuntimeError("too many")])
def test_where_no_process_starts_this_one_does_the_work_unless_others_are_asked_for(monkeypatch, error):
    monkeypatch.setattr(processes, "cores", lambda: 6)
    start_none(monkeypatch, error)
    with started(WantedWorkers(["cpu"] * 2, 2, 3, is_asked_for=False)) as executors:
        assert [(each.device, each.threads, each.count) for each in executors] == [("cpu", 6, 1)]
        assert described(executors) == "this process"
        assert executors[0].submit(os.getpid).result() == os.getpid()
    with pytest.raises(ProcessError) as caught, started(WantedWorkers(["cpu"] * 2, 2, 3)):
        pass
    assert str(caught.value) == f"{sys.executable}: cannot start processes: too many; give --processes 1"


@pytest.mark.skipif(not processes.HAS_FORKSERVER, reason="processes are spawned")
def test_processes_are_forked_from_one_that_has_done_the_slow_imports():
    with started(WantedWorkers(["cpu"], 1, 1)) as (executor,):
        assert executor.submit(eval, "'fftfilter.folders.preloaded' in __import__('sys').modules").result()


def test_each_device_has_an_executor_and_all_processes_are_gone_at_the_end():
    before = set(workers(os.getpid()))
    with started(WantedWorkers(["cpu", "0", "cpu"], 3, 1)) as executors:
        assert [(each.device, each.count) for each in executors] == [("cpu", 2), ("0", 1)]
        assert described(executors) == "3 processes"
        mine = set(workers(os.getpid())) - before
        assert len(mine) == 3
    assert not any(map(is_running, mine))


# What happens when they die


@contextmanager
def running(tmp_path, count, *options, **variables):
    """Start a run that is not over soon, of files of one size, and wait until it has written something."""
    given = tmp_path / "in"
    first = pgm(given / "0.pgm", 0, 96, 128)
    for i in range(1, count):
        (given / f"{i}.pgm").hardlink_to(first)
    with Started(
        command("--processes", "2", *options, given, tmp_path / "out"),
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
        start_new_session=True,
    ) as program:
        deadline = time.monotonic() + 60
        while len(list((tmp_path / "out").glob("*.pgm"))) < 50 and time.monotonic() < deadline:
            time.sleep(0.002)
        assert program.poll() is None
        yield program


def test_a_process_that_dies_is_replaced_and_nothing_is_lost(tmp_path):
    with running(tmp_path, 1000) as started:
        found = workers(started.pid)
        assert len(found) == 2
        os.kill(found[0], signal.SIGKILL)
        said = started.communicate(timeout=120)[1]
        assert started.returncode == 0, said
    # 255 is what multiprocessing says if its forkserver could not tell.
    assert re.search(r"a process died \(exit code (-9|255)\); another one does its files", said), said
    assert "1000 of 1000 files filtered" in said
    assert len({(tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "in")}) == 1


@contextmanager
def killing_readers(path, times):
    """Make a file of which the first processes die that read it: opening a pipe waits for its other end."""
    os.mkfifo(path)

    def kill_readers():
        for _ in range(times):
            writer = os.open(path, os.O_WRONLY)
            while not (readers := [child for child in workers(os.getpid()) if path.name in opened(child)]):
                time.sleep(0.01)
            os.kill(readers[0], signal.SIGKILL)
            while path.name in opened(readers[0]):  # it still counts as a reader
                time.sleep(0.01)
            os.close(writer)

    killer = threading.Thread(target=kill_readers, daemon=True)
    killer.start()
    yield
    killer.join(10)
    assert not killer.is_alive()


def opened(pid):
    """Return the names of the files that a process has open."""
    try:
        return {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    except OSError:
        return set()


def test_only_the_file_of_which_two_processes_die_is_given_up(tmp_path, given):
    jobs = [Job(i, str(given / f"{i}.pgm"), str(tmp_path / f"{i}.pgm")) for i in range(100)]
    (given / "3.pgm").unlink()
    settings, notes = Settings(Recipe(transfer.highpass())), []
    with killing_readers(given / "3.pgm", 2), started(WantedWorkers(["cpu"] * 2, 2, 1)) as executors:
        outcomes = {each.job.number: each for each in Pool(executors, 100, 0.0, notes).run(iter(jobs), settings)}
    assert [number for number, outcome in outcomes.items() if outcome.status != "done"] == [3]
    assert "3.pgm: given up: a process of device cpu died (exit code -9)" in outcomes[3].error
    assert len(outcomes) == 100
    assert notes == ["a process of device cpu died (exit code -9); another one does its files"] * 2


def dies(device, _):
    os._exit(device)


def test_processes_that_die_at_their_start_end_the_run(given, monkeypatch):
    """The first thing that a process is asked to do ends it, with its device's number as exit code."""
    monkeypatch.setattr(processes, "open_device", dies)
    jobs = iter([Job(0, str(given / "0.pgm"), str(given / "out.pgm"))])
    with (
        started(WantedWorkers([7] * 2, 2, 1)) as executors,
        pytest.raises(DeviceLostError, match=r"died \(exit code 7\) at its start"),
    ):
        list(Pool(executors, 1, 0.0, []).run(jobs, Settings(Recipe(transfer.highpass()))))


@pytest.mark.parametrize(("number", "word", "code"), [*ENDINGS, (HANGUP, "terminated", 143)])
def test_a_signal_that_reaches_all_processes_ends_well(tmp_path, number, word, code):
    """As a terminal sends Ctrl-C, or SIGHUP when it is closed, and a service manager SIGTERM."""
    with running(tmp_path, 3000) as started:
        os.killpg(started.pid, number)
        said = started.communicate(timeout=120)[1]
        assert started.returncode == code, said
    assert f"fftfilter: {word}; the same command with --skip-existing goes on from here" in said
    assert "Traceback" not in said
    done = names(tmp_path / "out")
    assert f"{len(done)} of 3000 files filtered" in said
    assert not [name for name in done if name.startswith(".")]


@pytest.mark.parametrize(("number", "word", "code"), ENDINGS)
def test_a_second_signal_ends_at_once(tmp_path, number, word, code):
    with running(tmp_path, 3000) as started:
        os.killpg(started.pid, number)
        os.killpg(started.pid, number)
        said = started.communicate(timeout=60)[1]
    assert started.returncode == code, said
    assert f"fftfilter: {word}" in said
    assert "Traceback" not in said


def test_processes_end_with_their_parent_and_say_nothing(tmp_path):
    with running(tmp_path, 3000) as started:
        found = workers(started.pid)
        assert found
        started.kill()
        assert started.communicate(timeout=120)[1] == ""
    deadline = time.monotonic() + 20
    while any(map(is_running, found)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, found))


def test_many_files_take_no_more_memory_than_few(tmp_path):
    """What the run and the largest of its processes held at most, in kB, from their own accounts."""
    code = (
        "import resource, sys\n"
        "from fftfilter.cli import cli\n"
        "try:\n    cli(sys.argv[1:])\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "for who in resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN:\n"
        "    print(resource.getrusage(who).ru_maxrss)\n"
    )

    def peak(count):
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

    few, many = peak(500), peak(3500)
    # A file's name takes some 500 bytes while its folder is done; its outcome, were that kept, 2 kB more.
    assert many[0] - few[0] < 5_000
    assert many[1] - few[1] < 5_000


def test_a_parameter_error_of_a_worker_is_raised_here(given):
    jobs = iter([Job(0, str(given / "0.pgm"), str(given / "out.pgm"))])
    settings = Settings(Recipe(transfer.highpass(), options={"work_group_size": 10**9}))
    with (
        started(WantedWorkers([None] * 2, 2, 1)) as executors,
        pytest.raises(ParameterError, match="work-group size"),
    ):
        list(Pool(executors, 1, 0.0, []).run(jobs, settings))
