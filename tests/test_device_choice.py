"""Which device is taken."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pyopencl as cl
import pytest

import fftfilter
from fftfilter import device_choice, system
from fftfilter.device import embedded_pocl
from fftfilter.device.opencl import Device
from fftfilter.device_choice import (
    FEW,
    FEW_AT_FIRST,
    are_few,
    choose,
    devices,
    devices_named,
    for_processes,
    for_small_work,
    open_opencl,
    rank,
    why_chosen,
)
from fftfilter.errors import BuildError, DeviceError
from tests.folders.helpers import pgm
from tests.helpers import SAMPLES, Alone, keep_in

GPU, CPU = cl.device_type.GPU, cl.device_type.CPU


def fake(platform, kind, version="OpenCL 3.0", units=4, name="a device", index=0):
    of_cl = SimpleNamespace(version=version, name=platform)
    return Device(index, SimpleNamespace(platform=of_cl, type=kind, max_compute_units=units, name=name))


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
    found = tuple(
        fake(platform, kind, units=units, name=name, index=i)
        for i, (platform, kind, units, name) in enumerate(described)
    )
    monkeypatch.setattr(device_choice, "devices", lambda: found)
    wanted = {"auto": 3, "gpu": 3, "cpu": 1, "0": 0, "4": 4, "nvidia": 3, "small": 2, "card": 3, "portable": 0}
    assert {asked: choose(asked).index for asked in wanted} == wanted
    assert choose(" Large card ").index == 3
    there = "there is 0 pthread-a, 1 Xeon, 2 small card, 3 Large Card, 4 Oclgrind card; choose one of these"
    for asked in ("5", "9" * 5000):  # Python makes no number of so many digits
        with pytest.raises(DeviceError, match=rf"^no OpenCL device '{asked}': {there}$"):
            choose(asked)


def test_without_a_choice_the_environment_decides(monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such name")
    with pytest.raises(DeviceError, match="'no such name'"):
        choose()
    assert choose("auto") is choose("cpu")


def test_an_index_ends_with_the_last_device():
    count = len(devices())
    assert choose(count - 1).index == count - 1
    with pytest.raises(DeviceError, match=f"no OpenCL device '{count}'"):
        choose(count)


@pytest.mark.parametrize("wanted", ["gpu", "99", "no such name"])
def test_a_device_that_is_missing_is_refused_with_those_there_are(wanted):
    with pytest.raises(DeviceError, match=rf"no OpenCL device '{wanted}': there is .*0 "):
        choose(wanted)


def test_the_simulator_is_taken_by_name():
    if not any(device.is_simulator for device in devices()):
        pytest.skip("Oclgrind is not installed")
    assert choose("oclgrind").is_simulator
    assert not choose("oclgrind").is_gpu


def test_without_any_platform_the_error_says_where_to_look(tmp_path):
    """As on a machine without an OpenCL driver: the loader looks into a folder that does not exist."""
    code = (
        "from fftfilter.device_choice import choose\n"
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
        open_opencl("cpu", broken)


def test_numpy_takes_what_it_has_filtered_before_opencl_has_started(monkeypatch, tmp_path):
    """More on the first run, when OpenCL has all to compile; a folder that keeps nothing knows no second run."""
    keep_in(monkeypatch, tmp_path)
    assert not are_few(1)  # as OpenCL is there
    monkeypatch.setattr(device_choice, "_loaded_by", set())
    assert [are_few(samples) for samples in (FEW, FEW_AT_FIRST + 1, FEW_AT_FIRST)] == [True, False, True]
    assert [are_few(samples) for samples in (FEW, FEW + 1, FEW_AT_FIRST)] == [True, False, False]
    (tmp_path / "file").touch()
    monkeypatch.setattr(system, "user_cache", lambda _: tmp_path / "file")
    monkeypatch.setattr(system, "temporary_cache", lambda: None)
    assert [are_few(FEW_AT_FIRST) for _ in range(2)] == [True, True]


@pytest.mark.parametrize("options", [(), ("--device", "cpu"), ("--engine", "fused"), ("--profile",)])
def test_a_small_picture_alone_takes_no_opencl_unless_it_is_asked_for(tmp_path, options):
    report, command = tmp_path / "report.jsonl", [sys.executable, "-m", "fftfilter", "highpass", *options]
    subprocess.run([*command, "--report", report, SAMPLES / "camera.pgm", tmp_path / "out.png"], check=True)
    assert (json.loads(report.read_text())["device"] == "NumPy") == (not options)


def test_the_processes_of_a_small_folder_take_no_opencl(tmp_path):
    pgm(tmp_path / "in" / "a.pgm"), pgm(tmp_path / "in" / "b.pgm")
    report, options = tmp_path / "report.jsonl", ["--processes", "2", "--report", tmp_path / "report.jsonl"]
    command = [sys.executable, "-m", "fftfilter", "highpass", *options, tmp_path / "in", tmp_path / "out"]
    subprocess.run(command, check=True)
    assert [json.loads(line)["device"] for line in report.read_text().splitlines()] == ["NumPy", "NumPy"]


def test_auto_takes_no_simulator_even_if_there_is_nothing_else(monkeypatch):
    simulator = fake("Oclgrind", GPU | CPU, name="Oclgrind Simulator")
    monkeypatch.setattr(device_choice, "devices", lambda: (simulator,))
    with pytest.raises(DeviceError, match=r"^no OpenCL device but a simulator: choose it by its name with --device$"):
        choose("auto")
    with pytest.raises(DeviceError, match=r"no OpenCL device 'cpu': there is 0 Oclgrind Simulator; choose one of"):
        choose("cpu")


def test_without_a_device_it_is_said_what_pocl_lacks(monkeypatch):
    monkeypatch.setattr(embedded_pocl, "lack", lambda: "PoCL has no folder")
    simulator = fake("Oclgrind", GPU | CPU)
    for found, but in (((), ""), ((simulator,), " but a simulator")):
        monkeypatch.setattr(device_choice, "devices", lambda found=found: found)
        with pytest.raises(DeviceError, match=rf"^no OpenCL device{but}: PoCL has no folder$"):
            choose("auto")


def test_one_thread_at_a_time_checks_a_device(monkeypatch):
    place = Alone()
    monkeypatch.setattr("fftfilter.device.selftest.check", lambda *_: place.stay())
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: open_opencl("cpu"), range(2)))
    assert not place.met


def test_where_a_simulator_is_alone_the_cpu_is_said_to_lack_something(monkeypatch):
    simulator = fake("Oclgrind", CPU)
    monkeypatch.setattr(device_choice, "devices", lambda: (simulator,))
    monkeypatch.setattr(embedded_pocl, "lack", lambda: "PoCL has none: apt install one")
    with pytest.raises(DeviceError, match=r"^no OpenCL device 'cpu': PoCL has none: apt install one$"):
        choose("cpu")


def test_why_a_device_is_taken(monkeypatch):
    monkeypatch.delenv("FFTFILTER_DEVICE", raising=False)
    cpu, other, gpu = (fake("P", kind) for kind in (CPU, CPU, GPU))
    simulator = fake("Oclgrind", GPU | CPU)
    for found, taken, why in (
        ((simulator, cpu, simulator), cpu, "auto: the only device"),
        ((cpu, other), cpu, "auto: no GPU, and the best CPU runtime"),
        ((cpu, gpu), gpu, "auto takes a GPU first"),
    ):
        monkeypatch.setattr(device_choice, "devices", lambda found=found: found)
        assert why_chosen(None, taken) == why_chosen("auto", taken) == why
    assert why_chosen("cpu", cpu) == "--device asks for 'cpu'"
    monkeypatch.setenv("FFTFILTER_DEVICE", "portable")
    assert why_chosen(None, cpu) == "FFTFILTER_DEVICE asks for 'portable'"


def test_devices_of_a_list_are_taken_by_their_indices(monkeypatch):
    found = fake("P", CPU), fake("Oclgrind", CPU, index=1), fake("P", GPU, index=2, name="card")
    monkeypatch.setattr(device_choice, "devices", lambda: found)
    given = None, "card", "all", " ALL ", "card,0", "0, ,"
    assert [devices_named(each) for each in given] == [[None], ["card"], ["0", "2"], ["0", "2"], ["2", "0"], ["0"]]
    monkeypatch.setattr(device_choice, "devices", tuple)
    assert devices_named("all") == devices_named(",") == [None]


# Before OpenCL loads


@pytest.fixture
def beside_a_gpu(monkeypatch):
    """A machine with the drivers of a GPU and of a CPU, where PoCL works."""
    monkeypatch.setattr(device_choice, "may_have_gpu", lambda: True)
    monkeypatch.setattr(device_choice, "has_cpu", lambda: True)
    monkeypatch.setattr(device_choice, "cpu_alone", lambda: {"OCL_ICD_VENDORS": "/no-vendors"})
    monkeypatch.setattr(embedded_pocl, "seems_to_work", lambda: True)
    monkeypatch.setenv("OCL_ICD_VENDORS", "/all")


@pytest.mark.usefixtures("beside_a_gpu")
@pytest.mark.parametrize(
    ("device", "size", "taken"),
    [
        (None, 1 << 26, "cpu"),
        ("auto", 0, "cpu"),
        (None, (1 << 26) + 1, None),
        ("auto", math.inf, "auto"),
        ("gpu", 0, "gpu"),
        ("numpy", 0, "numpy"),
        ("cpu", math.inf, "cpu"),
    ],
)
def test_files_of_up_to_64_mib_are_done_on_the_cpu_before_a_gpu_has_loaded(device, size, taken):
    assert for_small_work(device, size) == taken
    assert os.environ["OCL_ICD_VENDORS"] == ("/no-vendors" if taken == "cpu" else "/all")


@pytest.mark.usefixtures("beside_a_gpu")
def test_the_cpu_does_no_small_work_where_pocl_lacks_something_or_no_gpu_is_expected(monkeypatch):
    monkeypatch.setattr(embedded_pocl, "seems_to_work", lambda: False)
    assert for_small_work(None, 0) is None
    monkeypatch.undo()
    monkeypatch.setattr(device_choice, "cpu_alone", dict)
    assert for_small_work(None, 0) is None


@pytest.mark.usefixtures("beside_a_gpu")
def test_many_processes_share_the_cpu(monkeypatch):
    gpu, cpu = fake("P", GPU), fake("P", CPU)
    monkeypatch.setattr(device_choice, "choose", {"gpu": gpu, "portable": cpu}.get)
    asked = None, "auto", "cpu", "numpy", "gpu", "portable"
    found = [("cpu", True), ("cpu", True), ("cpu", True), ("numpy", True), ("gpu", False), ("portable", True)]
    assert [for_processes(each) for each in asked] == found
    monkeypatch.setattr(device_choice, "has_cpu", lambda: False)
    for only, is_shared in ((gpu, False), (cpu, True)):  # OpenCL is asked
        monkeypatch.setattr(device_choice, "choose", lambda _, only=only: only)
        assert for_processes(None) == (None, is_shared)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(device_choice, "may_have_gpu", lambda: False)
    assert for_processes(None) == (None, True)

    def refused(_):
        raise DeviceError("no OpenCL device")

    monkeypatch.setattr(device_choice, "choose", refused)
    assert for_processes("gpu") == ("gpu", True)  # the processes say what is wrong


def test_numpy_filters_where_another_llvm_would_end_the_process():
    libraries = [*Path("/usr/lib").glob("**/libLLVM*.so.1")]
    if not (libraries and Path(cl.__file__).with_name(".libs").exists()):
        pytest.skip("there is no LLVM beside PoCL's")
    script = (
        "import ctypes, sys, fftfilter, numpy as np; ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL);"
        "print(fftfilter.lowpass(np.full((8, 9), 7, np.uint8), '4px').max())"
    )
    result = subprocess.run([sys.executable, "-c", script, libraries[0]], capture_output=True, text=True, check=True)
    assert (result.stdout, "clashes with" in result.stderr) == ("7\n", True)
