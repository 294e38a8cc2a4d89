"""What tests of folders share: small pictures, names below a folder, the program as a process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from fftfilter.folders.journal import NAME as JOURNAL


def pgm(path, seed=0, height=8, width=12):
    """Write a small picture of noise; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    path.write_bytes(b"P5\n%d %d\n255\n" % (width, height) + pixels.tobytes())
    return path


def names(folder):
    """Return the files below a folder but for journals."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL
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
