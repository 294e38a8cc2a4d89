"""Pictures that a GPU holds and the host does not: strips stream there, and the result is that of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import TooLargeError
from fftfilter.filters.gpu_strips import GpuPicture
from fftfilter.work import large
from tests.filters.test_strips import assert_same, picture
from tests.soak.check import as_gpu

LOW, HIGH, BAND = H.lowpass("8px", shape="gaussian"), H.highpass(20), H.bandpass("30px", "4px", shape="butterworth")
CASES = [
    (LOW, np.uint8, "keep", None),
    (HIGH, np.uint16, "magnitude", None),
    (BAND, np.uint8, "signed", (-90, 90)),
    (BAND, np.float32, "magnitude", "auto"),
    (HIGH, np.float32, "real", None),
]


@pytest.fixture
def on_gpu(monkeypatch):
    """Let strips find a GPU; return the pictures that it has filtered."""
    done, transform = [], GpuPicture.transform
    monkeypatch.setattr(large, "gpu_for", lambda _: as_gpu())
    monkeypatch.setattr(GpuPicture, "transform", lambda self: (done.append(self.plan), transform(self)))
    return done


def filtered(given, transfer, **how):
    made = np.empty(given.shape, np.float32 if how.get("output") == "real" else given.dtype)
    fftfilter.filter_large(given, made, transfer, **how)
    return made


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize(("transfer", "dtype", "output", "scale"), CASES)
def test_a_picture_becomes_what_it_becomes_as_a_whole(on_gpu, transfer, dtype, output, scale, edges):
    given, how = picture(300, 210, np.dtype(dtype)), {"output": output, "scale": scale, "edges": edges}
    made = filtered(given, transfer, **how)
    assert len(on_gpu) == 1
    wanted = fftfilter.Filter(transfer, engine="numpy", precision="double", **how)(given)
    assert_same(made, wanted.astype(made.dtype))


def test_strips_follow_each_other(on_gpu, monkeypatch):
    monkeypatch.setattr("fftfilter.filters.strips.SAMPLES", 2000)
    given = np.stack([picture(300, 210), picture(300, 210)[::-1]])
    made = filtered(given, LOW)
    assert len(on_gpu[0].strips) > 20
    assert_same(made, fftfilter.lowpass(given, "8px", shape="gaussian", output="keep", edges="mirror", channel_axis=0))


def test_missing_pixels_come_back(on_gpu):
    given = picture(300, 210, np.dtype(np.float32))
    given[40:90, 20:70] = np.nan
    made = filtered(given, LOW)
    assert len(on_gpu) == 2  # the first was over at the first hole
    assert np.array_equal(np.isnan(made), np.isnan(given))
    wanted = fftfilter.lowpass(np.ma.masked_invalid(given), "8px", shape="gaussian", output="keep", edges="mirror")
    assert_same(np.nan_to_num(made), wanted.filled(0))


def test_what_single_precision_is_not_enough_for_is_filtered_by_numpy_in_double(on_gpu):
    x = np.arange(256) / 256
    given = (np.cos(2 * np.pi * 3 * x) + 1e-4 * np.cos(2 * np.pi * 100 * x)) * np.ones((128, 1)) * 1e30
    for values in (given.astype(np.float32), (given / 1e30).astype(np.float32)):
        made = filtered(values, H.highpass(30), output="real", edges="wrap")
        assert_same(made, fftfilter.highpass(values.astype(float), 30, output="real", edges="wrap").astype(np.float32))
    assert len(on_gpu) == 2


@pytest.mark.parametrize(
    ("transfer", "dtype", "precision"),
    [(H.notch((0.1, 0.2)), np.uint8, "single"), (LOW * HIGH, np.uint8, "single"), (LOW, np.uint8, "double")],
)
def test_numpy_filters_what_has_a_table_of_gains_or_more_digits(on_gpu, transfer, dtype, precision):
    filtered(picture(300, 210, np.dtype(dtype)), transfer, precision=precision)
    assert not on_gpu


def test_numpy_filters_what_the_device_does_not_hold(on_gpu, monkeypatch):
    def refuse(*_):
        raise TooLargeError("no place")

    given = picture(300, 210)
    wanted = filtered(given, LOW)
    monkeypatch.setattr(type(as_gpu()), "check_memory", refuse)
    assert_same(filtered(given, LOW), wanted)
    assert len(on_gpu) == 1
