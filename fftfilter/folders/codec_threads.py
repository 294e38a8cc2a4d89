"""Files read and written by threads of this process, since Pillow and zlib let others work meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from . import codec
from .jobs import Outcome, Settings, processors

if TYPE_CHECKING:
    from collections.abc import Callable

    from .codec import Loaded
    from .jobs import Job


class CodecThreads:
    """Codecs of a :class:`Batch`; ``news`` has what they finish, exceptions that end the run, and what others put."""

    bytes_before = 1 << 25
    """Of pictures that may wait for the device to be opened: memory that was never used before costs time."""

    def __init__(self) -> None:
        self.news: SimpleQueue[Any] = SimpleQueue()
        self.reading = self.writing = 0
        """How many files are being read, and written."""
        self._settings = Settings("")
        self._pool: ThreadPoolExecutor | None = None
        self.ahead = 2
        """How many may be read before they are filtered."""
        self.are_beside = False
        """Whether they work while the caller does."""

    def set(self, settings: Settings) -> None:
        """Begin with settings."""
        self._settings = settings
        threads = settings.threads or processors()
        # With a processor to itself the caller's thread does all in turn: handing over costs as much as a small file.
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="codec") if threads > 1 else None
        self.ahead = 2 * threads
        self.are_beside = threads > 1

    @property
    def has_room(self) -> bool:
        """Whether another file may be read."""
        return self.reading < self.ahead and self.writing <= self.ahead

    @property
    def is_more_coming(self) -> bool:
        """Whether pictures will be read before any is written."""
        return self.reading > 0 or self.writing > self.ahead

    @property
    def has_news(self) -> bool:
        """Whether :meth:`take` would not wait."""
        return not self.news.empty()

    def read(self, job: Job) -> None:
        """Begin to read a file."""
        self.reading += 1
        self._submit(codec.read, job, job)

    def write(self, loaded: Loaded) -> None:
        """Begin to write a file whose planes are the filtered ones."""
        self.writing += 1
        self._submit(codec.write, loaded, loaded.job)

    def drop(self, loaded: Loaded) -> None:
        """Forget a file that is not to be written."""

    def take(self) -> Any:
        """Wait for news."""
        event = self.news.get()
        if isinstance(event, BaseException):
            raise event
        if isinstance(event, Outcome) and event.seconds.get("write") is not None:
            self.writing -= 1
        elif isinstance(event, codec.Loaded | Outcome):
            self.reading -= 1
        return event

    def close(self) -> None:
        """End the threads."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def _submit(self, work: Callable[[Any, Settings], Loaded | Outcome], what: Any, job: Job) -> None:
        def attempt() -> None:
            try:
                self.news.put(work(what, self._settings))
            except BaseException as error:  # noqa: BLE001  an unexpected one ends the run, in the caller's thread
                error.add_note(f"while working on {job.source}")
                self.news.put(error)

        if self._pool:
            self._pool.submit(attempt)
        else:
            attempt()
