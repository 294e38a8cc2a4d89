"""Make the pictures of explore and of napari: ``python docs/make_screenshots.py explore.jpg napari.jpg``.

explore.jpg needs Chromium and the test packages. napari.jpg needs the environment for the tests of the widget, which
CONTRIBUTING.md names, scikit-image, and a display, such as that of ``xvfb-run``.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np
from PIL import Image

DOCS = Path(__file__).parent
SAMPLES = DOCS.parent / "samples"
QUALITY = 80
WAVE = 163, 79  # cycles of the wave in napari's cell, along x and y
LEVELS = 12  # its amplitude


def explore() -> bytes:
    """Return the page on the printed cat: half of it without its dots, and a loupe over its fur."""
    from playwright.sync_api import expect, sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pictures = shutil.copytree(SAMPLES, Path(folder, "pictures"), ignore=shutil.ignore_patterns("*.md"))
        command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", pictures / "print.jpg"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            chromium = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(server.stdout.readline().strip())
            page.locator(".goals [data-goal=dots]").click()
            for _ in range(2):  # the second time nothing has to be compiled
                expect(page.locator(".state")).to_contain_text("full quality", timeout=60_000)
                page.wait_for_timeout(1000)  # in which the address says what is chosen, too
                page.reload()
            expect(page.locator(".state")).to_contain_text("full quality", timeout=60_000)
            page.get_by_role("button", name="Loupe").click()
            stage = page.locator(".pic .stage").bounding_box()
            page.mouse.move(stage["x"] + 0.6 * stage["width"], stage["y"] + 0.55 * stage["height"])
            page.wait_for_timeout(1000)  # for the loupe's own part
            shot = page.screenshot()
            browser.close()
            server.terminate()
    return shot


def napari() -> np.ndarray:
    """Return the window of napari: a cell without coarse light and, by a click in its spectrum, without a wave."""
    from napari import Viewer
    from qtpy.QtTest import QTest
    from skimage.data import cell

    clean = cell()
    (y, x), (height, width) = np.indices(clean.shape), clean.shape
    fx, fy = WAVE[0] / width, WAVE[1] / height
    faulty = np.clip(np.rint(clean + LEVELS * np.cos(2 * np.pi * (fx * x + fy * y))), 0, 255).astype(np.uint8)
    viewer = Viewer()
    viewer.window.resize(1400, 900)
    viewer.add_image(faulty, name="cells", scale=(0.2, 0.2), units=("um", "um"))
    _, widget = viewer.window.add_plugin_dock_widget("fftfilter-opencl", "Frequency filter")
    widget.kind.value, widget.unit.value, widget.cutoff.value, widget.live.value = "highpass", "µm", "13", True
    widget.edges.value = "wrap"
    widget.spectrum.native.click()
    widget._notches.add([fy, fx])
    while widget._worker or widget._preview not in viewer.layers:
        QTest.qWait(50)
    viewer.reset_view()
    QTest.qWait(500)  # in which the window is drawn
    shot = viewer.window.screenshot(canvas_only=False)
    viewer.close()
    return shot[..., :3]


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(["explore.jpg", "napari.jpg"]))
def main(names: tuple[str, ...]) -> None:
    """Make NAMES in docs/."""
    for name in names:
        image = Image.open(io.BytesIO(explore())) if name == "explore.jpg" else Image.fromarray(napari())
        image.convert("RGB").save(DOCS / name, quality=QUALITY)


if __name__ == "__main__":
    main()
