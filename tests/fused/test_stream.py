"""Streams: the GPU's overlapped copies, run on whatever device there is, and the plain calls of a CPU."""

from __future__ import annotations

import gc
import weakref
from itertools import cycle

import numpy as np
import pyopencl as cl
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher, PageLocked
from fftfilter.device.opencl import Device
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.filters import Filter
from fftfilter.fused.gpu import pipeline as of_gpus
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline, Stream
from fftfilter.output.ramp import Gray, ramps
from fftfilter.output.rounding import deviation
from fftfilter.transfer import reference
from tests.fused.helpers import stack_of
from tests.helpers import COMMAND

HIGH = H.highpass()
SIZE = (12, 10)


class AsGpu(Device):
    """The device that there is, as if it were a GPU."""

    is_gpu = True


class AsCpu(Device):
    """The device that there is, as if it were a CPU."""

    is_gpu = False


@pytest.fixture(params=[AsCpu, AsGpu])
def make_filter(request, launcher):
    """Makes filters on the device that there is, in the form for CPUs and in that for GPUs."""

    def make(transfer, **options):
        made = Filter(transfer, **(COMMAND | options))
        is_itself = launcher.device.is_gpu == request.param.is_gpu
        made.launcher = launcher if is_itself else Launcher(request.param(0, launcher.device.cl_device))
        return made

    return make


@pytest.fixture(scope="module")
def pipeline(launcher):
    return FusedGpuPipeline(launcher, HIGH, stack_of(np.empty((1, *SIZE), np.uint8)))


def pictures(rng, count):
    return [rng.integers(0, 256, (1, *SIZE)).astype(np.uint8) for _ in range(count)]


class Counted(Launcher):
    """A launcher that counts how often it is asked for page-locked memory."""

    made = 0

    def page_locked(self, size):
        self.made += 1
        return super().page_locked(size)


# The stream itself


def test_results_may_be_asked_for_late_and_in_any_order(pipeline, rng):
    images = pictures(rng, 9)
    through = Stream(pipeline, PageLocked(pipeline.launcher))
    started = [through.start(image) for image in images]
    del started[4]  # one that nobody waits for
    del images[4]
    for each, image in list(zip(started, images, strict=True))[::-1]:
        np.testing.assert_array_equal(each.result(), pipeline.run(image))
        assert each.result() is each.result()
    assert through._copiers is None  # no thread for so little


def test_extremes_are_those_of_the_result(pipeline, rng):
    bright, dark = pictures(rng, 2)
    dark //= 5
    through = Stream(pipeline, PageLocked(pipeline.launcher))
    started = [through.start(image) for image in (bright, dark)]
    for each, image in zip(started, (bright, dark), strict=True):
        each.result()
        pipeline.run(image)
        np.testing.assert_array_equal(each.facts().extremes, pipeline.facts().extremes)
    # They stay what they were, whatever comes after it.
    before = [each.facts().extremes.tolist() for each in started]
    for image in pictures(rng, 3):
        through.start(image // 9).result()
    assert [each.facts().extremes.tolist() for each in started] == before


def test_results_stay_as_they_are_while_any_view_of_them_lives(pipeline, rng):
    launcher = Counted(pipeline.device)
    page_locked = PageLocked(launcher, most_bytes=5 * 120)  # the other results are copied
    images = pictures(rng, 20)
    through = Stream(pipeline, page_locked)
    views = [through.start(image).result()[0, 3:, ::2] for image in images]
    gc.collect()
    for view, image in zip(views, images, strict=True):
        np.testing.assert_array_equal(view, pipeline.run(image)[0, 3:, ::2])
    assert sum(PageLocked.holds(view.base) for view in views) == 5
    # Each slot's for stacks, the results, one that is copied again and again, and what is found of a picture.
    assert launcher.made == of_gpus.SLOTS + 5 + 1 + 1


def test_each_stack_is_on_the_ramps_that_it_is_started_with(pipeline, rng):
    kept = ramps("keep", units=np.ones(1), gray=Gray(255, np.dtype("u1"), 255))
    dark = ramps("keep", units=np.full(1, 0.5), gray=Gray(255, np.dtype("u1"), 255))
    images, given = pictures(rng, 4), (None, kept, dark, None)
    wanted = [pipeline.run(image, own) for image, own in zip(images, given, strict=True)]
    assert len({pixels.tobytes() for pixels in (pipeline.run(images[0], own) for own in given)}) == 3
    through = Stream(pipeline, PageLocked(pipeline.launcher))
    started = [through.start(image, own) for image, own in zip(images, given, strict=True)]
    for each, right in zip(started, wanted, strict=True):
        np.testing.assert_array_equal(each.result(), right)


def test_a_stack_in_page_locked_memory_has_been_read_when_the_next_one_is_started(pipeline, rng, monkeypatch):
    page_locked, waited = PageLocked(pipeline.launcher), []
    through = Stream(pipeline, page_locked)
    monkeypatch.setattr(through._up, "wait", waited.append)
    copies = []
    for image in pictures(rng, 3):
        stack = page_locked.empty((1, *SIZE), np.uint8)
        stack[...] = image
        assert waited == copies[:-1]
        through.start(stack)
        copies.append(through._read)
    through.start(pictures(rng, 1)[0])  # from other memory it is copied before that returns
    assert waited == copies
    through.wait_until_read()
    assert waited == copies


def test_what_another_queue_waits_for_is_on_its_way_to_the_device(pipeline, rng, monkeypatch):
    """A driver may keep commands to itself until it is told to send them."""
    sent, flush = [], cl.CommandQueue.flush
    monkeypatch.setattr(cl.CommandQueue, "flush", lambda queue: sent.append(queue) or flush(queue))
    through = Stream(pipeline, PageLocked(pipeline.launcher))
    started = through.start(pictures(rng, 1)[0])
    assert sent == [through._up.queue, pipeline.launcher.queue, through.down.queue, through.down.queue]
    started.result()


def test_a_stack_and_its_facts_are_there_until_the_fourth_after_it(pipeline, rng, monkeypatch):
    images = pictures(rng, 5)
    through = Stream(pipeline, PageLocked(pipeline.launcher))
    first, *_, last = [through.start(image) for image in images[:4]]
    np.testing.assert_array_equal(first.images(), images[0])
    np.testing.assert_array_equal(last.images(), images[3])
    np.testing.assert_array_equal(first.facts().deviations(), deviation(images[0]))
    np.testing.assert_array_equal(last.facts().deviations(), deviation(images[3]))
    waited, copied_out = [], first._copied_out
    monkeypatch.setattr(through.down, "wait", waited.append)
    through.start(images[4])
    assert waited == [copied_out]  # or the first result would be written over
    np.testing.assert_array_equal(first.images(), images[4])


def test_memory_is_used_again_and_there_is_no_more_of_it_than_allowed(pipeline, rng):
    launcher = Counted(pipeline.device)
    page_locked = PageLocked(launcher)
    through = Stream(pipeline, page_locked)
    for image in pictures(rng, 50):
        through.start(image).result()
    assert launcher.made <= 2 * of_gpus.SLOTS + 2
    little = PageLocked(pipeline.launcher, most_bytes=250)
    arrays = [little.empty(SIZE, np.uint8) for _ in range(4)]
    assert [PageLocked.holds(array) for array in arrays] == [True, True, False, False]


def test_a_large_stack_is_copied_by_several_threads(pipeline, rng):
    through = Stream(pipeline, PageLocked(pipeline.launcher), copy_bytes=50)
    for image in pictures(rng, 5):
        np.testing.assert_array_equal(through.start(image).result(), pipeline.run(image))
    assert through._copiers


class FullForStreams(AsGpu):
    """A device that holds one stack, and no more; it notes what a stream asks for."""

    asked = ()

    def check_memory(self, what, buffers):
        if "stream" in what:
            self.asked = buffers
            raise TooLargeError(what)
        super().check_memory(what, buffers)


def test_a_device_without_the_memory_for_a_stream_filters_one_by_one(launcher, rng):
    full = Launcher(FullForStreams(0, launcher.device.cl_device))
    only_one = FusedGpuPipeline(full, HIGH, stack_of(np.empty((1, *SIZE), np.uint8)))
    with pytest.raises(TooLargeError, match="a stream of 4 times an image of 10 x 12"):
        Stream(only_one, PageLocked(full))
    # What one takes, and four times a stack, its result, and three numbers for what is found of its picture.
    assert sum(full.device.asked) == sum(only_one.buffer_bytes) + 4 * (120 + 120 + 12)
    high = Filter(HIGH, **COMMAND)
    high.launcher = full
    for got, (image,) in zip(high.stream(images := pictures(rng, 3)), images, strict=True):
        np.testing.assert_array_equal(got[0], high(image))


# Filters that stream


def test_ranges_are_found_within_a_stream_too(make_filter, rng):
    images = [image for (image,) in pictures(rng, 5)]
    with make_filter(HIGH, output="signed", scale=("auto", 5)) as high:
        wanted = [(high(image), high.clipped()) for image in images]
        got = [(result, high.clipped()) for result in high.stream(iter(images))]
    for (result, clipped), (alone, own_clipped) in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(result, alone)
        assert clipped == own_clipped == [pytest.approx(0.05, abs=0.02)]


@pytest.mark.parametrize("count", [0, 1, 10])
def test_a_stream_gives_what_calls_give_in_order(make_filter, count, rng):
    images = [image for (image,) in pictures(rng, count)]
    with make_filter(HIGH) as high:
        wanted = [(high(image), high.extremes()) for image in images]
        got = [(result, high.extremes()) for result in high.stream(iter(images))]
    assert len(got) == count
    for (result, extremes), (alone, own_extremes) in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(result, alone)
        assert extremes == own_extremes


@pytest.mark.parametrize("options", [{}, {"output": "real"}, {"engine": "stockham"}], ids=str)
def test_shapes_and_types_may_change_within_a_stream(launcher, options, rng):
    images = [rng.standard_normal((3, *SIZE)) * 1e4, (100 * rng.random(SIZE)).astype(np.uint8)]
    low, one_by_one = Filter(HIGH, **(COMMAND | options)), Filter(HIGH, **(COMMAND | options))
    low.launcher = one_by_one.launcher = Launcher(AsGpu(0, launcher.device.cl_device))
    for got, image in zip(low.stream(image for image in images), images, strict=True):
        np.testing.assert_array_equal(got, one_by_one(image))
        assert got.shape == image.shape


def test_channels_and_depth_are_those_of_calls(make_filter, rng):
    images = [rng.integers(0, 256, (*SIZE, 3)).astype(np.uint8) for _ in range(4)]
    options = {"channel_axis": -1, "dtype": np.uint16, "levels": 1023}
    with make_filter(HIGH) as high:
        for got, image in zip(high.stream(images, **options), images, strict=True):
            np.testing.assert_array_equal(got, high(image, **options))


@pytest.mark.parametrize(
    ("options", "axis"),
    [({"region": (2, 2, 5, 6)}, None), ({"channels": "luminance"}, -1), ({"channels": "chroma"}, None), ({}, None)],
    ids=str,
)
def test_a_picture_that_takes_more_than_the_pipeline_has_its_turn_among_the_others(make_filter, options, axis, rng):
    image = rng.integers(0, 256, SIZE if axis is None else (*SIZE, 3), dtype=np.uint8)
    images = [image, np.ma.MaskedArray(image, image > 200), image[::-1]]
    with make_filter(HIGH, output="real", **options) as high:
        wanted = [high(each, channel_axis=axis) for each in images]
        for got, right in zip(high.stream(images, channel_axis=axis), wanted, strict=True):
            assert type(got) is type(right)
            np.testing.assert_array_equal(got, right)


# Each type is programs of its own, which take long to compile in the form for GPUs.
@pytest.mark.parametrize(
    ("make_filter", "dtype"),
    [(AsCpu, np.uint16), (AsCpu, np.float32), (AsGpu, np.float32), (AsGpu, np.float64)],
    indirect=["make_filter"],
)
def test_what_is_too_weak_is_done_in_double_precision_from_what_was_given(make_filter, dtype, rng):
    wave = 30000 + 20000 * np.cos(2 * np.pi * np.arange(SIZE[1]) / SIZE[1])
    images = [np.round(wave + rng.uniform(-3, 3, SIZE)).astype(dtype) for _ in range(5)]
    images[2] = rng.integers(0, 65536, SIZE).astype(dtype)
    frame = np.empty(SIZE, dtype)

    def film():
        for image in images:
            frame[:] = image
            yield frame

    high = H.highpass(2)
    with make_filter(high, output="real") as real:
        for got, image in zip(real.stream(film()), images, strict=True):
            wanted = reference.filtered(image, high.gain(*SIZE)).real
            assert np.abs(got - wanted).max() <= 1e-6 * np.abs(wanted).max()
            assert real.extremes()[0][1] == pytest.approx(np.abs(wanted).max(), rel=1e-6)


def test_a_generator_may_fill_the_same_array_again_or_two_page_locked_ones_in_turn(make_filter, rng):
    images = [image for (image,) in pictures(rng, 8)]
    with make_filter(HIGH) as high:
        for frames in ([np.empty(SIZE, np.uint8)], [high.empty(SIZE), high.empty(SIZE)]):

            def film(frames=frames):
                for image, frame in zip(images, cycle(frames), strict=False):
                    frame[:] = image
                    yield frame

            for got, image in zip(high.stream(film()), images, strict=True):
                np.testing.assert_array_equal(got, high(image))


def test_at_most_three_more_are_asked_for_than_were_yielded(make_filter, rng):
    asked, ahead, filter_ = [], [], make_filter(HIGH)
    images = (asked.append(i) or image for i, (image,) in enumerate(pictures(rng, 9)))
    for yielded, _ in enumerate(filter_.stream(images), 1):
        ahead.append(len(asked) - yielded)
    assert max(ahead) == (3 if filter_.launcher.device.is_gpu else 0)


def test_a_filter_that_is_closed_waits_for_what_is_read_from_its_memory(make_filter, rng, monkeypatch):
    waited = []
    filter_ = make_filter(HIGH)
    next(filter_.stream(pictures(rng, 5)))
    monkeypatch.setattr(Stream, "wait_until_read", lambda _: waited.append("once"))
    filter_.close()
    assert waited == (["once"] if filter_.launcher.device.is_gpu else [])


def test_what_is_no_image_ends_a_stream_with_one_line(make_filter, rng):
    results = make_filter(HIGH).stream([*pictures(rng, 1), np.ones(3)])
    with pytest.raises(ParameterError, match="not an image"):
        list(results)


def test_a_filter_that_is_dropped_gives_its_memory_back_at_once(make_filter, rng):
    gc.disable()
    try:
        high = make_filter(HIGH)
        list(high.stream(pictures(rng, 3)))
        high(pictures(rng, 1)[0])
        pipeline = weakref.ref(next(iter(high._prepared._kept.values())).pipeline)
        del high
        assert pipeline() is None
    finally:
        gc.enable()
