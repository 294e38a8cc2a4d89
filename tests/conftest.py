"""What all tests share: an OpenCL with nothing but what pip brought, caches of their own, images."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

# Before anything loads OpenCL: no system driver may hide a fault of the PoCL that pip brought.
_HERE = tempfile.TemporaryDirectory(prefix="fftfilter-tests-")
(Path(_HERE.name) / "no-vendors").mkdir()
os.environ["OCL_ICD_VENDORS"] = str(Path(_HERE.name) / "no-vendors")
os.environ["XDG_CACHE_HOME"] = str(Path(_HERE.name) / "cache")
os.environ.pop("FFTFILTER_DEVICE", None)
# Started with it, a program leaves nothing in a buffer that fails once more at its end.
os.environ.pop("PYTHONUNBUFFERED", None)
# Started in the background by a script, a process ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SAMPLES = Path(__file__).parent.parent / "samples"


class Started(subprocess.Popen):
    """A process that is gone at the end of its ``with``, which of itself would wait for it for ever."""

    def __exit__(self, *error):
        self.kill()
        super().__exit__(*error)


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


@pytest.fixture(scope="session")
def camera():
    """The sample camera.pgm as the 512 x 512 bytes behind its header."""
    return np.frombuffer((SAMPLES / "camera.pgm").read_bytes()[-512 * 512 :], np.uint8).reshape(512, 512)


def assert_grey_levels(got, wanted):
    """Hold an 8-bit picture to the contract: at most 1 level off, in at most 1 pixel of 500."""
    off = np.abs(got.astype(int) - wanted.astype(int))
    worst = np.argsort(off, axis=None)[::-1][:5]
    where = [tuple(int(i) for i in np.unravel_index(w, off.shape)) for w in worst]
    shown = [(w, int(got[w]), int(wanted[w])) for w in where]
    assert off.max() <= 1, f"(index, got, wanted): {shown}"
    # A chance pixel on the edge between two levels is allowed to an image of less than 500 pixels, too.
    assert np.count_nonzero(off) <= max(1, off.size // 500), f"{np.count_nonzero(off)} pixels differ: {shown}"


def assert_transform(got, wanted, n, *, unit=1e-7):
    """Hold a transform of length n to the contract: the error's norm over the reference's."""
    power_of_two = n & (n - 1) == 0
    bound = unit * max(4, np.log2(max(n, 1))) * (1 if power_of_two else 4)
    error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
    worst = np.argsort(np.abs(got - wanted), axis=None)[::-1][:3]
    shown = [(int(w), got.flat[w], wanted.flat[w]) for w in worst]
    assert error <= bound, f"relative error {error:.1e}, allowed {bound:.1e}; worst (index, got, wanted): {shown}"
