"""``python -m benchmarks.explore``: the page of ``fftfilter explore`` in a real browser, while a handle is dragged.

A mouse drags the ring of a cutoff in and out. Each request that the page sends is known by its number: when the pointer
moved that it goes back to, when its frame was drawn, and when the browser had painted it.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from fftfilter.bench import Lines, Stats, Table
from fftfilter.bench.measure import SPREAD, images
from fftfilter.errors import RefusedError

from .command import benchmark_command, main, size_option
from .environment import CLONE, users_environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from playwright.async_api import Page

    from fftfilter.bench import Cell
    from fftfilter.bench.measure import Setting

    Shape = tuple[int, int]

SHAPES: tuple[Shape, ...] = ((512, 512), (1024, 1024), (2048, 2048), (4096, 4096))
WINDOW = (1280, 720)
MOVES = 75
"""Moves a second, somewhat more than the browser paints. Unlike a mouse's, each costs time in the driver."""
SECONDS = 1.0
"""In and out once, a run."""
FILTER = "bandpass --inner 20px --outer 4px --shape gaussian"

# Runs in the page before its own scripts: records when the pointer moved, and when its result was painted.
WATCH = """
(() => {
  const moves = new Map();
  const watched = (window.watched = []);
  let moved = 0;
  for (const name of ["pointermove", "pointerrawupdate"]) {
    addEventListener(name, (event) => { moved = Math.max(moved, event.timeStamp); }, true);
  }
  const painted = (call) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = call;
    port2.postMessage(0);
  });
  window.WebSocket = class extends WebSocket {
    set onmessage(handler) {
      super.onmessage = (event) => {
        const received = performance.now();
        handler(event);
        if (typeof event.data === "string") return;
        const header = new DataView(event.data);
        const [id, kind, level] = [header.getUint32(0, true), header.getUint16(4, true), header.getUint32(16, true)];
        if (kind !== 0 || !moves.has(id)) return;
        const from = moves.get(id);
        moves.delete(id);
        const [drawn, bytes] = [performance.now(), event.data.byteLength];
        painted(() => watched.push({ id, level, from, received, drawn, painted: performance.now(), bytes }));
      };
    }
    send(data) {
      const { id, rest } = JSON.parse(data);
      if (!rest) moves.set(id, moved);
      super.send(data);
    }
  };
})();
"""


@benchmark_command
@size_option("512x512, 1024x1024, 2048x2048, 4096x4096")
def command(setting: Setting, *, shapes: tuple[Shape, ...]) -> None:
    """Count the results that a real browser shows while a handle is dragged, and time how long they take.

    Needs Chromium, and the package playwright.

    \b
    Example: python -m benchmarks.explore
             python -m benchmarks.explore --size 1024x1024 --runs 20
    """
    explore(setting, shapes=shapes)


def explore(setting: Setting, *, shapes: Sequence[Shape] = (), seconds: float = SECONDS) -> None:
    """Return the results a second, and the milliseconds from the pointer's move to a result.

    Each run drags for ``seconds``.
    """
    table = setting.made = Table(
        "Results in the browser while a cutoff is dragged",
        {
            "size": "size",
            "level": "shown at 1/",
            "rate": "results a second",
            "drawn": "ms to drawn, median",
            "drawn_95": "95 %",
            "painted": "ms to painted, median",
            "painted_95": "95 %",
            "server": "server ms",
            "megabytes": "MB",
        },
        Lines((), "pixels", ("drawn", "painted"), "pixels", "ms"),
        setting.about(),
        [
            f"A mouse of {MOVES} moves a second, a window of {WINDOW[0]} x {WINDOW[1]}.",
            "Times begin when the browser got the newest move that a request goes back to, not when that is sent.",
            "Drawn: the result is on its canvas. Painted: so is the browser's next picture, of 60 a second.",
            "Server: the processor time of its process, by the number of results. MB: of a result, as it is sent.",
            SPREAD,
        ],
    )
    browser = chromium()
    for shape in shapes or SHAPES:
        size = f"{shape[1]} x {shape[0]}"
        setting.progress(size)
        drags, server = asyncio.run(dragged(browser, shape, str(setting.device.index), setting.runs, seconds))
        if min(map(len, drags)) < 2:
            raise RefusedError(f"{size}: a drag of {seconds} s is too short for two results")
        watched = [each for drag in drags for each in drag]
        row: dict[str, Cell] = {
            f"{name}{tail}": float(np.percentile([each[name] - each["from"] for each in watched], part))
            for name in ("drawn", "painted")
            for tail, part in (("", 50), ("_95", 95))
        }
        level = int(np.median([each["level"] for each in watched]))
        rates = [(len(drag) - 1) / (drag[-1]["drawn"] - drag[0]["drawn"]) * 1000 for drag in drags]
        row["server"] = 1000 * server / len(watched)
        row["megabytes"] = float(np.median([each["bytes"] for each in watched])) / 1e6
        table.put((size,), pixels=shape[0] * shape[1], level=level, rate=Stats.from_values(rates), **row)


def chromium() -> str:
    """Return the path of the system's Chromium; raises RefusedError if there is none, or nothing to drive it with."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        import playwright  # noqa: F401
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise RefusedError("needs Chromium and playwright: apt install chromium, pip install playwright")
    return found


async def dragged(
    browser: str, shape: Shape, device: str, runs: int, seconds: float
) -> tuple[list[list[dict[str, float]]], float]:
    """Return the recorded results of each drag of the outer cutoff in and out, and the server's processor seconds."""
    from playwright.async_api import async_playwright

    with TemporaryDirectory(prefix="fftfilter-bench-") as folder:
        picture = Path(folder) / "in.pgm"
        Image.fromarray(images(*shape)).save(picture)
        async with served(picture, device) as (url, process), async_playwright() as playwright:
            window = await playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = await window.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
            await page.add_init_script(WATCH)
            await page.goto(url)
            await page.locator(".state").filter(has_text="full quality").wait_for()
            await drag(page, seconds)  # to warm up
            found, before = [], processor_seconds(process)
            for _ in range(runs):
                await page.evaluate("watched.length = 0")
                await drag(page, seconds)
                found.append(await page.evaluate("watched"))
            taken = processor_seconds(process) - before
            await window.close()
    return found, taken


def processor_seconds(process: int) -> float:
    """Return the processor time that a process has taken; NaN where the system has no /proc."""
    if sys.platform != "linux":
        return math.nan
    fields = Path(f"/proc/{process}/stat").read_text("latin-1").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def served(picture: Path, device: str) -> AsyncIterator[tuple[str, int]]:
    """Start the program, and give the URL of its page and the number of its process; ends it at the end."""
    arguments = ("explore", "--no-browser", "--device", device, "--with", FILTER, str(picture))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fftfilter", *arguments),
        cwd=CLONE,
        env=users_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018  pipes were asked for
        url = (await process.stdout.readline()).decode().strip()
        if not url:
            raise RefusedError(f"the page was not served: {(await process.stderr.read()).decode().strip()}")
        yield url, process.pid
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def drag(page: Page, seconds: float) -> None:
    """Drag the outer ring by its grip, in and out along its radius."""
    grip = await page.locator(".spc .ring .grip").last.bounding_box()
    stage = await page.locator(".spc .stage").bounding_box()
    if not grip or not stage:
        raise RefusedError("the page shows no ring")
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    dx, dy = x - stage["x"] - stage["width"] / 2, y - stage["y"] - stage["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    # Not awaited one by one: the mouse does not wait for the page.
    session = await page.context.new_cdp_session(page)
    sent, began = [], perf_counter()
    while (now := perf_counter() - began) < seconds:
        part = 0.25 * np.sin(2 * np.pi * now / seconds)
        event = {"type": "mouseMoved", "x": x + part * dx, "y": y + part * dy, "button": "left", "buttons": 1}
        sent.append(asyncio.create_task(session.send("Input.dispatchMouseEvent", event)))
        await asyncio.sleep(max(0.0, (len(sent) / MOVES) - (perf_counter() - began)))
    await asyncio.gather(*sent)
    await page.mouse.up()
    await page.wait_for_timeout(300)


if __name__ == "__main__":
    main(command)
