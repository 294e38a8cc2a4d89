"""The tables of docs/fused.md list exactly the -D names that the kernels use and that Python sets."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device.programs import PRELUDE, folder, source
from fftfilter.fused.bare import Shape
from fftfilter.fused.cpu.bare.transform import CpuTransform
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.bare.transform import GpuTransform
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto
from tests.fused.helpers import stack_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "fused.md"
# What OpenCL and compilers define.
PREDEFINED = r"CLK_\w+|__\w+"


class Compiled:
    """A kernel that is never launched."""

    num_args = 9

    def set_arg(self, *_):
        pass


class Recording(Launcher):
    """Notes the files and the defines of each program instead of compiling it."""

    def __init__(self, device):
        super().__init__(device)
        self.programs = []

    def kernel(self, names, defines, *_, **__):
        given = {define.partition("=")[0] for define in (f"REAL={self.real_name}", *defines)}
        self.programs.append((names, given - {"_OPENCL_H_"}))  # the guard of the compiler's own header
        return Compiled()

    def enqueue(self, *_, **__):
        pass


@pytest.fixture(scope="module")
def programs(launcher):
    """The programs of each form: of all kinds of sides, masks and outputs."""
    recording = {"cpu": Recording(launcher.device), "gpu": Recording(launcher.device)}
    tiny = Limits(local_bytes=4 * 24 + RESERVED_BYTES)
    for height, width in ((8, 8), (67, 60), (60, 67), (63, 6)):
        for transfer in (H.highpass(), H.lowpass(shape="gaussian"), H.mask(np.ones((height, width)))):
            for real in (False, True):
                stack = stack_of(np.empty((1, height, width), np.uint8), real=real)
                FusedCpuPipeline(recording["cpu"], transfer, stack)
                for limits in (Limits(), tiny):
                    pipeline = FusedGpuPipeline(recording["gpu"], transfer, stack, limits=limits, one_launch=True)
                    pipeline.deviations()
                    if not real:
                        pipeline.set_ramps(ByHistogram("signed", Auto(), stack.out, 255))
                if (height, width) == (8, 8):
                    FusedGpuPipeline(recording["gpu"], transfer, stack, any_size=True)
        for data in ("complex", "real", "values"):
            shape = Shape(data, "both", 1, height, width, half=data == "values")
            CpuTransform(recording["cpu"], shape)
            GpuTransform(recording["gpu"], shape)
    return {form: recorder.programs for form, recorder in recording.items()}


def code_of(names):
    """Return the text of kernel files, without comments and strings."""
    text = "\n".join(source(name) for name in (PRELUDE, *names))
    return re.sub(r'//.*|"[^"\n]*"', "", text)


def used(names):
    """Return the -D names that kernel files use: those in capitals which they do not define themselves."""
    code = code_of(names).replace("\\\n", " ")
    defined = set(re.findall(r"#define (\w+)", code))
    parameters = {name.strip() for group in re.findall(r"#define \w+\(([^)]*)\)", code) for name in group.split(",")}
    capitals = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", code))
    return {name for name in capitals - defined - parameters if not re.fullmatch(PREDEFINED, name)}


def table(form):
    """Return {name: the function that sets it} of the document's table."""
    section = DOCUMENT.read_text().split(f"## Every -D of the {form.upper()} form")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    return {name: setter.strip("`") for names, _, setter, _ in rows for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_the_table_lists_the_names_that_kernels_use(programs, form):
    files = {name for names, _ in programs[form] for name in names}
    assert set(table(form)) == used(files)


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_every_kernel_file_is_used(programs, form):
    files = {name for names, _ in programs[form] for name in names}
    here = {file.relative_to(folder()).as_posix() for file in (folder() / "fused" / form).rglob("*.cl")}
    assert files == here | {"edges.cl", "shapes.cl", "ground.cl", "ramp.cl"}


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_the_table_lists_the_names_that_python_sets(programs, form):
    given = set().union(*(defines for _, defines in programs[form]))
    assert given | {"OWN_BUILTINS"} == set(table(form)) | {"OWN_BUILTINS"}


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_each_program_gets_the_names_that_its_files_use(programs, form):
    for names, given in programs[form]:
        assert used(names) - {"OWN_BUILTINS", "ONE_LAUNCH"} <= given, names


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_the_function_that_the_table_names_sets_the_name(form):
    for name, setter in table(form).items():
        module, *path = setter.split(".")
        room = "device" if module in ("launcher", "device") else f"fused.{form}"
        found = importlib.import_module(f"fftfilter.{room}.{module}")
        for part in path:
            found = inspect.getattr_static(found, part)
        function = found.func if isinstance(found, cached_property) else found
        assert re.search(rf"\b{name}=", inspect.getsource(inspect.unwrap(function))), f"{setter} does not set {name}"
