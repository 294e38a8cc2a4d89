"""Which drivers are registered, and that who filters on the CPU loads no GPU's: a library that notes who loads it."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from fftfilter import device_choice
from tests.folders.helpers import names, pgm, process
from tests.helpers import SAMPLES, needs_pocl_wheel

pytestmark = needs_pocl_wheel  # which is for Linux, where files register drivers

NOTES_LOADING = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { fclose(fopen(getenv("LOADED"), "w")); }
"""


@pytest.fixture
def vendors(tmp_path, monkeypatch):
    """The folder in which drivers are registered, empty."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    return folder


def registered(vendors, **drivers):
    for name, library in drivers.items():
        (vendors / f"{name}.icd").write_text(f"{library}\n")


@pytest.mark.usefixtures("vendors")
def test_without_a_registered_driver_nothing_is_to_be_left_out():
    assert (device_choice.has_cpu(), device_choice.may_have_gpu(), device_choice.cpu_alone()) == (True, False, {})


def test_beside_a_gpu_the_pocl_that_pip_brought_is_found_in_a_folder_without_drivers(vendors):
    registered(vendors, nvidia="libnvidia-opencl.so.1")
    assert device_choice.may_have_gpu()
    assert not list(Path(device_choice.cpu_alone()["OCL_ICD_VENDORS"]).glob("*.icd"))


def test_beside_a_gpu_a_registered_driver_of_the_cpu_is_loaded_alone(vendors):
    """The C library stands for PoCL: it is there."""
    registered(vendors, nvidia="libnvidia-opencl.so.1", pocl=ctypes.util.find_library("c"))
    assert device_choice.cpu_alone() == {"OCL_ICD_VENDORS": str(vendors / "pocl.icd")}


def test_a_driver_of_the_cpu_that_was_removed_and_still_is_registered_does_not_count(vendors):
    registered(vendors, nvidia="libnvidia-opencl.so.1", pocl="libpocl.so.0.0")
    assert device_choice.cpu_alone()["OCL_ICD_VENDORS"] == str(Path(device_choice.__file__).parent)


def test_of_two_drivers_of_the_cpu_the_better_one_is_known_only_once_all_are_loaded(vendors):
    both = ctypes.util.find_library("c")
    registered(vendors, nvidia="libnvidia-opencl.so.1", pocl=both, intel64=both)
    assert device_choice.cpu_alone() == {}


def test_without_the_pocl_of_pip_no_driver_can_be_left_out(vendors, monkeypatch):
    monkeypatch.setattr(device_choice, "find_spec", lambda _: None)
    assert not device_choice.has_cpu()
    registered(vendors, nvidia="libnvidia-opencl.so.1")
    assert not device_choice.has_cpu()
    assert device_choice.cpu_alone() == {}
    registered(vendors, pocl="libpocl.so.2")
    assert device_choice.has_cpu()


def test_the_pocl_of_pip_lies_beside_pyopencl(vendors, tmp_path, monkeypatch):
    package = tmp_path / "pyopencl" / "__init__.py"
    monkeypatch.setattr(device_choice, "find_spec", {"pyopencl": SimpleNamespace(origin=str(package))}.get)
    registered(vendors, nvidia="libnvidia-opencl.so.1")
    assert not device_choice.has_cpu()
    (package.parent / ".libs").mkdir(parents=True)
    (package.parent / ".libs" / "pocl.icd").touch()
    assert device_choice.has_cpu()


@pytest.mark.parametrize(
    ("name", "is_of_cpu"),
    [("pocl", True), ("pocl64", True), ("intel64", True), ("intel-cpu", True), ("intel", False), ("amdocl64", False)],
)
def test_a_driver_of_the_cpu_is_known_by_the_name_of_its_file(vendors, name, is_of_cpu):
    registered(vendors, **{name: "a library"})
    assert device_choice.may_have_gpu() != is_of_cpu


def test_other_files_and_those_that_are_no_text_register_nothing(vendors):
    (vendors / "README").write_text("libnvidia-opencl.so.1")
    assert not device_choice.may_have_gpu()
    registered(vendors, nvidia="libnvidia-opencl.so.1")
    (vendors / "pocl.icd").write_bytes(b"\xff\xfe")
    assert device_choice.cpu_alone()["OCL_ICD_VENDORS"] == str(Path(device_choice.__file__).parent)


def test_drivers_are_registered_where_the_loader_looks(monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "/elsewhere")
    assert device_choice.vendors() == "/elsewhere"
    monkeypatch.setenv("OCL_ICD_VENDORS", "")
    assert device_choice.vendors() == "/etc/OpenCL/vendors"
    monkeypatch.delenv("OCL_ICD_VENDORS")
    assert device_choice.vendors() == "/etc/OpenCL/vendors"


def test_who_names_no_device_leaves_it_open():
    assert all(map(device_choice.is_auto, (None, "", "auto", "AUTO")))
    assert not any(map(device_choice.is_auto, ("cpu", "gpu", "0", "automatic")))


@pytest.fixture
def noted(vendors, tmp_path, monkeypatch):
    """The file that is there once a driver was loaded that looks like a GPU's."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    library, note = tmp_path / "libgpu.so", tmp_path / "loaded"
    (tmp_path / "gpu.c").write_text(NOTES_LOADING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "gpu.c"], check=True)
    registered(vendors, gpu=library)
    monkeypatch.setenv("LOADED", str(note))
    return note


@pytest.mark.parametrize("options", [(), ("--device", "auto"), ("--device", "cpu")], ids=str)
def test_one_picture_is_filtered_on_the_cpu_and_loads_no_gpu(noted, tmp_path, options):
    done = process("-v", *options, SAMPLES / "camera.pgm", tmp_path / "out.pgm", env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert not noted.exists()
    assert ("no GPU's driver has to load; --device gpu takes a GPU" in done.stderr) == ("cpu" not in options)


def test_a_picture_from_standard_input_loads_no_gpu_for_the_cpu(noted, tmp_path):
    with (SAMPLES / "camera.pgm").open("rb") as picture:
        done = process("--device", "cpu", "-", tmp_path / "out.pgm", env=dict(os.environ), stdin=picture)
    assert done.returncode == 0, done.stderr
    assert not noted.exists()


@pytest.mark.parametrize("options", [("--device", "portable"), ("--profile",)], ids=str)
def test_who_asks_for_a_device_by_name_or_for_more_than_the_picture_has_all_to_choose_from(noted, tmp_path, options):
    done = process(*options, SAMPLES / "camera.pgm", tmp_path / "out.pgm", env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert noted.exists()


@pytest.mark.parametrize("count", [3, 40])
def test_a_folder_is_filtered_on_the_cpu_and_loads_no_gpu(noted, tmp_path, count):
    """A few files by this process, and many by others."""
    for i in range(count):
        pgm(tmp_path / f"in/{i}.pgm", i, 512, 512)
    done = process("--device", "auto", tmp_path / "in", tmp_path / "out", env=dict(os.environ))
    assert len(names(tmp_path / "out")) == count, done.stderr
    assert ("this process" in done.stderr) == (count == 3)
    assert not noted.exists()
