"""The table of peers. NumPy stands for all libraries: which ones are installed differs from machine to machine."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter.bench import measure, peer_filters
from fftfilter.bench.benchmark import Setting
from fftfilter.bench.measure import OURS, Peer
from fftfilter.bench.peer_filters import LIBRARIES, installed, peers
from fftfilter.commands.bench import bench
from fftfilter.errors import RefusedError
from fftfilter.transfer import highpass
from fftfilter.transfer.reference import filter_image

# Powers of eight, whose kernels are built already: those of the check of a new device.
SHAPE = (1, 64, 512)


@pytest.fixture(scope="module")
def setting():
    return Setting(runs=3)


@pytest.fixture(autouse=True)
def _without_rests(monkeypatch):
    monkeypatch.setattr(measure, "REST", 0)


def test_peers_are_timed_beside_this_program(setting, monkeypatch):
    monkeypatch.setattr(peer_filters, "LIBRARIES", {"numpy": LIBRARIES["numpy"]})
    benchmark = peers(setting, shapes=[SHAPE])
    assert list(benchmark.steps) == ["512 x 64: prepare", "512 x 64: fftfilter, numpy"]
    ours, theirs = benchmark.table.rows
    assert (ours["size"], ours["who"], theirs["who"]) == ("512 x 64", OURS, "numpy")
    assert theirs["ratio"] == pytest.approx(theirs["ms"].median / ours["ms"].median)


def test_the_peers_of_a_gpu_filter_resident_data(setting, monkeypatch):
    """On PoCL's CPU, which runs the kernels of GPUs, too."""

    def prepare(setting, stack, transfer):
        return [peer_filters.resident(setting, stack, transfer), peer_filters.copy(setting, stack)]

    monkeypatch.setattr(peer_filters, "_on_cpu", prepare)
    benchmark = peers(setting, shapes=[(2, 64, 48)])
    assert len(list(benchmark.steps)) == 2
    assert [(row["size"], row["who"]) for row in benchmark.table.rows] == [
        ("2 of 48 x 64", OURS),
        ("2 of 48 x 64", "22 bytes a pixel"),
    ]


def test_a_peer_with_another_picture_is_not_timed(setting, monkeypatch):
    def prepare(_, stack, transfer):
        wrong = 255 - filter_image(stack[0], transfer.gain(*SHAPE[1:]))
        return [Peer("negative", lambda: None, result=lambda: wrong)]

    monkeypatch.setattr(peer_filters, "_on_cpu", prepare)
    with pytest.raises(RefusedError, match="negative computes another picture"):
        list(peers(setting, shapes=[SHAPE]).steps)


def test_the_command_takes_sizes_and_a_radius():
    command = ["peers", "--size", "64x8", "--radius", "50%", "--runs", "1"]
    done = CliRunner().invoke(bench, command, catch_exceptions=False)
    assert "\n64 x 8  fftfilter" in done.stdout
    assert "Highpass, ideal, radius 50%. From an array to an array in the host's memory." in done.stdout


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_makes_the_right_picture(library):
    if library not in installed(LIBRARIES):
        pytest.skip(f"{library} is not installed")
    image = np.random.default_rng(61).integers(0, 256, SHAPE[1:], dtype=np.uint8)
    gain = highpass().gain(*image.shape)
    off = np.abs(LIBRARIES[library](image, gain)().astype(int) - filter_image(image, gain))
    assert off.max() <= 1
    assert np.count_nonzero(off) <= off.size // 100
