"""What a terminal shows while programs are compiled."""

from __future__ import annotations

import io
import sys
import time
from contextlib import nullcontext

import pytest

from fftfilter.commands.options import tell_of_compiling
from fftfilter.device import opencl
from fftfilter.files import messages


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _nobody_is_told(monkeypatch):
    monkeypatch.setattr(opencl, "while_building", nullcontext)


def test_a_line_is_shown_while_it_takes_long_and_taken_away(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr(messages, "COMPILING_SECONDS", 0)
    tell_of_compiling(quiet=False)
    with opencl.while_building():
        while not sys.stderr.getvalue():
            time.sleep(0.001)
    assert sys.stderr.getvalue() == "\r\x1b[K" + messages.COMPILING + "\r\x1b[K"


def test_nothing_is_said_of_what_was_compiled_before(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr(messages, "COMPILING_SECONDS", 1000)
    tell_of_compiling(quiet=False)
    with opencl.while_building():
        pass
    assert messages.COMPILING not in sys.stderr.getvalue()


def test_no_line_is_shown_if_quiet_or_without_a_terminal(monkeypatch):
    for stream, quiet in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        tell_of_compiling(quiet=quiet)
        assert opencl.while_building is nullcontext
