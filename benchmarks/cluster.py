"""``python -m benchmarks.cluster``: the cost of a cluster: tasks and images a second, bytes of messages, memory."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
import zlib
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fftfilter.bench import Lines, Stats, Table
from fftfilter.errors import WriteError
from fftfilter.folders.cluster import LOCAL, ClusterWorkers, check_address, connect
from fftfilter.folders.jobs import Job, Outcome, Settings, Tree
from fftfilter.folders.pool import Workers, pack
from fftfilter.folders.run import FolderRun
from fftfilter.images import Picture, write
from fftfilter.system import cores
from fftfilter.transfer import highpass
from fftfilter.work.recipe import Recipe

from .command import benchmark_command, format_option, main
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client

    from fftfilter.bench import Cell
    from fftfilter.bench.measure import Setting

# Different pictures; further files are links to them.
_PICTURES = 16
_FILES_A_CHUNK = 64


@benchmark_command
@click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    default=LOCAL,
    show_default=True,
    help="Scheduler of a cluster, tcp://HOST:8786, or local to start one on this machine.",
)
@format_option()
@click.option(
    "--side",
    "sides",
    type=click.IntRange(min=1),
    metavar="N",
    multiple=True,
    default=(512, 2048),
    show_default=True,
    help="Side of the square images; may be given several times.",
)
@click.option(
    "--tasks",
    type=click.IntRange(min=10),
    metavar="N",
    default=10_000,
    show_default=True,
    help="Number of empty tasks.",
)
@click.option(
    "--megapixels",
    type=click.IntRange(min=1),
    metavar="N",
    default=100,
    show_default=True,
    help="Megapixels of all files of a size.",
)
def command(
    setting: Setting, *, address: str, formats: tuple[str, ...], sides: tuple[int, ...], tasks: int, megapixels: int
) -> None:
    """Measure the cost of a Dask cluster: tasks and images a second, bytes of messages, memory.

    Its workers have to see this machine's folder for temporary files (TMPDIR).

    \b
    Example: python -m benchmarks.cluster --runs 3
             python -m benchmarks.cluster --cluster tcp://127.0.0.1:8786 --side 1024
    """
    pixels = megapixels * 1_000_000
    cluster(setting, address=address, formats=formats, sides=sides, tasks=tasks, pixels=pixels)


def cluster(
    setting: Setting,
    *,
    address: str = LOCAL,
    formats: Sequence[str] = ("pgm", "png"),
    sides: Sequence[int] = (512, 2048),
    tasks: int = 10_000,
    pixels: int = 100_000_000,
) -> None:
    """Return rates and costs of a cluster, which is given by its scheduler's address or started here.

    It gets so many empty ``tasks``, and for each format and side files with so many ``pixels`` in all. Its workers have
    to see this machine's folder for temporary files.
    """
    check_address(address)
    table = setting.made = Table(
        f"A cluster: {address}",
        {"what": "what", "value": "value", "unit": "unit"},
        Lines(("what",), None, ("value",), "", ""),
        {**setting.about(), "processors": str(os.cpu_count())},
        [f"Files are {_PICTURES} pictures under many names, which the system soon caches; PNG level 1."],
    )

    def put(what: str, unit: str, value: Cell) -> None:
        table.put((what,), value=value, unit=unit)

    with ExitStack() as stack:
        made = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client = stack.enter_context(connect(address, [None]))
        table.about["workers"] = str(len(client.nthreads()))
        chunks = [_a_chunk(number) for number in range(max(1, tasks // 10))]
        for what, task, given in (
            ("trivial tasks", _nothing, list(range(tasks))),
            (f"chunks of {_FILES_A_CHUNK} files, nothing done", _answers, chunks),
        ):
            setting.progress(what)
            rate, spent = _rate(client, task, given, setting.runs)
            put(what, "a second", rate)
            for who, milliseconds in spent.items():
                put(f"{what}: processor time of the {who}", "ms each", milliseconds)
        put("a file: sent to a worker", "bytes", len(chunks[0]) // _FILES_A_CHUNK)
        put("a file: sent back", "bytes", len(pickle.dumps(_answers(chunks[0]))) // _FILES_A_CHUNK)
        for extension in formats:
            for side in sides:
                name = f"{extension} of {side} x {side}"
                setting.progress(name)
                folder = _files(made / f"{extension}{side}", extension, side, max(_PICTURES, pixels // side**2))
                rates, spent_here = _rates(folder, client, setting)
                for what, images in rates.items():
                    put(f"{name}, {what}", "images/s", images)
                put(f"{name}, the cluster: processor time of the client", "ms each", spent_here)
                for what, where in (("in", folder), ("out", _output(folder, "the cluster"))):
                    put(f"{name}, {what}", "kB an image", (where / f"0.{extension}").stat().st_size / 1e3)
        for who, memory in _everywhere(client, _peak_memory).items():
            put(f"most memory of the {who}", "MB", memory)


def _everywhere(client: Client, measure: Callable[[], float]) -> dict[str, float]:
    """Return a number measured in the client, in the scheduler, and in all workers, of which the largest counts."""
    return {
        "client": measure(),
        "scheduler": client.run_on_scheduler(measure),
        "worker": max(client.run(measure).values()),
    }


# The scheduler


def _nothing(number: int) -> int:
    return number


def _answers(packed: bytes) -> list[Outcome]:
    """Return a worker's answer to a chunk, without doing it."""
    jobs: list[Job] = pickle.loads(zlib.decompress(packed))  # noqa: S301  from this process
    seconds = dict.fromkeys(("read", "filter", "write"), 0.1)
    return [Outcome(job=job, shape=(1, 9, 9), seconds=seconds, digest=f"{job.number:064x}") for job in jobs]


def _rate(client: Client, task: Any, given: list[Any], runs: int) -> tuple[Stats, dict[str, float]]:
    """Return the tasks a second, and the processor time of each in milliseconds by process."""
    rates = []
    before = _everywhere(client, time.process_time)
    for _ in range(runs):
        began = time.perf_counter()
        client.gather(client.map(task, given, pure=False))
        rates.append(len(given) / (time.perf_counter() - began))
    after = _everywhere(client, time.process_time)
    return Stats.from_values(rates), {who: (after[who] - before[who]) / runs / len(given) * 1e3 for who in before}


def _a_chunk(number: int) -> bytes:
    names = [f"series/{number:06}-{i:03}.png" for i in range(_FILES_A_CHUNK)]
    return pack([Job(i, f"/shared/input/{name}", f"/shared/output/{name}") for i, name in enumerate(names)])


# Files


def _files(folder: Path, extension: str, side: int, count: int) -> Path:
    """Write pictures, and links to them."""
    folder.mkdir()
    for i in range(count):
        file = folder / f"{i}.{extension}"
        if i < _PICTURES:
            write(Picture(photograph(i, side)[None], None, 255, "PNG"), file)
        else:
            file.hardlink_to(folder / f"{i % _PICTURES}.{extension}")
    return folder


def _rates(folder: Path, client: Client, setting: Setting) -> tuple[dict[str, Stats], float]:
    """Return the images a second of whole runs by this process and by the cluster, in turn, after one of each.

    Also returns the processor time of an image in this process when the cluster filters, in milliseconds.
    """
    started: dict[str, Callable[[], Workers]] = {
        "one process": lambda: Workers(str(setting.device.index), cores()),
        "the cluster": lambda: ClusterWorkers(client, None, threads=1),
    }
    rates: dict[str, list[float]] = {what: [] for what in started}
    spent = []
    for turn in range(setting.runs + 1):
        for what, start in started.items():
            run = FolderRun(Tree(folder), _output(folder, what), Settings(Recipe(highpass())))
            run.survey()
            began, spent_before = time.perf_counter(), time.process_time()
            count = 0
            with closing(start()) as workers:
                for outcome in run.run([workers]):
                    count += 1
                    if outcome.error:
                        raise WriteError(outcome.error)
            if turn:
                rates[what].append(count / (time.perf_counter() - began))
                if what == "the cluster":
                    spent.append((time.process_time() - spent_before) / count * 1e3)
    return {what: Stats.from_values(each) for what, each in rates.items()}, min(spent)


def _output(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name} by {what}")


# Memory


def _peak_memory() -> float:
    """Return the peak memory of this process in MB."""
    if sys.platform != "win32":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return float("nan")


if __name__ == "__main__":
    main(command)
