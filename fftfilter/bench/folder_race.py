"""A folder filtered by fftfilter and by others: whole commands, start-up included, in one interleaved run.

The floor is decoding and encoding alone, with Pillow on all cores. Each contender's pictures are held to the
reference once, at its first run.
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

import numpy as np

from .. import images
from ..errors import RefusedError
from ..filters import Filter
from ..images import Picture
from ..transfer.reference import filter_image
from ..transfer.functions import transfer
from . import by_others
from .by_others import gmic, imagemagick
from .by_others.pool import CORES
from .compare import Stats, ratio
from .environment import users_environment
from .experiments import SPREAD, Experiment
from .photographs import photograph
from .tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .experiments import Setting

OURS = "fftfilter"
FLOORS = {"pillow_alone": "decode + encode", "pillow_alone_in_threads": "decode + encode, threads"}
PEERS = {"numpy_and_pillow": "NumPy, Pillow", "opencv": "OpenCV", "imagemagick": "ImageMagick", "gmic": "G'MIC"}
# Commands of a process or more a file are slow enough to be known from some of the files.
SLOW = ("imagemagick", "gmic")
SHARE_OF_SLOW = 10
# How many times as fast as the floor with files of a type, as the best peer, and as every other.
OF_FLOOR: dict[str, float] = {"png": 0.85}
OF_BEST_PEER: dict[str, float] = {"pgm": 4.0}
AHEAD = 1.0
CHECKED = 3


class Files(NamedTuple):
    """A folder's files: how many of which side and type."""

    number: int
    side: int
    type: str

    def __str__(self) -> str:
        return f"{self.number} {self.type.upper()} of {self.side} x {self.side}"


def folder_race(setting: Setting, *, files: Sequence[Files], level: int = 1) -> Experiment:
    """Return the table of a folder's images per second, by everybody who is installed."""
    table = Table(
        "The same high-pass of a folder by fftfilter and its peers, from start to end of the command",
        {
            "files": "files",
            "who": "who",
            "rate": "images/s",
            "ratio": f"{OURS}: times as fast",
            "target": "target",
            "reached": "reached",
        },
        ("files", "who"),
        Lines(("who",), "side", ("rate",), "side", "images/s"),
        setting.about() | {"cores": str(CORES), "PNG level": str(level)},
        [
            SPREAD,
            "Decode + encode is Pillow alone: it reads the inputs and writes the filtered pictures.",
            f"ImageMagick rounds where others truncate; G'MIC's level is its own. Both do 1 file of {SHARE_OF_SLOW}.",
        ],
    )

    def steps() -> Iterator[str]:
        for each in files:
            with TemporaryDirectory(prefix="fftfilter-bench-") as folder:
                yield f"{each}: prepare"
                track = Track(setting, each, Path(folder), level)
                for run in range(setting.runs):
                    for who in track.contenders:
                        yield f"{each}: run {run + 1} of {setting.runs}, {_name(who)}"
                        track.run(who)
                track.enter(table)

    return Experiment(table, steps(), lambda: None)


def _name(who: str) -> str:
    return FLOORS.get(who) or PEERS.get(who, who)


def contenders() -> list[str]:
    """Return those that are installed."""
    is_there = {
        "opencv": find_spec("cv2"),
        "imagemagick": imagemagick.program(),
        "gmic": gmic.program(),
    }
    return [OURS, *FLOORS, *(who for who in PEERS if is_there.get(who, True))]


class Track:
    """The files of one race, and the times of those who ran."""

    def __init__(self, setting: Setting, files: Files, folder: Path, level: int) -> None:
        self.files, self.level = files, level
        self.device = str(setting.device.index)
        self.contenders = contenders()
        self.rates: dict[str, list[float]] = {}
        self.pictures, self.few, self.help, self.target = (folder / name for name in ("in", "few", "help", "out"))
        for each in self.pictures, self.few, self.help:
            each.mkdir()
        gain = transfer("highpass").gain(files.side, files.side)
        _write(np.fft.fftshift(gain).astype(np.uint8) * 255, self.help / "mask.pgm")
        self.wanted: dict[str, Any] = {}
        with Filter("highpass", device=self.device) as filter_:
            for i in range(files.number):
                picture = photograph(i, files.side)
                path = self.pictures / f"{i:05}.{files.type}"
                _write(picture, path, level)
                (self.help / f"{i:05}.raw").write_bytes(filter_(picture).tobytes())
                if i % SHARE_OF_SLOW == 0:
                    (self.few / path.name).hardlink_to(path)
                    if len(self.wanted) < CHECKED:
                        self.wanted[path.name] = filter_image(picture, gain)

    def run(self, who: str) -> None:
        """Let somebody do the folder, and keep the images per second."""
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir()
        pictures = self.few if who in SLOW else self.pictures
        command = [sys.executable, "-m", f"{by_others.__name__}.{who}", pictures, self.target, self.level, self.help]
        if who == OURS:
            command = [sys.executable, "-m", OURS, "highpass", "-q", "--png-level", self.level, pictures, self.target]
            command += ["--device", self.device]
        environment = users_environment()
        begin = perf_counter()
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
        seconds = perf_counter() - begin
        made = [path for path in self.target.iterdir() if not path.name.startswith(".")]
        count = sum(1 for _ in pictures.iterdir())
        if done.returncode or len(made) != count:
            said = (done.stderr.strip() or "nothing").splitlines()[-1]
            raise RefusedError(f"{_name(who)} wrote {len(made)} of {count} files; leave it out. It said: {said}")
        if who not in self.rates:
            self._check(who)
        self.rates.setdefault(who, []).append(count / seconds)

    def _check(self, who: str) -> None:
        for name, wanted in self.wanted.items():
            off = np.abs(images.read(self.target / name).planes[0].astype(int) - wanted)
            # ImageMagick rounds, so half of its pixels are one level off; ours are held to the contract.
            most = max(1, off.size // 500) if who == OURS else off.size
            if off.max() > 1 or np.count_nonzero(off) > most:
                raise RefusedError(
                    f"{_name(who)} makes another picture of {name}: {np.count_nonzero(off)} of {off.size} pixels "
                    f"differ, by up to {off.max()} levels; a wrong result is not timed, leave it out"
                )

    def enter(self, table: Table) -> None:
        """Put the rates into the table, beside the targets."""
        stats = {who: Stats.of(rates) for who, rates in self.rates.items()}
        times = {who: ratio(stats[OURS].median, each.median) for who, each in stats.items()}
        floor = min((who for who in FLOORS if who in times), key=lambda who: times[who])
        peers = [who for who in PEERS if who in times]
        targets = dict.fromkeys(peers, AHEAD)
        if self.files.type in OF_BEST_PEER and peers:
            targets[min(peers, key=lambda who: times[who])] = OF_BEST_PEER[self.files.type]
        if self.files.type in OF_FLOOR:
            targets[floor] = OF_FLOOR[self.files.type]
        for who, each in stats.items():
            key = (str(self.files), _name(who))
            table.put(key, side=self.files.side, rate=each, ratio=times[who])
            if target := targets.get(who):
                table.put(key, target=target, reached="yes" if times[who] >= target else "no")


def _write(pixels: Any, path: Path, level: int = 1) -> None:
    images.write(Picture(pixels[None], None, 255, "PNG"), path, png_level=level)
