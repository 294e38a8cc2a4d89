"""Workers of a Dask cluster: its scheduler is reached by its address, or started here with workers of its own.

For the pool, each worker is an executor of Dask's client for one address. It opens its device once and does one chunk
at a time. If a chunk is broken off, the files that it has written are written again: the same bytes, under the same
name.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .. import signals
from ..errors import DeviceError, ParameterError, pip_install
from .jobs import DeviceLostError
from .pool import Death, Worker
from .processes import share_of_cores

if TYPE_CHECKING:
    from distributed import Client, Security

LOCAL = "local"
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
_SECONDS_TO_CONNECT = 10
# Deaths that a task survives in a cluster of one's own; another's scheduler has its own limit.
_MOST_DEATHS = 1
# Messages that each side of a connection keeps for debugging Dask. Its default would keep the names of 1000 batches.
_MESSAGES_KEPT = 20
# How long a cluster may take to have a worker (again).
PATIENCE = 60.0


class ClusterWorkers:
    """The workers of a cluster, with the methods of :class:`processes.LocalWorkers`.

    Each takes ``device``, None for its own; ``threads`` read and write in each, 0 for one per core of its machine.
    """

    seconds_a_chunk = 1.0
    seconds_between_looks = 1.0

    def __init__(self, client: Client, device: str | None, threads: int = 0) -> None:
        self.notes: list[str] = []
        self._client, self._device, self._threads = client, device, threads
        self._workers: dict[str, Worker] = {}
        self._useless: set[Worker] = set()
        self._why = f"{client.scheduler.address}: no worker came; start one with 'dask worker'"
        self._had_workers = time.monotonic()
        self._looked = float("-inf")

    def look(self, *, has_work: bool) -> list[Worker]:  # noqa: ARG002  they come by themselves
        """Return the workers that are there and of use; waits for the first; raises DeviceLostError if none comes."""
        while True:
            now = time.monotonic()
            if now - self._looked >= self.seconds_between_looks or not self._workers:
                self._update(now)
            useful = [worker for worker in self._workers.values() if worker not in self._useless]
            if useful:
                self._had_workers = now
                return useful
            if self._workers or now - self._had_workers > PATIENCE:
                raise DeviceLostError(self._why)
            time.sleep(min(0.1, PATIENCE))

    def _update(self, now: float) -> None:
        try:
            addresses = self._client.nthreads(callback_timeout=PATIENCE)
        except OSError as error:
            raise _gone(self._client) from error
        self._looked = now
        for address in set(self._workers) - set(addresses):
            worker = self._workers.pop(address)
            # The scheduler would wait for it to return.
            for future in worker.in_hand:
                future.cancel()
            if not addresses:
                self._why = f"{self._client.scheduler.address}: no worker is left; what they logged says why"
        for address in set(addresses) - set(self._workers):
            executor = self._client.get_executor(workers=[address], pure=False)
            self._workers[address] = Worker(f"worker {address}", executor, self._device, self._threads)

    def lose(self, worker: Worker, why: str) -> None:
        """Leave out a worker that has no usable device, or has another version."""
        self._useless.add(worker)
        self._why = f"{worker.name}: {why}"
        if {*self._workers.values()} - self._useless:
            self.notes.append(f"{self._why}; the other workers do its files")

    def died(self, worker: Worker, error: BaseException) -> Death:
        """Return that a worker died; raises any other error."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        if isinstance(error, KilledWorker | CancelledError | TimeoutError):
            self._looked = float("-inf")
            with suppress(DeviceLostError):
                self._update(time.monotonic())
            if self._client.status == "running":
                return Death(f"{worker.name} died")
        raise explain(error, self._client)


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
    return DeviceLostError(f"{client.scheduler.address}: the scheduler is gone")


def _client(address: str, security: Security | None) -> Client:
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    try:
        with warnings.catch_warnings():
            # A table of many lines; versions that do not fit are reported when a chunk fails.
            warnings.simplefilter("ignore", category=VersionMismatchWarning)
            return Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
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
