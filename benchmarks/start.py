"""``python -m benchmarks.start``: the command as a whole process, beside a script that does the same.

Processes are timed from outside, in turn. A first use is one that finds nothing of an earlier one: the caches of PoCL,
of NVIDIA and of this program are empty.
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

import click
import numpy as np
from PIL import Image

from fftfilter.bench import Lines, Stats, Table
from fftfilter.bench.measure import MS, SPREAD, ratio
from fftfilter.errors import ReadError, RefusedError
from fftfilter.transfer import highpass
from fftfilter.transfer.reference import filter_image

from .beside import check
from .command import benchmark_command, main, size_option
from .environment import CLONE, users_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fftfilter.bench.measure import Setting

    Array = np.ndarray[Any, Any]
    Shape = tuple[int, int]

OURS, SCRIPT, OPENCL = "fftfilter", "script", "pyopencl"
HIGHPASS, FIRST, PEAK, CONTEXT = "highpass", "highpass, first use", "highpass, peak memory", "a context, and no more"

# The high-pass as one writes it with NumPy and Pillow.
SCRIPT_CODE = """
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
# The start that every program with OpenCL needs.
CONTEXT_CODE = """
import sys
import pyopencl as cl

cl.Context([[device for platform in cl.get_platforms() for device in platform.get_devices()][int(sys.argv[1])]])
"""
# Runs a command and prints its peak memory. A child starts as a copy of its parent, whose memory counts, too: the
# parent has to be smaller than this process is.
PEAK_CODE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024

SHAPES: tuple[Shape, ...] = ((512, 512), (1024, 1024), (2048, 2048), (4096, 4096))


@benchmark_command
@size_option("512x512, 1024x1024, 2048x2048, 4096x4096")
@click.option(
    "--image",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Picture to filter, mirrored until it fills each size.  [default: a drawn one]",
)
def command(setting: Setting, *, shapes: tuple[Shape, ...], image: Path | None) -> None:
    """Time the command from start to end, beside a NumPy and Pillow script that does the same.

    Measures the help, the high-pass of a PGM, its first use with empty caches, and the peak memory; also a program that
    imports pyopencl and opens a context. fftfilter chooses its device as for everyone, unless --device is given.

    \b
    Example: python -m benchmarks.start
             python -m benchmarks.start --size 640x480 --image photo.jpg
    """
    start(setting, shapes=shapes, image=image)


@dataclass(frozen=True)
class Process:
    """A command line whose process is timed: a row of the table. ``shape`` is (height, width) of its picture."""

    what: str
    who: str
    command: tuple[str, ...]
    shape: Shape | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its row."""
        return self.what, f"{self.shape[1]} x {self.shape[0]}" if self.shape else "", self.who

    @property
    def pixels(self) -> int:
        """How many pixels its picture has."""
        return self.shape[0] * self.shape[1] if self.shape else 0


def start(
    setting: Setting,
    *,
    shapes: Sequence[Shape] = (),
    image: Path | None = None,
    script: str = SCRIPT_CODE,
) -> None:
    """Measure milliseconds of the help, of high-passes and of the first use, and the peak memory in MB.

    ``shapes`` are (height, width). ``image`` is mirrored until it fills each size; without one a drawn picture is
    filtered. ``script`` is Python code that high-passes one file into another.
    """
    table = setting.made = Table(
        "The command from start to end, PGM to PGM",
        {
            "what": "what",
            "size": "size",
            "who": "who",
            "ms": "ms",
            "memory": "MB",
            "ratio": "times the script's time",
        },
        Lines(("what", "who"), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD, "Whole processes in turn. The script is NumPy and Pillow in float64; a first use finds empty caches."],
    )
    try:
        with TemporaryDirectory(prefix="fftfilter-bench-") as name:
            folder = Path(name)
            processes = [Process(option, OURS, _program(option)) for option in ("--help", "--version")]
            for shape in shapes or SHAPES:
                setting.progress(f"{shape[1]} x {shape[0]}: prepare and check")
                processes += _checked(setting, folder, shape, image, script)
            ours = [each for each in processes if each.what == HIGHPASS and each.who == OURS]
            processes.append(replace(min(ours, key=lambda each: each.pixels), what=FIRST))
            context = (sys.executable, "-c", CONTEXT_CODE, str(setting.device.index))
            processes.append(Process(CONTEXT, OPENCL, context))
            seconds: dict[Process, list[float]] = {each: [] for each in processes}
            for i in range(setting.runs):
                setting.progress(f"round {i + 1} of {setting.runs}")
                for each in processes:
                    caches = _empty_caches(folder / str(i)) if each.what == FIRST else {}
                    seconds[each].append(seconds_of(each.command, caches))
                    table.put(each.key, pixels=each.pixels, ms=Stats.from_values(seconds[each]).times(MS))
            if find_spec("resource") is not None:
                largest = replace(max(ours, key=lambda each: each.pixels), what=PEAK)
                setting.progress(f"{largest.key[1]}: peak memory")
                table.put(largest.key, pixels=largest.pixels, memory=_peak(largest.command) / 1e6)
    finally:
        _compare(table)


def _checked(setting: Setting, folder: Path, shape: Shape, image: Path | None, script: str) -> list[Process]:
    """Return the high-pass of a picture by the program and by the script; raises RefusedError if one is wrong."""
    picture = _picture(image, *shape)
    source, target = folder / f"{shape[1]}x{shape[0]}.pgm", folder / "out.pgm"
    Image.fromarray(picture).save(source)
    options = ("--precision", setting.precision, *(("--device", setting.asked) if setting.asked else ()))
    processes = [
        Process(HIGHPASS, OURS, _program("highpass", *options, str(source), str(target)), shape),
        Process(HIGHPASS, SCRIPT, (sys.executable, "-c", script, str(source), str(target)), shape),
    ]
    wanted = filter_image(picture, highpass().gain(*shape))
    for each in processes:
        seconds_of(each.command)
        check(each.who, _read(target), wanted)
    return processes


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
        raise ReadError(f"{path}: {error}") from error


def _program(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "fftfilter", *arguments)


def _empty_caches(folder: Path) -> dict[str, str]:
    return dict.fromkeys(("POCL_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME"), str(folder))


def seconds_of(command: Sequence[str], more: Mapping[str, str] = MappingProxyType({})) -> float:
    """Return the seconds that a process takes; raises RefusedError if it fails."""
    environment = users_environment(more)
    begin = perf_counter()
    done = subprocess.run(
        command, cwd=CLONE, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    seconds = perf_counter() - begin
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RefusedError(f"a measured process failed with exit code {done.returncode}: {said[-300:]}")
    return seconds


def _peak(command: Sequence[str]) -> int:
    """Return the peak memory of a process in bytes."""
    measuring = (sys.executable, "-c", PEAK_CODE, *command)
    done = subprocess.run(measuring, cwd=CLONE, env=users_environment(), stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * PEAK_UNIT


def _compare(table: Table) -> None:
    """Set the ratio of each high-pass to the script's of the same picture."""
    medians = {(row["what"], row["size"], row["who"]): row["ms"] for row in table.rows if "ms" in row}
    for row in table.rows:
        ours, script = (medians.get((row["what"], row["size"], who)) for who in (row["who"], SCRIPT))
        if row["who"] == OURS and isinstance(ours, Stats) and isinstance(script, Stats):
            row["ratio"] = ratio(ours.median, script.median)


if __name__ == "__main__":
    main(command)
