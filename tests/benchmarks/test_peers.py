"""The tables of peers. NumPy stands for all libraries: which ones are installed differs from machine to machine."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import beside, peers, transforms
from benchmarks.beside import OURS, Peer, check
from benchmarks.peers import FILTERS
from benchmarks.transforms import TRANSFORMS, cases
from fftfilter.bench.measure import Setting, images
from fftfilter.errors import RefusedError
from fftfilter.transfer import highpass
from fftfilter.transfer.reference import filter_image

# Powers of eight, whose kernels are built already: those of the check of a new device.
SHAPE = (64, 512)
TRANSFORMED = (60, 324)


@pytest.fixture(scope="module")
def setting():
    return Setting(runs=1)


@pytest.fixture
def steps(setting, monkeypatch):
    """What is measured, in order."""
    found = []
    monkeypatch.setattr(setting, "progress", found.append)
    return found


@pytest.fixture(autouse=True)
def _measured_once(monkeypatch):
    """Figures are not looked at."""
    monkeypatch.setattr(beside, "SECONDS", 0)
    monkeypatch.setattr(beside, "REST", 0)


def replace(monkeypatch, module, **functions):
    for name, function in functions.items():
        monkeypatch.setattr(module, name, function)


# The same high-pass


def test_peers_are_timed_beside_this_program(setting, steps, monkeypatch):
    replace(monkeypatch, peers, FILTERS={"numpy": FILTERS["numpy"]})
    peers.peers(setting, shapes=[SHAPE])
    assert steps == ["512 x 64: prepare", "512 x 64: fftfilter, numpy"]
    ours, theirs = setting.made.rows
    assert (ours["size"], ours["who"], theirs["who"]) == ("512 x 64", OURS, "numpy")
    assert theirs["ratio"] == pytest.approx(theirs["ms"].median / ours["ms"].median)


def test_the_peers_of_a_gpu_filter_resident_data(setting, steps, monkeypatch):
    """On PoCL's CPU, which runs the kernels of GPUs, too, where no other library finds a GPU."""
    replace(monkeypatch, peers, filters_on_host=peers.filters_on_gpu, find_spec=lambda _: None)
    peers.peers(setting, shapes=[(12, 10)])
    assert len(steps) == 2
    assert [(row["size"], row["who"]) for row in setting.made.rows] == [
        ("10 x 12", OURS),
        ("10 x 12", "22 bytes a pixel"),
    ]
    stack, transfer = images(2, 12, 10), highpass()
    ours, _ = peers.filters_on_gpu(setting, stack, transfer)
    ours.call()
    check(OURS, ours.result(), np.stack([filter_image(image, transfer.gain(12, 10)) for image in stack]))


def test_a_peer_with_another_picture_is_not_timed(setting, monkeypatch):
    def prepare(_, stack, transfer):
        wrong = 255 - filter_image(stack[0], transfer.gain(*SHAPE))
        return [Peer("negative", lambda: None, result=lambda: wrong)]

    replace(monkeypatch, peers, filters_on_host=prepare)
    with pytest.raises(RefusedError, match="negative computes another picture"):
        peers.peers(setting, shapes=[SHAPE])


def test_the_command_of_filters_takes_sizes_and_a_radius():
    command = ["--size", "64x8", "--radius", "50%", "--runs", "1"]
    done = CliRunner().invoke(peers.command, command, catch_exceptions=False)
    assert "\n64 x 8  fftfilter" in done.stdout
    assert "Highpass, ideal, radius 50%. From an array to an array in the host's memory." in done.stdout


@pytest.mark.parametrize("library", FILTERS)
def test_every_library_makes_the_right_picture(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    image = np.random.default_rng(61).integers(0, 256, SHAPE, dtype=np.uint8)
    gain = highpass().gain(*image.shape)
    off = np.abs(FILTERS[library](image, gain)().astype(int) - filter_image(image, gain))
    assert off.max() <= 1
    assert np.count_nonzero(off) <= off.size // 100


# The same plain FFTs


def test_all_transforms_are_timed_beside_a_peer(setting, steps, monkeypatch):
    replace(monkeypatch, transforms, TRANSFORMS={"numpy": TRANSFORMS["numpy"]})
    transforms.transforms(setting, shapes=[TRANSFORMED])
    names = ["fft2", "ifft2", "fft2 of real", "rfft2", "irfft2", "fft of rows"]
    assert steps == [f"324 x 60: {name}" for name in names]
    rows = [(row["transform"], row["who"]) for row in setting.made.rows]
    assert rows == [(name, who) for name in names for who in (OURS, "numpy")]


def test_a_gpu_transforms_what_is_there(setting, monkeypatch):
    """On PoCL's CPU, which runs the kernels of GPUs, too, and at a size of which they are built already."""
    replace(monkeypatch, transforms, find_spec=lambda _: None)
    for case in cases((2, 5, 9), np.dtype("f4")):
        if case.name == "fft2 of real":
            continue
        (peer,) = transforms.transforms_on_gpu(setting, case)
        peer.call()
        peer.finish()
        check(peer.name, peer.result(), case.by("numpy.fft")())


def test_a_peer_with_another_transform_is_not_timed(setting, monkeypatch):
    def prepare(_, case):
        return [Peer("negative", lambda: None, result=lambda: -case.by("numpy.fft")())]

    replace(monkeypatch, transforms, transforms_on_host=prepare)
    with pytest.raises(RefusedError, match="negative computes another transform"):
        transforms.transforms(setting, shapes=[TRANSFORMED])


@pytest.mark.parametrize("library", TRANSFORMS)
def test_every_library_makes_the_right_transforms(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    for case in cases((1, 5, 9), np.dtype("f4")):
        check(library, TRANSFORMS[library](case)(), case.by("numpy.fft")())


def test_the_command_of_transforms_takes_sizes():
    done = CliRunner().invoke(transforms.command, ["--size", "324x60", "--runs", "1"], catch_exceptions=False)
    assert "\n324 x 60  rfft2         fftfilter" in done.stdout
