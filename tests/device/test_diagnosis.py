"""What is wrong with a machine's OpenCL, and the line that repairs it."""

from __future__ import annotations

import ctypes.util
import json
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fftfilter.device import diagnosis
from fftfilter.device.choice import all_devices, choose
from fftfilter.device.diagnosis import Driver
from fftfilter.errors import BuildError
from fftfilter.fused import fused
from tests.helpers import keep_in, needs_posix


def test_why_a_device_is_taken(monkeypatch):
    index = choose("auto").index
    assert diagnosis.chosen("cpu") == (index, "--device asks for 'cpu'")
    way_out = "; a GPU needs its vendor's driver, see 'fftfilter devices'"
    assert diagnosis.chosen("gpu") == (None, f"no OpenCL device 'gpu': there is {names()}{way_out}")
    assert diagnosis.chosen()[1] in ("auto: the only device", "auto: no GPU, and the best CPU runtime")
    monkeypatch.setenv("FFTFILTER_DEVICE", "portable")
    assert diagnosis.chosen() == (index, "FFTFILTER_DEVICE asks for 'portable'")


def names():
    return ", ".join(f"{i} {device.name.strip()}" for i, device in enumerate(all_devices()))


def test_a_device_is_described_in_numbers_that_json_has():
    described = json.loads(json.dumps(diagnosis.describe(choose())))
    assert described["type"] == "CPU"
    assert described["global memory"] >= described["largest allocation"] > 1 << 20
    assert described["fp64"] is True
    assert len(described["work-item sizes"]) == described["work-item dimensions"]


def test_every_device_is_listed():
    assert [device.index for device in diagnosis.devices()] == list(range(len(all_devices())))


@pytest.fixture
def driver():
    """A C library in the place of a driver's: it loads, and no platform of that vendor appears."""
    all_devices()  # found once, and not by a test that shows the loader another folder
    return Driver(ctypes.util.find_library("c"), "nvidia.icd", "NVIDIA")


@needs_posix
def test_a_driver_without_its_icd_file_is_found_with_the_line_that_repairs_it(driver, monkeypatch, tmp_path):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "vendors"))
    (problem,) = diagnosis.problems(fused, [driver])
    assert problem.what == f"the driver {driver.file_name} is installed, but its platform does not appear"
    subprocess.run(problem.repair, shell=True, check=True)  # noqa: S602  the line itself is what is tested
    assert (tmp_path / "vendors" / "nvidia.icd").read_text().strip() == driver.file_name
    (still,) = diagnosis.problems(fused, [driver])
    assert still.repair == (
        f"check that {tmp_path / 'vendors' / 'nvidia.icd'} holds {driver.file_name}, "
        f"and that the driver sees its device"
    )


@needs_posix
def test_drivers_that_are_not_installed_or_have_a_platform_are_no_problem(driver):
    missing, present = Driver("libnothing.so.9", "no.icd", "None"), driver._replace(vendor="Portable")
    assert diagnosis.problems(fused, [missing, present]) == []


def test_a_device_that_cannot_build_is_named_with_the_ways_out(monkeypatch, tmp_path):
    keep_in(monkeypatch, tmp_path)

    def broken(launcher, *_):
        raise BuildError(f"{launcher.device.name} cannot build")

    (problem,) = diagnosis.problems(broken, [])
    assert problem.what == f"{choose('cpu').name} cannot build"
    assert "apt install pocl-opencl-icd" in problem.repair


def test_a_machine_without_any_device_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(diagnosis, "all_devices", tuple)
    (problem,) = diagnosis.problems(fused, [])
    assert problem.what == "no OpenCL platform has a device"
    assert ("pip install 'pyopencl[pocl]'" in problem.repair) == (
        (sys.platform, platform.machine()) == ("linux", "x86_64")
    )
    assert "install the OpenCL driver of the GPU's vendor" in problem.repair
    monkeypatch.setenv("OCL_ICD_VENDORS", "/not/there")
    (problem,) = diagnosis.problems(fused, [])
    assert problem.repair.startswith("unset OCL_ICD_VENDORS, which is /not/there; or ")


@pytest.mark.parametrize(
    ("is_gpu", "why"), [(True, "auto takes a GPU first"), (False, "auto: no GPU, and the best CPU runtime")]
)
def test_of_several_devices_it_is_said_which_auto_takes(monkeypatch, is_gpu, why):
    monkeypatch.setattr(diagnosis, "choose", lambda _: SimpleNamespace(index=1, is_gpu=is_gpu))
    monkeypatch.setattr(diagnosis, "all_devices", lambda: all_devices() * 2)
    assert diagnosis.chosen() == (1, why)
