"""What the tests of explore share: a file that is explored, with a client in the same process."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import asynccontextmanager

import click
import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter.cli import cli

aiohttp = pytest.importorskip("aiohttp")

DATA = (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)
# Seconds: a kernel may have to be compiled.
PATIENCE = 60


def request_for(command="lowpass", number=1, *, page=0, level=1, show="result", **more):
    """Return a request as the page sends it: options of the command, and the few that are about looking."""
    looking = {name: more.pop(name) for name in ("rest", "view") if name in more}
    return {"id": number, "page": page, "level": level, "show": show, "command": command, "options": more, **looking}


class Visitor:
    """A client of a page."""

    def __init__(self, session, url):
        self.session, self.url = session, url

    async def get(self, path, **options):
        """Return the status and the body, JSON as what it means."""
        async with self.session.get(self.url + path, **options) as response:
            is_json = response.content_type == "application/json"
            return response.status, await (response.json() if is_json else response.read())

    async def save(self, asked, out, **answer):
        async with self.session.post(self.url + "save", json={"request": asked, "out": out, **answer}) as response:
            return response.status, await response.json()

    def live(self, **options):
        return self.session.ws_connect(self.url + "live", max_msg_size=0, **options)

    async def answer(self, asked):
        """Return the words, the result's pixels and the map of gains that answer a request on its own connection."""
        async with self.live() as socket:
            await socket.send_str(json.dumps(asked))
            return await answer_on(socket)


async def answer_on(socket):
    """Return the words, the result's pixels and the map of gains of the next answer; None for what does not come."""
    words = result = None
    while (message := await socket.receive(timeout=PATIENCE)).type in DATA:
        if message.type is aiohttp.WSMsgType.TEXT:
            words = json.loads(message.data)
            if "doing" in words:
                continue
            if "error" in words or not words["gain_map"]:
                return words, result, None
            continue
        (_, kind, *_), pixels = unpacked(message.data)
        if kind == 4:
            return words, result, pixels
        result = pixels
    return words, result, None


async def result_on(socket):
    """Return the header and the pixels of the next result."""
    while True:
        message = (await socket.receive(timeout=PATIENCE)).data
        if not isinstance(message, str) and unpacked(message)[0][1] != 4:
            return unpacked(message)


def unpacked(frame):
    """Return the numbers of a frame's header, and its pixels (height, width) or (height, width, 4)."""
    header = struct.unpack("<IHHIIIII4x", frame[:32])
    _, _, channels, width, height, *_ = header
    pixels = np.frombuffer(frame[32:], np.uint8)
    return header, pixels.reshape((height, width) if channels == 1 else (height, width, channels))


@asynccontextmanager
async def visiting(source, target=None, start="lowpass", port=0):
    """Serve a page on a file; give a client of it."""
    from fftfilter.commands.explore import Commands, explore
    from fftfilter.explore.server import Server
    from fftfilter.explore.session import Session

    context = click.Context(explore, parent=click.Context(cli, info_name="fftfilter"))
    commands = Commands(context, ())
    server = Server(Session(str(source), target and str(target)), commands, commands.start(start, str(source)))
    url = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(server.run(port, url.set_result))
    done, _ = await asyncio.wait({serving, url}, return_when=asyncio.FIRST_COMPLETED)
    assert serving not in done, serving.exception()
    try:
        async with aiohttp.ClientSession() as session:
            yield Visitor(session, url.result())
    finally:
        serving.cancel()
        await asyncio.wait({serving})


@pytest.fixture
def visit():
    """Run a scenario with a client of a page on a file: ``visit(scenario, source, ...)``."""

    def visit(scenario, *arguments, **options):
        async def whole():
            async with visiting(*arguments, **options) as visitor:
                return await scenario(visitor)

        return asyncio.run(whole())

    return visit


@pytest.fixture
def run():
    """Run a command line in this process, which has to succeed."""

    def run(words):
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 0, result.output

    return run
