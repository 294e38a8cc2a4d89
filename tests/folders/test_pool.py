"""A pool on workers that are told how to fail: nothing is lost, nothing is done twice, suspects are tried alone."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import zlib
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import pytest

from fftfilter import __version__, transfer
from fftfilter.errors import DeviceError, ParameterError
from fftfilter.files.atomic import temporary_name
from fftfilter.folders.jobs import DeviceLostError, Job, Outcome, Settings
from fftfilter.folders.pool import (
    LARGEST_CHUNK,
    Chunk,
    Death,
    Pool,
    Result,
    Worker,
    close_batch,
    device_bytes,
    do_chunk,
    pack,
)
from fftfilter.work.recipe import Recipe

SETTINGS = Settings(Recipe(transfer.highpass()))


class Scripted(Executor):
    """An executor that does every chunk at once, or what its script says of it."""

    def __init__(self, script=lambda _: None, seconds_a_job=0.001):
        self.script, self.seconds_a_job = script, seconds_a_job
        self.chunks = []

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


class Crowd:
    """Workers by scripts; one that dies is replaced by itself."""

    seconds_a_chunk = 0.05
    seconds_between_looks = None

    def __init__(self, *executors):
        self.notes = []
        self.workers = [Worker(f"worker {i}", each, None, 1) for i, each in enumerate(executors)]

    def look(self, *, has_work):  # noqa: ARG002
        if not self.workers:
            raise DeviceLostError("no worker is left")
        return list(self.workers)

    def lose(self, worker, _):
        self.workers.remove(worker)

    def died(self, worker, error):
        if not isinstance(error, BrokenExecutor):
            raise error
        return Death(f"{worker.name} died")


def outcomes(crowd, count=100):
    jobs = [Job(i, f"in/{i}.pgm", f"out/{i}.pgm") for i in range(count)]
    return list(Pool(crowd, count).run(iter(jobs), SETTINGS))


def dies_of(*numbers):
    """Return a script of a worker that dies when it has one of these jobs in hand."""

    def script(chunk):
        if set(chunk) & set(numbers):
            raise BrokenExecutor

    return script


def test_every_job_is_done_once_whoever_does_it():
    crowd = Crowd(Scripted(), Scripted(), Scripted())
    found = outcomes(crowd)
    assert sorted(each.job.number for each in found) == list(range(100))
    assert all(each.executor.chunks for each in crowd.workers)
    assert outcomes(Crowd(Scripted()), 0) == []


def test_files_that_take_long_are_given_out_one_by_one_from_the_start():
    slow = Scripted(seconds_a_job=0.1)
    jobs = [Job(i, f"in/{i}.png", f"out/{i}.png") for i in range(20)]
    assert len(list(Pool(Crowd(slow), 20, seconds=0.1).run(iter(jobs), SETTINGS))) == 20
    assert slow.chunks == [[i] for i in range(20)]


def test_only_the_job_that_kills_twice_is_given_up():
    crowd = Crowd(Scripted(dies_of(3, 57)), Scripted(dies_of(3, 57)))
    found = {each.job.number: each for each in outcomes(crowd)}
    assert sorted(found) == list(range(100))
    assert {number for number, each in found.items() if each.status == "failed"} == {3, 57}
    assert found[3].error.startswith("in/3.pgm: given up: worker ")
    assert found[3].error.endswith("died while it was in hand")
    # Each of them was in hand with others, and once more alone.
    sent = [chunk for each in crowd.workers for chunk in each.executor.chunks if 3 in chunk]
    assert min(map(len, sent)) == 1
    assert len(sent) == 2


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
    assert len(list(Pool(Crowd(Scripted(script)), 10).run(iter(jobs), SETTINGS))) == 10
    assert [path.name for path in tmp_path.iterdir()] == [own.name]


def test_a_suspect_never_waits_behind_another_chunk_nor_another_behind_it():
    executor = Scripted()
    (worker,) = Crowd(executor).workers
    pool = Pool(Crowd(executor), 3)
    jobs = [Job(i, f"in/{i}.pgm", f"out/{i}.pgm") for i in range(3)]
    worker.in_hand = {Future(): Chunk([jobs[0]])}
    pool._suspects.append(jobs[1])
    pool._feed(worker, iter(jobs[2:]), SETTINGS, 1)
    assert executor.chunks == []
    worker.in_hand = {Future(): Chunk([jobs[1]], is_suspect=True)}
    pool._suspects.clear()
    pool._feed(worker, iter(jobs[2:]), SETTINGS, 1)
    assert executor.chunks == []
    worker.in_hand = {}
    pool._suspects.append(jobs[1])
    pool._feed(worker, iter(jobs[2:]), SETTINGS, 1)
    assert executor.chunks == [[1]]


def test_deaths_before_a_worker_was_ready_are_no_suspicion():
    deaths = [True] * 3

    def script(_):
        if deaths:
            deaths.pop()
            raise BrokenExecutor

    crowd = Crowd(Scripted(script))
    crowd.died = lambda worker, _: Death(f"{worker.name} died", at_start=True)
    found = outcomes(crowd, 10)
    assert [each.status for each in found] == ["done"] * 10
    assert len(crowd.workers[0].executor.chunks[3]) > 1  # not one by one


def test_a_death_that_has_nothing_to_do_with_a_job_costs_nothing():
    deaths = [True]

    def script(_):
        if deaths:
            deaths.pop()
            raise BrokenExecutor

    found = outcomes(Crowd(Scripted(script)))
    assert sorted(each.job.number for each in found) == list(range(100))
    assert {each.status for each in found} == {"done"}


def test_the_jobs_of_a_lost_device_go_to_the_others():
    lost = Scripted(lambda chunk: Result([Outcome(job=Job(chunk[0], "", ""))], 0.0, "device lost"))
    crowd = Crowd(lost, Scripted())
    found = outcomes(crowd)
    assert sorted(each.job.number for each in found) == list(range(100))
    assert [each.name for each in crowd.workers] == ["worker 1"]
    with pytest.raises(DeviceLostError, match="no worker is left"):
        outcomes(Crowd(lost))


def test_an_error_that_is_no_death_ends_the_run():
    def script(_):
        raise ParameterError("no work-groups of that size")

    with pytest.raises(ParameterError, match="of that size"):
        outcomes(Crowd(Scripted(script)))


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
    monkeypatch.setattr("fftfilter.folders.pool.cores", lambda: 7)
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


@pytest.mark.parametrize(("seconds_a_job", "largest"), [(1e-6, LARGEST_CHUNK), (0.005, 12), (10, 8)])
def test_chunks_take_about_the_same_time_and_the_last_are_small(seconds_a_job, largest):
    crowd = Crowd(Scripted(seconds_a_job=seconds_a_job), Scripted(seconds_a_job=seconds_a_job))
    outcomes(crowd, 5000)
    sizes = [len(chunk) for each in crowd.workers for chunk in each.executor.chunks]
    assert max(sizes) <= largest
    assert max(sizes) >= largest // 2
    assert len(crowd.workers[0].executor.chunks[-1]) <= 2
