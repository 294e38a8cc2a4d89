"""The -D names and the arguments that Python sets are those of the kernels; docs/fused.md lists the -D names.

The arguments are those of all kernels, also of the staged pipeline and of missing pixels.
"""

from __future__ import annotations

import importlib
import inspect
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import PRELUDE, folder, source, with_needs
from fftfilter.fused import Shape
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.cpu.plain_fft import CpuTransform
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.plain_fft import GpuTransform
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.missing import fill
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import StagedPipeline, Transform
from tests.fused.helpers import stack_of
from tests.variants import variants

DOCUMENT = Path(__file__).parents[2] / "docs" / "fused.md"
BOOK = algorithms.load("book")
# What OpenCL and compilers define.
PREDEFINED = r"CLK_\w+|__\w+"


class Compiled:
    """A kernel that is never launched."""

    def set(self, *_):
        pass

    def bind(self, **_):
        pass


class Recording(Launcher):
    """Notes the files, the defines and the arguments of each kernel instead of compiling it."""

    def __init__(self, device):
        super().__init__(device)
        self.programs, self.arguments = [], []

    def kernel(self, names, defines, kernel, arguments, **_):
        given = {define.partition("=")[0] for define in (f"REAL={self.real_name}", *defines)}
        files = with_needs(names)
        self.programs.append((files, given - {"_OPENCL_H_"}))  # the guard of the compiler's own header
        self.arguments.append((files, kernel, list(arguments)))
        return Compiled()

    def enqueue(self, *_, **__):
        pass


@pytest.fixture(scope="module")
def recorded(launcher):
    """The launchers of each form: of all kinds of sides, masks and outputs."""
    recording = {form: Recording(launcher.device) for form in ("cpu", "gpu", "staged", "missing")}
    tiny = Limits(local_bytes=4 * 24 + RESERVED_BYTES)
    for height, width in ((8, 8), (67, 60), (60, 67), (63, 6)):
        transfers = H.highpass(), H.lowpass(shape="gaussian"), H.mask(np.ones((height, width)))
        for transfer, real in product(transfers, (False, True)):
            stack = stack_of(np.empty((1, height, width), np.uint8), real=real)
            FusedCpuPipeline(recording["cpu"], transfer, stack)
            StagedPipeline(recording["staged"], transfer, stack, algorithm=BOOK, transpose_kind="plain")
            for limits in (Limits(), tiny):
                pipeline = FusedGpuPipeline(recording["gpu"], transfer, stack, limits=limits, one_launch=True)
                pipeline.deviations()
                if not real:
                    _ = pipeline._by_histogram
            if (height, width) == (8, 8):
                FusedGpuPipeline(recording["gpu"], transfer, stack, generic=True)
        for data in ("complex", "real", "values"):
            shape = Shape(data, "both", 1, height, width, half=data == "values")
            CpuTransform(recording["cpu"], shape)
            GpuTransform(recording["gpu"], shape)
    for name, n in product(algorithms.names(), (2, 64)):
        for options in variants(name):
            Transform(recording["staged"], algorithms.load(name, **options), (1, n, n), 2).run(np.ones((1, n, n)))
    fill(recording["missing"], np.zeros((1, 4, 4)), np.eye(4, dtype=bool)[None])
    return recording


@pytest.fixture(scope="module")
def programs(recorded):
    """The files and defines of each form's programs."""
    return {form: recorder.programs for form, recorder in recorded.items()}


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


def declared(files, kernel):
    """Return the names of a kernel's arguments, in their order, of each of its declarations: a -D may choose one."""
    code = [re.sub(r"\bPASTE\([^)]*\)", "type", code_of([file])) for file in files]
    found = [text for each in code for text in re.findall(rf"\bvoid {kernel}\(([^)]*)\)", each)]
    return [[re.search(r"(\w+)$", argument)[1] for argument in text.split(",")] for text in found]


@pytest.mark.parametrize(("form", "kernels"), [("cpu", 2), ("gpu", 20), ("staged", 32), ("missing", 3)])
def test_arguments_are_named_as_the_kernel_declares_them_and_in_that_order(recorded, form, kernels):
    seen = set()
    for files, kernel, arguments in recorded[form].arguments:
        assert arguments in declared(files, kernel), kernel
        seen.add(kernel)
    assert len(seen) >= kernels, seen


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_the_table_lists_the_names_that_kernels_use(programs, form):
    files = {name for names, _ in programs[form] for name in names}
    assert set(table(form)) == used(files)


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_every_kernel_file_is_used(programs, form):
    files = {name for names, _ in programs[form] for name in names}
    here = {file.relative_to(folder()).as_posix() for file in (folder() / "fused" / form).rglob("*.cl")}
    assert files == here | {"edges.cl", "shapes.cl", "offset.cl", "ramp.cl"}


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
        room = "device" if module in ("launcher", "choice", "embedded_pocl") else f"fused.{form}"
        found = importlib.import_module(f"fftfilter.{room}.{module}")
        for part in path:
            found = inspect.getattr_static(found, part)
        function = getattr(found, "func", getattr(found, "fget", found))  # of a property
        assert re.search(rf"\b{name}=", inspect.getsource(inspect.unwrap(function))), f"{setter} does not set {name}"


@pytest.mark.parametrize("file", sorted(folder().rglob("*.cl")), ids=lambda file: file.relative_to(folder()).as_posix())
def test_a_comment_above_each_define_or_its_group_says_what_it_is_for(file):
    is_explained = False
    for line in file.read_text().replace("\\\n", "").splitlines():
        if line.lstrip().startswith("#define"):
            assert is_explained or "  // " in line, line
        elif not re.match(r"\s*(#|typedef)", line):
            is_explained = line.lstrip().startswith("//")
