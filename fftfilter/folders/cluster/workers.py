"""The workers of a cluster, as a pool takes them: each is an executor of Dask's client for one address.

A worker opens its device once and does one chunk at a time. What a chunk that was broken off has written already is
written again: the same bytes, under the same name.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...files.leftovers import remove_leftovers
from ..jobs import DeviceLostError
from ..pool import Death, Worker
from .scheduler import LOCAL, connect, explain, gone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distributed import Client

SECONDS_A_CHUNK = 1.0
SECONDS_BETWEEN_LOOKS = 1.0
# How long a cluster may take to have a worker (again).
PATIENCE = 60.0


@contextmanager
def workers_of_cluster(cluster: str, devices: Sequence[str | None], threads: int) -> Iterator[ClusterWorkers]:
    """Reach or start a cluster; its workers are those of "local" for ``devices``, or all of a scheduler.

    ``threads`` read and write in each worker, 0 for one a core of its machine.

    Raises DeviceError if no scheduler answers.
    """
    # A worker that was started here has its device from its environment.
    device = None if cluster == LOCAL else devices[0]
    with connect(cluster, devices) as client:
        workers = ClusterWorkers(client, device, threads)
        try:
            yield workers
        finally:
            workers.clean()


class ClusterWorkers:
    """The workers of a cluster; see :class:`pool.Workers`."""

    seconds_a_chunk: float = SECONDS_A_CHUNK
    seconds_between_looks: float = SECONDS_BETWEEN_LOOKS

    def __init__(self, client: Client, device: str | None, threads: int = 0, patience: float | None = None) -> None:
        self.notes: list[str] = []
        self._client, self._device, self._threads = client, device, threads
        self._patience = PATIENCE if patience is None else patience
        self._workers: dict[str, Worker] = {}
        self._useless: set[str] = set()
        self._folders: set[str] = set()
        """Where workers that went may have left temporary files."""
        self._why = f"{client.scheduler.address}: no worker came; start one with 'dask worker'"
        self._had_workers = time.monotonic()
        self._looked = float("-inf")

    def look(self, *, has_work: bool) -> list[Worker]:  # noqa: ARG002  they come by themselves
        """Return the workers that are there and of use; waits for the first; raises DeviceLostError if none comes."""
        while True:
            now = time.monotonic()
            if now - self._looked >= self.seconds_between_looks or not self._workers:
                self._update(now)
            useful = [worker for address, worker in self._workers.items() if address not in self._useless]
            if useful:
                self._had_workers = now
                return useful
            if self._workers or now - self._had_workers > self._patience:
                raise DeviceLostError(self._why)
            time.sleep(min(0.1, self._patience))

    def _update(self, now: float) -> None:
        try:
            addresses = self._client.nthreads(callback_timeout=self._patience)
        except OSError as error:
            raise gone(self._client) from error
        self._looked = now
        for address in set(self._workers) - set(addresses):
            worker = self._workers.pop(address)
            # The scheduler would wait for it to return.
            for future, chunk in worker.in_hand.items():
                self._folders |= chunk.folders
                future.cancel()
            if not addresses:
                self._why = f"{self._client.scheduler.address}: no worker is left; what they logged says why"
        for address in set(addresses) - set(self._workers):
            executor = self._client.get_executor(workers=[address], pure=False)
            self._workers[address] = Worker(f"worker {address}", executor, self._device, self._threads)

    def lose(self, worker: Worker, why: str) -> None:
        """Do without a worker that has no usable device, or is of another version."""
        address = worker.name.removeprefix("worker ")
        self._useless.add(address)
        self._why = f"{worker.name}: {why}"
        if set(self._workers) - self._useless:
            self.notes.append(f"{self._why}; the other workers do its files")

    def died(self, worker: Worker, error: BaseException) -> Death:
        """Return that a worker died; raises any other error."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        if isinstance(error, KilledWorker | CancelledError | TimeoutError):
            self._looked = float("-inf")
            with suppress(DeviceLostError):
                self._update(time.monotonic())
            if self._client.status != "running":
                raise gone(self._client) from error
            return Death(f"{worker.name} died")
        raise explain(error, self._client)

    def clean(self) -> None:
        """Remove what workers that died have left half written, once on each of the machines that are left."""
        # The scheduler may be gone; the next run cleans, too.
        if self._folders:
            one_a_host = {urlsplit(address).hostname: address for address in self._workers}
            with suppress(Exception):
                self._client.run(remove_from, list(self._folders), workers=list(one_a_host.values()))


def remove_from(folders: list[str]) -> None:
    """Remove what killed workers of this machine have left half written."""
    for folder in folders:
        remove_leftovers(folder)
