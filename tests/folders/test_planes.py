"""The planes of an OME-Zarr, shared among workers: who gets which, and in which order they come back."""

from __future__ import annotations

import pickle
import zlib
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from fftfilter import device_choice
from fftfilter import transfer as H
from fftfilter.errors import WriteError
from fftfilter.folders import processes
from fftfilter.folders.jobs import Job, Outcome, Settings
from fftfilter.folders.pool import Result, Workers
from fftfilter.images import Size
from fftfilter.work.recipe import Recipe


class Worker(Workers):
    """Does a chunk at once, but for the first one of a slow worker, which ends when the other gets its second one."""

    def __init__(self, given, slow, *, is_slow, error):
        super().__init__(None, 1)
        self.most = 2
        self.given, self.slow, self.is_slow, self.error = given, slow, is_slow, error
        self.chunks = 0

    def submit(self, _, packed, settings, *__):
        jobs = pickle.loads(zlib.decompress(packed))  # noqa: S301
        self.given += [(job, settings) for job in jobs]
        self.chunks += 1
        if self.chunks == 1:
            self.notes.append("a process died")
        future, made = Future(), [Outcome(job=job, pages=len(job.planes), error=self.error) for job in jobs]
        if self.is_slow and self.chunks == 1:
            self.slow.append(lambda: future.set_result(Result(made, 0.1)))
            return future
        if self.chunks == 2 and not self.is_slow:
            self.slow.pop()()
        future.set_result(Result(made, 0.1))
        return future


def share_of(chosen, *, thick=1, given=None, error=None):
    """Return the function that shares these planes between two workers."""
    given, slow = [] if given is None else given, []
    executors = [Worker(given, slow, is_slow=is_slow, error=error) for is_slow in (True, False)]
    opened = SimpleNamespace(pages=SimpleNamespace(chosen=chosen, thick=thick), transfer=H.lowpass("8px"))
    return processes.share_planes(executors, "in.zarr", "out.zarr", opened)


class Stack:
    """Planes of an OME-Zarr."""

    def __init__(self, count, size):
        self._count, self.size = count, lambda: size

    def __len__(self):
        return self._count


def test_many_small_planes_are_shared_among_the_cores_by_processes_of_one_thread(monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 16)
    monkeypatch.setattr(device_choice, "may_have_gpu", lambda: False)
    small, large = Size(500, 300, 1, 2), Size(1500, 300, 3, 2)  # 0.3 MB and 2.7 MB
    for count, size, asked, wanted in (
        (1000, small, None, 16),
        (50, small, None, 6),
        (5, small, None, 0),
        (1000, large, None, 0),
        (1000, large, 3, 3),
        (1000, small, 1, 0),
    ):
        found = processes.choose_for_planes(Stack(count, size), "cpu", asked)
        assert (found.processes, found.threads, set(found.devices)) == (wanted, 1, {"cpu"}), (count, size, asked)


@pytest.mark.parametrize(
    ("count", "thick", "measure_only", "sizes"),
    [
        (40, 1, False, [3] * 13),  # of 39 planes, eight jobs for each of two processes
        (40, 1, True, [3] * 13 + [1]),
        (40, 4, False, [4] * 9 + [3]),  # no chunk of 4 planes is read by two
        (8, 1, False, [1] * 7),
    ],
)
def test_each_plane_but_the_first_is_done_once_and_all_come_back_in_order(count, thick, measure_only, sizes):
    given, pages, chosen = [], [], range(10, 10 + count)
    share = share_of(chosen, thick=thick, given=given)
    done = share(Recipe(H.lowpass(3), output="keep"), lambda: pages.append(1), measure_only=measure_only)
    assert [len(each.job.planes) for each in done] == sizes
    assert [plane for each in done for plane in each.job.planes] == [*chosen[0 if measure_only else 1 :]]
    assert len(pages) == sum(sizes)
    assert len(given) == len(sizes)
    # The transfer function is that for the pixels of this file, and nothing is drawn or compared.
    wanted = Settings(Recipe(H.lowpass("8px"), output="keep"), measure_only, in_place=False, preview=False)
    for job, settings in given:
        assert settings == wanted
        assert job == Job(job.number, "in.zarr", "out.zarr", planes=job.planes)
    assert [line for each in done for line in each.cautions] == ["a process died"] * 2


def test_a_plane_that_fails_ends_the_run():
    with pytest.raises(WriteError, match=r"^in.zarr, plane 2: cannot be decoded$"):
        share_of(range(5), error="in.zarr, plane 2: cannot be decoded")(Recipe(H.lowpass(3)), lambda: None)
