"""Workers of a Dask cluster: its scheduler is reached by its address, or started here with workers of its own.

A worker opens its device once and does one chunk at a time. If a chunk is broken off, the files that it has written
are written again: the same bytes, under the same name.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .. import signals
from ..errors import DeviceError, ParameterError, ProcessError, pip_install
from ..files import atomic
from .jobs import DeviceLostError, Job, Settings
from .pool import IN_HAND, Result, Workers, folders_of
from .processes import share_of_cores

if TYPE_CHECKING:
    import distributed
    from distributed import Client, Security

LOCAL = "local"
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
_SECONDS_TO_CONNECT = 10
# Deaths that a chunk survives in a cluster of one's own; another's scheduler has its own limit.
_MOST_DEATHS = 0
# Messages that each side of a connection keeps for debugging Dask. Its default would keep the names of 1000 batches.
_MESSAGES_KEPT = 20
# How long a cluster may take to have a worker (again).
PATIENCE = 60.0


class ClusterWorkers(Workers):
    """An executor over Dask's client, which gives a dead worker's chunks to others, as often as its scheduler allows.

    Each worker takes ``device``, None for its own; ``threads`` read and write in each, 0 for one per core of its
    machine.
    """

    seconds_a_chunk = 1.0
    seconds_between_looks = 1.0
    spare_tries = 2  # workers of a cluster are ended for reasons that no file has

    def __init__(self, client: Client, device: str | None, threads: int = 0) -> None:
        super().__init__(device, threads)
        self.count = self.most = 0  # until it is looked
        self._client = client
        self._where: dict[str, Any] = {}
        """The workers that are of use, as the client takes them; empty for all."""
        self._workers: set[str] = set()
        self._useless: set[str] = set()
        self._why = f"{client.scheduler.address}: no worker came; start one with 'dask worker'"
        self._folders: set[str] = set()
        """Where outputs were written since the last look."""
        self._had_workers = time.monotonic()
        self._looked = float("-inf")
        self._looking = Lock()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Give work to any worker that is of use."""
        future: Future[Any] = Future()
        task = self._client.submit(_do, function, *arguments, **options, **self._where, pure=False)
        # Dask's own executor fails when the worker that has a result dies while the result is fetched.
        task.add_done_callback(partial(_pass_on, future))
        return future

    def give(self, jobs: Sequence[Job], settings: Settings) -> None:
        """Submit a chunk."""
        self._folders |= folders_of(jobs)
        super().give(jobs, settings)

    def look(self) -> None:
        """See which workers are there; waits for the first; raises DeviceLostError if none comes."""
        while True:
            now = time.monotonic()
            if now - self._looked >= self.seconds_between_looks or not self._workers:
                self._update(now)
            if self.count:
                self._had_workers = now
                return
            if now - self._had_workers > PATIENCE:
                raise DeviceLostError(self._why)
            time.sleep(min(0.1, PATIENCE))

    def _update(self, now: float) -> None:
        try:
            found = set(self._client.nthreads(callback_timeout=PATIENCE))
        except (OSError, RuntimeError, AttributeError) as error:  # the last two if it was gone before
            raise _gone(self._client) from error
        self._looked = now
        if self._workers - found:
            for folder in self._folders:
                atomic.remove_leftovers(folder)
            if not found:
                self._why = f"{self._client.scheduler.address}: no worker is left; what they logged says why"
        self._folders = folders_of(job for jobs in self.in_hand.values() for job in jobs)
        if found != self._workers:
            self._workers = found
            self._choose()

    def _choose(self) -> None:
        """Send work to the workers that are of use; if these die, others are taken, too."""
        useful = self._workers - self._useless
        self.count, self.most = len(useful), IN_HAND * len(useful)
        self._where = {"workers": [*useful], "allow_other_workers": True} if useful < self._workers and useful else {}

    def do(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Return what a worker makes of arguments; others do it if that one dies. Several threads may wait for theirs.

        Raises ProcessError if each dies, and DeviceLostError if none is left.
        """
        for _ in range(2 + self.spare_tries):
            try:
                with self._looking:
                    self.look()
                future = self.submit(function, *arguments)
                while not wait([future], self.seconds_between_looks).done:
                    with self._looking:
                        self.look()
                return future.result()
            except Exception as error:  # noqa: BLE001  all but a death is raised again
                died = self.died(error)
        raise ProcessError(f"{self._client.scheduler.address}: {died}, and those before it: give workers more memory")

    def lose(self, result: Result) -> str | None:
        """Leave out a worker that has no usable device, or has another version; return why, if it was the last one."""
        is_new = result.worker not in self._useless
        self._useless.add(result.worker)
        self._choose()
        self._why = why = f"worker {result.worker}: {result.lost}"
        if not self.count:
            return why
        if is_new:
            self.notes.append(f"{why}; the other workers do its files")
        return None

    def died(self, error: BaseException) -> str:
        """Return how a worker died; raises any other error."""
        from distributed import KilledWorker

        if self._client.status == "running":
            if isinstance(error, KilledWorker):
                return f"worker {error.last_worker.address} died"
            if isinstance(error, CancelledError | TimeoutError):
                return "a worker died"
        raise explain(error, self._client)

    def close(self) -> None:
        """See whether a worker has died at the end."""
        with suppress(DeviceLostError):
            self._update(time.monotonic())


def _pass_on(future: Future[Any], task: distributed.Future[Any]) -> None:
    """Complete a future with the result of a task, or its error: small, but Dask may wait for it without end."""
    try:
        future.set_result(task.result(PATIENCE))
    except Exception as error:  # noqa: BLE001  whoever asks for the result gets it
        future.set_exception(error)


def _do(function: Callable[..., Any], *arguments: Any) -> Any:
    """Do work in a worker, which puts its name to the result of a chunk."""
    from distributed import get_worker

    result = function(*arguments)
    return result._replace(worker=get_worker().address) if isinstance(result, Result) else result


# The scheduler


def check_address(cluster: str) -> None:
    """Raise ParameterError unless a cluster is "local" or a scheduler's address, and Dask is installed."""
    try:
        import distributed  # noqa: F401

        if cluster == LOCAL:
            import cryptography  # noqa: F401
    except ImportError as error:
        raise ParameterError(f"--cluster needs Dask: {pip_install(extra='cluster')}") from error
    parts = urlsplit(cluster)
    if cluster != LOCAL and not (parts.scheme in _SCHEMES and parts.netloc):
        raise ParameterError(
            f"--cluster {cluster!r} is not a scheduler: give tcp://HOST:8786, or local to start one here"
        )


@contextmanager
def connect(cluster: str, devices: Sequence[str | None]) -> Iterator[Client]:
    """Return a client of a cluster; "local" gets a worker for each device; raises DeviceError if none answers."""
    import dask

    with ExitStack() as stack:
        # Failures of the scheduler are reported in one line.
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)
        stack.enter_context(dask.config.set({"distributed.admin.low-level-log-length": _MESSAGES_KEPT}))
        address, security = stack.enter_context(_started_here(devices)) if cluster == LOCAL else (cluster, None)
        yield stack.enter_context(_client(address, security))


def explain(error: BaseException, client: Client) -> BaseException:
    """Return the error to raise for that of a task: DeviceError if the workers lack this program, else itself."""
    if client.status != "running":
        return _gone(client)
    cause = error if isinstance(error, ImportError) else error.__cause__
    if isinstance(cause, ImportError):
        return DeviceError(
            f"the cluster cannot load this program ({cause}): install the same version on all its machines"
        )
    return error


def _gone(client: Client) -> DeviceLostError:
    address = getattr(client.scheduler, "address", "the cluster")  # None of a client that has noticed
    return DeviceLostError(f"{address}: the scheduler is gone")


def _client(address: str, security: Security | None) -> Client:
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    client = Client.__new__(Client)
    try:
        with warnings.catch_warnings():
            # A table of many lines; versions that do not fit are reported when a chunk fails.
            warnings.simplefilter("ignore", category=VersionMismatchWarning)
            client.__init__(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False, security=security)
        return client
    except (OSError, ValueError) as error:
        client.status = "closed"  # else it tries for 20 s more to end a connection that it has not
        raise DeviceError(
            f"{address}: no Dask scheduler answers; check the address, or start one with 'dask scheduler'"
        ) from error


@contextmanager
def _started_here(devices: Sequence[str | None]) -> Iterator[tuple[str, Security]]:
    """Start a scheduler and a worker process for each device; return its address, and the keys to it.

    It listens on this machine only, where other users could otherwise give it tasks: whoever connects needs the keys.
    """
    import dask
    from distributed import Nanny, Scheduler, Security, SpecCluster

    quiet = {"silence_logs": logging.CRITICAL + 1}
    security = Security.temporary()
    here = {"host": "127.0.0.1", "dashboard": False, "protocol": "tls://", "security": security}
    # Signals are for the process that sends the files; here for systems without masks.
    leave_signals = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]"
    options = {**here, **quiet, "nthreads": 1, "memory_limit": 0, "preload": [leave_signals]}
    workers = {}
    for index, device in enumerate(devices):
        variables = share_of_cores(devices.count(device)) | ({"FFTFILTER_DEVICE": device} if device else {})
        workers[index] = {"cls": Nanny, "options": {**options, "env": variables}}
    ports = {"port": 0, "dashboard_address": "127.0.0.1:0"}
    scheduler = {"cls": Scheduler, "options": {**here, **ports}}
    settings: dict[str, object] = {"distributed.scheduler.allowed-failures": _MOST_DEATHS}
    # Their pages would show other users the names of files.
    settings |= {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    with ExitStack() as stack:
        # Dask would leave an empty folder among the temporary ones.
        scratch = stack.enter_context(TemporaryDirectory(prefix="fftfilter-cluster-", ignore_cleanup_errors=True))
        stack.enter_context(dask.config.set({**settings, "temporary-directory": scratch}))
        with signals.blocked():
            cluster = stack.enter_context(SpecCluster(workers=workers, scheduler=scheduler, security=security, **quiet))
        yield cluster.scheduler_address, security
