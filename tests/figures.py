"""The memory of real runs beside the figure that ``--dry-run`` prints: ``python -m tests.figures [SIDE [STEP]]``.

The table has 60 runs; with a step every so many of them are done.
Each is run twice, as the first one may compile. A run is wrong that fails, that takes more than 1.15 of its figure, or
less than 0.7.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
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
    ("lowpass --channels luminance --output keep", "rgb.png"),
    ("lowpass --region 100,100,900,900 --output keep", "rgb.png"),
    ("lowpass --verify", "u8.png"),
    ("lowpass --verify --edges mirror --output keep", "rgb.png"),
    ("lowpass --verify --output real", "f32.tif"),
    ("imagej --verify", "u8.png"),
    ("lowpass --engine book", "u8.png"),
    ("lowpass --precision double", "u8.png"),
)


def table() -> list[tuple[str, str]]:
    """Return commands, each with its picture."""
    pictures = ("u8.png", "u16.tif", "f32.tif", "nan.tif", "rgb.png", "rgb16.tif", "rgb.jpg")
    pairs = [(f"{each} --edges {edges}", name) for each in FILTERS for edges in ("wrap", "mirror") for name in pictures]
    return [*pairs[::2], *OTHERS]


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


def ran(folder: Path, *words: str) -> tuple[int, int, str]:
    """Run the program; return its exit code, the bytes that it had at its peak, and what it printed."""
    command = [sys.executable, "-m", "fftfilter", *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return process.returncode, used.ru_maxrss * 1024, printed


def compared(folder: Path, command: str, name: str) -> tuple[float, float, str]:
    """Return a run's figure and its peak in MB, and what was wrong, or nothing."""
    suffix = ".tif" if "real" in command or name.endswith("tif") or "verify" in command else Path(name).suffix
    words = (*command.split(), name, f"out{suffix}")
    dry = [word for word in words if word != "--verify"] if "--verify" not in words else list(words)
    _, _, said = ran(folder, dry[0], "-n", *dry[1:])
    found = re.search(r"; ([0-9.,]+) MB of memory$", said.strip())
    if not found:
        return 0.0, 0.0, said
    figure = float(found[1].replace(",", ""))
    # The least of three: the first compiles the kernels, and another program may do so for a later one.
    code, peak, printed = min((ran(folder, *words) for _ in range(3)), key=lambda run: (-run[0], run[1]))
    part = peak / 1e6 / figure
    return figure, peak / 1e6, printed if code else "" if LEAST < part < MOST else f"{part:.2f} of the figure"


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
