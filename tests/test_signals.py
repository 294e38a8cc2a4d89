"""Handlers of signals that were there before."""

from __future__ import annotations

import pytest

from tests.files.helpers import python


def test_a_handler_stays_that_is_not_pythons():
    """A program in C has it before it starts Python."""
    pytest.importorskip("resource")  # whose systems find the C library without a name
    code = """
import ctypes, signal, sys
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: print("C has", number, flush=True))
ctypes.CDLL(None).signal(signal.SIGTERM, handler)
for name in ("signal", "_signal"):
    del sys.modules[name]
import signal  # asks for the handlers again, as Python does at its start
from fftfilter import signals
signals.end_by_exception()
with signals.held(), signals.asking_first(print):
    signal.raise_signal(signal.SIGTERM)
signals.end_quietly()
print(signal.getsignal(signal.SIGTERM))
"""
    done = python(code)
    assert done.stdout.decode() == "C has 15\nNone\n", done.stderr.decode()
