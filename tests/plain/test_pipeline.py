"""The NumPy engine beside the float64 reference: sizes, pixels, edges, precisions, both libraries, complex results."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

import fftfilter
from fftfilter import plain
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.plain import NumPyDevice, NumPyLauncher
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from tests.helpers import COMMAND, assert_transform, needs

SIZES = (1, 1), (1, 7), (8, 1), (2, 2), (3, 5), (64, 96), (67, 71)
# One whose gain beyond its support is 1, one that varies everywhere, one of many columns, one that passes everything.
FILTERS = (
    H.highpass(1.5),
    H.lowpass("3px", shape="gaussian"),
    H.bandstop("9px", "3px") * H.notch((0.2, 0.13), width="0.05cyc"),
    H.Transfer(()),
)


def right(image, transfer, edges="wrap"):
    return reference.filtered(image, grid_with(edges, transfer, *image.shape[-2:]).gain(), edges)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_values_of_every_size_and_type_are_those_of_the_reference(size, dtype, rng):
    image = (rng.random((2, *size)) * (250 if dtype == "uint8" else 60000)).astype(dtype)
    for transfer, edges, precision in product(FILTERS, ("wrap", "mirror"), ("single", "double")):
        got = Filter(transfer, engine="numpy", output="real", edges=edges, precision=precision)(image)
        assert got.dtype == (np.float32 if precision == "single" and dtype != "float64" else np.float64)
        part = 4e-6 if precision == "single" else 1e-14
        np.testing.assert_allclose(got, right(image, transfer, edges).real, rtol=0, atol=part * float(image.max()))


@pytest.mark.parametrize("module", ["numpy.fft", pytest.param("scipy.fft", marks=needs("scipy"))])
def test_either_library_is_right(module, rng, monkeypatch):
    monkeypatch.setattr(plain, "MANY", 1 if module == "scipy.fft" else 1 << 60)
    assert plain.library(4)[0].__name__ == module
    image = rng.integers(0, 256, (67, 72), dtype=np.uint8)
    for transfer, edges in product(FILTERS, ("wrap", "mirror")):
        got = Filter(transfer, engine="numpy", output="real", edges=edges)(image)
        np.testing.assert_allclose(got, right(image, transfer, edges).real, rtol=0, atol=4e-6 * 255)
    x = rng.random((3, 10, 21)).astype("f4")
    for name in ("fft", "ifft", "fft2", "ifft2", "rfft2"):
        wanted = getattr(np.fft, name)(x.astype(float))
        assert_transform(getattr(fftfilter, name)(x, algorithm="numpy"), wanted, 21)
        assert_transform(getattr(fftfilter, name)(x, algorithm="numpy", precision="double"), wanted, 21)
    assert_transform(fftfilter.irfft2(np.fft.rfft2(x), (10, 21), device="numpy"), x, 21)


def test_large_images_go_to_scipy_and_do_without_it():
    """In a process in which it cannot be imported, as where it is not installed."""
    assert plain.MANY > 1024**2
    code = """
import sys
sys.modules["scipy"] = sys.modules["scipy.fft"] = None
import numpy as np
from fftfilter.plain import MANY, library
assert library(MANY) == (np.fft, {})
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_gains_that_are_not_even_make_complex_values(edges, precision, rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    sides = (24, 20) if edges == "mirror" else (12, 10)
    transfer = H.mask(rng.random(sides))
    wanted = right(image, transfer, edges)
    options = {"engine": "numpy", "edges": edges, "precision": precision}
    with Filter(transfer, output="real", **({"edges": "wrap"} | options)) as values:
        np.testing.assert_allclose(values(image), wanted.real, rtol=0, atol=1e-3)
        assert values.extremes()[0][1] == pytest.approx(np.abs(wanted).max(), rel=1e-5)
    magnitude = Filter(transfer, **(COMMAND | options))(image, dtype="float32")
    np.testing.assert_allclose(magnitude, np.abs(wanted) / np.abs(wanted).max(), rtol=0, atol=1e-5)
    kept = Filter(transfer, output="keep", **({"edges": "wrap"} | options))(image.astype("f4") / 255)
    np.testing.assert_allclose(kept, right(image / 255, transfer.keeping_mean(), edges).real, rtol=0, atol=1e-5)


def test_what_is_too_weak_for_single_precision_is_filtered_again_in_double():
    y, x = np.mgrid[:64, :64]
    image = (np.cos(np.pi * (x + y)) + 1e-4 * np.cos(2 * np.pi * y / 64)).astype("f4")
    with Filter(H.lowpass(2), engine="numpy", output="real", edges="wrap") as lowpass:
        got = lowpass(image)
        assert (lowpass.weak(), lowpass.engine, got.dtype) == (1, "numpy", np.float32)
    np.testing.assert_allclose(got, right(image, H.lowpass(2)).real, rtol=0, atol=1e-11)


def test_missing_pixels_come_back_and_the_others_are_those_of_other_engines(rng):
    image = rng.random((40, 50)).astype("f4")
    image[10:20, 5:9] = np.nan
    got, wanted = (
        Filter(H.notch((0.1, 0.2)), engine=engine, output="keep", edges="mirror")(image) for engine in ("numpy", None)
    )
    assert np.isnan(got[10:20, 5:9]).all()
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5)


def test_infinite_values_are_refused():
    with pytest.raises(ParameterError, match="1 values are NaN or infinite"):
        Filter(H.lowpass(2), engine="numpy", **COMMAND)(np.array([[1, np.inf], [0, 1]], "f4"))


def test_a_picture_that_memory_does_not_hold_is_refused_before_anything_is_allocated(monkeypatch):
    asked = []
    monkeypatch.setattr(plain, "check_memory", lambda *given: asked.append(given))
    with Filter(H.lowpass(2), engine="numpy", **COMMAND) as lowpass:
        lowpass(np.zeros((8, 9), "u1"))
        assert asked == [(8, 9, lowpass.device_bytes((1, 8, 9)), "an image of 9 x 8")]
        assert lowpass.device_bytes((2, 8, 9)) > lowpass.device_bytes((1, 8, 9)) >= 8 * 9 * 4 * 4


def test_the_time_of_each_step_is_kept_if_it_is_asked_for(rng):
    image = rng.random((30, 40))  # of doubles
    with Filter(H.lowpass(2), engine="numpy", profile=True, **COMMAND) as lowpass:
        lowpass(image)
        lowpass(image)
        assert [(each.step, each.launches) for each in lowpass.timings()] == [
            ("transforms and gains", 2),
            ("pixels", 2),
        ]
        assert lowpass.timings() == []
    with Filter(H.lowpass(2), engine="numpy", **COMMAND) as lowpass:
        lowpass(image)
        assert lowpass.timings() == []


def test_a_precision_that_is_unknown_is_refused():
    with pytest.raises(ParameterError, match="precision 'half' is invalid: choose single, double"):
        NumPyLauncher(NumPyDevice(), precision="half")
