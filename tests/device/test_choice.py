"""Which device is taken."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pyopencl as cl
import pytest

import fftfilter
from fftfilter.device import choice
from fftfilter.device.choice import Device, all_devices, choose, open_device, rank
from fftfilter.errors import BuildError, DeviceError, ParameterError, TooLargeError
from tests.helpers import Alone, keep_in

GPU, CPU = cl.device_type.GPU, cl.device_type.CPU


def fake(platform, kind, version="OpenCL 3.0", units=4):
    return SimpleNamespace(platform=SimpleNamespace(name=platform, version=version), type=kind, max_compute_units=units)


def test_auto_takes_a_gpu_then_the_best_cpu_runtime_and_never_a_simulator():
    best_first = [
        fake("NVIDIA CUDA", GPU, units=132),
        fake("Intel(R) OpenCL Graphics", GPU, units=24),
        fake("Intel(R) OpenCL", CPU),
        fake("Portable Computing Language", CPU, "OpenCL 3.0 PoCL 5.0"),
        fake("Portable Computing Language", CPU, "OpenCL 3.0 PoCL 3.0-rc2"),
        fake("Another CPU runtime", CPU, "OpenCL 3.1"),
        fake("An accelerator", cl.device_type.ACCELERATOR, "OpenCL 3.1"),
        fake("Oclgrind", GPU | CPU, units=999),
    ]
    worst_first = best_first[::-1]
    assert sorted(worst_first, key=rank) == sorted(best_first, key=rank) == worst_first


def test_a_device_is_chosen_by_kind_index_and_part_of_a_name():
    auto = choose("auto")
    assert (
        choose("cpu") is choose(" CPU ") is choose(str(auto.index)) is choose(auto.index) is choose("portable") is auto
    )
    assert choose(None) is auto
    assert not auto.is_gpu


def test_of_several_devices_the_best_that_fits_is_chosen(monkeypatch):
    described = [
        ("Portable Computing Language", CPU, 4, "pthread-a"),
        ("Intel(R) OpenCL", CPU, 4, "Xeon"),
        ("NVIDIA CUDA", GPU, 10, "small card"),
        ("NVIDIA CUDA", GPU, 132, "Large Card"),
        ("Oclgrind", GPU | CPU, 999, "Oclgrind card"),
    ]
    devices = [fake(platform, kind, units=units) for platform, kind, units, _ in described]
    for device, (*_, name) in zip(devices, described, strict=True):
        device.name = name
    monkeypatch.setattr(choice, "all_devices", lambda: tuple(devices))
    monkeypatch.setattr(choice, "_device", lambda index: index)
    wanted = {"auto": 3, "gpu": 3, "cpu": 1, "0": 0, "4": 4, "nvidia": 3, "small": 2, "card": 3, "portable": 0}
    assert {asked: choose(asked) for asked in wanted} == wanted
    assert choose(" Large card ") == 3
    there = "there is 0 pthread-a, 1 Xeon, 2 small card, 3 Large Card, 4 Oclgrind card; choose one of these"
    for asked in ("5", "9" * 5000):  # Python makes no number of so many digits
        with pytest.raises(DeviceError, match=rf"^no OpenCL device '{asked}': {there}$"):
            choose(asked)


def test_what_a_device_says_of_itself():
    raw = fake("  A platform ", GPU)
    raw.name, raw.double_fp_config, raw.max_work_group_size, raw.max_work_item_sizes = " A card\n", 0, 256, [128, 64, 1]
    card = Device(3, raw)
    assert (card.name, card.platform, card.is_gpu, card.fp64) == ("A card", "A platform", True, False)
    assert card.work_group_limit == 128
    card.check_work_group_size(128)
    said = r"work-group size 129 is not possible on A card: give 1 to 128 \(work-group size 256, work-item sizes 128 64"
    with pytest.raises(ParameterError, match=said):
        card.check_work_group_size(129)
    raw.max_work_group_size, raw.double_fp_config = 32, 63
    card = Device(3, raw)
    assert (card.work_group_limit, card.fp64) == (32, True)


def test_buffers_may_fill_a_device_and_take_no_byte_more(monkeypatch):
    raw = fake("A platform", GPU)
    raw.name, raw.max_mem_alloc_size, raw.global_mem_size = "A card", 1000, 1500
    # A card's memory is its own: that of the machine does not count.
    monkeypatch.setattr(choice, "lacking", lambda _: 1)
    card = Device(0, raw)
    card.check_memory("it", [500, 1000])
    with pytest.raises(TooLargeError, match=r"^it needs 1,501 bytes in all and A card has 1,500: take a smaller image"):
        card.check_memory("it", [501, 1000])
    with pytest.raises(TooLargeError, match=r"^it needs 1,001 bytes in one buffer and A card has 1,000: "):
        card.check_memory("it", [1001, 1])


def test_without_a_choice_the_environment_decides(monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such name")
    with pytest.raises(DeviceError, match="'no such name'"):
        choose()
    assert choose("auto") is choose("cpu")


def test_an_index_ends_with_the_last_device():
    count = len(all_devices())
    assert choose(count - 1).index == count - 1
    with pytest.raises(DeviceError, match=f"no OpenCL device '{count}'"):
        choose(count)


@pytest.mark.parametrize("wanted", ["gpu", "99", "no such name"])
def test_a_device_that_is_missing_is_refused_with_those_there_are(wanted):
    with pytest.raises(DeviceError, match=rf"no OpenCL device '{wanted}': there is .*0 "):
        choose(wanted)


def test_the_simulator_is_taken_by_name():
    if not any("Oclgrind" in device.platform.name for device in all_devices()):
        pytest.skip("Oclgrind is not installed")
    assert choose("oclgrind").is_simulator
    assert not choose("oclgrind").is_gpu


def test_without_any_platform_the_error_says_where_to_look(tmp_path):
    """As on a machine without an OpenCL driver: the loader looks into a folder that does not exist."""
    code = (
        "from fftfilter.device.choice import choose\n"
        "from fftfilter.errors import DeviceError\n"
        "try: choose()\n"
        "except DeviceError as error: print(error.exit_code, error)\n"
    )
    environment = {**os.environ, "OCL_ICD_VENDORS": str(tmp_path / "none"), "PYTHONPATH": root()}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.startswith("3 no OpenCL device: run 'fftfilter devices'")


def root():
    return str(Path(fftfilter.__file__).parents[1])


def test_a_device_is_opened_only_if_it_passes_its_test(monkeypatch, tmp_path):
    """A device that has not been seen yet, with a pipeline that cannot be made."""
    keep_in(monkeypatch, tmp_path)

    def broken(*_):
        raise BuildError("cannot build")

    with pytest.raises(BuildError):
        open_device("cpu", broken)


def test_a_platform_that_has_no_devices_leaves_those_of_the_others(monkeypatch):
    """As a driver does whose card was taken out: asked for its devices, it fails."""

    def failing():
        raise cl.RuntimeError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")

    empty = SimpleNamespace(get_devices=failing)
    own, other = (SimpleNamespace(get_devices=lambda found=found: found) for found in (["a device"], ["two", "more"]))
    monkeypatch.setattr(cl, "get_platforms", lambda: [empty, own, empty, other])
    assert all_devices.__wrapped__() == ("a device", "two", "more")


def test_auto_takes_no_simulator_even_if_there_is_nothing_else(monkeypatch):
    simulator = fake("Oclgrind", GPU | CPU)
    simulator.name = "Oclgrind Simulator"
    monkeypatch.setattr(choice, "all_devices", lambda: (simulator,))
    with pytest.raises(DeviceError, match=r"^no OpenCL device but a simulator: choose it by its name with --device$"):
        choose("auto")
    with pytest.raises(DeviceError, match=r"no OpenCL device 'cpu': there is 0 Oclgrind Simulator; choose one of"):
        choose("cpu")


def test_without_a_device_it_is_said_what_pocl_lacks(monkeypatch):
    monkeypatch.setattr(choice.embedded_pocl, "lack", lambda: "PoCL has no folder")
    simulator = fake("Oclgrind", GPU | CPU)
    for devices, but in (((), ""), ((simulator,), " but a simulator")):
        monkeypatch.setattr(choice, "all_devices", lambda devices=devices: devices)
        with pytest.raises(DeviceError, match=rf"^no OpenCL device{but}: PoCL has no folder$"):
            choose("auto")


def test_one_thread_at_a_time_checks_a_device(monkeypatch):
    place = Alone()
    monkeypatch.setattr("fftfilter.device.choice.selftest.check", lambda *_: place.stay())
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: open_device("cpu", None), range(2)))
    assert not place.met


def test_where_a_simulator_is_alone_the_cpu_is_said_to_lack_something(monkeypatch):
    simulator = SimpleNamespace(name="Oclgrind Simulator", type=2, platform=SimpleNamespace(name="Oclgrind"))
    monkeypatch.setattr(choice, "all_devices", lambda: (simulator,))
    monkeypatch.setattr(choice.embedded_pocl, "lack", lambda: "PoCL has none: apt install one")
    with pytest.raises(DeviceError, match=r"^no OpenCL device 'cpu': PoCL has none: apt install one$"):
        choice.choose("cpu")
