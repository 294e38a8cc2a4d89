"""A device is checked with a small filter before it is trusted, and its result is remembered."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device import selftest
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.errors import DeviceError, RefusedError
from fftfilter.fused import fused
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from tests.helpers import keep_in


@pytest.fixture
def new_here(monkeypatch, tmp_path):
    """The device as if it were new here: no cache remembers it."""
    keep_in(monkeypatch, tmp_path / "cache")
    return Device(0, choose().cl_device)


class Counted:
    """Makes pipelines that give the reference's picture plus ``off``, and counts them."""

    def __init__(self, off=0):
        self.made, self.off = 0, off

    def __call__(self, _, transfer, stack, edges="wrap"):
        self.made += 1
        gain = grid_with(edges, transfer, stack.height, stack.width).gain()
        return SimpleNamespace(
            run=lambda images: reference.filter_image(images[0], gain, edges=edges)[None].astype(float) + self.off
        )


def test_a_device_is_tried_once_and_remembered(new_here, tmp_path):
    right = Counted()
    selftest.check(new_here, right)
    assert len(list((tmp_path / "cache" / "fftfilter").iterdir())) == 1
    selftest.check(Device(0, new_here.cl_device), right)
    assert right.made == 1


def test_a_device_is_tried_with_the_edges_that_are_wanted(new_here):
    """So that the program that is compiled is that of the first picture; it passes for others, too."""
    right = Counted()
    selftest.check(new_here, right, "mirror")
    selftest.check(Device(0, new_here.cl_device), right)
    assert right.made == 1
    with pytest.raises(RefusedError):
        selftest.check(Device(0, new_here.cl_device, "repaired"), lambda *given: right(*given[:3]), "mirror")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_of_several_processes_one_tries_a_device(new_here):
    """Each opens the folder for itself, as these threads do."""
    right = Counted()

    def slow(*given):
        time.sleep(0.1)
        return right(*given)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: selftest.check(Device(0, new_here.cl_device), slow), range(2)))
    assert right.made == 1


def test_another_release_tries_again(new_here, monkeypatch):
    right = Counted()
    for release in ("1.0", "1.1", "1.0"):
        monkeypatch.setattr(selftest, "__version__", release)
        selftest.check(Device(0, new_here.cl_device), right)
    assert right.made == 2


def test_another_repair_is_tried_again(new_here):
    right = Counted()
    selftest.check(new_here, right)
    selftest.check(Device(0, new_here.cl_device, repaired="PoCL builds for another CPU"), right)
    assert right.made == 2


@pytest.mark.parametrize("other", ["name", "driver_version", "version", "platform name", "platform version"])
@pytest.mark.usefixtures("new_here")
def test_a_device_that_another_driver_opens_is_tried_again(monkeypatch, other):
    """So is any that another property tells from it."""

    def described(**changed):
        platform = SimpleNamespace(name=changed.pop("platform name", "P"), version=changed.pop("platform version", "1"))
        values = {"name": "N", "driver_version": "1", "version": "OpenCL 3.0", "vendor": "V", **changed}
        return Device(0, SimpleNamespace(platform=platform, type=0, **values))

    monkeypatch.setattr(selftest, "Launcher", lambda device: device)
    right = Counted()
    for device in (described(), described(), described(**{other: "2"})):
        selftest.check(device, right)
    assert right.made == 2


def test_a_device_that_computes_wrongly_is_refused_with_its_error(new_here, tmp_path):
    with pytest.raises(RefusedError, match=r"computes wrongly: relative error \d\.\de-\d\d in .*--device") as refused:
        selftest.check(new_here, Counted(off=3))
    assert new_here.name in str(refused.value)
    assert not [*(tmp_path / "cache").rglob("*.json")]


@pytest.mark.parametrize(("error", "is_right"), [(1e-2, True), (1.001e-2, False)])
def test_an_error_of_one_percent_is_right_and_a_larger_one_is_wrong(new_here, monkeypatch, error, is_right):
    monkeypatch.setattr(selftest, "measure", lambda *_: error)
    if is_right:
        selftest.check(new_here, Counted())
    else:
        with pytest.raises(RefusedError, match=r"relative error 1.0e-02 in a small filter, at most 1e-02 is right"):
            selftest.check(new_here, Counted())


@pytest.mark.parametrize("what", ["lack", "unknown_cpu"])
def test_pocl_that_would_abort_is_not_tried(new_here, monkeypatch, what):
    pipelines = Counted()
    monkeypatch.setattr(f"fftfilter.device.embedded_pocl.{what}", lambda *_: "it has none: give it one")
    with pytest.raises(DeviceError, match=r" cannot be used: it has none: give it one$"):
        selftest.check(new_here, pipelines)
    assert pipelines.made == 0


@pytest.mark.usefixtures("new_here")
def test_what_pocl_lacks_does_not_matter_to_another_driver(monkeypatch):
    monkeypatch.setattr("fftfilter.device.embedded_pocl.lack", lambda: "it has none")
    monkeypatch.setattr(selftest, "Launcher", lambda device: device)
    platform = SimpleNamespace(name="P", version="1")
    card = SimpleNamespace(platform=platform, type=0, name="N", driver_version="1", version="OpenCL 3.0", vendor="V")
    pipelines = Counted()
    selftest.check(Device(0, card), pipelines)
    assert pipelines.made == 1


def test_what_a_user_without_a_cache_has_found_is_among_the_temporary_files(new_here, monkeypatch, tmp_path):
    monkeypatch.setattr("fftfilter.system.user_cache", lambda _: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    right = Counted()
    for _ in range(2):
        selftest.check(Device(0, new_here.cl_device), right)
    assert right.made == 1
    monkeypatch.setattr("fftfilter.system.temporary_cache", lambda: None)
    for _ in range(2):
        selftest.check(Device(0, new_here.cl_device), right)
    assert right.made == 3


def aborts(*_):
    """As a pipeline: what a compiler does that finds no linker."""
    os.abort()


def crashes(*_):
    ctypes.string_at(0)


def leaves(*_):
    os._exit(127)


def hangs(*_):
    time.sleep(100)


@pytest.mark.parametrize(
    ("pipeline", "said"),
    [
        (aborts, r"ended the process that built a filter \(Aborted"),
        (crashes, r"ended the process that built a filter \(Segmentation fault"),
        (leaves, r"ended the process that built a filter \(exit code 127"),
        (hangs, "takes more than 3 s to build a filter"),
    ],
)
def test_a_driver_that_ends_its_process_or_never_ends_is_an_error(new_here, monkeypatch, tmp_path, pipeline, said):
    monkeypatch.setattr(selftest, "PATIENCE", 3 if pipeline is hangs else 100)
    with pytest.raises(DeviceError, match=f"^{re.escape(new_here.name)} cannot be used: its driver {said}"):
        selftest.check(new_here, pipeline)
    assert not [*(tmp_path / "cache").rglob("*.json")]


def test_levels_that_are_only_rounded_otherwise_are_right(new_here):
    """Off by 1 in 1 pixel of 500, which the contract allows."""
    wrong_pixel = np.zeros((1, selftest.SIDE, selftest.SIDE))
    wrong_pixel.flat[::500] = 1
    error = selftest.measure(new_here, Counted(off=wrong_pixel))
    assert 0 < error < selftest.LARGEST_ERROR / 10


def test_the_default_pipeline_is_right_here():
    assert selftest.measure(choose(), fused) < selftest.LARGEST_ERROR / 10


def test_a_cache_that_cannot_be_written_is_no_error(new_here, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    keep_in(monkeypatch, tmp_path / "file")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    selftest.check(new_here, Counted())


def test_a_simulator_is_not_tried():
    simulator = SimpleNamespace(name="sim", platform=SimpleNamespace(name="Oclgrind"), driver_version="1", version="1")
    simulator.platform.version = "1"
    selftest.check(Device(0, simulator), Counted(off=99))


def test_the_test_is_a_filter_whose_picture_has_all_levels():
    """Of a picture that is mostly black a wrong kernel might not be told."""
    image = np.random.default_rng(61).integers(0, 256, (selftest.SIDE, selftest.SIDE), dtype=np.uint8)
    picture = reference.filter_image(image, H.highpass().gain(*image.shape))
    assert picture.std() > 30
