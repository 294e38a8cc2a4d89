"""A pool on workers that are told how to fail: nothing is lost, nothing is done twice, suspects are tried alone."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import zlib
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path

import pytest

from fftfilter import __version__, system, transfer
from fftfilter.errors import DeviceError, ParameterError
from fftfilter.files.atomic import temporary_name
from fftfilter.folders.jobs import DeviceLostError, Job, Outcome, Settings
from fftfilter.folders.pool import (
    LARGEST_CHUNK,
    Pool,
    Result,
    Workers,
    close_batch,
    device_bytes,
    do_chunk,
    pack,
)
from fftfilter.work.recipe import Recipe

SETTINGS = Settings(Recipe(transfer.highpass()))


class Scripted(Workers):
    """Does every chunk at once, or what its script says of it."""

    def __init__(self, script=lambda _: None, seconds_a_job=0.001, count=1):
        super().__init__(None, 1)
        self.script, self.seconds_a_job = script, seconds_a_job
        self.count, self.most = count, 2 * count
        self.chunks, self.alone, self.closed = [], [], False

    def submit(self, _, packed, *__):
        jobs = pickle.loads(zlib.decompress(packed))  # noqa: S301
        self.chunks.append([job.number for job in jobs])
        done = Future()
        result = Result([Outcome(job=job) for job in jobs], self.seconds_a_job * len(jobs))
        try:
            done.set_result(self.script(self.chunks[-1]) or result)
        except Exception as error:  # noqa: BLE001
            done.set_exception(error)
        return done

    def submit_alone(self, function, *arguments):
        future = self.submit(function, *arguments)
        self.alone.append(self.chunks.pop())
        return future

    def died(self, error):
        if not isinstance(error, BrokenExecutor):
            raise error
        self.notes.append("a worker died; another one does its files")
        return "a worker died"

    def close(self):
        self.closed = True


def outcomes(*executors, count=100, notes=None):
    jobs = [Job(i, f"in/{i}.pgm", f"out/{i}.pgm") for i in range(count)]
    return list(Pool(executors, count, 0.0, [] if notes is None else notes).run(iter(jobs), SETTINGS))


def dies_of(*numbers):
    """Return a script of a worker that dies when it has one of these jobs in hand."""

    def script(chunk):
        if set(chunk) & set(numbers):
            raise BrokenExecutor

    return script


def test_every_job_is_done_once_whoever_does_it():
    executors = [Scripted(), Scripted(count=2)]
    found = outcomes(*executors)
    assert sorted(each.job.number for each in found) == list(range(100))
    assert all(each.chunks for each in executors)
    assert outcomes(Scripted(), count=0) == []


def test_this_process_does_one_chunk_after_the_other():
    """So that its outcomes are noted before it begins the next one."""
    assert (Workers(None, 1).most, Workers(None, 1).submit(os.getpid).result()) == (1, os.getpid())
    with pytest.raises(MemoryError):
        Workers(None, 1).died(MemoryError())


def test_files_that_take_long_are_given_out_one_by_one_from_the_start():
    slow = Scripted(seconds_a_job=0.3)
    jobs = [Job(i, f"in/{i}.png", f"out/{i}.png") for i in range(20)]
    assert len(list(Pool([slow], 20, 0.3, []).run(iter(jobs), SETTINGS))) == 20
    assert slow.chunks == [[i] for i in range(20)]


def test_only_the_job_that_kills_twice_is_given_up():
    executors, notes = [Scripted(dies_of(3, 57)), Scripted(dies_of(3, 57))], []
    found = {each.job.number: each for each in outcomes(*executors, notes=notes)}
    assert sorted(found) == list(range(100))
    assert {number for number, each in found.items() if each.status == "failed"} == {3, 57}
    assert found[3].error == "in/3.pgm: given up: a worker died while it was in hand"
    # Each of them was in hand with others, and once more alone.
    assert sum(3 in chunk for each in executors for chunk in each.chunks) == 1
    assert sum(chunk == [3] for each in executors for chunk in each.alone) == 1
    assert notes == ["a worker died; another one does its files"] * 4


@pytest.mark.skipif(sys.platform == "win32", reason="does not ask which processes are running")
def test_what_a_dead_worker_left_half_written_is_removed(tmp_path):
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    left = Path(temporary_name(str(tmp_path / "3.pgm")).replace(f"-{os.getpid()}-", f"-{died.pid}-"))
    own = Path(temporary_name(str(tmp_path / "4.pgm")))
    own.touch()

    def script(chunk):
        if 3 in chunk and not left.exists() and len(chunk) > 1:
            left.touch()
            raise BrokenExecutor

    jobs = [Job(i, f"in/{i}.pgm", str(tmp_path / f"{i}.pgm")) for i in range(10)]
    assert len(list(Pool([Scripted(script)], 10, 0.0, []).run(iter(jobs), SETTINGS))) == 10
    assert [path.name for path in tmp_path.iterdir()] == [own.name]


def test_all_that_a_broken_executor_had_in_hand_is_tried_alone():
    deaths = [True]

    def script(chunk):
        if 0 in chunk and deaths:
            deaths.pop()
            raise BrokenExecutor
        if deaths == [] and 8 in chunk and len(chunk) > 1:
            raise BrokenExecutor

    executor = Scripted(script)
    found = outcomes(executor)
    assert sorted(each.job.number for each in found) == list(range(100))
    assert {each.status for each in found} == {"done"}
    assert executor.alone == [[i] for i in range(16)]


def test_the_jobs_of_a_lost_device_go_to_the_others():
    def loses(chunk):
        return Result([Outcome(job=Job(chunk[0], "", ""))], 0.0, "device lost")

    lost, other, notes = Scripted(loses), Scripted(), []
    found = outcomes(lost, other, notes=notes)
    assert sorted(each.job.number for each in found) == list(range(100))
    assert (lost.closed, other.closed, notes) == (True, False, ["device lost; the other devices do its files"])
    with pytest.raises(DeviceLostError, match="device lost"):
        outcomes(Scripted(loses), notes=notes)
    assert len(notes) == 1


def test_a_device_may_be_lost_while_files_are_tried_alone():
    def script(chunk):
        if len(chunk) > 1:
            raise BrokenExecutor
        return Result([], 0.0, "device lost")

    found = outcomes(Scripted(script), Scripted())
    assert sorted(each.job.number for each in found) == list(range(100))


def test_an_error_that_is_no_death_ends_the_run():
    def script(_):
        raise ParameterError("no work-groups of that size")

    with pytest.raises(ParameterError, match="of that size"):
        outcomes(Scripted(script))


def test_a_worker_of_another_version_does_nothing_and_says_which_it_has():
    lost = f"has fftfilter {__version__}, and this is 0.1"
    assert do_chunk(pack([Job(0, "in.pgm", "out.pgm")]), SETTINGS, None, 1, "0.1") == Result([], 0.0, lost)
    with pytest.raises(DeviceError, match=f"^{re.escape(lost)}$"):
        device_bytes((1, 2, 3), SETTINGS, None, "0.1")


def test_a_worker_keeps_its_device_from_chunk_to_chunk_until_something_else_is_asked_of_it(monkeypatch):
    opened, closed = [], []

    class Batch:
        def __init__(self, *given):
            opened.append(given)

        def run(self, jobs):
            for job in jobs:
                if job.source == "bad":
                    raise ParameterError("bad")
                if job.source == "lost":
                    raise DeviceError("lost")
                yield Outcome(job=job)

        def close(self):
            closed.append(opened[-1])

    def did(source, settings=SETTINGS, device="cpu", threads=2):
        result = do_chunk(pack([Job(0, "a", "b"), Job(1, source, "b")]), settings, device, threads)
        return [each.job.number for each in result.outcomes], result.lost

    close_batch()  # that another test has left
    monkeypatch.setattr("fftfilter.folders.batch.Batch", Batch)
    monkeypatch.setattr(system, "cores", lambda: 7)
    other = Settings(Recipe(transfer.lowpass(3)))
    ways = [(SETTINGS, "cpu", 2), (SETTINGS, "cpu", 0), (SETTINGS, "gpu", 0), (other, "gpu", 0)]
    for count, way in enumerate(ways, start=1):
        assert [did("a", *way) for _ in range(2)] == [([0, 1], None)] * 2
        assert (len(opened), len(closed)) == (count, count - 1)
    assert opened == [(SETTINGS, "cpu", 2), (SETTINGS, "cpu", 7), (SETTINGS, "gpu", 7), (other, "gpu", 7)]
    assert did("lost", *way) == ([0], "lost")  # what is done counts
    assert (len(opened), len(closed)) == (4, 4)
    with pytest.raises(ParameterError, match="bad"):
        did("bad", *way)
    assert (len(opened), len(closed)) == (5, 5)


@pytest.mark.parametrize(("seconds_a_job", "largest"), [(1e-6, LARGEST_CHUNK), (0.02, 12), (10, 8)])
def test_chunks_take_about_the_same_time_and_the_last_are_small(seconds_a_job, largest):
    executors = [Scripted(seconds_a_job=seconds_a_job), Scripted(seconds_a_job=seconds_a_job)]
    outcomes(*executors, count=5000)
    sizes = [len(chunk) for each in executors for chunk in each.chunks]
    assert max(sizes) <= largest
    assert max(sizes) >= largest // 2
    assert len(executors[0].chunks[-1]) <= 2
