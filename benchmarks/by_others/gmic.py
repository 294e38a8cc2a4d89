"""The high-pass with G'MIC, several files in each process and a process on each core.

Its PNGs have a level of its own.
"""

from __future__ import annotations

import shutil
import subprocess

from .pool import Chunk, filter_all


def program() -> str | None:
    """Return the path of G'MIC, None if it is not installed."""
    return shutil.which("gmic")


def work(chunk: Chunk) -> None:
    """Read, filter and write files; the mask is image 0, the files are the images after it."""
    steps = ["-v", "-1", str(chunk.aids / "mask.pgm"), "-shift", "-50%,-50%,0,0,2", "-/", "255"]
    steps += [str(chunk.inputs / name) for name in chunk.names]
    steps += ["-repeat", "{$!-1}", "-l[0,{1+$>}]", "-fft[1]", "-*[1,2]", "[0]", "-ifft[1,2]", "-rm[2]"]
    steps += ["-abs[1]", "-*[1]", "{255/iM}", "-+[1]", "{1/4096}", "-round[1]", "1,-1", "-endl", "-done"]
    for i, name in enumerate(chunk.names):
        steps += [f"-o[{i + 1}]", str(chunk.target / name)]
    subprocess.run([str(program()), *steps], check=True)


if __name__ == "__main__":
    filter_all(work, threads=True)
