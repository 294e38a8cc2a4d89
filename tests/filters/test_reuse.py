"""A filter that is used again: whatever it did before, it gives what one that is made anew gives, bit for bit.

``python -m tests.soak`` walks further.
"""

from __future__ import annotations

import gc
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
from tests.helpers import COMMAND
from tests.soak.check import as_gpu
from tests.soak.walks import KINDS, OPTIONS, of, outcome, walk

# A picture of which single precision loses what double keeps, and of which little passes.
LARGE = {"image": (2**31 + np.random.default_rng(1).integers(-300, 300, (12, 10))), "options": {}}


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_may_change(name):
    """From any value to any other: also to one that is refused, and to another device."""

    def said(filter_):
        return outcome(filter_, **LARGE), [timing.step for timing in filter_.timings()]

    def fresh(value):
        return of(lambda: Filter(H.bandstop(2, "3px"), **(COMMAND | ({"engine": "stockham", name: value}))))

    values = OPTIONS[name]
    wanted = [said(made) if isinstance(made, Filter) else made for made in map(fresh, values)]
    for filter_ in filter(lambda made: isinstance(made, Filter), map(fresh, values)):
        for after, right in zip(values, wanted, strict=True):
            changed = of(lambda: filter_.with_options(**{name: after}))  # noqa: B023  called at once
            assert (said(changed) if isinstance(changed, Filter) else changed) == right, after


@pytest.mark.parametrize("engine", [None, "book"])
@pytest.mark.parametrize("edges", ["wrap", "mirror"])
def test_any_transfer_function_may_follow_any_other(engine, edges, rng):
    """Forward and backward, through pictures that not all of them fit."""
    r, options = random.Random(5), {"engine": engine, "edges": edges, "output": "real", "pixel_size": "65nm"}
    # The last one takes two inverse transforms where edges are mirrored.
    transfers = [*(kind(r) for kind in KINDS), H.notch((0.2, 0.13), width="0.05cyc")]
    pictures = [(rng.integers(0, 256, size, dtype=np.uint8), {}) for size in ((12, 10), (10, 12))]
    wanted = []
    for transfer in transfers:
        with Filter(transfer, **(COMMAND | options)) as fresh:
            wanted.append([outcome(fresh, *picture) for picture in pictures])
    with Filter(transfers[0], **(COMMAND | options)) as tuned:
        for i, at in enumerate((*range(len(transfers)), *reversed(range(len(transfers))))):
            tuned.retune(transfers[at])
            for which in (0, 1)[:: 1 if i % 2 else -1]:
                assert outcome(tuned, *pictures[which]) == wanted[at][which], transfers[at]


def test_what_was_found_for_one_call_is_not_taken_for_the_next():
    """Other whites; and a weak picture, which is done in double precision, by the transfer function before."""
    image = np.tile(np.arange(10, dtype=np.uint8), (12, 1))
    with Filter(H.lowpass(3), output="keep", edges="wrap") as used:
        for white in (100, 255, 100, 50):
            fresh = Filter(H.lowpass(3), output="keep", edges="wrap")
            assert outcome(used, image, {"white": white}) == outcome(fresh, image, {"white": white})
    with Filter(H.highpass("900%", shape="gaussian"), precision="single", **COMMAND) as used:
        for transfer in (used.transfer, H.highpass("1000%", shape="gaussian") * H.notch((0.25, 0.25))):
            used.retune(transfer)
            assert outcome(used, **LARGE) == outcome(Filter(transfer, precision="single", **COMMAND), **LARGE)
            assert used.weak() == 1
    with Filter(H.bandpass(1.5, 2.5), output="real", edges="wrap") as used:
        for n, weak in ((8, 1), (256, 0)):  # most of what passes on 8 pixels does not on 256
            y, x = np.mgrid[:n, :n]
            used(((-1.0) ** (x + y) + 0.02 * np.cos(4 * np.pi * x / n)).astype(np.float32))
            assert used.weak() == weak


@pytest.mark.parametrize("form", ["fused", "for GPUs"])
@pytest.mark.parametrize(
    "options",
    [{"output": "keep"}, {"output": "signed", "scale": (-40, 40)}, {"output": "magnitude", "scale": ("auto", 9)}],
    ids=str,
)
def test_any_call_may_follow_any_other(form, options, rng):
    """Other whites, levels and types, and floats of another size, for pictures of one size and type."""
    given = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    kinds = {}, {"levels": 99}, {"levels": 99, "white": 100}
    sizes = (given / 256, {"dtype": "uint8"}), (given * 300.0, {"dtype": "uint8"})
    calls = [*((given, kind) for kind in kinds), *sizes]

    def new():
        made = Filter(H.highpass(2), **(COMMAND | options))
        if form == "for GPUs":
            made.launcher = Launcher(as_gpu())
        return made

    wanted = [outcome(new(), *call) for call in calls]
    with new() as used:
        for i in range(len(calls)):
            for j in range(i, len(calls)):  # there and back
                assert outcome(used, *calls[i]) == wanted[i], (calls[i][1], calls[j - 1][1])
                assert outcome(used, *calls[j]) == wanted[j], (calls[j][1], calls[i][1])


def test_retuned_a_filter_keeps_nothing_of_what_it_was(rng):
    picture = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)

    def filters():
        gc.collect()
        return sum(isinstance(each, Filter) for each in gc.get_objects())

    with Filter(H.notch((0.25, 0.125), channels=(0,)), output="keep", edges="wrap") as tuned:
        counts = []
        for i in range(6):
            tuned.retune(H.notch((0.25, 0.05 * i), channels=(0,)))
            tuned(picture, channel_axis=0)
            tuned(picture)  # by one pipeline, which stays
            counts.append(filters())
    assert max(counts) <= min(counts) + 2, counts  # one for each way in which channels are filtered


@pytest.mark.parametrize("seed", range(2))
def test_a_filter_that_walks_through_all_of_these_is_a_new_one(seed):
    for _ in walk(seed, steps=30):
        pass


def test_imagejs_filter_that_walks_is_a_new_one():
    for _ in walk(0, steps=8, kind=ImageJFilter):
        pass


def test_the_old_name_of_with_options_warns(rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    with pytest.warns(DeprecationWarning, match="with_options") as warned:
        old = Filter(H.lowpass(3), **COMMAND).again(output="keep")
    assert [each.filename for each in warned] == [__file__]
    assert (old(image) == fftfilter.lowpass(image, 3, output="keep", edges="wrap")).all()


def test_pictures_on_their_way_through_a_gpu_stay_those_of_their_transfer_function(rng):
    """Three are on their way when the filter is retuned: their gains, and what of them is weak, are the old ones."""
    images = [rng.random((12, 10)).astype(np.float32) for _ in range(5)]
    images[1] = (np.add.outer(np.arange(12), np.arange(10)) == 3) + np.float32(1)
    old, new = H.mask(np.full((12, 10), 3.0)) * H.highpass("1000%", shape="gaussian"), H.mask(np.full((12, 10), 0.5))
    wanted = [outcome(Filter(old, output="real", edges="wrap"), image, {})[3:6] for image in images]
    with Filter(old, output="real", edges="wrap") as tuned:
        tuned.launcher = Launcher(as_gpu())
        stream = tuned.stream(images)
        for i, right in enumerate(wanted):
            next(stream)
            np.testing.assert_allclose(tuned.extremes(), right[0], rtol=1e-5)
            assert tuned.weak() == right[2]
            if i == 0:  # four are on their way
                tuned.retune(new)
                wanted[-1:] = [outcome(Filter(new, output="real", edges="wrap"), images[-1], {})[3:6]]


def test_threads_share_a_filter_that_one_of_them_retunes(rng):
    """Each picture is that of one transfer function or of the other, in calls and in streams, never of both."""
    picture = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)
    transfers = H.lowpass(2), H.notch((0.25, 0.125), channels=(0,)), H.mask(np.full((12, 10), 2.0)), H.Transfer(())
    options, errors, before = {"output": "keep"}, [], sys.getswitchinterval()
    right = {Filter(each, **(COMMAND | options))(picture, channel_axis=0).tobytes() for each in transfers}
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
        with Filter(transfers[0], **(COMMAND | options)) as shared:
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
    with Filter(H.lowpass(3), scale=(0, 90), **COMMAND) as tuned:
        wanted = tuned(image)
        for transfer in (H.lowpass("2um"), H.mask(rng.random((12, 10)))):
            with pytest.raises(ParameterError):
                tuned.retune(transfer)
            assert (tuned(image) == wanted).all()


def test_another_device_is_opened_and_a_missing_one_refused():
    with pytest.raises(DeviceError, match="no such device"):
        Filter(H.lowpass(), **COMMAND).with_options(device="no such device")
