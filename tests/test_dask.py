"""Filters on Dask arrays: lazy, and what the plain calls give, on every scheduler.

By the staged pipeline, as the engine does not matter here and its kernels are the same for all types and filters.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import libraries
from tests.filters.test_strips import assert_same
from tests.helpers import Alone, Imported, needs

pytestmark = needs("dask")
da, fd = Imported("dask.array"), Imported("fftfilter.dask")


BOOK = {"engine": "book"}


@pytest.fixture
def stack(rng):
    return rng.integers(0, 256, (7, 8, 64), dtype=np.uint8)


def plainly(stack, name, *cutoffs, **options):
    return np.stack([getattr(fftfilter, name)(image, *cutoffs, **options) for image in stack])


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize(
    ("name", "cutoffs"), [("highpass", ()), ("lowpass", ("10%",)), ("bandpass", (2, 8)), ("bandstop", (2, 8))]
)
def test_chunks_are_filtered_as_images_alone(stack, name, cutoffs, scheduler):
    options = {"shape": "gaussian", **BOOK}
    got = getattr(fd, name)(da.from_array(stack, chunks=(3, -1, -1)), *cutoffs, **options)
    assert (got.shape, got.dtype, got.chunks[0]) == (stack.shape, np.uint8, (3, 3, 1))
    np.testing.assert_array_equal(got.compute(scheduler=scheduler), plainly(stack, name, *cutoffs, **options))


@pytest.mark.parametrize("dtype", ["uint16", "float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("output", ["magnitude", "real"])
def test_types_are_those_of_the_plain_call(stack, dtype, output):
    given = (stack // 99).astype(dtype)
    got = fd.highpass(da.from_array(given, chunks=(4, 5, 64)), 4, output=output, **BOOK)
    wanted = plainly(given, "highpass", 4, output=output, **BOOK)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.compute(scheduler="synchronous"), wanted)


def test_masked_images_come_back_masked(stack):
    given = np.ma.MaskedArray(stack, stack > 250)
    got = fd.lowpass(da.from_array(given, chunks=(3, -1, -1)), output="keep", **BOOK).compute(scheduler="synchronous")
    assert np.array_equal(np.ma.getmaskarray(got), given.mask)
    assert np.array_equal(got.data, fftfilter.lowpass(given, output="keep", **BOOK).data)


SCALED = [{"output": "keep"}, {"output": "signed", "scale": "auto"}, {"output": "magnitude", "scale": (3, 40)}]


@pytest.mark.parametrize("options", SCALED, ids=str)
def test_outputs_and_scales_are_those_of_the_plain_call(stack, options):
    got = fd.highpass(da.from_array(stack, chunks=(3, -1, -1)), 4, **options, **BOOK)
    wanted = plainly(stack, "highpass", 4, **options, **BOOK)
    np.testing.assert_array_equal(got.compute(scheduler="synchronous"), wanted)


def test_an_image_a_mask_and_chunks_across_the_image(stack):
    image = da.from_array(stack[0], chunks=(5, 10))
    mask = np.zeros(image.shape)
    mask[0, 0] = 1
    np.testing.assert_array_equal(
        fd.apply_mask(image, mask, **BOOK).compute(), fftfilter.apply_mask(stack[0], mask, **BOOK)
    )
    both = da.stack([fd.highpass(image, 3), fd.highpass(image, 5)])
    np.testing.assert_array_equal(both.compute(), [fftfilter.highpass(stack[0], r) for r in (3, 5)])
    assert len(libraries._open) == 1  # whose device memory is all that stays


def test_chunks_without_an_image(stack):
    """Images that are chosen leave chunks of which nobody knows how many images they have, or whether any."""
    chosen = stack.mean(axis=(1, 2)) > np.median(stack.mean(axis=(1, 2)))
    given = da.from_array(stack, chunks=(1, -1, -1))
    got = fd.highpass(given[da.from_array(chosen, chunks=1)], 4, output="real", **BOOK).compute()
    np.testing.assert_array_equal(got, plainly(stack[chosen], "highpass", 4, output="real", **BOOK))
    none = fd.highpass(given[:0], 4, dtype="uint16", **BOOK).compute()
    assert (none.shape, none.dtype) == ((0, 8, 64), np.uint16)


def test_pixels_are_those_asked_for(stack):
    got = fd.highpass(da.from_array(stack, chunks=(4, -1, -1)), dtype="uint16", levels=1000, **BOOK)
    wanted = plainly(stack, "highpass", dtype="uint16", levels=1000, **BOOK)
    assert got.dtype == wanted.dtype == np.uint16
    np.testing.assert_array_equal(got.compute(), wanted)


def test_a_filter_is_sent_to_processes(stack):
    with fftfilter.Filter(H.highpass(), **BOOK) as highpass:
        got = da.from_array(stack, chunks=(4, -1, -1)).map_blocks(highpass, dtype=np.uint8)
        np.testing.assert_array_equal(got.compute(scheduler="processes", num_workers=1), highpass(stack))


def test_a_large_chunk_goes_to_the_device_in_parts(stack, monkeypatch):
    monkeypatch.setattr(libraries, "_PIXELS_A_LAUNCH", 2 * stack[0].size)
    got = fd.highpass(da.from_array(stack, chunks=-1)).compute(scheduler="synchronous")
    np.testing.assert_array_equal(got, plainly(stack, "highpass"))


def test_lines_that_all_images_have_are_those_of_all_chunks(monkeypatch):
    random = np.random.default_rng(3)
    images = (random.normal(100, 2, (6, 64, 80)) + random.normal(0, 5, (64, 1))).astype(np.float32)
    whole = fftfilter.stripes(images, "auto", fixed_pattern="pages")
    assert np.ptp(whole.mean(2), axis=1).mean() < np.ptp(images.mean(2), axis=1).mean() / 2
    for size in (2, 6):
        monkeypatch.setattr(libraries, "_PIXELS_A_LAUNCH", size * images[0].size // 2)
        later = fftfilter.stripes(da.from_array(images, chunks=(size, -1, -1)), "auto", fixed_pattern="pages")
        np.testing.assert_array_equal(later.compute(scheduler="synchronous"), whole)


class Recorder:
    """A filter that says how many pixels it got at once."""

    options, volume, transfer = {}, None, H.lowpass()  # as a filter has them

    def __init__(self):
        self.pixels = []

    def __call__(self, images, **_):
        self.pixels.append(images.size)
        return images


OF_CALL = {"channel_axis": None, "missing": None}


def test_up_to_four_megapixels_go_to_the_device_at_once():
    recorder = Recorder()
    chunk = np.broadcast_to(np.uint8(7), (5, 1 << 10, 1 << 11))
    assert libraries._filter_block(chunk, None, recorder, "four megapixels", OF_CALL).shape == chunk.shape
    assert recorder.pixels == [1 << 22, 1 << 22, 1 << 21]
    libraries._open.clear()


def test_one_chunk_at_a_time_is_filtered():
    place = Alone()

    def stay(images, **_):
        place.stay()
        return images

    stay.volume, stay.transfer = None, H.lowpass()  # as a filter has them
    chunk = np.zeros((1, 4, 8), np.uint8)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: libraries._filter_block(chunk, None, stay, "one at a time", OF_CALL), range(2)))
    assert not place.met
    libraries._open.clear()


def test_nothing_is_opened_before_something_is_computed():
    code = (
        "import sys, dask.array, fftfilter.dask\n"
        "fftfilter.dask.highpass(dask.array.zeros((2, 8, 8)), 3)\n"
        "assert 'fftfilter.device.opencl' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_is_no_stack_or_no_option_is_refused_at_once(stack):
    for given in (da.zeros(3), da.zeros((2, 2, 2, 2)), da.zeros((2, 2), dtype=complex)):
        with pytest.raises(ParameterError, match="is not an image"):
            fd.highpass(given)
    with pytest.raises(ParameterError, match="give channel_axis=-1"):
        fd.highpass(da.zeros((64, 8, 3)))
    with pytest.raises(ParameterError):
        fd.highpass(da.from_array(stack), radius=-1)
    for options, words in (
        ({"ouput": "keep"}, "unexpected keyword argument 'ouput'"),
        ({"output": "keeps"}, "invalid"),
    ):
        with pytest.raises((TypeError, ParameterError), match=words):
            fd.highpass(da.from_array(stack), **options)


def test_without_dask_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    monkeypatch.delitem(sys.modules, "fftfilter.dask", raising=False)
    with pytest.raises(ParameterError, match=r"needs Dask: .* -m pip install 'fftfilter-opencl\[cluster\]'"):
        __import__("fftfilter.dask")


@pytest.mark.parametrize("chunks", [(50, 40), (300, 10), (7, 211)])
@pytest.mark.parametrize(
    ("transfer", "options"),
    [
        (H.lowpass("8px", shape="gaussian"), {}),
        (H.highpass(20), {"edges": "wrap"}),
        (H.highpass("9px", shape="butterworth"), {"output": "real"}),
        (H.notch((0.1, 0.2)) * H.lowpass("4px"), {"output": "signed", "scale": (-90, 90)}),
    ],
    ids=str,
)
def test_a_large_image_is_filtered_in_bands_of_its_chunks(rng, chunks, transfer, options):
    import dask

    image = rng.integers(0, 65536, (300, 211), np.uint16)
    with fftfilter.Filter(transfer, device="numpy", **options) as filter_:
        wanted = filter_(image)
        with dask.config.set({"array.chunk-size": "20kB"}):
            got = filter_(da.from_array(image, chunks=chunks))
    assert max(map(len, got.chunks)) > 1
    assert got.dtype == wanted.dtype
    assert_same(got.compute(scheduler="threads"), wanted)
    if chunks == (7, 211) and "notch" in str(transfer):  # processes take seconds to start
        assert_same(got.compute(scheduler="processes"), wanted)


def test_a_large_image_whose_filter_looks_at_all_of_it_becomes_one_chunk(rng):
    import dask

    image = rng.integers(0, 255, (90, 80), np.uint8)
    with dask.config.set({"array.chunk-size": "1kB"}):
        got = fd.highpass(da.from_array(image, chunks=(30, 30)), 9, output="magnitude", **BOOK)
        assert got.numblocks == (1, 1)
        holes = da.from_array(np.where(image > 250, np.nan, image).astype(np.float32), chunks=(30, 30))
        with pytest.raises(ParameterError, match="NaN or infinite"):
            fd.lowpass(holes, 9).compute(scheduler="synchronous")
    np.testing.assert_array_equal(got.compute(), fftfilter.highpass(image, 9, output="magnitude", **BOOK))
