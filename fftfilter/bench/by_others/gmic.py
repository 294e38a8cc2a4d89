"""The high-pass with G'MIC, several files a process and as many processes as there are cores.

The level of its PNGs is its own.
"""

from __future__ import annotations

import shutil
import subprocess

from .pool import Task, do_all


def program() -> str | None:
    """Return where G'MIC is, None if it is not."""
    return shutil.which("gmic")


def work(task: Task) -> None:
    """Read, filter and write files; the mask is image 0, and each file an image behind it."""
    steps = ["-v", "-1", str(task.help / "mask.pgm"), "-shift", "-50%,-50%,0,0,2", "-/", "255"]
    steps += [str(task.pictures / name) for name in task.names]
    steps += ["-repeat", "{$!-1}", "-l[0,{1+$>}]", "-fft[1]", "-*[1,2]", "[0]", "-ifft[1,2]", "-rm[2]"]
    steps += ["-abs[1]", "-*[1]", "{255/iM}", "-+[1]", "{1/4096}", "-round[1]", "1,-1", "-endl", "-done"]
    for i, name in enumerate(task.names):
        steps += [f"-o[{i + 1}]", str(task.target / name)]
    subprocess.run([str(program()), *steps], check=True)


if __name__ == "__main__":
    do_all(work, threads=True)
