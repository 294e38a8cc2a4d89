"""The page in a real Firefox and in WebKit, Safari's engine: what browsers may do in other ways than Chromium.

Firefox is driven by WebDriver BiDi, WebKit by WebDriver. Both take the same actions.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter.cli import cli
from tests.helpers import Started

aiohttp = pytest.importorskip("aiohttp")

# Seconds: a kernel may have to be compiled, on a busy machine.
PATIENCE = 60
ENTER = "\ue007"
ZOOM = "document.querySelector('.pic .num').textContent"
COMMAND = "document.querySelector('pre.command').textContent"
# Drops a picture, half white and half black, on the page, as a hand does.
DROP = """(() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 64, height: 48});
  const context = canvas.getContext("2d");
  context.fillRect(0, 0, 64, 48);
  context.fillStyle = "white";
  context.fillRect(0, 0, 32, 48);
  canvas.toBlob((blob) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([blob], "dropped.png"));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true}));
  });
})()"""
# Collects errors where the driver does not tell them.
COLLECT = """window.wrong = [];
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, ({message, reason}) => wrong.push(String(message ?? reason)));"""


class Tab:
    """A tab of a browser, which collects the errors in it."""

    def __init__(self):
        self.wrong = []

    async def value(self, expression):
        """Return the value of an expression of JavaScript."""
        return json.loads(await self._text(f"JSON.stringify({expression}) ?? 'null'"))

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

    async def press(self, name):
        """Press a button by its text."""
        buttons = "[...document.querySelectorAll('button')].filter((each) => each.checkVisibility())"
        button = f"{buttons}.find(({{textContent}}) => textContent.trim() === {json.dumps(name)})"
        await self.until(button)
        await self.value(f"{button}.click()")

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


class Firefox(Tab):
    """A tab of a Firefox, by its socket."""

    program, has_fingers = shutil.which("firefox-esr") or shutil.which("firefox"), True

    @classmethod
    @asynccontextmanager
    async def opened(cls, profile, port, session):
        words = [cls.program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", str(port)]
        tab = cls()
        with Started(words, **silent(profile)):
            connect = session.ws_connect, f"ws://127.0.0.1:{port}/session"
            async with await answered(*connect, max_msg_size=0) as tab._socket:
                await tab._ask("session.new", capabilities={})
                yield tab
                await tab._ask("browser.close")

    async def begin(self, url):
        self._context = (await self._ask("browsingContext.getTree"))["contexts"][0]["context"]
        await self._ask("session.subscribe", events=["log.entryAdded"])
        await self._ask("browsingContext.setViewport", context=self._context, viewport={"width": 1440, "height": 900})
        await self._ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def _ask(self, method, **params):
        """Return the result of a command."""
        await self._socket.send_json({"id": 1, "method": method, "params": params})
        while True:
            told = await self._socket.receive_json(timeout=PATIENCE)
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.wrong.append(told["params"]["text"])
            if "id" in told:
                assert told["type"] == "success", told
                return told["result"]

    async def _text(self, expression):
        target = {"context": self._context}
        found = await self._ask("script.evaluate", expression=expression, target=target, awaitPromise=False)
        assert found["type"] == "success", found
        return found["result"]["value"]

    async def _perform(self, sources):
        await self._ask("input.performActions", context=self._context, actions=sources)


class WebKit(Tab):
    """A tab of the browser that comes with WebKitGTK, on a screen of its own."""

    program, has_fingers = shutil.which("Xvfb") and shutil.which("WebKitWebDriver"), False

    @classmethod
    @asynccontextmanager
    async def opened(cls, profile, port, session):
        own, place = silent(profile), f"http://127.0.0.1:{port}"
        browser = {"binary": str(next(Path("/usr").glob("lib*/**/webkit*/MiniBrowser"))), "args": ["--automation"]}
        tab, screen = cls(), ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
        with Started(screen, **own | {"stdout": subprocess.PIPE}, text=True) as shown:
            own["env"] |= {"DISPLAY": f":{shown.stdout.readline().strip()}", "GDK_BACKEND": "x11"}
            with Started([cls.program, f"--port={port}"], **own):
                await answered(session.get, f"{place}/status")
                tab._session, tab._place = session, f"{place}/session"
                wanted = {"alwaysMatch": {"webkitgtk:browserOptions": browser}}
                tab._place += f"/{(await tab._ask('', capabilities=wanted))['sessionId']}"
                yield tab
                await tab._ask("", "DELETE")

    async def begin(self, url):
        await self._ask("/window/rect", x=0, y=0, width=1440, height=900)
        await self._ask("/url", url=url)
        await self._ask("/execute/sync", script=COLLECT, args=[])

    async def _ask(self, path, method="POST", **params):
        """Return the value of a command."""
        async with self._session.request(method, self._place + path, json=params) as response:
            value = (await response.json())["value"]
            assert response.ok, value
            return value

    async def _text(self, expression):
        self.wrong = await self._ask("/execute/sync", script="return window.wrong", args=[])
        return await self._ask("/execute/sync", script=f"return {expression}", args=[])

    async def _perform(self, sources):
        await self._ask("/actions", actions=sources)


def silent(profile):
    """Return how a program is started that keeps all it writes in a folder."""
    home = {"HOME": str(profile), "XDG_RUNTIME_DIR": str(profile)}
    return {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": os.environ | home}


async def answered(ask, *arguments, **options):
    """Return what a program answers once it has started."""
    for _ in range(10 * PATIENCE):
        try:
            return await ask(*arguments, **options)
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    return pytest.fail("the browser does not start")


@asynccontextmanager
async def browsing(kind, profile):
    """Give a tab of a new browser, which keeps all it writes in a folder."""
    profile.mkdir(0o700)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    async with aiohttp.ClientSession() as session, kind.opened(profile, port, session) as tab:
        yield tab


@pytest.mark.parametrize("kind", [Firefox, WebKit])
def test_a_picture_is_filtered_dragged_pinched_and_saved(tmp_path, camera, kind):
    if not kind.program:
        pytest.skip(f"no {kind.__name__} is installed")
    Image.fromarray(camera[:96, :96]).save(tmp_path / "one.png")

    async def visit(url):
        async with browsing(kind, tmp_path / "profile") as tab:
            await tab.begin(url)
            await tab.state("Nothing is filtered yet")
            await tab.keys("4")
            await tab.state("full quality")
            x, y = await tab.middle(".ring .grip")
            await tab.drag([(x, y), (x + 10, y - 10), (x + 20, y - 20)])
            await tab.until(f"/--radius [234]\\.\\d/.test({COMMAND})")
            if tab.has_fingers:  # which go three times as far apart, on the picture
                x, y = await tab.middle(".pic .stage")
                x, before = x - 150, float((await tab.value(ZOOM)).split()[0])
                await tab.drag([(x - 20, y), (x - 60, y)], [(x + 20, y), (x + 60, y)], kind="touch")
                await tab.until(f"parseFloat({ZOOM}) > {2.8 * before}")
            # Text is typed into fields, where single letters do nothing else.
            await tab.drag([await tab.middle(".save input")])
            await tab.value("document.querySelector('.save input').select()")
            await tab.keys("saved.png")
            await tab.state("full quality")  # until then the button says that saving waits
            await tab.keys(ENTER)
            await tab.state("Written: saved.png")
            command = await tab.value(COMMAND)
            # A slider of the browser's own: more to its right.
            x, y = await tab.middle("[aria-label='Cutoff, slider']")
            await tab.drag([(x, y), (x + 30, y)])
            await tab.until(f"/--radius \\d\\d[.\\d]*px/.test({COMMAND})")
            # The lesson, by its radio button and Next.
            await tab.value("[...document.querySelectorAll('.top input')].at(-1).click()")
            await tab.press("Next")
            await tab.until("document.querySelector('.lesson').textContent.includes('Step 2 of 6')")
            await tab.press("Back to the filter")
            await tab.value(DROP)
            await tab.until("document.querySelector('.file b').textContent === 'dropped.png'")
            await tab.state("full quality")
            assert tab.wrong == []
            return command

    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", "one.png"]
    with Started(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        line = asyncio.run(visit(process.stdout.readline().strip())).split()
    assert line[-2:] == ["one.png", "one-filtered.png"]
    result = CliRunner().invoke(cli, [*line[1:-2], str(tmp_path / "one.png"), str(tmp_path / "wanted.png")])
    assert result.exit_code == 0
    assert (tmp_path / "saved.png").read_bytes() == (tmp_path / "wanted.png").read_bytes()
