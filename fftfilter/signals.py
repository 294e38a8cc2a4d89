"""Ctrl-C (SIGINT), SIGTERM and SIGHUP: all end the program in the same way.

SIGHUP, which a terminal sends when it is closed, is taken as SIGTERM; Ctrl-C has an exit code of its own.

A signal raises an exception in the main thread, which removes what is half written on its way out. A folder's run asks
for its end with the first, and raises at the second. Processes that a run starts hear none of them: a terminal and a
service manager send them to all, and this process ends the others. A signal that is ignored when the program
starts, as ``nohup`` does, stays ignored; a program in C that has Python in it keeps a handler that it had before.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ALL: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
if sys.platform != "win32":
    ALL += (signal.SIGHUP,)
SECONDS_TO_END = 5.0
_timers: list[threading.Timer] = []


class TerminatedError(KeyboardInterrupt):
    """SIGTERM or SIGHUP, raised as an interrupt."""


def ending(number: int) -> tuple[str, int]:
    """Return the message and the exit code for a signal."""
    return ("interrupted", 130) if number == signal.SIGINT else ("terminated", 143)


def ending_by(interrupt: BaseException) -> tuple[str, int]:
    """Return the message and the exit code for an exception that a signal raised."""
    return ending(signal.SIGTERM if isinstance(interrupt, TerminatedError) else signal.SIGINT)


def end_quietly() -> None:
    """Let a signal end this process without a message, when all is done."""
    _handle(lambda _: signal.SIG_DFL)


def end_by_exception() -> None:
    """Let a signal raise KeyboardInterrupt or TerminatedError."""
    _handle(lambda number: signal.default_int_handler if number == signal.SIGINT else _terminate)


def line_of(said: str, code: int) -> str:  # noqa: ARG001  for others
    """Return the line that ends a program."""
    return f"fftfilter: {said}\n"


@contextmanager
def asking_first(ask: Callable[[int], None], line: Callable[[str, int], str] = line_of) -> Iterator[None]:
    """Within it the first signal calls ``ask`` with its number, and the next one raises.

    What then hangs, such as a thread that waits for a server, is not waited for longer than some seconds: until
    :func:`arrived` is called.
    """

    def once(number: int, _: FrameType | None) -> None:
        _handle(lambda _: again)
        ask(number)

    def again(number: int, _: FrameType | None) -> None:
        end_by_exception()
        _timers.append(timer := threading.Timer(SECONDS_TO_END, _end, (number, line)))
        timer.daemon = True
        with suppress(RuntimeError):  # no more threads can be started
            timer.start()
        signal.raise_signal(number)

    with _handled_by(once):
        yield


def arrived() -> None:
    """Note that the exception of a signal has come to where the program ends, past all that may hang."""
    while _timers:
        _timers.pop().cancel()


@contextmanager
def ending_at_once(
    clean: Callable[[], None] = lambda: None, line: Callable[[str, int], str] = line_of
) -> Iterator[None]:
    """Within it a signal ends the process, whatever its threads do; ``clean`` removes what is not to stay behind."""
    with _handled_by(lambda number, _: _end(number, line, clean)):
        yield


def _end(number: int, line: Callable[[str, int], str], clean: Callable[[], None] = lambda: None) -> None:
    from select import select

    said, code = ending(number)
    with suppress(OSError):  # standard error may block, or be locked by what this interrupted
        if sys.platform == "win32" or select([], [2], [], 0.3)[1]:
            os.write(2, line(said, code).encode())
    clean()
    os._exit(code)


@contextmanager
def held() -> Iterator[None]:
    """Within it a signal waits for the end: pyopencl's import aborts the process if it is left by an exception."""
    came: list[int] = []
    with _handled_by(lambda number, _: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def blocked() -> Iterator[None]:
    """Let processes and threads that start within it, and what they start later, hear no signal; here it waits."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
    try:
        ensure_running()  # unmasks some of them, if not now then when the first process starts
        signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Within it signals call a function, if this is the thread that signals are handled in."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ALL}
    _handle(lambda _: handler)
    try:
        yield
    finally:
        for number, own in before.items():
            if own is not None:
                signal.signal(number, own)


def _handle(choose: Callable[[int], signal._HANDLER]) -> None:
    for number in ALL:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, choose(number))


def _terminate(_: int, __: FrameType | None) -> None:
    raise TerminatedError
