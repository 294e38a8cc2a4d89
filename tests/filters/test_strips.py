"""Pictures that are filtered strip by strip: they become what they become as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fftfilter
import fftfilter.arrays
from fftfilter import transfer as H
from fftfilter.errors import WriteError
from fftfilter.filters.strips import How, Spectra, cosines, planned, ready
from fftfilter.output.modes import MODES, scale_of
from fftfilter.output.ramp import Gray
from fftfilter.output.rounding import Difference
from fftfilter.transfer.product import grid_with
from tests.helpers import needs_posix

FILTERS = {
    "lowpass": H.lowpass("8px", shape="gaussian"),
    "highpass": H.highpass(20),
    "no constant": H.highpass(9, shape="butterworth"),
    "bandpass": H.bandpass("30px", "4px", shape="cosine"),
    "bandstop": H.bandstop("30px", "10px"),
    "far columns": H.notch((0.323, -0.047)),
    "all columns": H.stripes(33, width="0.01cyc", spare="40px"),
    "product": H.highpass("50px", shape="gaussian") * H.notch((0.1, 0.2)),
    "floor": H.lowpass("9px", shape="fermi").with_depth(12),
    "everything": H.Transfer(()),
}
OUTPUTS = [("magnitude", None), ("magnitude", "auto"), ("keep", None), ("signed", (-90, 90)), ("real", None)]
# In so many bytes blocks have some columns, and not all.
ROOM = 76 << 20


def picture(height, width, dtype=np.uint8):
    """Return waves and noise."""
    y, x = np.mgrid[:height, :width]
    waves = 128 + 60 * np.sin(x / 17 + y / 50) + 40 * np.cos(y / 31 * (1 + x / width))
    levels = (waves + np.random.default_rng(1).normal(0, 12, (height, width))).clip(0, 255)
    return (levels / 255 * fftfilter.arrays.largest_of(np.dtype(dtype))).astype(dtype)


def by_strips(given, transfer, folder, output="keep", scale=None, edges="wrap", **changed):
    """Return what strips make of a picture, in blocks of a few columns; ``changed`` is of their plan."""
    white = fftfilter.arrays.largest_of(given.dtype)
    mode, how = MODES[output], How(output, scale_of(scale), Gray(white, given.dtype, white))
    grid = grid_with(edges, transfer.keeping_mean() if mode.keeps_mean else transfer, *given.shape)
    plan = planned((1, *given.shape), given.itemsize, grid, precision="single", units=(1, 1), room=ROOM, may_miss=True)
    read = lambda start, stop: _strip(given[None, start:stop])  # noqa: E731
    with ready(read, lambda _: replace(plan, **changed), how, str(folder)) as large:
        return np.concatenate([large.made(*strip).pixels[0] for strip in large.plan.strips])


def _strip(planes):
    """Return a strip as files give it: masked, if some of it is missing."""
    return planes if np.ma.is_masked(planes) else np.asarray(planes)


def assert_same(got, wanted, step=0):
    """Hold pixels, or floats that may be rounded to a step, to the contract."""
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    white = fftfilter.arrays.largest_of(got.dtype)
    unit = float(np.abs(wanted).max()) if got.dtype.kind == "f" else None
    found = Difference.of(got, wanted, white, unit=unit, step=2 * step)
    assert found.is_right, str(found)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize(("output", "scale"), OUTPUTS)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("on_disk", [False, True])
def test_strips_become_what_the_whole_becomes(tmp_path, name, output, scale, edges, on_disk):
    given, how = picture(301, 457), {"output": output, "scale": scale, "edges": edges}
    got = by_strips(given, FILTERS[name], tmp_path, **how, rows=23, on_disk=on_disk, threads=2)
    with fftfilter.Filter(FILTERS[name], device="numpy", **how) as whole:
        wanted = whole(given)
    assert_same(got, wanted)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("shape", [(1, 97), (83, 1), (2, 2), (1, 1), (130, 131), (256, 300), (17, 1000)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_strips_of_any_size_and_type(tmp_path, shape, dtype, edges):
    given = picture(*shape, np.dtype(dtype))
    for name in ("highpass", "no constant", "all columns"):
        for output in ("magnitude", "keep"):
            got = by_strips(given, FILTERS[name], tmp_path, output, edges=edges, rows=500 if shape[0] == 17 else 1)
            with fftfilter.Filter(FILTERS[name], device="numpy", output=output, edges=edges) as whole:
                assert_same(got, whole(given))


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("where", ["some", "most", "a corner", "all"])
def test_missing_pixels_are_filled_as_in_the_whole(tmp_path, where, edges):
    """What stands in their place does not matter, and they come back."""
    given, rng, (y, x) = picture(301, 457, np.dtype(np.float32)), np.random.default_rng(2), np.mgrid[:301, :457]
    holes = {"some": rng.random(given.shape) < 0.02, "most": rng.random(given.shape) < 0.8}
    missing = (holes | {"a corner": y + x > 500, "all": y >= 0})[where]
    given[missing] = rng.choice([np.nan, 1e30, -7], np.count_nonzero(missing))
    masked = np.ma.MaskedArray(given, missing)
    for name, output in (("highpass", "magnitude"), ("no constant", "keep"), ("lowpass", "real"), ("floor", "signed")):
        got = by_strips(masked, FILTERS[name], tmp_path, output, edges=edges, rows=23, threads=2)
        with fftfilter.Filter(FILTERS[name], device="numpy", output=output, edges=edges) as whole:
            wanted = whole(masked)
        assert_same(got[~missing], wanted.data[~missing]) if where != "all" else None
        assert np.array_equal(got[missing], wanted.data[missing], equal_nan=True)


def test_weak_detail_on_a_bright_ground_is_filtered_in_double_precision(tmp_path):
    given = np.full((200, 210), 40000, np.uint16)
    given[:, ::2] += 1  # the finest waves, of half a level
    given[:100] -= 30000
    transfer = H.bandpass("3px", "1.9px", shape="gaussian") * H.notch((0.0, 0.1))
    got = by_strips(given, transfer, tmp_path, "magnitude", rows=50)
    with fftfilter.Filter(transfer, precision="double", device="numpy", output="magnitude", edges="wrap") as whole:
        assert_same(got, whole(given))


def test_a_constant_becomes_black(tmp_path):
    assert not by_strips(np.full((90, 70), 77, np.uint8), FILTERS["highpass"], tmp_path, "magnitude", rows=7).any()


def test_floats_beyond_single_precision_are_filtered_all_the_same(tmp_path):
    given = picture(60, 50, np.dtype(np.float32)) * np.float32(3e38)
    got = by_strips(given, FILTERS["lowpass"], tmp_path, "magnitude", rows=7)
    assert_same(got, fftfilter.lowpass(given, "8px", shape="gaussian", output="magnitude", edges="wrap"))


@needs_posix
def test_scratch_without_room_is_refused_before_any_work(tmp_path):
    with pytest.raises(WriteError, match=r"bytes of scratch are needed, and .* are free: --scratch takes another"):
        Spectra((1, 1 << 20, 1 << 20, 1 << 10), np.complex64, str(tmp_path))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 17, 30])
def test_cosine_transforms_are_the_same_with_and_without_scipy(n):
    """Both are the sums of their definition, along rows and columns, and come back."""
    from scipy import fft

    x = np.random.default_rng(n).normal(size=(n, 3))
    k, at = np.arange(n)[:, None], np.arange(n) + 0.5
    wanted = 2 * np.cos(np.pi / n * k * at) @ x
    for library in (np.fft, fft):
        assert np.allclose(cosines(library, x.copy(), 0), wanted, atol=1e-12)
        assert np.allclose(cosines(library, x.T.copy(), 1), wanted.T, atol=1e-12)
        assert np.allclose(cosines(library, wanted.T.copy(), 1, back=True), x.T, atol=1e-12)
        assert cosines(library, x.astype(np.float32), 0, back=True).dtype == np.float32
