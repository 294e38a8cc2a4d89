"""The high-pass with ImageMagick, a process for each file, one on each core at a time.

It needs a build with FFTW and with HDRI, without which spectra are whole numbers. It rounds where others truncate.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from .pool import Chunk, filter_all

PROGRAMS = ("magick", "convert-im6.q16hdri", "convert")


@cache
def program() -> str | None:
    """Return the path of a suitable ImageMagick, None if there is none."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stdout
            if "HDRI" in said and "fftw" in said:
                return found
    return None


def work(chunk: Chunk) -> None:
    """Read, filter and write files."""
    times_mask = ["-evaluate-sequence", "multiply", ")"]
    for name in chunk.names:
        steps = [str(chunk.inputs / name), "+fft", str(chunk.aids / "mask.pgm")]
        steps += ["(", "-clone", "0,2", *times_mask, "(", "-clone", "1,2", *times_mask, "-delete", "0-2", "+ift"]
        steps += ["-evaluate", "abs", "0", "-auto-level", "-depth", "8"]
        steps += ["-define", f"png:compression-level={chunk.level}", str(chunk.target / name)]
        subprocess.run([str(program()), "-limit", "thread", "1", *steps], check=True)


if __name__ == "__main__":
    filter_all(work, threads=True)
