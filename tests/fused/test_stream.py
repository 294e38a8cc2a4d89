"""Streams: the GPU's overlapped copies, run on whatever device there is, and the plain calls of a CPU."""

from __future__ import annotations

import gc
import weakref
from itertools import cycle

import numpy as np
import pytest

from fftfilter.fused.gpu import stream
from fftfilter.device.choice import Device
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.filters import Filter
from fftfilter.fused.gpu.stream import PageLocked

SHAPES = [(20, 24), (3, 9, 10)]


@pytest.fixture(params=["cpu", "gpu"])
def form(request, monkeypatch):
    """Filter on the device that there is as on a CPU, and as if it were a GPU."""
    monkeypatch.setattr(Device, "is_gpu", request.param == "gpu")


@pytest.fixture
def as_gpu(monkeypatch):
    monkeypatch.setattr(Device, "is_gpu", True)


def pictures(rng, count, shape=(20, 24), dtype=np.uint8):
    return [rng.integers(0, 256, shape).astype(dtype) for _ in range(count)]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
def test_a_stream_gives_what_calls_give_in_order(count, rng):
    images = pictures(rng, count)
    with Filter("highpass") as high:
        wanted = [(high(image), high.extremes()) for image in images]
        got = [(result, high.extremes()) for result in high.stream(iter(images))]
    assert len(got) == count
    for (result, extremes), (alone, own_extremes) in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(result, alone)
        assert extremes == own_extremes


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("options", [{}, {"output": "real"}, {"engine": "stockham"}], ids=str)
def test_shapes_and_types_may_change_within_a_stream(options, rng):
    images = [rng.standard_normal(shape) * 1e4 for shape in SHAPES]
    images.append((100 * rng.random((20, 24))).astype(np.uint16))
    with Filter("lowpass", radius=3, **options) as low:
        for got, image in zip(low.stream(image for image in images), images, strict=True):
            np.testing.assert_array_equal(got, Filter("lowpass", radius=3, **options)(image))
            assert got.shape == image.shape


@pytest.mark.usefixtures("form")
def test_channels_and_depth_are_those_of_calls(rng):
    images = pictures(rng, 4, (12, 10, 3))
    with Filter("highpass") as high:
        for got, image in zip(high.stream(images, channel_axis=-1, dtype=np.uint16, levels=1023), images, strict=True):
            np.testing.assert_array_equal(got, high(image, channel_axis=-1, dtype=np.uint16, levels=1023))


@pytest.mark.usefixtures("form")
def test_a_generator_may_fill_the_same_array_again_or_two_page_locked_ones_in_turn(rng):
    images = pictures(rng, 8)
    with Filter("highpass") as high:
        for frames in ([np.empty((20, 24), np.uint8)], [high.empty((20, 24)), high.empty((20, 24))]):

            def film(frames=frames):
                for image, frame in zip(images, cycle(frames), strict=False):
                    frame[:] = image
                    yield frame

            for got, image in zip(high.stream(film()), images, strict=True):
                np.testing.assert_array_equal(got, high(image))


@pytest.mark.usefixtures("as_gpu")
def test_at_most_three_more_are_asked_for_than_were_yielded(rng):
    asked = []
    images = (asked.append(i) or image for i, image in enumerate(pictures(rng, 9)))
    for yielded, _ in enumerate(Filter("highpass").stream(images), 1):
        assert len(asked) <= yielded + 3


@pytest.mark.usefixtures("as_gpu")
def test_results_may_be_asked_for_late_and_in_any_order(rng):
    images = pictures(rng, 9)
    high = Filter("highpass")
    begun = [high.start(image) for image in images]
    assert all(pending.flies for pending in begun)
    del begun[4]  # one that nobody waits for
    del images[4]
    for pending, image in list(zip(begun, images, strict=True))[::-1]:
        np.testing.assert_array_equal(pending.result(), high(image))
        assert pending.result() is pending.result()
    late = high.start(images[0])
    high.close()
    np.testing.assert_array_equal(late.result(), high(images[0]))


@pytest.mark.usefixtures("as_gpu")
def test_results_stay_as_they_are_while_any_view_of_them_lives(rng, monkeypatch):
    monkeypatch.setattr(stream, "MOST_BYTES", 5 * 480)  # some results lent, the others copied
    images = pictures(rng, 20)
    high = Filter("highpass")
    views = [result[3:, ::2] for result in high.stream(images)]
    gc.collect()
    for view, image in zip(views, images, strict=True):
        np.testing.assert_array_equal(view, high(image)[3:, ::2])
    assert sum(PageLocked.holds(view.base) for view in views) == 5


@pytest.mark.usefixtures("as_gpu")
def test_memory_is_used_again_and_there_is_no_more_of_it_than_allowed(rng, monkeypatch):
    made = []
    high = Filter("highpass")
    page_locked = high.launcher.page_locked
    monkeypatch.setattr(high.launcher, "page_locked", lambda size: made.append(size) or page_locked(size))
    assert sum(1 for _ in high.stream(pictures(rng, 50))) == 50
    assert len(made) <= 2 * stream.SLOTS + 2
    monkeypatch.setattr(stream, "MOST_BYTES", 1000)
    arrays = [high.empty((20, 24)) for _ in range(4)]
    assert [PageLocked.holds(array) for array in arrays] == [True, True, False, False]


@pytest.mark.usefixtures("as_gpu")
def test_a_large_picture_is_staged_in_parts(rng, monkeypatch):
    monkeypatch.setattr(stream, "PART_BYTES", 100)
    images = pictures(rng, 5)
    high = Filter("highpass")
    for got, image in zip(high.stream(images), images, strict=True):
        np.testing.assert_array_equal(got, high(image))


@pytest.mark.usefixtures("as_gpu")
def test_where_three_do_not_fit_calls_are_plain(rng, monkeypatch):
    images = pictures(rng, 3)
    high = Filter("highpass")
    check_memory = Device.check_memory

    def little_memory(self, what, buffers):
        if "stream" in what:
            raise TooLargeError(what)
        check_memory(self, what, buffers)

    monkeypatch.setattr(Device, "check_memory", little_memory)
    pending = high.start(images[0])
    assert not pending.flies
    np.testing.assert_array_equal(pending.result(), high(images[0]))


@pytest.mark.usefixtures("form")
def test_what_is_no_image_ends_a_stream_with_one_line(rng):
    results = Filter("highpass").stream([*pictures(rng, 1), np.ones(3)])
    with pytest.raises(ParameterError, match="no image"):
        list(results)


@pytest.mark.usefixtures("form")
def test_a_filter_that_is_dropped_gives_its_memory_back_at_once(rng):
    gc.disable()
    try:
        high = Filter("highpass")
        list(high.stream(pictures(rng, 3)))
        high(pictures(rng, 1)[0])
        pipeline = weakref.ref(high._pipeline)
        del high
        assert pipeline() is None
    finally:
        gc.enable()
