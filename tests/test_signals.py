"""What signals do within each part of the program, and handlers that were there before."""

from __future__ import annotations

import signal
import threading

import pytest

from fftfilter import signals
from tests.files.helpers import python
from tests.helpers import needs_posix

EACH = pytest.mark.parametrize("number", signals.ALL)


@pytest.fixture(autouse=True)
def _handlers_stay():
    """What handles signals in this process is the same after each test."""
    before = {number: signal.getsignal(number) for number in signals.ALL}
    yield
    signals.arrived()
    for number, handler in before.items():
        signal.signal(number, handler)


def error_of(number):
    return KeyboardInterrupt if number == signal.SIGINT else signals.TerminatedError


@EACH
def test_a_signal_raises_what_says_how_the_program_ends(number):
    signals.end_by_exception()
    with pytest.raises(KeyboardInterrupt) as raised:
        signal.raise_signal(number)
    assert type(raised.value) is error_of(number)
    wanted = ("interrupted", 130) if number == signal.SIGINT else ("terminated", 143)
    assert signals.ending_by(raised.value) == signals.ending(number) == wanted


@EACH
def test_the_first_signal_asks_and_the_second_one_raises(number):
    asked = []
    before = signal.getsignal(number)
    with signals.asking_first(asked.append):
        signal.raise_signal(number)
        with pytest.raises(error_of(number)):
            signal.raise_signal(number)
    assert asked == [number]
    assert signal.getsignal(number) == before


@EACH
def test_a_signal_that_is_held_comes_at_the_end_once(number):
    signals.end_by_exception()
    holding = signals.held()
    holding.__enter__()
    signal.raise_signal(number)
    signal.raise_signal(number)
    with pytest.raises(error_of(number)):
        holding.__exit__(None, None, None)
    with signals.held():
        pass


@needs_posix
def test_within_a_block_signals_wait_also_if_something_lets_them_through(monkeypatch):
    """As the start of multiprocessing's tracker of resources does."""
    asked = []
    monkeypatch.setattr(
        "multiprocessing.resource_tracker.ensure_running",
        lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM}),
    )
    with signals.asking_first(asked.append):
        with signals.blocked():
            assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) >= {*signals.ALL}
            signal.raise_signal(signal.SIGTERM)
            assert asked == []
        assert asked == [signal.SIGTERM]
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {*signals.ALL}


@EACH
def test_what_is_to_be_removed_goes_before_a_signal_ends_the_process_at_once(number, monkeypatch, capfd):
    done = []
    monkeypatch.setattr("os._exit", done.append)
    with signals.ending_at_once(lambda: done.append("cleaned")):
        signal.raise_signal(number)
    said, code = signals.ending(number)
    assert (done, capfd.readouterr().err) == (["cleaned", code], f"fftfilter: {said}\n")


@EACH
def test_a_signal_that_is_ignored_stays_so(number):
    signal.signal(number, signal.SIG_IGN)
    signals.end_by_exception()
    with signals.asking_first(print):
        signal.raise_signal(number)
    signals.end_quietly()
    assert signal.getsignal(number) == signal.SIG_IGN


@EACH
def test_at_the_end_a_signal_says_nothing(number):
    signals.end_by_exception()
    signals.end_quietly()
    assert signal.getsignal(number) == signal.SIG_DFL


def test_another_thread_leaves_the_handlers_alone():
    found = []

    def work():
        with signals.asking_first(print), signals.held():
            found.append([signal.getsignal(number) for number in signals.ALL])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [[signal.getsignal(number) for number in signals.ALL]]


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
