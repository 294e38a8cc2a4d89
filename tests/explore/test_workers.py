"""Workers: what nobody waits for is not begun, or stops."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.explore import session, shown
from fftfilter.explore.answers import Answers
from fftfilter.explore.saving import Progress
from fftfilter.explore.session import StoppedError, Worker
from fftfilter.filters import Filter
from fftfilter.transfer.product import EDGES
from tests.explore.conftest import answer_on, request_for

WAITED = 10


def test_what_is_canceled_before_its_turn_is_not_begun_and_what_runs_stops_at_its_next_check():
    begun, stopped, go = [], [], threading.Event()

    def work(name):
        begun.append(name)
        go.wait(WAITED)
        try:
            session.check()
        except StoppedError:
            stopped.append(name)
            raise
        return name

    async def ask():
        worker = Worker("test")
        tasks = [asyncio.create_task(worker.do(work, name)) for name in range(4)]
        while not begun:
            await asyncio.sleep(0.001)
        for task in tasks[:3]:
            task.cancel()
        await asyncio.sleep(0.01)
        go.set()
        assert await tasks[3] == 3
        worker.end()

    asyncio.run(ask())
    assert (begun, stopped) == ([0, 3], [0])


def test_no_thread_is_left_of_a_server_that_ended(visit, tmp_path):
    Image.new("L", (12, 10), 9).save(tmp_path / "in.png")

    def threads():
        names = ("filtering", "small", "drawing", "long", "saving")
        return {each.name for each in threading.enumerate() if each.name.startswith(names)} - before

    async def ask(page):
        statuses = [(await page.get(path))[0] for path in ("input", "small")]
        return statuses, threads()

    before = set()
    before = threads()
    statuses, meanwhile = visit(ask, tmp_path / "in.png")
    assert statuses == [200, 200]
    assert meanwhile
    for _ in range(1000 * WAITED):
        if not threads():
            break
        time.sleep(0.001)
    assert threads() == set()


@pytest.fixture
def stack(tmp_path):
    """A stack of 300 small pages."""
    pages = np.random.default_rng(3).integers(0, 255, (300, 32, 40), np.uint8)
    tifffile.imwrite(tmp_path / "stack.tif", pages, photometric="minisblack")
    return tmp_path / "stack.tif"


def test_of_pages_that_are_gone_past_no_spectrum_is_computed(visit, stack, monkeypatch):
    computed, go, really = [], threading.Event(), shown.FilePage.spectrum_pixels

    def counted(page, channel=None):
        computed.append(1)
        go.wait(WAITED)
        return really(page, channel)

    monkeypatch.setattr(shown.FilePage, "spectrum_pixels", counted)

    async def step(page):
        # As a page does that goes through a stack: each question is given up for the next one.
        for number in range(40):
            asked = asyncio.create_task(page.get(f"spectrum?page={number}"))
            await asyncio.sleep(0.005)
            while not computed:
                await asyncio.sleep(0.001)
            asked.cancel()
        last = asyncio.create_task(page.get("spectrum?page=299"))
        await asyncio.sleep(0.1)
        go.set()
        return (await last)[0]

    assert visit(step, stack) == 200
    assert len(computed) < 10  # the first one, the last one, and few whose end was not heard of in time


def test_a_search_ends_when_something_else_is_asked_for(visit, stack, monkeypatch):
    seen, go, really = [], threading.Event(), session.check

    def check():
        # The thread that reads requests checks, too, and is not to wait for what is asked for after them.
        if threading.current_thread().name.startswith("long"):
            seen.append(1)
            go.wait(WAITED)
        really()

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for("lowpass", number=1)))
            await answer_on(socket)
            monkeypatch.setattr(session, "check", check)
            await socket.send_str(json.dumps(request_for("notch", number=2, auto=True)))
            told = json.loads((await socket.receive()).data)
            while not seen:
                await asyncio.sleep(0.001)
            await socket.send_str(json.dumps(request_for("lowpass", number=3)))
            await asyncio.sleep(0.05)
            go.set()
            return told, (await answer_on(socket))[0]["id"]

    assert visit(ask, stack) == ({"id": 2, "doing": "Looking for patterns"}, 3)
    assert len(seen) < 50  # of 300 pages


def test_a_save_that_is_canceled_leaves_nothing_and_holds_up_nothing_else(visit, stack, monkeypatch):
    done, go, really = [], threading.Event(), Progress.advance

    def advance(progress, total):
        done.append(total)
        if len(done) == 3:
            go.wait(WAITED)
        really(progress, total)

    monkeypatch.setattr(Progress, "advance", advance)

    async def save(page):
        asked = asyncio.create_task(page.save(request_for(output="keep"), "out.tif"))
        while len(done) < 3:
            await asyncio.sleep(0.001)
        _, told = await page.get("saving")
        assert (await page.get("input"))[0] == 200
        assert (await page.answer(request_for(output="keep")))[1].shape == (32, 40)
        asked.cancel()
        await asyncio.sleep(0.05)
        go.set()
        status, _ = await page.save(request_for(output="keep"), "other.tif")
        return told, status, (await page.get("saving"))[1]

    begun, ended = ({"done": done, "total": 300, "written": done == 300} for done in (2, 300))
    assert visit(save, stack) == (begun, 200, ended)
    assert sorted(path.name for path in stack.parent.iterdir()) == ["other.tif", "stack.tif"]


def test_what_is_shown_of_waves_that_are_found_is_what_the_command_writes(visit, run, tmp_path):
    y, x = np.mgrid[:96, :96]
    levels = 128 + 40 * np.cos(2 * np.pi * (0.2 * x + 0.1 * y)) + np.random.default_rng(2).normal(0, 4, (96, 96))
    Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(tmp_path / "in.png")
    asked = request_for("notch", auto=True, strength=20)

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(asked))
            assert json.loads((await socket.receive()).data)["doing"]
            words, removed, _ = await answer_on(socket)
            await socket.send_str(json.dumps(asked | {"options": {"auto": True, "keep": ["0.2,0.1"]}}))
            await socket.receive()
            return words, removed, (await answer_on(socket))[1]

    words, removed, kept = visit(ask, tmp_path / "in.png")
    assert words["command"].startswith("fftfilter notch --auto --strength 20 ")
    run(["notch", "--auto", "--strength", "20", str(tmp_path / "in.png"), str(tmp_path / "out.png")])
    assert (np.asarray(Image.open(tmp_path / "out.png")) == removed).all()
    assert (np.asarray(Image.open(tmp_path / "in.png")) == kept).all()
    assert np.abs(removed - kept.astype(int)).mean() > 10


def test_a_wave_of_one_color_is_taken_out_of_the_map_of_gains_too(visit, tmp_path):
    y, x = np.mgrid[:96, :96]
    levels = np.random.default_rng(2).normal(128, 4, (96, 96, 3))
    levels[..., 1] += 40 * np.cos(2 * np.pi * (0.2 * x + 0.1 * y))
    Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(tmp_path / "in.png")
    _, _, gains = visit(lambda page: page.answer(request_for("notch", auto=True)), tmp_path / "in.png")
    assert gains[128 + 26, 128 + 51] == gains[128 - 26, 128 - 51] < 20
    assert gains[128 + 51, 128 + 26] > 250


def test_what_a_search_cannot_do_is_told_at_once_and_not_tried_twice(visit, stack, monkeypatch):
    tried = []

    def measured(*_):
        tried.append(threading.current_thread().name)
        raise ParameterError("nothing is found")

    monkeypatch.setattr(session.Session, "measured", measured)

    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for("notch", auto=True)))
            return (await answer_on(socket))[0]

    assert visit(ask, stack, start="stripes --angle 0")["error"] == "nothing is found"
    assert tried == ["long_0"]


@pytest.mark.parametrize(
    ("command", "doing"),
    [
        ("descreen", "Looking for a printer's screen"),
        ("wiener", "Measuring the noise"),
        ("notch", "Looking for patterns"),
    ],
)
def test_what_takes_long_is_said_before(visit, stack, command, doing):
    async def ask(page):
        async with page.live() as socket:
            await socket.send_str(json.dumps(request_for(command, **({"auto": True} if command == "notch" else {}))))
            return json.loads((await socket.receive()).data)

    assert visit(ask, stack) == {"id": 1, "doing": doing}


def test_the_filter_that_was_used_longest_ago_goes_first_and_is_closed(monkeypatch):
    closed, close = [], Filter.close
    monkeypatch.setattr(Filter, "close", lambda filter_: closed.append(filter_) or close(filter_))
    answers, options = (
        Answers("filtering"),
        [{"edges": edges, "output": each} for edges in EDGES for each in ("keep", "real")],
    )
    first, second, third, _ = [answers._filter(Filter, (1, 12, 10), H.lowpass(3), each) for each in options]
    assert answers._filter(Filter, (1, 12, 10), H.lowpass(4), options[0]) is first
    answers._filter(Filter, (1, 12, 10), H.lowpass(3), {"output": "signed"})
    assert answers._filter(Filter, (1, 12, 10), H.lowpass(3), options[0]) is first
    assert closed == [second]
    assert answers._filter(Filter, (1, 12, 10), H.lowpass(3), options[1]) is not second
    assert closed == [second, third]
