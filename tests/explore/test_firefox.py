"""The page in a real Firefox, driven by WebDriver BiDi: what browsers may do in other ways than Chromium."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter.cli import cli
from tests.helpers import Started

aiohttp = pytest.importorskip("aiohttp")

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = pytest.mark.skipif(FIREFOX is None, reason="no Firefox is installed")

# Seconds: a kernel may have to be compiled, on a busy machine.
PATIENCE = 60
ENTER = "\ue007"
ZOOM = "document.querySelector('.pic .num').textContent"


class Tab:
    """A tab of the browser, which collects the errors that are logged in it."""

    def __init__(self, socket):
        self._socket, self._count, self.wrong = socket, 0, []

    async def ask(self, method, **params):
        """Return the result of a command."""
        self._count += 1
        await self._socket.send_json({"id": self._count, "method": method, "params": params})
        while True:
            told = await self._socket.receive_json(timeout=PATIENCE)
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.wrong.append(told["params"]["text"])
            if told.get("id") == self._count:
                assert told["type"] == "success", told
                return told["result"]

    async def begin(self, url):
        await self.ask("session.new", capabilities={})
        self._context = (await self.ask("browsingContext.getTree"))["contexts"][0]["context"]
        await self.ask("session.subscribe", events=["log.entryAdded"])
        await self.ask("browsingContext.setViewport", context=self._context, viewport={"width": 1440, "height": 900})
        await self.ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def value(self, expression):
        """Return the value of an expression of JavaScript."""
        text = f"JSON.stringify({expression}) ?? 'null'"
        target = {"context": self._context}
        found = await self.ask("script.evaluate", expression=text, target=target, awaitPromise=False)
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    async def until(self, expression):
        for _ in range(10 * PATIENCE):
            if await self.value(f"Boolean({expression})"):
                return
            await asyncio.sleep(0.1)
        pytest.fail(f"{expression} does not become true")

    async def state(self, text):
        await self.until(f"document.querySelector('.state p')?.textContent.includes({json.dumps(text)})")

    async def middle(self, selector):
        """Return the middle of an element on the screen."""
        box = await self.value(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def keys(self, text):
        actions = [{"type": f"key{way}", "value": key} for key in text for way in ("Down", "Up")]
        await self._perform([{"type": "key", "id": "keys", "actions": actions}])

    async def drag(self, *ways, kind="mouse"):
        """Drag pointers of a kind, each from the first point of its way to the last one."""
        sources = []
        for number, way in enumerate(ways):
            moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 30} for x, y in way]
            moves.insert(1, {"type": "pointerDown", "button": 0})
            moves.append({"type": "pointerUp", "button": 0})
            source = {"type": "pointer", "id": f"{kind}{number}", "parameters": {"pointerType": kind}}
            sources.append(source | {"actions": moves})
        await self._perform(sources)

    async def _perform(self, sources):
        await self.ask("input.performActions", context=self._context, actions=sources)


@asynccontextmanager
async def firefox(profile):
    """Give a tab of a new browser, which keeps all it writes in a folder."""
    profile.mkdir()
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", str(port)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": os.environ | {"HOME": str(profile)}}
    with Started(words, **silent):
        async with aiohttp.ClientSession() as session:
            for _ in range(10 * PATIENCE):
                try:
                    given = await session.ws_connect(f"ws://127.0.0.1:{port}/session", max_msg_size=0)
                    break
                except aiohttp.ClientError:
                    await asyncio.sleep(0.1)
            else:
                pytest.fail("Firefox does not start")
            async with given as opened:
                tab = Tab(opened)
                yield tab
                await tab.ask("browser.close")


def test_a_picture_is_filtered_dragged_pinched_and_saved(tmp_path, camera):
    Image.fromarray(camera[:96, :96]).save(tmp_path / "one.png")

    async def visit(url):
        async with firefox(tmp_path / "profile") as tab:
            await tab.begin(url)
            await tab.state("Nothing is filtered yet")
            await tab.keys("4")
            await tab.state("full quality")
            x, y = await tab.middle(".ring .grip")
            await tab.drag([(x, y), (x + 10, y - 10), (x + 20, y - 20)])
            await tab.until("/--radius [234]\\.\\d/.test(document.querySelector('pre.command').textContent)")
            # Two fingers: three times as far apart, on the picture.
            x, y = await tab.middle(".pic .stage")
            x, before = x - 150, float((await tab.value(ZOOM)).split()[0])
            await tab.drag([(x - 20, y), (x - 60, y)], [(x + 20, y), (x + 60, y)], kind="touch")
            await tab.until(f"parseFloat({ZOOM}) > {2.8 * before}")
            # Text is typed into fields, where single letters do nothing else.
            await tab.drag([await tab.middle(".save input")])
            await tab.value("document.querySelector('.save input').select()")
            await tab.keys("saved.png" + ENTER)
            await tab.state("Written: saved.png")
            assert tab.wrong == []
            return await tab.value("document.querySelector('pre.command').textContent")

    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", "one.png"]
    with Started(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        line = asyncio.run(visit(process.stdout.readline().strip())).split()
    assert line[-2:] == ["one.png", "one-filtered.png"]
    result = CliRunner().invoke(cli, [*line[1:-2], str(tmp_path / "one.png"), str(tmp_path / "wanted.png")])
    assert result.exit_code == 0
    assert (tmp_path / "saved.png").read_bytes() == (tmp_path / "wanted.png").read_bytes()
