"""The ground plan: rooms and what they may import, their maps, twin files, labels, and what is imported when."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import fftfilter
from fftfilter import images, transfer
from fftfilter.device import opencl

PACKAGE = Path(fftfilter.__file__).parent
TESTS = Path(__file__).parent
KERNELS = opencl.folder()
FILES = sorted(file.relative_to(KERNELS).as_posix() for file in KERNELS.rglob("*.cl"))


def module_name(file):
    """Return a file's name as an import has it without ``fftfilter.``; that of the package itself is fftfilter."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".") or "fftfilter"


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
ALL_ABOVE = "*"

# What a room may import beside itself, of those above it in this table; fftfilter is the package's own __init__, with
# the version. Imports for type checkers alone may be of any room above it.
ROOMS = {
    "fftfilter": "",
    "errors": "fftfilter",
    "signals": "",
    "system": "errors",
    "text": "errors",
    "output": "errors system",
    "arrays": "errors output",
    "files": "fftfilter errors signals system",
    "images": "fftfilter errors system text files",
    "region": "errors output arrays files images",
    "transfer": "fftfilter errors output arrays text files images",
    "device": "fftfilter errors signals system output arrays transfer",
    "staged": "errors output arrays transfer device",
    "fused": "errors output arrays transfer device",
    "plain": "errors system output arrays transfer",
    "device_choice": "errors system transfer device staged fused plain",
    "memory": "system output transfer staged device_choice",
    "missing": "output arrays region transfer plain device_choice",
    "transforms": "errors arrays staged fused plain device_choice",
    "analysis": "errors text output arrays region transfer transforms missing",
    "filters": "errors system memory output arrays region transfer device staged fused plain device_choice "
    "missing transforms analysis",
    "imagej_filter": "errors memory output arrays transfer filters",
    "descreen_filter": "errors output arrays transfer analysis filters",
    "calls": "errors region transfer device_choice analysis filters imagej_filter descreen_filter",
    "preview": "errors output arrays region transfer missing analysis filters",
    "dask": "errors calls",
    "napari": "errors output arrays region transfer analysis filters descreen_filter preview",
    "work": (
        "fftfilter errors system memory text output arrays region transfer device staged fused plain device_choice "
        "files images missing filters imagej_filter descreen_filter analysis preview"
    ),
    "folders": (
        "fftfilter errors signals system memory text output arrays transfer analysis preview device "
        "device_choice files images work"
    ),
    "explore": "errors system memory text output arrays region transfer analysis preview device files images filters "
    "missing work",
    "bench": ALL_ABOVE,
    "commands": ALL_ABOVE,
    "cli": "fftfilter errors signals device_choice files commands",
    "__main__": "signals system files cli",
}
# All others are free of OpenCL.
WITH_OPENCL = {"device", "staged", "fused", "bench"}
# Folders whose modules are found by looking into them; all others have a map.
FOUND = {"commands"}


def room(name):
    return name.partition(".")[0]


@cache
def tree(name):
    """Return the syntax tree of a module."""
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def for_type_checkers(nodes):
    """Return the nodes under ``if TYPE_CHECKING:``, imports that no run makes."""
    guards = [node for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")]
    return {inner for guard in guards for statement in guard.body for inner in ast.walk(statement)}


@cache
def origins(name, *, typed=False):
    """Return what a module imports as absolute names, within functions, too; for ``typed`` also for type checkers."""
    nodes = list(ast.walk(tree(name)))
    is_package = MODULES[name].name == "__init__.py"
    path = [] if name == "fftfilter" else name.split(".")
    home = ["fftfilter", *(path if is_package else path[:-1])]
    found = []
    for node in set(nodes) - (set() if typed else for_type_checkers(nodes)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = home[: len(home) + 1 - node.level] if node.level else []
            found += [".".join([*package, *filter(None, [node.module]), alias.name]) for alias in node.names]
    return found


def imported(name, *, typed=False):
    """Return the modules of this package that a module imports."""
    inside = {
        origin.partition(".")[2] for origin in origins(name, typed=typed) if origin.partition(".")[0] == "fftfilter"
    }
    # `from . import plan` takes a module, `from .plan import Launch` a name out of one.
    return {origin if origin in MODULES else origin.rpartition(".")[0] or "fftfilter" for origin in inside}


def test_imports_are_found_at_all():
    # Relative and absolute ones, of modules and of names, within functions; none for type checkers alone.
    assert imported("staged.pipeline") >= {"staged.steps"}
    assert imported("staged.algorithms") == {"errors", "staged.steps"}
    assert imported("transfer.product") >= {"errors", "transfer.units", "transfer.grid"}
    assert imported("device.selftest") >= {"fftfilter", "transfer", "transfer.reference", "device.launcher"}
    assert imported("output.ramp") == {"output.modes", "output.rounding", "system"}
    assert "pyopencl" in {room(origin) for origin in origins("device.opencl")}


# Rooms


def test_the_table_has_every_room_and_points_down():
    assert set(ROOMS) == {room(name) for name in MODULES}
    above = set()
    for name, allowed in ROOMS.items():
        assert set(allowed.split()) - {ALL_ABOVE} <= above, f"{name} may import what comes after it"
        above.add(name)


def test_a_room_imports_what_the_table_allows():
    order = list(ROOMS)
    above = {name: order[: order.index(name)] for name in ROOMS}
    may = {name: {name, *(above[name] if text == ALL_ABOVE else text.split())} for name, text in ROOMS.items()}
    seen = {(module, other) for module in MODULES for other in imported(module)}
    assert {(module, other) for module, other in seen if room(other) not in may[room(module)]} == set()


def test_imports_for_type_checkers_point_down():
    """But for those of the package itself, which are its public names."""
    order = list(ROOMS)
    seen = {(name, other) for name in MODULES if name != "fftfilter" for other in imported(name, typed=True)}
    assert {(name, other) for name, other in seen if order.index(room(other)) > order.index(room(name))} == set()


def test_no_modules_import_each_other_in_a_circle():
    graph = TopologicalSorter({name: imported(name) - {name} for name in MODULES})
    try:
        graph.prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_only_some_rooms_know_opencl():
    users = {name for name in MODULES if "pyopencl" in {room(origin) for origin in origins(name)}}
    assert {name for name in users if room(name) not in WITH_OPENCL} == set()
    assert {room(name) for name in users} >= {"device", "staged"}


FOLDERS = {file.parent.relative_to(PACKAGE).as_posix() for file in PACKAGE.glob("*/**/*.py")}


@pytest.mark.parametrize("folder", sorted(FOLDERS - FOUND))
def test_the_map_of_a_room_names_all_of_its_modules_and_no_others(folder):
    text = ast.get_docstring(tree(folder.replace("/", "."))) or ""
    # `plan.py   launches as data` and `steps/   one file a step`; also a file within a line.
    named = {*re.findall(r"\b(\w+)\.py\b", text), *re.findall(r"^ *(\w+)/? {2,}\S", text, re.MULTILINE)}
    files = {path.stem for path in (PACKAGE / folder).glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(files | {path.parent.name for path in (PACKAGE / folder).glob("*/__init__.py")})


def test_the_ground_plan_that_is_drawn_has_the_rooms_of_the_table_above():
    text = (TESTS.parent / "docs/architecture.md").read_text(encoding="utf-8")
    drawing, table = text.partition("## The rooms")[2].partition("\n## ")[0].split("Beside these:")
    # What a room is for stands to the right of the drawing, and behind the first column of the table.
    drawn = [name for line in drawing.splitlines() if line[:4] == "    " for name in re.findall(r"\w+", line[:58])]
    listed = [name for row in re.findall(r"^\| ([a-z_, ]+) \|", table, re.MULTILINE) for name in row.split(", ")]
    named = [*drawn, *listed]
    assert sorted(named) == sorted({*ROOMS, "shell", "Python", "room"} - {"fftfilter"})


def test_every_room_has_tests_of_its_own():
    rooms = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert len(rooms) >= 10
    assert [name for name in rooms if not list((TESTS / name).rglob("test_*.py"))] == []


def test_everyday_commands_do_without_benchmarks():
    others = [name for name in MODULES if room(name) in ("commands", "explore") and "bench" not in name.split(".")]
    assert {(name, each) for name in others for each in imported(name) if room(each) == "bench"} == set()


def test_the_library_never_prints():
    calls = [(name, node.func) for name in MODULES for node in ast.walk(tree(name)) if isinstance(node, ast.Call)]
    printing = [(name, call.lineno) for name, call in calls if isinstance(call, ast.Name) and call.id == "print"]
    assert printing == []


# Kernels


@cache
def claims(name):
    """Return the kernel files that a module names in a string of its own."""
    strings = [node.value for node in ast.walk(tree(name)) if isinstance(node, ast.Constant)]
    return {text for text in strings if isinstance(text, str) and re.fullmatch(r"[\w/]+\.cl", text)}


def owners(file):
    """Return the modules of which one has to claim a kernel file that no other file needs.

    A form of the fused engine has its files in a folder of the same place.
    """
    if file == opencl.PRELUDE:
        return ["device.opencl"]
    if file.startswith("fused/"):
        form = ".".join(file.split("/")[:2])
        return [name for name in MODULES if name.startswith(f"{form}.")]
    if file.startswith("missing/"):
        return ["missing"]
    if file.startswith("volumes/"):
        return ["filters.gpu_volumes"]
    if file.startswith("staged/algorithms/"):
        return ["staged.algorithms"]
    return ["staged.steps"]


def test_every_kernel_file_has_its_module():
    claimed = {file for file in FILES for name in owners(file) if name in MODULES and file in claims(name)}
    assert sorted({*opencl.with_needs(sorted(claimed)), opencl.PRELUDE}) == FILES


def test_a_kernel_needs_files_that_define_what_it_says():
    """Each line ``// needs:`` names a file of which a name is used; these two tell the compiler something instead."""
    of_all = {"fused/cpu/builtins.cl", "fused/gpu/attributes.cl"}
    code = {file: re.sub(r"//.*", "", (KERNELS / file).read_text()) for file in FILES}
    definition = r"#define (\w+)|\b(\w+)\([^;{}()]*\)\s*\{|^\} (\w+);|!defined (\w+)"
    defined = {file: set().union(*re.findall(definition, text, re.MULTILINE)) for file, text in code.items()}
    needed = {(file, each) for file in FILES for each in opencl.needs(file)}
    assert len(needed) > 50
    assert {(f, each) for f, each in needed if each not in FILES} == set()
    used = {file: set(re.findall(r"\w+", text)) for file, text in code.items()}
    assert {(f, each) for f, each in needed if not (defined[each] & used[f] or each in of_all)} == set()


def test_every_file_that_a_module_claims_exists():
    claimed = {(name, file) for name in MODULES for file in claims(name)}
    assert ("staged.steps", "staged/steps/load.cl") in claimed
    assert {(name, file) for name, file in claimed if file not in FILES} == set()


def test_every_kernel_file_says_what_it_launches_reads_and_writes():
    texts = {file: (KERNELS / file).read_text() for file in FILES}
    comments = {
        file: "\n".join(re.findall(r"^//(.*)", text, re.MULTILINE))
        for file, text in texts.items()
        if "kernel void" in text
    }
    assert len(comments) > 30
    assert [file for file, said in comments.items() if not re.search(r"\bLaunch  ", said)] == []
    assert [file for file, said in comments.items() if not re.search(r"\b(Reads|Writes)  ", said)] == []


def test_kernels_speak_opencl():
    """OpenCL says work-item, work-group, local memory, sub-group."""
    other = re.compile(r"\b(?:threads?|blocks?|shared memory|warps?)\b", re.IGNORECASE)
    assert {file: words for file in FILES if (words := other.findall((KERNELS / file).read_text()))} == {}


def test_every_shape_has_its_kernel():
    from fftfilter.transfer.shapes import SHAPES

    text = (KERNELS / "shapes.cl").read_text()
    functions = re.findall(r"^static inline GAIN (\w+)\(", text, re.MULTILINE)
    assert functions == [name for name, shape in SHAPES.items() if shape.gain]
    numbered = re.findall(r"each\((\d+), (\w+)\)", text)
    assert numbered == [(str(i), name) for i, (name, shape) in enumerate(SHAPES.items()) if shape.gain]


# What is imported when


@pytest.mark.parametrize("package", [fftfilter, images, transfer], ids=lambda package: package.__name__)
def test_names_that_are_imported_on_first_use_are_those_that_type_checkers_see(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = [each for each in tree.body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"]
    typed = {
        alias.asname or alias.name: import_module(f".{node.module}", package.__name__)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert package.__all__ == [*typed]
    assert len(package.__all__) > 10
    for name, module in typed.items():
        package.__dict__.pop(name, None)
        assert getattr(package, name) is getattr(module, name)
    assert not hasattr(package, "unknown")


def test_the_package_lists_what_is_meant_to_be_used():
    assert dir(fftfilter) == sorted([*fftfilter.__all__, "transfer", "__version__"])


def test_the_command_line_is_there_before_numpy_pillow_and_pyopencl():
    code = (
        "import sys; from fftfilter.cli import cli; [cli.get_command(None, each) for each in cli.list_commands(None)]"
    )
    code += "; sys.stdout.write(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    modules = set(run.stdout.split())
    assert modules >= {"fftfilter.commands.bench", "fftfilter.commands.filters", "fftfilter.commands.spectrum"}
    assert modules & {"numpy", "PIL", "pyopencl"} == set()


def test_a_filter_is_described_before_numpy_and_pyopencl():
    """The command line checks its options before it loads anything slow."""
    code = """
import sys
from fftfilter import transfer as H
H.lowpass("8px", shape="butterworth") * H.bandstop(30, 34)
from fftfilter.output import modes
modes.parse_scale("0:40")
sys.stdout.write(' '.join(sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert set(run.stdout.split()) & {"numpy", "pyopencl"} == set()
