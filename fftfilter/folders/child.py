"""Processes that this program starts and talks with: pickled messages through their standard input and output.

Spawned, never forked, since OpenCL does not survive a fork.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, cast

from ..errors import ProcessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SECONDS_TO_END = 10
# Modules are found where this process finds them; the program itself is not loaded again.
_PROGRAM = (
    "import gc, sys; gc.disable(); count = int(sys.argv[1]) + 2; arguments = sys.argv[2:count]; "
    "sys.path[:] = sys.argv[count:]; from {} import serve; serve(*arguments)"
)


class Child:
    """A process that runs ``serve(*arguments)`` of a module, which makes a :class:`Parent` first."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        variables: Mapping[str, str] | None = None,
        *,
        keep: Sequence[int] = (),
    ) -> None:
        """Start it; ``variables`` are set unless the environment has them, ``keep`` are open files that it shares.

        Raises ProcessError.
        """
        try:
            with _no_interrupts():
                self._popen = subprocess.Popen(
                    [sys.executable, "-c", _PROGRAM.format(module), str(len(arguments)), *arguments, *sys.path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # NumPy's linear algebra, which nothing here uses, starts workers that wait busily.
                    env={"OPENBLAS_NUM_THREADS": "1", **(variables or {}), **os.environ},
                    pass_fds=keep,
                )
        except OSError as error:
            cause = (error.strerror or str(error)).lower()
            raise ProcessError(f"{sys.executable}: cannot be started once more: {cause}; give --processes 1") from error
        self.pid = self._popen.pid
        self._to, self._from = cast("IO[bytes]", self._popen.stdin), cast("IO[bytes]", self._popen.stdout)

    def listen(self, hear: Callable[[Any], object]) -> None:
        """Call ``hear`` with all that it says, and with None at its end, in a thread of its own."""
        threading.Thread(target=self._listen, args=(hear,), daemon=True).start()

    def _listen(self, hear: Callable[[Any], object]) -> None:
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                hear(pickle.load(self._from))  # noqa: S301  from this program
        hear(None)

    def send(self, what: object) -> None:
        """Send a message; that the process died is found when it is listened to."""
        with suppress(OSError):
            self._to.write(pickle.dumps(what, pickle.HIGHEST_PROTOCOL))
            self._to.flush()

    def exit_code(self) -> int | None:
        """Return how a process ended that says nothing any more, None if it does not end."""
        with suppress(subprocess.TimeoutExpired):
            return self._popen.wait(_SECONDS_TO_END)
        return None

    def hang_up(self) -> None:
        """Tell it that nothing more is coming."""
        with suppress(OSError):
            self._to.close()

    def close(self) -> None:
        """Let it end."""
        self.hang_up()
        if self.exit_code() is None:
            self._popen.kill()
            self._popen.wait()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Start processes that leave Ctrl-C, which a terminal sends to all, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Parent:
    """The process that started this one; ``inbox`` has its messages, and None when it is gone or wants no more."""

    def __init__(self, woken: Callable[[], object] = lambda: None) -> None:
        """Listen, in a thread of its own; ``woken`` is called for each message."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        self._woken = woken
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a driver prints is no message
        threading.Thread(target=self._listen, daemon=True).start()
        gc.freeze()  # what modules made while they loaded is no garbage
        gc.enable()

    def _listen(self) -> None:
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self._put(pickle.load(sys.stdin.buffer))  # noqa: S301  from the parent
        self._put(None)
        time.sleep(_SECONDS_TO_END)
        leave()  # from a file that never comes

    def _put(self, message: object) -> None:
        self.inbox.put(message)
        self._woken()

    def tell(self, what: object) -> None:
        """Send a message; ends the process if nobody is there to hear it."""
        try:
            self._out.write(pickle.dumps(what, pickle.HIGHEST_PROTOCOL))
            self._out.flush()
        except BrokenPipeError:
            leave()


def leave() -> None:
    """End the process: all is written, and taking the interpreter down in order would keep the parent waiting."""
    os._exit(0)
