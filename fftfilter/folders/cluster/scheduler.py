"""A scheduler of Dask's with its workers: reached by its address, or started here."""

from __future__ import annotations

import logging
import os
import warnings
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ... import signals
from ...errors import DeviceError, ParameterError
from ...system import cores
from ..jobs import DeviceLostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distributed import Client

LOCAL = "local"
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
_SECONDS_TO_CONNECT = 10
# Deaths that a task survives in a cluster of one's own; another's scheduler has its own limit.
_MOST_DEATHS = 1
# Messages that each side of a connection keeps for who looks for faults in Dask: with 1000, its default, the names of
# as many batches of files.
_MESSAGES_KEPT = 20


def check_address(cluster: str) -> None:
    """Raise ParameterError unless a cluster is "local" or a scheduler's address, and Dask is installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ParameterError("--cluster needs Dask: pip install 'dask[array]' distributed") from error
    parts = urlsplit(cluster)
    if cluster != LOCAL and not (parts.scheme in _SCHEMES and parts.netloc):
        raise ParameterError(f"--cluster {cluster!r} is no scheduler: give tcp://HOST:8786, or local to start one here")


@contextmanager
def connect(cluster: str, devices: Sequence[str | None]) -> Iterator[Client]:
    """Return a client of a cluster as :func:`check_address` has it; "local" gets a worker for each of ``devices``.

    Raises DeviceError if no scheduler answers.
    """
    import dask

    with ExitStack() as stack:
        stack.enter_context(_quiet())
        stack.enter_context(dask.config.set({"distributed.admin.low-level-log-length": _MESSAGES_KEPT}))
        address = stack.enter_context(_started_here(devices)) if cluster == LOCAL else cluster
        yield stack.enter_context(_client(address))


def explain(error: BaseException, client: Client) -> BaseException:
    """Return what is to be raised for an error of a task: DeviceError if the workers lack this program, or itself."""
    if client.status != "running":
        return gone(client)
    cause = error if isinstance(error, ImportError) else error.__cause__
    if isinstance(cause, ImportError):
        return DeviceError(
            f"the cluster cannot load this program ({cause}): install the same version on all its machines"
        )
    return error


def gone(client: Client) -> DeviceLostError:
    """Return what is to be raised when a client has lost its scheduler."""
    return DeviceLostError(f"{client.scheduler.address}: the scheduler is gone")


def _client(address: str) -> Client:
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    try:
        with warnings.catch_warnings():
            # A table of many lines; versions that do not fit are reported when a chunk fails.
            warnings.simplefilter("ignore", category=VersionMismatchWarning)
            return Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise DeviceError(
            f"{address}: no Dask scheduler answers; check the address, or start one with 'dask scheduler'"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the scheduler's log off the terminal: what matters is reported in one line."""
    import distributed  # noqa: F401  it sets its logs up when it is imported

    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado", "asyncio")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


@contextmanager
def _started_here(devices: Sequence[str | None]) -> Iterator[str]:
    """Start a scheduler and a worker process for each device, on this machine only; return its address."""
    import dask
    from distributed import Nanny, Scheduler, SpecCluster

    quiet = {"silence_logs": logging.CRITICAL + 1}
    here = {"host": "127.0.0.1", "dashboard": False}
    # Signals are for the process that sends the files; here for systems without masks.
    leave_signals = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]"
    workers = {
        index: {
            "cls": Nanny,
            "options": {
                **here,
                **quiet,
                "nthreads": 1,
                "memory_limit": 0,
                "env": _environment(device, devices.count(device)),
                "preload": [leave_signals],
            },
        }
        for index, device in enumerate(devices)
    }
    scheduler = {
        "cls": Scheduler,
        "options": {**here, "port": 0, "protocol": "tcp://", "dashboard_address": "127.0.0.1:0"},
    }
    limits = {"distributed.scheduler.allowed-failures": _MOST_DEATHS}
    with ExitStack() as stack:
        # Dask would leave an empty folder among the temporary ones.
        scratch = stack.enter_context(TemporaryDirectory(prefix="fftfilter-cluster-", ignore_cleanup_errors=True))
        stack.enter_context(dask.config.set({**limits, "temporary-directory": scratch}))
        with signals.blocked():
            cluster = stack.enter_context(SpecCluster(workers=workers, scheduler=scheduler, **quiet))
        yield cluster.scheduler_address


def _environment(device: str | None, sharing: int) -> dict[str, str]:
    """Return the variables that give a worker its device, which ``sharing`` workers share."""
    variables = {} if device is None else {"FFTFILTER_DEVICE": device}
    if sharing > 1 and "POCL_MAX_PTHREAD_COUNT" not in os.environ:
        variables["POCL_MAX_PTHREAD_COUNT"] = str(max(1, cores() // sharing))
    return variables
