"""``python -m benchmarks.folder``: a folder filtered by this program and by others.

Whole commands are timed in turn, their start included. The pictures of each program are compared with the reference at
its first run. Decoding and encoding alone, with Pillow on all cores, is measured beside them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from fftfilter import images
from fftfilter.bench import Lines, Stats, Table
from fftfilter.bench.measure import SPREAD, ratio
from fftfilter.errors import RefusedError
from fftfilter.images import Picture
from fftfilter.transfer import highpass
from fftfilter.transfer.reference import filter_image

from . import by_others
from .by_others import gmic, imagemagick
from .by_others.pool import CORES
from .command import benchmark_command, format_option, main, pair
from .environment import CLONE, users_environment
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fftfilter.bench.measure import Setting

OURS = "fftfilter"
CODECS = {"pillow_alone": "decode + encode", "pillow_alone_in_threads": "decode + encode, threads"}
OTHERS = {"numpy_and_pillow": "NumPy, Pillow", "opencv": "OpenCV", "imagemagick": "ImageMagick", "gmic": "G'MIC"}
# Programs that start a process a file are so slow that they get one file of ten.
SLOW = ("imagemagick", "gmic")
ONE_OF = 10
# Pictures of each program that are compared with the reference.
CHECKED = 3


def _files(text: str) -> tuple[int, int]:
    return pair(text, "give count x side, such as 500x512")


@benchmark_command
@click.option(
    "--files",
    type=_files,
    metavar="COUNTxSIDE",
    multiple=True,
    default=("500x512", "60x2048"),
    show_default=True,
    help="Number of square pictures and their side; may be given several times.",
)
@format_option()
@click.option(
    "--beside",
    "others",
    type=click.Choice([*CODECS, *OTHERS]),
    multiple=True,
    help="Only this one beside fftfilter; may be given several times.  [default: all that are installed]",
)
@click.option(
    "--png-level",
    type=click.IntRange(0, 9),
    default=1,
    show_default=True,
    metavar="0-9",
    help="Compression of every program's output.",
)
def command(
    setting: Setting,
    *,
    files: tuple[tuple[int, int], ...],
    formats: tuple[str, ...],
    others: tuple[str, ...],
    png_level: int,
) -> None:
    """Time the filter of a folder beside other programs and coding alone, whole commands in turn.

    Those that are installed take part: NumPy with Pillow and OpenCV in pools of processes, ImageMagick, G'MIC. The
    files are written to the folder for temporary files; TMPDIR=/dev/shm measures without a disk. fftfilter chooses its
    device as for everyone, unless --device is given.

    \b
    Example: python -m benchmarks.folder --runs 3
             python -m benchmarks.folder --files 3000x512 --format pgm --beside opencv
    """
    wanted = [Files(count, side, kind) for count, side in files for kind in formats]
    programs = [OURS, *others] if others else None
    folder(setting, files=wanted, level=png_level, programs=programs)


class Files(NamedTuple):
    """The files of a folder: how many, their side in pixels, and their extension without the dot."""

    number: int
    side: int
    type: str

    def __str__(self) -> str:
        return f"{self.number} {self.type.upper()} of {self.side} x {self.side}"


def folder(setting: Setting, *, files: Sequence[Files], level: int = 1, programs: Sequence[str] | None = None) -> None:
    """Return the images per second of each program, by default of all that are installed, this one among them."""
    table = setting.made = Table(
        "The same high-pass of a folder by fftfilter and its peers, from start to end of the command",
        {"files": "files", "who": "who", "rate": "images/s", "ratio": f"{OURS}: times as fast"},
        Lines(("who",), "side", ("rate",), "side", "images/s"),
        setting.about() | {"cores": str(CORES), "PNG level": str(level)},
        [
            SPREAD,
            "Decode + encode is Pillow alone: it reads the inputs and writes the filtered pictures.",
            f"ImageMagick rounds where others truncate; G'MIC's level is its own. Both do 1 file of {ONE_OF}.",
        ],
    )
    programs = installed() if programs is None else programs
    for each in files:
        with TemporaryDirectory(prefix="fftfilter-bench-") as name:
            setting.progress(f"{each}: prepare")
            prepared = Prepared(setting, each, Path(name), level)
            rates: dict[str, list[float]] = {program: [] for program in programs}
            for i in range(setting.runs):
                for program in programs:
                    setting.progress(f"{each}: run {i + 1} of {setting.runs}, {shown(program)}")
                    rates[program].append(prepared.filter_by(program, check=i == 0))
            stats = {program: Stats.from_values(found) for program, found in rates.items()}
            for program, rate in stats.items():
                times = ratio(stats[OURS].median, rate.median)
                table.put((str(each), shown(program)), side=each.side, rate=rate, ratio=times)


def shown(program: str) -> str:
    """Return a program's name as the table shows it."""
    return CODECS.get(program) or OTHERS.get(program, program)


def installed() -> list[str]:
    """Return the programs that are installed."""
    found = {
        "opencv": find_spec("cv2"),
        "imagemagick": imagemagick.program(),
        "gmic": gmic.program(),
    }
    return [OURS, *CODECS, *(program for program in OTHERS if found.get(program, True))]


class Prepared:
    """The files of a folder, and the prepared files that the scripts of others need."""

    def __init__(self, setting: Setting, files: Files, root: Path, level: int) -> None:
        self.level, self.device = level, setting.asked
        self.inputs, self.few, self.aids, self.target = (root / name for name in ("in", "few", "aids", "out"))
        for each in self.inputs, self.few, self.aids:
            each.mkdir()
        transfer = highpass()
        gain = transfer.gain(files.side, files.side)
        _write(np.fft.fftshift(gain).astype(np.uint8) * 255, self.aids / "mask.pgm")
        self.wanted: dict[str, Any] = {}
        """The right results of some files."""
        with setting.filter(transfer) as filter_:
            for i in range(files.number):
                picture = photograph(i, files.side)
                path = self.inputs / f"{i:05}.{files.type}"
                _write(picture, path, level)
                (self.aids / f"{i:05}.raw").write_bytes(filter_(picture).tobytes())
                if i % ONE_OF == 0:
                    (self.few / path.name).hardlink_to(path)
                    if len(self.wanted) < CHECKED:
                        self.wanted[path.name] = filter_image(picture, gain)

    def filter_by(self, program: str, *, check: bool) -> float:
        """Return the images per second of a program; raises RefusedError if it fails or a picture is wrong."""
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir()
        inputs = self.few if program in SLOW else self.inputs
        script = f"{by_others.__name__}.{program}"
        command = [sys.executable, "-m", script, inputs, self.target, self.level, self.aids]
        if program == OURS:
            command = [sys.executable, "-m", OURS, "highpass", "-q", "--png-level", self.level, inputs, self.target]
            command += ["--device", self.device] if self.device else []
        environment = users_environment()
        begin = perf_counter()
        done = subprocess.run(
            list(map(str, command)), cwd=CLONE, env=environment, capture_output=True, text=True, check=False
        )
        seconds = perf_counter() - begin
        made = [path for path in self.target.iterdir() if not path.name.startswith(".")]
        count = sum(1 for _ in inputs.iterdir())
        if done.returncode or len(made) != count:
            said = (done.stderr.strip() or "nothing").splitlines()[-1]
            raise RefusedError(f"{shown(program)} wrote {len(made)} of {count} files; leave it out. It said: {said}")
        if check:
            self._check(program)
        return count / seconds

    def _check(self, program: str) -> None:
        for name, wanted in self.wanted.items():
            off = np.abs(images.read(self.target / name).planes[0].astype(int) - wanted)
            # ImageMagick rounds, so that half of its pixels differ by one level; ours are held to the contract.
            most = max(1, off.size // 500) if program == OURS else off.size
            if off.max() > 1 or np.count_nonzero(off) > most:
                raise RefusedError(
                    f"{shown(program)} makes another picture of {name}: {np.count_nonzero(off)} of {off.size} pixels "
                    f"differ, by up to {off.max()} levels; a wrong result is not timed, leave it out"
                )


def _write(pixels: Any, path: Path, level: int = 1) -> None:
    images.write(Picture(pixels[None], None, 255, "PNG"), path, coding=images.Coding(level))


if __name__ == "__main__":
    main(command)
