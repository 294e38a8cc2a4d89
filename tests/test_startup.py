"""The tricks of a quick start: none changes a result, and none may fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
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
    for alone in ("-n", "--dry-run", "--cluster", "--processes"):
        assert not looks(alone)
    assert not startup.looks_like_many(["fftfilter", str(tmp_path), "out"])
    assert not startup.looks_like_many(["fftfilter", "highpass", "out", str(tmp_path)])
    for size, is_many in ((startup.LARGE_FILE, True), (startup.LARGE_FILE + 1, False)):
        for path in tmp_path.iterdir():
            os.truncate(path, size)
        assert looks() == is_many


@pytest.mark.parametrize("count", [1, 2])
def test_the_server_of_processes_starts_where_two_may_run_and_hears_no_signal(monkeypatch, count):
    said = []
    monkeypatch.setattr(startup.system, "startable_processes", lambda wanted: min(wanted, count))
    monkeypatch.setattr(startup.signals, "blocked", lambda: nullcontext(said.append("blocked")))
    monkeypatch.setattr("multiprocessing.forkserver.set_forkserver_preload", said.append)
    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", lambda: said.append("running") or failed())
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    startup.start_forkserver()
    wanted = [["fftfilter.folders.preloaded"], "blocked", "running"] if count == 2 and startup.HAS_FORKSERVER else []
    assert said == wanted
    assert find_spec("fftfilter.folders.preloaded")
    assert os.environ["PYTHONWARNINGS"] == "ignore"


def failed(*_):
    raise OSError


def no_thread(_):
    raise RuntimeError


def test_where_no_thread_can_be_started_nothing_waits_for_it(monkeypatch):
    monkeypatch.setattr("threading.Thread.start", no_thread)
    startup.load_platforms_ahead()
    assert not startup.system.starting_threads.locked()
    startup.wait_for_platforms()
    with startup.importing("fftfilter.text"):
        pass


def test_a_module_is_there_once_what_it_was_imported_beside_is_done(tmp_path, monkeypatch):
    (tmp_path / "imported_beside.py").write_text("import time\ntime.sleep(0.02)\nis_whole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with startup.importing("imported_beside"):
        pass
    assert sys.modules.pop("imported_beside").is_whole


# The program: what it calls, in this process

STEPS = "pause_collector", "postpone_unused_imports", "start_forkserver", "limit_openblas", "leave"


@pytest.fixture
def program(monkeypatch):
    """The module of the program, whose steps are noted instead of done; it leaves this process as it is."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.delitem(sys.modules, "fftfilter.__main__", raising=False)
    program = import_module("fftfilter.__main__")
    assert os.environ["PYTHONSAFEPATH"] == "1"
    signal.signal(signal.SIGINT, before)
    done = []
    for name in STEPS:
        monkeypatch.setattr(startup, name, lambda *given, name=name: done.append((name, *given)))
    for name in ("end_by_exception", "end_quietly"):
        monkeypatch.setattr(program.signals, name, lambda name=name: done.append((name,)))
    return program, done


@pytest.mark.parametrize("is_folder", [True, False])
@pytest.mark.parametrize("code", [0, 3, "text"])
def test_the_program_prepares_runs_the_command_line_and_leaves_with_its_exit_code(
    program, monkeypatch, code, is_folder
):
    def cli(**given):
        done.append(given)
        raise SystemExit(code)

    module, done = program
    monkeypatch.setattr("fftfilter.cli.cli", cli)
    cli.name = "fftfilter"
    monkeypatch.setattr(startup, "looks_like_many", lambda arguments: is_folder and arguments is sys.argv)
    with pytest.raises(SystemExit) as end:
        module.main()
    assert end.value.code == code
    assert done == [
        ("pause_collector",),
        ("postpone_unused_imports",),
        ("end_by_exception",),
        *([("start_forkserver",)] if is_folder else []),
        ("limit_openblas",),
        {"prog_name": "fftfilter"},
        ("end_quietly",),
        *([] if code == "text" else [("leave", code)]),
    ]


def test_a_signal_before_the_command_line_runs_is_said_and_has_its_exit_code(program, monkeypatch, capsys):
    def interrupted(_):
        raise module.signals.TerminatedError

    module, done = program
    monkeypatch.setattr(startup, "looks_like_many", interrupted)
    with pytest.raises(SystemExit) as end:
        module.main()
    assert (end.value.code, capsys.readouterr().err) == (143, "\nfftfilter: terminated\n")
    assert done[-2:] == [("end_quietly",), ("leave", 143)]
