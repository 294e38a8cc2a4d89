"""NumPy's own tests of its transforms, run against this program's: ``python -m benchmarks.numpy_tests``.

The tests are those of the NumPy that is installed, of which nothing is copied. ``fft``, ``ifft``, ``fft2``, ``ifft2``,
``rfft2`` and ``irfft2`` are ours while they run, and the rest is NumPy's. Ours are in single precision: their results
take the type that NumPy's have, and may differ by as much as single precision does.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from functools import wraps
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
import numpy as np
import numpy.testing
import pytest

import fftfilter

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

NAMES = ("fft", "ifft", "fft2", "ifft2", "rfft2", "irfft2")
MODULE = "numpy.fft.tests.test_pocketfft"
# Error of a transform and its inverse at the lengths of NumPy's tests, relative to the largest number.
SINGLE = 4e-6


class Inside(threading.local):
    """Whether a thread is within one of our functions, which make their tables with NumPy's."""

    is_ours = False


_inside = Inside()


def in_numpys_type(ours: Function, numpys: Function) -> Function:
    """Return our function with results of the type that NumPy's has."""

    @wraps(ours)
    def function(a: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if _inside.is_ours:
            return numpys(a, *args, out=out, **kwargs)
        _inside.is_ours = True
        try:
            result = ours(a, *args, out=out, **kwargs)
        finally:
            _inside.is_ours = False
        if out is not None:
            return out
        few = np.ones((2,) * max(1, np.ndim(a)), np.asarray(a).dtype)
        return result.astype(numpys(few).dtype)

    return function


def close(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0.0, **more: Any) -> None:
    """Hold to NumPy's bounds, but to none that single precision cannot meet."""
    size = float(np.max(np.abs(desired), initial=1.0))
    _assert_allclose(actual, desired, rtol=max(rtol, SINGLE), atol=max(atol, SINGLE * size), **more)


_assert_allclose = numpy.testing.assert_allclose


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST'S ARGUMENTS]...")
def command(*, arguments: tuple[str, ...]) -> None:
    """Run NumPy's own tests of its transforms against this program's.

    \b
    Example: python -m benchmarks.numpy_tests -k fft2
    """
    with ExitStack() as stack:
        for name in NAMES:
            ours = in_numpys_type(getattr(fftfilter, name), getattr(np.fft, name))
            stack.enter_context(patch.object(np.fft, name, ours))
        stack.enter_context(patch.object(numpy.testing, "assert_allclose", close))
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--pyargs", MODULE, *arguments]))


if __name__ == "__main__":
    command()
