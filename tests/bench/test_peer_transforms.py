"""The table of plain FFTs. NumPy stands for all libraries."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter.bench import measure, peer_transforms
from fftfilter.bench.benchmark import Setting
from fftfilter.bench.measure import OURS, Peer, check_peer
from fftfilter.bench.peer_transforms import LIBRARIES, cases, resident, transforms
from fftfilter.commands.bench import bench
from fftfilter.errors import RefusedError

SHAPE = (1, 60, 324)


@pytest.fixture(scope="module")
def setting():
    return Setting(runs=1)


@pytest.fixture(autouse=True)
def _measured_once(monkeypatch):
    """Figures are not looked at."""
    monkeypatch.setattr(measure, "SECONDS", 0)
    monkeypatch.setattr(measure, "sleep", lambda _: None)


def test_all_are_timed_beside_a_peer(setting, monkeypatch):
    monkeypatch.setattr(peer_transforms, "LIBRARIES", {"numpy": LIBRARIES["numpy"]})
    benchmark = transforms(setting, shapes=[SHAPE])
    names = ["fft2", "ifft2", "fft2 of real", "rfft2", "irfft2", "fft of rows"]
    assert list(benchmark.steps) == [f"324 x 60: {name}" for name in names]
    rows = [(row["transform"], row["who"]) for row in benchmark.table.rows]
    assert rows == [(name, who) for name in names for who in (OURS, "numpy")]


def test_a_gpu_transforms_what_is_there(setting):
    """On PoCL's CPU, which runs the kernels of GPUs, too, and at a size of which they are built already."""
    for case in cases((2, 5, 9), np.dtype("f4")):
        if case.name == "fft2 of real":
            continue
        peer = resident(setting, case)
        peer.call()
        peer.finish()
        check_peer(peer.name, peer.result(), case.by(np.fft)())


def test_a_peer_with_another_transform_is_not_timed(setting, monkeypatch):
    def prepare(_, case):
        return [Peer("negative", lambda: None, result=lambda: -case.by(np.fft)())]

    monkeypatch.setattr(peer_transforms, "_on_cpu", prepare)
    with pytest.raises(RefusedError, match="negative computes another transform"):
        list(transforms(setting, shapes=[SHAPE]).steps)


def test_the_command_takes_sizes():
    done = CliRunner().invoke(bench, ["transforms", "--size", "324x60", "--runs", "1"], catch_exceptions=False)
    assert "\n324 x 60  rfft2         fftfilter" in done.stdout
