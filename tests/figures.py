"""The memory of real runs beside the figure that ``--dry-run`` prints: ``python -m tests.figures [SIDE [STEP]]``.

The table has 75 runs; with a step every so many of them are done.
Each is run three times, as the first one may compile, and the others in a control group of 1.15 times its figure, where
this user may make one. A run is wrong that fails, that takes more than 1.15 of its figure, or less than 0.7.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

LEAST, MOST = 0.7, 1.15
FILTERS = (
    "highpass",
    "lowpass --output keep",
    "highpass --output real",
    "lowpass --scale auto",
    "notch --at 0.123,0.047",
    "stripes --angle 33 --output keep",
)
OTHERS = (
    ("wiener", "u8.png"),
    ("wiener", "rgb.png"),
    ("wiener", "f32.tif"),
    ("imagej", "u8.png"),
    ("imagej", "rgb.png"),
    ("imagej", "f32.tif"),
    ("descreen", "dots.png"),
    ("notch --auto", "u8.png"),
    ("notch --auto --edges mirror", "rgb.png"),
    ("stripes --angle 0", "u16.tif"),
    ("stripes --auto", "rgb.png"),
    ("stripes --auto --blocks 4", "f32.tif"),
    ("stripes --auto --fixed-pattern pages", "stack.tif"),
    ("highpass --ratio --output keep", "f32.tif"),
    ("highpass --ratio --output real", "nan.tif"),
    ("lowpass --channels luminance --output keep", "rgb.png"),
    ("lowpass --region 100,100,900,900 --output keep", "rgb.png"),
    ("lowpass --verify", "u8.png"),
    ("lowpass --verify --edges mirror --output keep", "rgb.png"),
    ("lowpass --verify --output real", "f32.tif"),
    ("imagej --verify", "u8.png"),
    ("lowpass --engine book", "u8.png"),
    ("lowpass --precision double", "u8.png"),
    ("lowpass --engine numpy --precision double", "rgb.png"),
    ("lowpass --output keep", "stack.tif"),
    ("wiener --output keep", "stack.tif"),
    ("notch --auto --preview page.png", "rgb.png"),
)
ENCODERS = tuple((f"lowpass --output keep --to {suffix}", "rgb.png") for suffix in (".webp", ".avif", ".jp2", ".jpg"))
OF_OTHERS = (("lowpass --output keep --to .webp", "stack.tif"), ("lowpass --to .fits", "f32.tif"))
# The control groups of this machine, and the file of a group's limit: versions 1 and 2.
GROUPS = {"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}
ENTER = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])"


def table() -> list[tuple[str, str]]:
    """Return commands, each with its picture."""
    pictures = ("u8.png", "u16.tif", "f32.tif", "nan.tif", "rgb.png", "rgb16.tif", "rgb.jpg")
    pairs = [(f"{each} --edges {edges}", name) for each in FILTERS for edges in ("wrap", "mirror") for name in pictures]
    return [*pairs[::2], *OTHERS, *ENCODERS, *OF_OTHERS]


def pictures(folder: Path, side: int) -> None:
    """Write a picture of each type: waves and noise, as pictures with little in them are filtered again in double."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:side, :side].astype(np.float32)
    plane = 0.5 + 0.2 * np.sin(x / 37) * np.cos(y / 53) + 0.1 * np.sin(2 * np.pi * (0.123 * x + 0.047 * y))
    plane = (plane + 0.05 * rng.standard_normal((side, side), dtype=np.float32)).clip(0, 1).astype(np.float32)
    colors = np.stack([plane, np.roll(plane, 5, 0) * 0.9, plane[::-1]], axis=-1)
    dots = 1 / (1 + np.exp(8 * ((np.cos(x) + np.cos(y)) / 4 + 0.5 - plane)))
    holes = np.where((x < side // 8) & (y > side // 2), np.nan, plane)
    for name, levels in (("u8.png", plane), ("rgb.png", colors), ("rgb.jpg", colors), ("dots.png", dots)):
        Image.fromarray((levels * 255).astype(np.uint8)).save(folder / name)
    tifffile.imwrite(folder / "u16.tif", (plane * 65535).astype(np.uint16))
    tifffile.imwrite(folder / "rgb16.tif", (colors * 65535).astype(np.uint16), photometric="rgb")
    tifffile.imwrite(folder / "f32.tif", plane)
    tifffile.imwrite(folder / "nan.tif", holes.astype(np.float32))
    pages = np.stack([np.roll(plane, 9 * i, 1) for i in range(4)])
    tifffile.imwrite(folder / "stack.tif", (pages * 65535).astype(np.uint16), photometric="minisblack")


@contextmanager
def group(limit: float) -> Iterator[Path | None]:
    """Make a control group with a limit of memory, if this user may; give its file of processes."""
    for folder, file in GROUPS.items():
        made = Path(folder, f"fftfilter-figures-{os.getpid()}")
        try:
            made.mkdir()
        except OSError:
            continue
        try:
            (made / file).write_text(str(round(limit)))
        except OSError:
            made.rmdir()
            continue
        try:
            yield made / "cgroup.procs"
        finally:
            made.rmdir()
        return
    yield None


def ran(folder: Path, *words: str, within: Path | None = None) -> tuple[int, int, str]:
    """Run the program in a group; return its exit code, the bytes that it had at its peak, and what it printed."""
    command = [sys.executable, "-m", "fftfilter", *words]
    if within:
        command = [sys.executable, "-c", ENTER, str(within), *command]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return process.returncode, used.ru_maxrss * 1024, printed


def compared(folder: Path, command: str, name: str) -> tuple[float, float, str]:
    """Return a run's figure and its peak in MB, and what was wrong, or nothing."""
    command, _, suffix = command.partition(" --to ")
    usual = ".tif" if "real" in command or name.endswith("tif") or "verify" in command else Path(name).suffix
    words = (*command.split(), name, f"out{suffix or usual}")
    dry = [word for word in words if word != "--verify"] if "--verify" not in words else list(words)
    _, _, said = ran(folder, dry[0], "-n", *dry[1:])
    found = re.search(r"; ([0-9.,]+) MB of memory$", said.strip())
    if not found:
        return 0.0, 0.0, said
    figure = float(found[1].replace(",", ""))
    ran(folder, *words)
    # The least of two, as another program may compile for a later one; one that fails goes before all.
    with group(MOST * 1e6 * figure) as within:
        runs = [ran(folder, *words, within=within) for _ in range(2)]
        code, peak, printed = min(runs, key=lambda run: (run[0] == 0, run[1]))
    part = peak / 1e6 / figure
    fault = "" if LEAST < part < MOST else f"{part:.2f} of the figure"
    return figure, peak / 1e6, f"exit code {code} {printed}" if code else fault


def main() -> None:
    """Run the table, or every n-th command of it, for pictures of a side."""
    side, step = (*map(int, sys.argv[1:3]), *(2000, 1)[len(sys.argv[1:3]) :])
    with tempfile.TemporaryDirectory() as made:
        # In another process: the system counts what a process had before it became the program, too.
        code = f"from tests.figures import *; pictures(Path({made!r}), {side})"
        subprocess.run([sys.executable, "-c", code], check=True)
        wrong = 0
        for command, name in table()[::step]:
            figure, peak, fault = compared(Path(made), command, name)
            wrong += bool(fault)
            sys.stdout.write(f"{command} {name}: figure {figure:.0f} MB, peak {peak:.0f} MB  {fault}\n")
            sys.stdout.flush()
    sys.exit(f"{wrong} wrong" if wrong else 0)


if __name__ == "__main__":
    main()
