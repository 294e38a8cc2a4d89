"""What is wrong with a machine's OpenCL, and the line that repairs it."""

from __future__ import annotations

import ctypes.util
import json
import platform
import subprocess
import sys
from types import SimpleNamespace

import pyopencl as cl
import pytest

from fftfilter import device_choice
from fftfilter.commands import devices
from fftfilter.commands.devices import Driver
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.errors import BuildError, RefusedError, install_opencl, pip_install
from fftfilter.fused import fused
from tests.helpers import keep_in, needs_posix


def test_a_device_is_described_in_numbers_that_json_has():
    described = json.loads(json.dumps(devices.describe(choose())))
    assert described["type"] == "CPU"
    assert described["global memory"] >= described["largest allocation"] > 1 << 20
    assert described["fp64"] is True
    assert len(described["work-item sizes"]) == described["work-item dimensions"]


@pytest.fixture
def driver():
    """A C library in the place of a driver's: it loads, and no platform of that vendor appears."""
    device_choice.devices()  # found once, and not by a test that shows the loader another folder
    return Driver(ctypes.util.find_library("c"), "nvidia.icd", "NVIDIA")


@needs_posix
def test_a_driver_without_its_icd_file_is_found_with_the_line_that_repairs_it(driver, monkeypatch, tmp_path):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "vendors"))
    (problem,) = devices.problems(fused, [driver])
    assert problem.what == f"the driver {driver.file_name} is installed, but its platform does not appear"
    subprocess.run(problem.repair, shell=True, check=True)  # noqa: S602  the line itself is what is tested
    assert (tmp_path / "vendors" / "nvidia.icd").read_text().strip() == driver.file_name
    (still,) = devices.problems(fused, [driver])
    assert still.repair == (
        f"check that {tmp_path / 'vendors' / 'nvidia.icd'} holds {driver.file_name}, "
        f"and that the driver sees its device"
    )


@needs_posix
def test_drivers_that_are_not_installed_or_have_a_platform_are_no_problem(driver):
    missing, present = Driver("libnothing.so.9", "no.icd", "None"), driver._replace(vendor="Portable")
    assert devices.problems(fused, [missing, present]) == []


def test_a_device_that_cannot_build_is_named_with_the_ways_out(monkeypatch, tmp_path):
    keep_in(monkeypatch, tmp_path)

    def broken(launcher, *_):
        raise BuildError(f"{launcher.device.name} cannot build")

    (problem,) = devices.problems(broken, [])
    assert problem.what == f"{choose('cpu').name} cannot build"
    assert "apt install pocl-opencl-icd" in problem.repair


def test_what_pocl_lacks_is_named_with_the_one_thing_that_helps(monkeypatch):
    monkeypatch.setattr("fftfilter.device.embedded_pocl.lack", lambda: "PoCL has none: apt install one")
    (problem,) = devices.problems(lambda *_: None, [])  # which no other test has tried
    assert problem == (f"{choose('cpu').name} cannot be used: PoCL has none", "apt install one", choose("cpu").index)


def test_a_machine_without_any_device_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(device_choice, "devices", tuple)
    (problem,) = devices.problems(fused, [])
    assert problem.what == "no OpenCL platform has a device"
    assert (pip_install("pyopencl[pocl]") in problem.repair) == (
        (sys.platform, platform.machine()) == ("linux", "x86_64")
    )
    assert "install the OpenCL driver of the GPU's vendor" in problem.repair
    monkeypatch.setenv("OCL_ICD_VENDORS", "/not/there")
    (problem,) = devices.problems(fused, [])
    assert problem.repair.startswith("unset OCL_ICD_VENDORS, which is /not/there; or ")


@needs_posix
@pytest.mark.parametrize(("system", "machine"), [("linux", "aarch64"), ("darwin", "x86_64")])
def test_where_pip_has_no_pocl_it_is_not_named(monkeypatch, system, machine):
    monkeypatch.setattr(device_choice, "devices", tuple)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    (problem,) = devices.problems(fused, [])
    assert problem.repair.endswith("apt install pocl-opencl-icd)")
    assert "pip install" not in problem.repair


def test_a_card_is_described_with_each_of_its_limits():
    raw = SimpleNamespace(
        name="A card ",
        platform=SimpleNamespace(name="A platform", version="OpenCL 3.0 A "),
        driver_version="5.1 ",
        type=cl.device_type.GPU | cl.device_type.ACCELERATOR,
        version="OpenCL 1.2 ",
        max_compute_units=10,
        max_work_item_dimensions=2,
        max_work_item_sizes=(64, 32),
        max_work_group_size=48,
        local_mem_size=1000,
        global_mem_size=3000,
        max_mem_alloc_size=2000,
        double_fp_config=0,
    )
    assert devices.describe(Device(4, raw, "what was repaired")) == {
        "index": 4, "name": "A card", "platform": "A platform", "platform version": "OpenCL 3.0 A", "driver": "5.1",
        "type": "GPU, ACCELERATOR", "OpenCL": "OpenCL 1.2", "compute units": 10, "work-item dimensions": 2,
        "work-item sizes": [64, 32], "work-group size": 48, "local memory": 1000, "global memory": 3000,
        "largest allocation": 2000, "fp64": False, "repaired": "what was repaired",
    }  # fmt: skip


def test_each_device_but_simulators_is_tried_and_another_driver_than_pocl_is_to_be_updated(monkeypatch):
    def device(index, name):
        return SimpleNamespace(
            index=index,
            platform=name,
            is_simulator=name == "Oclgrind",
            cl_device=SimpleNamespace(platform=SimpleNamespace(version=name)),
        )

    def refuse(index, make):
        raise RefusedError(f"{index} computes wrongly by {make}")

    monkeypatch.setattr(
        device_choice, "devices", lambda: [device(0, "CUDA"), device(1, "Oclgrind"), device(2, "PoCL 5")]
    )
    monkeypatch.setattr(device_choice, "open_opencl", refuse)
    assert devices.problems("a pipeline", []) == [
        ("0 computes wrongly by a pipeline", "update its driver", 0),
        ("2 computes wrongly by a pipeline", devices.ways_out(), 2),
    ]


def test_the_drivers_of_three_vendors_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(device_choice, "loads", lambda _: True)
    monkeypatch.setattr(device_choice, "vendors", lambda: str(tmp_path / "vendors"))
    monkeypatch.setattr(device_choice, "devices", tuple)
    first, *found = devices.problems(fused)
    assert first.what == "no OpenCL platform has a device"
    assert [problem.repair.partition(" && ")[2].replace(f"{tmp_path}/", "") for problem in found] == [
        "echo libnvidia-opencl.so.1 > vendors/nvidia.icd",
        "echo libamdocl64.so > vendors/amdocl64.icd",
        "echo libigdrcl.so > vendors/intel.icd",
    ]
    platforms = "NVIDIA CUDA", "AMD Accelerated Parallel Processing", "Intel(R) OpenCL Graphics"
    present = [SimpleNamespace(platform=name, is_simulator=True) for name in platforms]
    monkeypatch.setattr(device_choice, "devices", lambda: present)
    assert devices.problems(fused) == []


def test_ways_out_are_one_line_that_names_them():
    ways = devices.ways_out()
    assert "\n" not in ways
    assert all(way in ways for way in ("pocl-opencl-icd", "GPU"))
    assert ("intel-opencl-rt intel-cmplr-lib-rt" in ways) == ("[pocl]" in ways) == ("[pocl]" in install_opencl())
