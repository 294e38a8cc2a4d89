"""Which device is taken, what is wrong with a machine, and devices that compute wrongly."""

from __future__ import annotations

import ctypes.util
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pyopencl as cl
import pytest

from fftfilter.device import choice as devices
from fftfilter.device import diagnosis, programs as program, selftest
from fftfilter.device.choice import Device, all_devices, choose, rank
from fftfilter.errors import BuildError, DeviceError, ParameterError, RefusedError
from fftfilter.device.launcher import Launcher
from fftfilter.staged.plan import Stage

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
        fake("Another CPU runtime", CPU),
        fake("Oclgrind", GPU | CPU, units=999),
    ]
    worst_first = best_first[::-1]
    assert sorted(worst_first, key=rank) == worst_first


def test_a_device_is_chosen_by_kind_index_and_part_of_a_name():
    auto = choose("auto")
    assert choose("cpu") is choose("CPU") is choose(str(auto.index)) is choose(auto.index) is choose("portable") is auto
    assert choose(None) is auto
    assert not auto.is_gpu


@pytest.mark.parametrize("wanted", ["gpu", "99", "no such name"])
def test_what_is_not_there_is_told_what_is(wanted):
    with pytest.raises(DeviceError, match=r"no OpenCL device '.*': there is .*0 "):
        choose(wanted)


@pytest.mark.skipif(sys.platform != "linux", reason="tells which libraries are loaded")
def test_platforms_that_were_loaded_ahead_are_those_of_pyopencl():
    code = (
        "import pyopencl as cl\n"
        "from fftfilter import device\n"
        "def libraries(): return {line.split()[-1] for line in open('/proc/self/maps') if '.so' in line}\n"
        "before = libraries()\n"
        "device.load_ahead()\n"
        "device._ahead[0].join()\n"
        "ahead = libraries()\n"
        "cl.get_platforms()\n"
        "print(len(ahead - before) > 0, len(libraries() - ahead), len(device.all_devices()) > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0", "True"]


def test_loading_ahead_may_fail(monkeypatch):
    def fails(*_):
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", fails)
    devices._load()


def test_the_simulator_is_taken_by_name():
    if not any("Oclgrind" in device.platform.name for device in all_devices()):
        pytest.skip("Oclgrind is not installed")
    assert choose("oclgrind").platform == "Oclgrind"


def test_a_kernel_that_does_not_compile_names_its_file_and_line(monkeypatch):
    monkeypatch.setattr(program, "source", lambda name: "\nkernel void f() { oops; }" if name == "broken.cl" else "")
    with pytest.raises(BuildError, match=r"cannot build broken.cl: .*broken.cl:2:\d+: .*oops"):
        Launcher(choose()).run([Stage("broken.cl", "f", (1,), ())], {})


def test_double_precision_needs_fp64():
    class Single(Device):
        fp64 = False

    with pytest.raises(ParameterError, match=r"has no double precision \(fp64\): choose single or another device"):
        Launcher(Single(0, choose().cl_device), precision="double")


@pytest.fixture
def untrusted(monkeypatch, tmp_path):
    """The device as if it were new here."""
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "cache")
    selftest._trust.cache_clear()
    yield Device(0, choose().cl_device)
    selftest._trust.cache_clear()


def test_a_device_is_tried_once_and_remembered(untrusted, tmp_path, monkeypatch):
    selftest._trust(untrusted)
    (remembered,) = (tmp_path / "cache").iterdir()
    assert json.loads(remembered.read_text())["error"] < selftest.MOST_ERROR
    monkeypatch.setattr(selftest, "measure", lambda _: pytest.fail("tried again"))
    selftest._trust.cache_clear()
    selftest._trust(untrusted)


def test_a_device_that_computes_wrongly_is_refused_with_its_error(untrusted, tmp_path, monkeypatch):
    right = program.source
    monkeypatch.setattr(program, "source", lambda name: right(name).replace("half_root = 0.7", "half_root = 0.6"))
    with pytest.raises(RefusedError, match=r"computes wrongly: relative error \d\.\de[+-]\d\d") as refused:
        selftest._trust(untrusted)
    assert untrusted.name in str(refused.value)
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_no_error(untrusted, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "file" / "cache")
    selftest._trust(untrusted)


def test_why_a_device_is_taken(monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "portable")
    assert diagnosis.chosen() == (choose("portable").index, "FFTFILTER_DEVICE asks for 'portable'")
    assert diagnosis.chosen("cpu")[1] == "--device asks for 'cpu'"
    assert diagnosis.chosen("gpu")[0] is None


def test_a_driver_without_its_icd_file_is_found_with_the_line_that_mends_it(monkeypatch, tmp_path):
    """A C library stands in for the driver's: it loads, and no platform of that vendor appears."""
    library = ctypes.util.find_library("c")
    monkeypatch.setattr(diagnosis, "DRIVERS", [(library, "nvidia.icd", "NVIDIA")])
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    (problem,) = diagnosis.problems()
    assert library in problem.what
    subprocess.run(problem.mend, shell=True, check=True)  # noqa: S602  the line itself is what is tested
    assert (tmp_path / "nvidia.icd").read_text().strip() == library


def test_a_device_that_cannot_build_is_told_with_the_ways_out(monkeypatch):
    def broken(device):
        if "PoCL" in device.platform.version:
            raise BuildError("PoCL cannot build")

    monkeypatch.setattr(selftest, "_trust", lambda device: broken(device.cl_device))
    (problem,) = diagnosis.problems()
    assert problem.what == "PoCL cannot build"
    assert "apt install pocl-opencl-icd" in problem.mend


def test_no_platform_at_all_is_exit_code_3_with_a_way_out():
    """As on a machine without any OpenCL driver."""
    script = (
        "import pyopencl as cl\n"
        "def none(): raise cl.LogicError('clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR')\n"
        "cl.get_platforms = none\n"
        "from fftfilter.cli import cli\n"
        "import sys; cli(sys.argv[1:])\n"
    )

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, env=os.environ, check=False
        )

    listed = run("devices")
    assert listed.returncode == 3
    assert "problem: no OpenCL platform" in listed.stdout
    assert "pip install" in listed.stdout
    filtered = run("highpass", "samples/camera.pgm", "-")
    assert (filtered.returncode, filtered.stderr.count("\n")) in ((3, 1), (1, 1))
