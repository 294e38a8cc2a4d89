"""A filter that is used again: whatever it did before, it gives what one that is made anew gives, bit for bit.

``python -m tests.soak`` walks further.
"""

from __future__ import annotations

import random
import sys
import threading

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.errors import DeviceError, ParameterError
from fftfilter.filters import Filter
from fftfilter.imagej_filter import ImageJFilter
from tests.soak.check import as_gpu
from tests.soak.walks import KINDS, OPTIONS, of, outcome, walk

# A picture of which single precision loses what double keeps, and of which little passes.
LARGE = {"image": (2**31 + np.random.default_rng(1).integers(-300, 300, (12, 10))), "options": {}}


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_may_change(name):
    """From any value to any other: also to one that is refused, and to another device."""
    band = H.bandstop(2, "3px")
    for before in OPTIONS[name]:
        filter_ = of(lambda: Filter(band, **{"engine": "stockham", name: before}))  # noqa: B023  called at once
        for after in OPTIONS[name] if isinstance(filter_, Filter) else ():
            fresh = of(lambda: Filter(band, **{"engine": "stockham", name: after}))  # noqa: B023
            if isinstance(fresh, Filter):
                changed = filter_.with_options(**{name: after})
                assert outcome(changed, **LARGE) == outcome(fresh, **LARGE)
                assert [t.step for t in changed.timings()] == [t.step for t in fresh.timings()]
            else:
                with pytest.raises(fresh[0]) as refused:
                    filter_.with_options(**{name: after})
                assert str(refused.value) == fresh[1]


@pytest.mark.parametrize("engine", [None, "book"])
@pytest.mark.parametrize("edges", ["wrap", "mirror"])
def test_any_transfer_function_may_follow_any_other(engine, edges, rng):
    """Forward and backward, through pictures that not all of them fit."""
    r, options = random.Random(5), {"engine": engine, "edges": edges, "output": "real", "pixel_size": "65nm"}
    transfers = [kind(r) for kind in KINDS]
    pictures = [(rng.integers(0, 256, size, dtype=np.uint8), {}) for size in ((12, 10), (10, 12))]
    with Filter(transfers[0], **options) as tuned:
        for i, transfer in enumerate((*transfers, *transfers[::-1])):
            tuned.retune(transfer)
            fresh = Filter(transfer, **options)
            for picture in pictures[:: 1 if i % 2 else -1]:
                assert outcome(tuned, *picture) == outcome(fresh, *picture), transfer


@pytest.mark.parametrize("seed", range(2))
def test_a_filter_that_walks_through_all_of_these_is_a_new_one(seed):
    for _ in walk(seed, steps=30):
        pass


def test_imagejs_filter_that_walks_is_a_new_one():
    for _ in walk(0, steps=8, kind=ImageJFilter):
        pass


def test_the_old_name_of_with_options_warns(rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    with pytest.warns(DeprecationWarning, match="with_options"):
        old = Filter(H.lowpass(3)).again(output="keep")
    assert (old(image) == fftfilter.lowpass(image, 3, output="keep")).all()


def test_pictures_on_their_way_through_a_gpu_stay_those_of_their_transfer_function(rng):
    """Three are on their way when the filter is retuned: their gains, and what of them is weak, are the old ones."""
    images = [rng.random((12, 10)).astype(np.float32) for _ in range(5)]
    images[1] = (np.add.outer(np.arange(12), np.arange(10)) == 3) + np.float32(1)
    old, new = H.mask(np.full((12, 10), 3.0)) * H.highpass("1000%", shape="gaussian"), H.mask(np.full((12, 10), 0.5))
    wanted = [outcome(Filter(old, output="real"), image, {})[3:6] for image in images]
    with Filter(old, output="real") as tuned:
        tuned.launcher = Launcher(as_gpu())
        stream = tuned.stream(images)
        for i, right in enumerate(wanted):
            next(stream)
            np.testing.assert_allclose(tuned.extremes(), right[0], rtol=1e-5)
            assert tuned.weak() == right[2]
            if i == 0:  # four are on their way
                tuned.retune(new)
                wanted[-1:] = [outcome(Filter(new, output="real"), images[-1], {})[3:6]]


def test_threads_share_a_filter_that_one_of_them_retunes(rng):
    """Each picture is that of one transfer function or of the other, in calls and in streams, never of both."""
    picture = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)
    transfers = H.lowpass(2), H.notch((0.25, 0.125), channels=(0,)), H.mask(np.full((12, 10), 2.0)), H.Transfer(())
    options, errors, before = {"output": "keep"}, [], sys.getswitchinterval()
    right = {Filter(each, **options)(picture, channel_axis=0).tobytes() for each in transfers}
    done = threading.Event()

    def filtered():
        try:
            while not done.is_set():
                streamed = shared.stream([picture] * 3, channel_axis=0)
                for got in (shared(picture, channel_axis=0), *streamed):
                    assert got.tobytes() in right
        except Exception as error:  # noqa: BLE001  it is raised below
            errors.append(error)

    sys.setswitchinterval(1e-6)
    try:
        with Filter(transfers[0], **options) as shared:
            threads = [threading.Thread(target=filtered) for _ in range(3)]
            for thread in threads:
                thread.start()
            for i in range(150):
                shared.retune(transfers[i % len(transfers)])
            done.set()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not errors, errors


def test_a_transfer_function_that_fits_no_option_leaves_the_filter_as_it_was(rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    with Filter(H.lowpass(3), scale=(0, 90)) as tuned:
        wanted = tuned(image)
        for transfer in (H.lowpass("2um"), H.mask(rng.random((12, 10)))):
            with pytest.raises(ParameterError):
                tuned.retune(transfer)
            assert (tuned(image) == wanted).all()


def test_another_device_is_opened_and_a_missing_one_refused():
    with pytest.raises(DeviceError, match="no such device"):
        Filter(H.lowpass()).with_options(device="no such device")
