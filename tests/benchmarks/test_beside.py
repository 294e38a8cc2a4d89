"""Work is timed by the clock, in turn; what a library computes is checked before."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import beside
from benchmarks.beside import OURS, Peer, check
from fftfilter.bench import Stats
from fftfilter.errors import RefusedError


def test_measurements_are_taken_in_turn():
    taken = []
    found = beside.in_turn({name: lambda name=name: taken.append(name) or len(taken) for name in "ab"}, 3)
    assert taken == [*"ababab"]
    assert found == {"a": Stats.from_values([1, 3, 5]), "b": Stats.from_values([2, 4, 6])}


@pytest.mark.parametrize("is_gpu", [False, True])
def test_a_peer_is_timed_by_several_calls_and_one_wait_after_a_rest(monkeypatch, is_gpu):
    clock, rests = [0.0], []

    def takes(seconds):
        clock[0] += seconds

    monkeypatch.setattr(beside, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(beside, "sleep", rests.append)
    setting = SimpleNamespace(device=SimpleNamespace(is_gpu=is_gpu), runs=2)
    ours = Peer(OURS, lambda: takes(0.0045), lambda: takes(0.003))  # 6 ms a call if there are two, then 5 of five
    slow = Peer("slow", lambda: takes(0.09))
    found = beside.timed(setting, [ours, slow], np.zeros(1))
    assert found[OURS]["ms"].median == pytest.approx(4.5 + 3 / 5)
    assert (found["slow"]["ms"].median, found["slow"]["ratio"]) == pytest.approx((90, 90 / 5.1))
    assert rests == ([] if is_gpu else [0.25] * 4)


def test_the_result_of_a_peer_is_looked_at_once_its_work_is_done():
    setting = SimpleNamespace(device=SimpleNamespace(is_gpu=True), runs=1)
    made, wanted = np.zeros(4, np.uint8), np.uint8([1, 2, 3, 4])
    ours = Peer(OURS, lambda: made.fill(0), lambda: np.copyto(made, wanted), lambda: made)
    assert beside.timed(setting, [ours], wanted)[OURS]["ratio"] == 1


def test_a_peer_may_differ_by_one_level_in_one_pixel_of_a_hundred():
    check("peer", np.eye(5, dtype=np.uint8)[:1], np.zeros((1, 5), np.uint8))
    picture = np.zeros((20, 10), np.uint8)
    check("peer", picture + (np.arange(200) < 2).reshape(20, 10), picture)
    for off in (picture + (np.arange(200) < 3).reshape(20, 10), picture + 2):
        with pytest.raises(RefusedError, match=r"peer computes another picture: .* not timed"):
            check("peer", off, picture)


def test_a_peer_may_differ_by_a_small_relative_error():
    x = np.ones(64)
    check("peer", x * (1 + 9e-6), x)
    with pytest.raises(RefusedError, match=r"error is 1.1e-05 and 1.0e-05 is allowed; .* \(--size\), or uninstall it$"):
        check("peer", x * (1 + 1.1e-5), x)
