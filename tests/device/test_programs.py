"""OpenCL programs: what a compiler's message names, and what is built once."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest

from fftfilter.device import opencl
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.errors import BuildError
from tests.helpers import needs_pocl_wheel


def test_a_kernel_that_does_not_compile_names_its_file_and_line():
    """A define that a file needs is missing: the first line that has it is named, though another file stands before."""
    lines = opencl.source("staged/steps/load.cl").splitlines()
    line = next(i for i, each in enumerate(lines, start=1) if "LOAD_PIXEL" in each and not each.startswith("//"))
    said = rf"cannot build staged/steps/magnitude.cl, staged/steps/load.cl: .*load.cl:{line}:\d+: .*LOAD_PIXEL.*; see "
    with pytest.raises(BuildError, match=said):
        choose().program(("staged/steps/magnitude.cl", "staged/steps/load.cl"), ("REAL=float",))


def test_a_program_is_built_once():
    device = choose()
    names = ("staged/steps/magnitude.cl",)
    assert device.program(names, ("REAL=float",)) is device.program(names, ("REAL=float",))
    assert device.program(names, ("REAL=float",)) is not device.program(names, ("REAL=double",))


def test_few_programs_are_kept_those_asked_for_last(monkeypatch):
    device = Device(0, choose().cl_device)
    monkeypatch.setattr("fftfilter.device.opencl.build", lambda *_: object())
    monkeypatch.setattr("fftfilter.device.opencl.MOST_PROGRAMS", 2)
    first, second = (device.program((name,), ()) for name in ("first", "second"))
    assert device.program(("first",), ()) is first
    device.program(("third",), ())
    assert device.program(("first",), ()) is first
    assert device.program(("second",), ()) is not second


def test_arguments_are_those_that_the_file_declares():
    assert opencl.declared("fused/gpu/rows.cl", "gpu_rows") == ("spectrum", "image", "tables", "largest", "support")


def test_a_struct_has_the_fields_that_the_file_declares():
    found = opencl.record("fused/gpu/generic/side.cl", "sizes_t")
    assert found.names == ("height", "width", "pictures", "tile", "needs_two_inverses", "rows", "columns")
    assert found["rows"]["radices"].shape == (5,)
    assert found.itemsize == 4 * (5 + 2 * 13)
    assert opencl.record("fused/cpu/plain_fft/layout.cl", "layout_t")["source_step"] == np.uint64


def test_files_follow_the_prelude_each_with_its_name():
    text = opencl.join(("staged/steps/load.cl", "staged/steps/magnitude.cl"))
    assert text.startswith(f'#line 1 "{opencl.PRELUDE}"\n')
    assert text.index('#line 1 "staged/steps/load.cl"\n') < text.index('#line 1 "staged/steps/magnitude.cl"\n')


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("warning: unused\n\n  load.cl:7:3: error: no type\nerror: 2 errors", "load.cl:7:3: error: no type"),
        ("ERROR: ptxas failed\nmore", "ERROR: ptxas failed"),
        ("\n first\nsecond", "first"),
        ("", "no build log"),
    ],
)
def test_of_a_build_log_the_first_error_is_shown(log, line):
    assert opencl.first_error(log) == line


def test_files_come_after_those_that_they_need_each_once():
    names = opencl.with_needs(["fused/gpu/rows.cl", "fused/gpu/columns.cl"])
    assert len(names) == len(set(names)) > 8
    assert [(name, each) for i, name in enumerate(names) for each in opencl.needs(name) if each not in names[:i]] == []


class Unbuilt:
    """A program that notes how it is built, and fails with a log if there is one."""

    def __init__(self, log=""):
        self.log, self.arguments = log, None

    def build(self, arguments):
        warnings.warn("kernel was vectorized", cl.CompilerWarning, stacklevel=1)
        self.arguments = arguments
        if self.log:
            raise cl.RuntimeError(self.log)


@pytest.mark.filterwarnings("error")
def test_a_program_is_built_with_its_defines_and_options_while_the_user_is_told(monkeypatch):
    told, program = [], Unbuilt()
    monkeypatch.setattr(opencl, "while_building", lambda: told.append("building") or nullcontext())
    monkeypatch.setattr(cl, "Program", lambda _, text: told.append(text) or program)
    built = opencl.build(None, ("staged/steps/magnitude.cl",), ("REAL=float", "N=2"), ("-own",))
    assert built is program
    assert program.arguments == ["-cl-std=CL1.2", "-w", "-D REAL=float", "-D N=2", "-own"]
    assert told == [opencl.join(("staged/steps/magnitude.cl",)), "building"]


def test_a_device_that_cannot_build_is_named_with_the_files_and_the_first_error(monkeypatch):
    monkeypatch.setattr(cl, "Program", lambda *_: Unbuilt("x\n a.cl:1:2: error: no type\nmore"))
    context = SimpleNamespace(devices=[SimpleNamespace(name=" A card ")])
    said = r"^A card cannot build a.cl, b.cl: a.cl:1:2: error: no type; see 'fftfilter devices' for what else there is$"
    monkeypatch.setattr(opencl, "join", lambda _: "")
    with pytest.raises(BuildError, match=said):
        opencl.build(context, ("a.cl", "b.cl"), ())


ONE_FILTER = "import numpy as np, fftfilter; print(fftfilter.highpass(np.eye(64), device='cpu').shape)"


@needs_pocl_wheel
def test_a_cache_that_pyopencl_would_keep_in_sqlite_is_not_opened(tmp_path):
    """It may be locked or damaged. Nor is SQLite needed, without which some build Python."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def run(code, **own):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment | own, capture_output=True, text=True, timeout=100, check=False)
        assert (done.stdout, done.stderr) == ("(64, 64)\n", "")

    run(ONE_FILTER, PYOPENCL_NO_CACHE="0")
    (database,) = tmp_path.glob("pytools/*.sqlite")
    database.write_bytes(b"SQLite format 3\0" + bytes(range(256)))
    run(ONE_FILTER)
    run("import sys; sys.modules['_sqlite3'] = None; " + ONE_FILTER)
    assert database.stat().st_size == 272
