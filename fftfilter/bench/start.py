"""The command as it is met: whole processes from start to end, beside a script that does the same.

Timed from outside, in turn. A first use is one without what an earlier one left: the caches of PoCL, of NVIDIA
and of fftfilter itself are empty.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from ..errors import ReadError, RefusedError
from ..images import quoted_if_odd
from ..transfer.reference import filter_image
from ..transfer.functions import transfer
from .compare import Stats, ratio
from .environment import users_environment
from .experiments import MS, SPREAD, Experiment
from .measure import check_peer
from .tables import Lines, Table, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .experiments import Setting

    Array = np.ndarray[Any, Any]
    Shape = tuple[int, int]

OURS, THEIRS = "fftfilter", "script"
HIGHPASS, FIRST, PEAK = "highpass", "highpass, first use", "highpass, peak memory"

# The high-pass as one writes it with NumPy and Pillow.
SCRIPT = """
import sys
import numpy as np
from PIL import Image

image = np.asarray(Image.open(sys.argv[1])).astype(float)
height, width = image.shape
shorter = min(height, width)
distance = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)) * shorter
spectrum = np.fft.fft2(image)
spectrum[distance < shorter / 8] = 0
magnitude = np.abs(np.fft.ifft2(spectrum))
Image.fromarray((magnitude * (255 / magnitude.max())).astype(np.uint8)).save(sys.argv[2])
"""
# Runs a command and prints its peak memory. What forks counts, too: it has to be smaller than this process is.
MEASURE_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024

SHAPES: tuple[Shape, ...] = ((512, 512), (1024, 1024), (2048, 2048), (4096, 4096))
# Milliseconds of the help and of a first use on PoCL.
HELP_MS, FIRST_MS = 150.0, 1500.0
# Times the script's time: of a small image, and from so many pixels up.
SMALL, SMALL_RATIO = (512, 512), 1.5
LARGE, LARGE_RATIO = 2048 * 2048, 1.0
PEAK_BYTES, PEAK_BYTES_A_PIXEL = 120e6, 16


@dataclass(frozen=True)
class Job:
    """A process: a row of the table. ``shape`` is (height, width) of its picture, if it has one."""

    what: str
    who: str
    command: tuple[str, ...]
    shape: Shape | None = None

    @property
    def size(self) -> str:
        """The size of its picture, as the table shows it."""
        return f"{self.shape[1]} x {self.shape[0]}" if self.shape else ""

    @property
    def pixels(self) -> int:
        """How many pixels its picture has."""
        return self.shape[0] * self.shape[1] if self.shape else 0


def start(setting: Setting, *, shapes: Sequence[Shape] = (), image: Path | None = None) -> Experiment:
    """Return the table of starts: help, warm runs beside the script's, the first use ever, and peak memory.

    ``image`` is a picture that is mirrored until it fills each size; without one a drawn picture is filtered.
    """
    table = Table(
        "The command from start to end, PGM to PGM",
        {
            "what": "what",
            "size": "size",
            "who": "who",
            "ms": "ms",
            "memory": "MB",
            "ratio": "times the script's time",
            "target": "target",
            "reached": "reached",
        },
        ("what", "size", "who"),
        Lines(("what", "who"), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD, "Whole processes in turn. The script is NumPy and Pillow in float64; a first use finds empty caches."],
    )
    jobs = [Job(option, OURS, _program(option)) for option in ("--help", "--version")]

    def steps() -> Iterator[str]:
        with TemporaryDirectory(prefix="fftfilter-bench-") as name:
            room = Path(name)
            for shape in shapes or SHAPES:
                yield f"{shape[1]} x {shape[0]}: prepare and check"
                jobs.extend(_checked_jobs(setting, room, shape, image))
            ours = [job for job in jobs if job.what == HIGHPASS and job.who == OURS]
            jobs.append(replace(min(ours, key=lambda job: job.pixels), what=FIRST))
            seconds: dict[Job, list[float]] = {job: [] for job in jobs}
            for i in range(setting.runs):
                yield f"round {i + 1} of {setting.runs}"
                for job in jobs:
                    seconds[job].append(_run(job.command, _no_caches(room / str(i)) if job.what == FIRST else {}))
                    _put(table, job, ms=Stats.of(seconds[job]).times(MS))
            if find_spec("resource") is not None:
                jobs.append(replace(max(ours, key=lambda job: job.pixels), what=PEAK))
                yield f"{jobs[-1].size}: peak memory"
                _put(table, jobs[-1], memory=_peak(jobs[-1].command) / 1e6)

    is_pocl = "Portable Computing Language" in setting.device.platform
    return Experiment(table, steps(), lambda: _judge(table, jobs, is_pocl=is_pocl))


def _checked_jobs(setting: Setting, room: Path, shape: Shape, image: Path | None) -> list[Job]:
    """Return the high-pass of a picture by the program and by the script; raises RefusedError if one is wrong."""
    picture = _picture(image, *shape)
    source, target = room / f"{shape[1]}x{shape[0]}.pgm", room / "out.pgm"
    Image.fromarray(picture).save(source)
    options = ("--device", str(setting.device.index), "--precision", setting.precision)
    jobs = [
        Job(HIGHPASS, OURS, _program("highpass", *options, str(source), str(target)), shape),
        Job(HIGHPASS, THEIRS, (sys.executable, "-c", SCRIPT, str(source), str(target)), shape),
    ]
    wanted = filter_image(picture, transfer("highpass").gain(*shape))
    for job in jobs:
        _run(job.command)
        check_peer(job.who, _read(target), wanted)
    return jobs


def _picture(image: Path | None, height: int, width: int) -> Array:
    """Return a picture (height, width) of uint8: the given one, mirrored where it ends, or a drawn one."""
    if image is None:
        y, x = np.mgrid[:height, :width]
        drawn = 96 + 48 * np.sin(x / 19) * np.cos(y / 31) + 40 * ((x // 37 + y // 53) % 2)
        noise = np.random.default_rng(61).normal(0, 6, (height, width))
        picture: Array = np.clip(drawn + noise, 0, 255).astype(np.uint8)
        return picture
    own = _read(image)[:height, :width]
    return np.pad(own, ((0, height - own.shape[0]), (0, width - own.shape[1])), "symmetric")


def _read(path: Path) -> Array:
    try:
        with Image.open(path) as image:
            pixels: Array = np.asarray(image.convert("L"))
            return pixels
    except OSError as error:
        raise ReadError(f"{quoted_if_odd(str(path))}: {error}") from error


def _program(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "fftfilter", *arguments)


def _no_caches(folder: Path) -> dict[str, str]:
    return dict.fromkeys(("POCL_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME"), str(folder))


def _run(command: Sequence[str], more: Mapping[str, str] = MappingProxyType({})) -> float:
    """Return the seconds that a process takes; raises RefusedError if it fails."""
    environment = users_environment(more)
    begin = perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = perf_counter() - begin
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RefusedError(f"a measured process failed with exit code {done.returncode}: {said[-300:]}")
    return seconds


def _peak(command: Sequence[str]) -> int:
    """Return how many bytes of memory a process had at most."""
    measuring = (sys.executable, "-c", MEASURE_PEAK, *command)
    done = subprocess.run(measuring, env=users_environment(), stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * PEAK_UNIT


def _put(table: Table, job: Job, **cells: Stats | float) -> None:
    table.put((job.what, job.size, job.who), pixels=job.pixels, **cells)


def _judge(table: Table, jobs: Sequence[Job], *, is_pocl: bool) -> None:
    """Put ratios and targets into the rows that have them."""
    rows: dict[tuple[Any, ...], Any] = {(row["what"], row["size"], row["who"]): row for row in table.rows}
    for job in jobs:
        row, script = rows.get((job.what, job.size, OURS)), rows.get((job.what, job.size, THEIRS))
        if row is None or job.who != OURS:
            continue
        if script is not None:
            row["ratio"] = ratio(row["ms"].median, script["ms"].median)
        value: float
        if job.what == PEAK:
            value, most, unit = row["memory"], PEAK_BYTES / 1e6 + PEAK_BYTES_A_PIXEL * job.pixels / 1e6, "MB"
        elif job.what == HIGHPASS and (job.shape == SMALL or job.pixels >= LARGE):
            value, most, unit = row["ratio"], SMALL_RATIO if job.shape == SMALL else LARGE_RATIO, "times"
        elif job.what == "--help" or (job.what == FIRST and is_pocl):
            value, most, unit = row["ms"].median, HELP_MS if job.what == "--help" else FIRST_MS, "ms"
        else:
            continue
        row["target"] = f"{number(most)} {unit}"
        row["reached"] = "yes" if value <= most else "no"
