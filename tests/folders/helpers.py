"""What tests of folders share: small pictures, names below a folder, the program as a process."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from fftfilter.cli import cli
from fftfilter.folders.journal import NAME as JOURNAL


def pgm(path, seed=0, height=8, width=12):
    """Write a small picture of noise; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_noise(seed, height, width))
    return path


@lru_cache(64)
def _noise(seed, height, width):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    return b"P5\n%d %d\n255\n" % (width, height) + pixels.tobytes()


def names(folder):
    """Return the files below a folder but for journals."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL
    )


def same(one, other):
    """Assert that two folders hold the same files."""
    assert names(one) == names(other)
    assert [name for name in names(one) if (one / name).read_bytes() != (other / name).read_bytes()] == []


def command(*arguments):
    """Return the command line of a high-pass."""
    return [sys.executable, "-m", "fftfilter", "highpass", *map(str, arguments)]


def process(*arguments, **options):
    """Run a high-pass as a process of its own; return what it said and its exit code."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=120, check=False, **options)


def here(*arguments):
    """Run a high-pass in this process; return its exit code."""
    return CliRunner().invoke(cli, ["highpass", *map(str, arguments)]).exit_code


def children(pid):
    """Return the processes that a process has started, by any of its threads."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, thread.read_text().split())
    return found


def workers(pid):
    """Return the processes that filter: those that the forkserver has forked."""
    servers = [child for child in children(pid) if "forkserver" in Path(f"/proc/{child}/cmdline").read_text()]
    return [worker for server in servers for worker in children(server)]


def session(leader):
    """Return the processes of a session that are no zombies, such as those that a run has left behind."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = status.read_text("latin-1").rpartition(")")[2].split()[:4]
        except OSError:
            continue  # it went meanwhile
        if int(of) == leader and state not in "ZX":
            found.append(int(status.parent.name))
    return found


def digest(book, name, settings):
    """Return the digest of the input that a journal has for a file."""
    found = book.entry(name, settings)
    return found and found.digest
