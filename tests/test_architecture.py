"""The layout of the code: twin files, labels, layers, what is imported when."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fftfilter.device import programs as program

PACKAGE = Path(program.__file__).parent
KERNELS = Path(str(program.folder()))
FILES = sorted(file.relative_to(KERNELS).as_posix() for file in KERNELS.rglob("*.cl"))
MODULES = {
    ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(file.read_text())
    for file in sorted(PACKAGE.rglob("*.py"))
}

# What a layer may import of those above it in this table, as the reader goes through it from top to bottom.
# A folder counts as one layer; "fftfilter" is the package's own __init__ with the version.
LAYERS = {
    "fftfilter": "",
    "errors": "",
    "standard_streams": "errors",
    "pixels": "",
    "plan": "",
    "tables": "",
    "versions": "",
    "reference": "",
    "embedded_pocl": "",
    "leftovers": "",
    "urls": "errors",
    "images": "errors leftovers urls",
    "stage_pictures": "errors images",
    "program": "errors",
    "device": "errors embedded_pocl program versions",
    "launch": "errors plan",
    "workspace": "plan",
    "parameters": "errors",
    "transfer": "errors parameters",
    "steps": "pixels plan transfer",
    "bluestein": "plan",
    "algorithms": "errors plan steps",
    "fft_core": "plan steps bluestein",
    "pipeline": "errors pixels plan workspace transfer steps fft_core",
    "mixed_radix": "",
    "fused_cpu_plan": "mixed_radix",
    "fused_cpu": "errors pixels transfer mixed_radix fused_cpu_plan",
    "fused_gpu_transform": "",
    "fused_gpu_long": "fused_gpu_transform",
    "fused_gpu_plan": "errors fused_gpu_transform fused_gpu_long",
    "fused_gpu_launches": "fused_gpu_transform fused_gpu_long fused_gpu_plan",
    "fused_gpu": "errors pixels transfer fused_gpu_transform fused_gpu_plan fused_gpu_launches",
    "fused": "fused_cpu_plan fused_cpu fused_gpu_plan fused_gpu",
    "stream": "launch",
    "selftest": "fftfilter errors reference program device launch transfer fused",
    "transforms": "errors plan launch workspace steps algorithms fft_core selftest",
    "tuning": "fftfilter selftest",
    "filters": "errors pixels launch transfer steps algorithms pipeline fused stream selftest tuning",
    "one_call": "parameters filters",
    "dask": "errors parameters transfer filters",
    "diagnosis": "errors embedded_pocl device selftest",
    "scale": "errors",
    "levels": "pixels scale",
    "folders": "fftfilter errors leftovers urls images device selftest filters scale levels",
    "bench": "*",
    "commands": "*",
    "cli": "fftfilter errors standard_streams commands",
    "__main__": "versions cli",
}


def in_type_checking(tree):
    """Return the nodes under ``if TYPE_CHECKING:``, imports that no run makes."""
    guards = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    ]
    return {inner for guard in guards for statement in guard.body for inner in ast.walk(statement)}


def imported(name):
    """Return the modules of this package that a module imports, by their names under ``fftfilter.``."""
    tree = MODULES[name]
    is_package = (PACKAGE / name.replace(".", "/")).is_dir()
    home = ["fftfilter", *(name.split(".") if name and is_package else name.split(".")[:-1])]
    origins = []
    for node in set(ast.walk(tree)) - in_type_checking(tree):
        if isinstance(node, ast.Import):
            origins += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = home[: len(home) + 1 - node.level] if node.level else []
            origins += [".".join([*package, *filter(None, [node.module]), alias.name]) for alias in node.names]
    inside = {origin.partition(".")[2] for origin in origins if origin.partition(".")[0] == "fftfilter"}
    # `from . import plan` takes a module, `from .plan import Stage` a name out of one.
    return {origin if origin in MODULES else origin.rpartition(".")[0] for origin in inside}


def layer(name):
    return name.split(".")[0].removesuffix("__init__") or "fftfilter"


def claims(name):
    """Return the kernel files that a module names in a string of its own."""
    strings = [node.value for node in ast.walk(MODULES[name]) if isinstance(node, ast.Constant)]
    return {text for text in strings if isinstance(text, str) and re.fullmatch(r"[\w/]+\.cl", text)}


def owners(file):
    """Return the modules of which one has to claim a kernel file: the one of its name in its place, for most."""
    if file.startswith("fused/"):
        return [name for name in MODULES if name.startswith("fused")]
    return ["program" if file == program.PRELUDE else file.removesuffix(".cl").replace("/", ".")]


@pytest.mark.parametrize("file", FILES)
def test_every_kernel_file_has_its_module(file):
    assert any(file in claims(name) for name in owners(file) if name in MODULES), f"{file} is not claimed"


def test_every_file_that_a_module_claims_exists():
    assert {(name, file) for name in MODULES for file in claims(name)} >= {("steps.load", "staged/steps/load.cl")}
    assert [(name, file) for name in MODULES for file in claims(name) if file not in FILES] == []


@pytest.mark.parametrize("file", [file for file in FILES if "kernel void" in (KERNELS / file).read_text()])
def test_every_kernel_file_says_what_it_launches_reads_and_writes(file):
    comments = "\n".join(re.findall(r"^//(.*)", (KERNELS / file).read_text(), re.MULTILINE))
    assert re.search(r"\bLaunch  ", comments), f"{file} has no label Launch"
    assert re.search(r"\b(Reads|Writes)  ", comments), f"{file} has neither label Reads nor Writes"


@pytest.mark.parametrize("file", FILES)
def test_kernels_speak_opencl(file):
    words = re.findall(r"\b(?:threads?|blocks?|shared memory|warps?)\b", (KERNELS / file).read_text(), re.IGNORECASE)
    assert words == [], "OpenCL says work-item, work-group, local memory, sub-group"


def test_the_table_of_layers_points_down():
    seen = set()
    for name, below in LAYERS.items():
        assert set(below.split()) - {"*"} <= seen, f"{name} may import what comes after it"
        seen.add(name)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down_the_layers(name):
    own = layer(name)
    assert own in LAYERS, f"{name} is new: give it a place in LAYERS"
    order = list(LAYERS)
    allowed = set(order[: order.index(own)] if LAYERS[own] == "*" else LAYERS[own].split()) | {own}
    assert {module for module in imported(name) if layer(module) not in allowed} == set()


def test_imports_are_found_at_all():
    # Relative and absolute ones, of modules and of names, within functions; none for type checkers alone.
    assert imported("steps.mask") >= {"plan"}
    assert imported("images.writing") >= {"images.pnm", "errors", "images.png_writer"}
    assert imported("device") >= {"embedded_pocl", "errors", "program"}
    assert imported("commands.devices") >= {"diagnosis", "errors", "commands.options"}
    assert "device" not in imported("launch")


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("algorithms.")])
def test_algorithms_never_import_each_other(name):
    assert {module for module in imported(name) if layer(module) == "algorithms"} == set()


@pytest.mark.parametrize("name", MODULES)
def test_the_library_never_prints(name):
    calls = [node.func for node in ast.walk(MODULES[name]) if isinstance(node, ast.Call)]
    assert [f"line {call.lineno}" for call in calls if isinstance(call, ast.Name) and call.id == "print"] == []


def test_the_command_line_is_there_before_numpy_pillow_and_pyopencl():
    code = "import sys; from fftfilter.cli import cli; cli.list_commands(None); sys.stdout.write(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    modules = set(run.stdout.split())
    assert modules >= {"fftfilter.commands.bench", "fftfilter.commands.filter"}
    assert modules & {"numpy", "PIL", "pyopencl"} == set()
