"""Filters and transforms in several threads: each picture is, bit by bit, what one thread makes of it.

Threads take turns every microsecond, so that a step that only one of them may do is cut in two.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image
from pyopencl import invoker

import fftfilter
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.filters import Filter
from tests.helpers import COMMAND

THREADS = 6
# Four sizes for six threads: two of them share a pipeline, the others take it from each other; one is Bluestein's.
SIZES = [(8, 64), (64, 8), (2, 8, 64), (67, 71), (8, 64), (64, 8)]
each_engine = pytest.mark.parametrize(("engine", "rounds"), [("fused", 100), ("book", 10), ("numpy", 100)])


@pytest.fixture(autouse=True)
def turns():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def images(rng):
    return [rng.integers(0, 256, size, dtype=np.uint8) for size in SIZES]


def in_threads(*works):
    """Call each function in a thread of its own, all at the same time, and raise what the first one raises."""
    errors = []
    start = threading.Barrier(len(works))

    def run(work):
        try:
            start.wait()
            work()
        except Exception as error:  # noqa: BLE001  it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_what_fails_in_a_thread_fails_here():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda: 1 // 0, int)


def assert_own_pictures(engine, rounds, images):
    """Let each thread filter an image of its own by a filter that all share."""
    with Filter(H.highpass(), engine=engine, **COMMAND) as highpass:
        wanted = [highpass(image) for image in images]

        def work(i):
            for _ in range(rounds):
                np.testing.assert_array_equal(highpass(images[i]), wanted[i])

        in_threads(*(lambda i=i: work(i) for i in range(THREADS)))


@each_engine
def test_one_filter_gives_each_thread_its_own_picture(engine, rounds, images):
    assert_own_pictures(engine, rounds, images)


@each_engine
def test_pictures_of_one_size_do_not_change_places(engine, rounds, rng):
    images = rng.integers(0, 256, (THREADS, 8, 64), dtype=np.uint8)
    assert_own_pictures(engine, rounds, images)


@each_engine
def test_streams_calls_and_close_share_a_filter(engine, rounds, images):
    with Filter(H.highpass(), engine=engine, profile=True, **COMMAND) as highpass:
        wanted = [highpass(image) for image in images]

        def call(i):
            for _ in range(rounds):
                np.testing.assert_array_equal(highpass(images[i]), wanted[i])

        def stream(i):
            for got in highpass.stream(images[i] for _ in range(rounds)):
                np.testing.assert_array_equal(got, wanted[i])

        def close():
            for _ in range(rounds):
                highpass.close()
                highpass.timings()
                assert len(highpass.extremes()) in (0, 1, 2)

        in_threads(lambda: call(0), lambda: call(3), lambda: stream(1), lambda: stream(0), lambda: stream(2), close)


def test_single_calls_and_transforms_share_a_device(images):
    calls = [
        lambda: fftfilter.highpass(images[0], **COMMAND),
        lambda: fftfilter.lowpass(images[0], 3, engine="book", **COMMAND),
        lambda: fftfilter.fft2(images[1]),
        lambda: fftfilter.ifft(images[3], algorithm="pease"),
        lambda: fftfilter.apply_mask(images[0], np.eye(8, 64), engine="book", **COMMAND),
        lambda: fftfilter.fft(images[3], algorithm="stockham", radix=4),
    ]
    wanted = [call() for call in calls]

    def work(i):
        for _ in range(10):
            np.testing.assert_array_equal(calls[i](), wanted[i])

    in_threads(*(lambda i=i: work(i) for i in range(THREADS)))


def test_one_thread_at_a_time_makes_a_kernel(monkeypatch):
    """Two at once, pyopencl warns that it generates code that it has generated."""
    inside, most, generate = [], [], invoker.generate_enqueue_and_set_args

    def generated(*args, **kwargs):
        inside.append(1)
        most.append(len(inside))
        time.sleep(1e-3)
        inside.pop()
        return generate(*args, **kwargs)

    monkeypatch.setattr(invoker, "generate_enqueue_and_set_args", generated)
    launcher, kernels = Launcher(choose()), []
    in_threads(*[lambda: kernels.append(launcher.kernel(("staged/steps/magnitude.cl",), (), "magnitude"))] * THREADS)
    assert most == [1] * THREADS


FIRST_USE = """
import sys, threading
import numpy as np
import fftfilter
from fftfilter import calls, filters, transforms  # not by the threads, which would come out of it one by one
from fftfilter import transfer as H

sys.setswitchinterval(1e-6)
image = np.random.default_rng(1).integers(0, 256, (8, 64), dtype=np.uint8)
calls = [
    lambda: fftfilter.Filter(H.highpass()),
    lambda: fftfilter.highpass(image),
    lambda: fftfilter.highpass(image, engine="book"),
    lambda: fftfilter.fft2(image),
]
found, start = {}, threading.Barrier(12)

def work(i):
    start.wait()
    found[i] = calls[i % 4]()

threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
contexts = {found[i].launcher.device.context.int_ptr for i in (0, 4, 8)}
results = [{found[i].tobytes() for i in range(kind, 12, 4)} for kind in (1, 2, 3)]
print(len(contexts), *map(len, results))
"""


def test_threads_that_come_first_open_one_device():
    run = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=False, timeout=120)
    assert (run.stdout, run.stderr) == ("1 1 1 1\n", "")


BY_MAIN_THREAD = """
import os, sys, threading

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numpy.") and threading.current_thread() is not threading.main_thread():
            print(name, "is imported by", threading.current_thread().name)
            sys.stdout.flush()
            os._exit(9)

sys.meta_path.insert(0, Watch())
from fftfilter.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "words",
    ["highpass {} out --preview sheet.png", "lowpass {} out --preview sheet.png --verify", "peaks {}",
     "lowpass {}/pages.tif out.tif", "stripes --angle auto {} out --processes 1"],
)  # fmt: skip
def test_no_part_of_numpy_is_imported_by_threads(words, tmp_path, rng):
    """By two at once, numpy.ma and others ask for themselves without end, once in a thousand runs."""
    (tmp_path / "in").mkdir()
    for k in range(3):
        pixels = rng.integers(0, 256, (64, 80), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "in" / f"{k}.pgm")
        Image.fromarray(np.stack([pixels] * 3, -1)).save(tmp_path / "in" / f"{k}.png")
    pages = [Image.fromarray(pixels)] * 3
    pages[0].save(tmp_path / "in" / "pages.tif", save_all=True, append_images=pages[1:])
    command = [sys.executable, "-c", BY_MAIN_THREAD, *words.format("in").split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, "imported by" in done.stdout) == (0, False), done.stdout + done.stderr
