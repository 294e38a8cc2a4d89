"""The tricks of a quick start: none changes a result, and none may fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import fftfilter
from fftfilter import system

ROOT = Path(fftfilter.__file__).parents[1]


def run(code):
    """Run Python code in a process of its own; returns what it printed, stderr included."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout


def test_openblas_keeps_the_number_of_threads_that_was_asked_for(monkeypatch):
    code = "import os; from fftfilter import system; system.limit_openblas(); print(os.environ['OPENBLAS_NUM_THREADS'])"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert run(code) == "1\n"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert run(code) == "3\n"


def test_the_collector_is_paused_and_resumed():
    code = """
import gc
from fftfilter import system
system.pause_collector(); print(gc.isenabled())
system.resume_collector(); print(gc.isenabled())
"""
    assert run(code).split() == ["False", "True"]


# How a process ends

LEAVE = """
import atexit, sys, threading, time
from fftfilter import system
class Last:
    def __del__(self): print("by the interpreter")
last = Last()
atexit.register(print, "at exit")
sys.stdout.write("said; ")
{before}
system.leave(7)
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


# The program: what it calls, in this process

STEPS = "pause_collector", "limit_openblas", "leave"


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
        monkeypatch.setattr(system, name, lambda *given, name=name: done.append((name, *given)))
    for name in ("end_by_exception", "end_quietly"):
        monkeypatch.setattr(program.signals, name, lambda name=name: done.append((name,)))
    return program, done


@pytest.mark.parametrize("code", [0, 3, "text"])
def test_the_program_prepares_runs_the_command_line_and_leaves_with_its_exit_code(program, monkeypatch, code):
    def cli(**given):
        done.append(given)
        raise SystemExit(code)

    module, done = program
    monkeypatch.setattr("fftfilter.cli.cli", cli)
    cli.name = "fftfilter"
    with pytest.raises(SystemExit) as end:
        module.main()
    assert end.value.code == code
    assert done == [
        ("pause_collector",),
        ("limit_openblas",),
        ("end_by_exception",),
        {"prog_name": "fftfilter"},
        ("end_quietly",),
        *([] if code == "text" else [("leave", code)]),
    ]
