"""What all tests share: the OpenCL that pip brought, else the system's, a cache of their own, images."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import hypothesis
import numpy as np
import pytest

import fftfilter.cli  # noqa: F401  first: small images take the device of the others, as in the command
from fftfilter.device_choice import devices
from fftfilter.errors import DeviceError
from fftfilter.system import cores
from tests.helpers import HAS_POCL_WHEEL, SAMPLES

# Before anything loads OpenCL: no system driver may hide a fault of the PoCL that pip brought. Where pip has none, as
# on macOS and Windows, the system's drivers serve. The workers that pytest starts have their environment from it
# already, and with it one cache for all: a kernel is compiled once.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _HERE = tempfile.TemporaryDirectory(prefix="fftfilter-tests-")
    if HAS_POCL_WHEEL:
        (Path(_HERE.name) / "no-vendors").mkdir()
        os.environ["OCL_ICD_VENDORS"] = str(Path(_HERE.name) / "no-vendors")
    os.environ["XDG_CACHE_HOME"] = str(Path(_HERE.name) / "cache")
os.environ.pop("FFTFILTER_DEVICE", None)
# Without Python's cache each of the hundreds of processes that tests start would compile the package anew.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
# Started with it, a program leaves nothing in a buffer that fails once more at its end.
os.environ.pop("PYTHONUNBUFFERED", None)
# Started by a script in the background, or by nohup, a process ignores Ctrl-C or SIGHUP, and so would all it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config):
    """Keep the programs that PoCL compiles from run to run, with what pytest remembers, for each text of the kernels.

    ``--cache-clear`` has all compiled anew, as does a change of any kernel. Those of other kernels go after a day.
    """
    if "PYTEST_XDIST_WORKER" in os.environ or not (HAS_POCL_WHEEL and hasattr(config, "cache")):
        return
    kernels = hashlib.sha256()
    for file in sorted((SAMPLES.parent / "kernels").rglob("*.cl")):
        kernels.update(file.read_bytes())
    with suppress(OSError):  # where nothing can be kept
        programs = config.cache.mkdir("programs")
        own = programs / kernels.hexdigest()[:16]
        own.mkdir(exist_ok=True)
        os.utime(own)
        for each in programs.iterdir():
            if time.time() - each.stat().st_mtime > 24 * 3600:
                shutil.rmtree(each)
        cache = Path(os.environ["XDG_CACHE_HOME"])
        cache.mkdir()
        (cache / "pocl").symlink_to(own)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return one more than the cores, as tests wait for browsers, clusters and processes that they start."""
    return cores() + 1


# Examples have no time limit: a busy machine is no fault.
hypothesis.settings.register_profile("fftfilter", deadline=None)
hypothesis.settings.load_profile("fftfilter")


@pytest.fixture(scope="session", autouse=True)
def loaded_opencl():
    """Load OpenCL, by which commands then filter in any order of tests: before, NumPy would take small pictures."""
    with suppress(DeviceError, ImportError):
        devices()


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


@pytest.fixture(scope="session")
def camera():
    """The sample camera.pgm as the 512 x 512 bytes behind its header."""
    return np.frombuffer((SAMPLES / "camera.pgm").read_bytes()[-512 * 512 :], np.uint8).reshape(512, 512)


@pytest.fixture(scope="session")
def launcher():
    """A queue on the device that auto takes."""
    from fftfilter.device.launcher import Launcher
    from fftfilter.device_choice import choose

    return Launcher(choose())
