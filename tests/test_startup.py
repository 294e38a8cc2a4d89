"""The tricks of a quick start: none changes a result, and none may fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fftfilter
from fftfilter import startup

ROOT = Path(fftfilter.__file__).parents[1]


def run(code):
    """Run Python code in a process of its own; returns what it printed, stderr included."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="lists the libraries that are loaded")
def test_platforms_that_were_loaded_ahead_are_those_of_pyopencl():
    code = """
import pyopencl as cl
from fftfilter import startup
from fftfilter.device import choice, embedded_pocl
def libraries(): return {line.split()[-1] for line in open('/proc/self/maps') if '.so' in line}
embedded_pocl.prepare_environment()
before = libraries()
startup.load_platforms_ahead()
startup.wait_for_platforms()
ahead = libraries()
cl.get_platforms()
print(len(ahead - before) > 0, len(libraries() - ahead), len(choice.all_devices()) > 0)
"""
    assert run(code) == "True 0 True\n"


@pytest.mark.parametrize("library", ["/no/such/library.so", "libc.so.6"])
def test_loading_platforms_ahead_may_fail(library):
    """There is no such library, or it has no OpenCL in it: they are loaded later, as without it."""
    code = f"""
import pyopencl as cl
from fftfilter import startup
from fftfilter.device import choice
cl._cl.__file__ = {library!r}
startup.load_platforms_ahead()
print(len(choice.all_devices()) > 0)
"""
    assert run(code) == "True\n"


def test_devices_wait_for_the_platforms_that_are_being_loaded():
    code = """
import threading, time
from fftfilter.system import starting_threads
starting_threads.acquire()
threading.Thread(target=lambda: (time.sleep(0.2), print("loaded"), starting_threads.release())).start()
from fftfilter.device import choice
choice.all_devices()
print("listed")
"""
    assert run(code).split() == ["loaded", "listed"]


def test_modules_that_are_put_off_are_there_once_they_are_used():
    code = """
from fftfilter import startup
startup.postpone_unused_imports()
import pyopencl, sys
print(type(sys.modules["pyopencl.cltypes"]).__name__)
print(pyopencl.cltypes.float4.itemsize, type(sys.modules["pyopencl.cltypes"]).__name__)
"""
    assert run(code) == "_LazyModule\n16 module\n"


@pytest.mark.parametrize("name", ["calendar", "csv", "socket"])
def test_what_an_import_brings_and_nobody_uses_is_put_off(name):
    """Newer Pythons do not import all of them."""
    code = f"""
from fftfilter import startup
startup.postpone_unused_imports()
import pyopencl, sys
print(type(sys.modules.get({name!r})).__name__ in ("_LazyModule", "NoneType"), end=" ")
import {name}
print({name}.__file__ is not None, type({name}).__name__)
"""
    assert run(code) == "True True module\n"


def test_a_program_is_made_without_the_tools_of_pyopencl():
    code = """
import sys
from fftfilter import startup
startup.postpone_unused_imports()
from fftfilter.device import choice
device = choice.choose("cpu")
program = startup.unbuilt_program(device.context, "kernel void nothing(global float *x) { x[0] = 1; }")
print("pyopencl.tools" in sys.modules, end=" ")
print(program.build([]).kernel_names)
"""
    assert run(code) == "False nothing\n"


@pytest.mark.parametrize("why", ["characterize.has_src_build_cache = lambda device: None", "del cl._cl._Program"])
def test_a_program_is_made_as_usual_where_its_source_is_needed_or_pyopencl_is_another(why):
    code = f"""
import pyopencl as cl
from pyopencl import characterize
from fftfilter import startup
from fftfilter.device import choice
device = choice.choose("cpu")
real = cl.Program
cl.Program = lambda *made_of: len(made_of)
{why}
print(startup.unbuilt_program(device.context, "kernel void nothing() {{}}"))
"""
    assert run(code) == "2\n"


def test_openblas_keeps_the_number_of_threads_that_was_asked_for(monkeypatch):
    code = (
        "import os; from fftfilter import startup; startup.limit_openblas(); print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert run(code) == "1\n"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert run(code) == "3\n"


def test_the_collector_is_paused_and_resumed():
    code = """
import gc
from fftfilter import startup
startup.pause_collector(); print(gc.isenabled())
startup.resume_collector(); print(gc.isenabled())
"""
    assert run(code).split() == ["False", "True"]


# How a process ends

LEAVE = """
import atexit, sys, threading, time
from fftfilter import startup
class Last:
    def __del__(self): print("by the interpreter")
last = Last()
atexit.register(print, "at exit")
sys.stdout.write("said; ")
{before}
startup.leave(7)
"""


def test_a_process_leaves_at_once_with_its_output_and_exit_functions():
    done = subprocess.run(
        [sys.executable, "-c", LEAVE.format(before="")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "said; at exit\n", "")


@pytest.mark.parametrize(
    "before",
    [
        "threading.Thread(target=lambda: time.sleep(0.1)).start()",
        "import os; os.environ['POCL_KERNEL_CACHE'] = '0'",
        "import os; os.close(1)",
    ],
    ids=["a thread", "PoCL without a cache", "nowhere to write"],
)
def test_a_process_with_something_left_to_do_ends_as_others_do(before):
    """``leave`` returns: the interpreter's own end, which comes after this line, reports what is wrong."""
    code = LEAVE.format(before=before) + "\nsys.stderr.write('still here')\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "still here" in done.stderr


def test_a_folder_of_many_small_files_is_seen_before_anything_is_imported(tmp_path):
    def looks(*options):
        return startup.looks_like_many(["fftfilter", "highpass", *options, str(tmp_path), "out"])

    assert not looks()
    for i in range(startup.MANY):
        assert not looks()
        (tmp_path / str(i)).write_bytes(b"")
    assert looks()
    assert not looks("--processes", "1")
    for path in tmp_path.iterdir():
        os.truncate(path, startup.LARGE_FILE + 1)
    assert not looks()
