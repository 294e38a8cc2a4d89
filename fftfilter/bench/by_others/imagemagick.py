"""The high-pass with ImageMagick, a process for each file and as many at once as there are cores.

It needs a build with FFTW and HDRI: without the latter spectra are whole numbers. It rounds where others truncate.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from .pool import Task, do_all

PROGRAMS = ("magick", "convert-im6.q16hdri", "convert")


@cache
def program() -> str | None:
    """Return the ImageMagick that can do it, None if there is none."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stdout
            if "HDRI" in told and "fftw" in told:
                return found
    return None


def work(task: Task) -> None:
    """Read, filter and write files."""
    times_mask = ["-evaluate-sequence", "multiply", ")"]
    for name in task.names:
        steps = [str(task.pictures / name), "+fft", str(task.help / "mask.pgm")]
        steps += ["(", "-clone", "0,2", *times_mask, "(", "-clone", "1,2", *times_mask, "-delete", "0-2", "+ift"]
        steps += ["-evaluate", "abs", "0", "-auto-level", "-depth", "8"]
        steps += ["-define", f"png:compression-level={task.level}", str(task.target / name)]
        subprocess.run([str(program()), "-limit", "thread", "1", *steps], check=True)


if __name__ == "__main__":
    do_all(work, threads=True)
