"""The page in a real Chromium: what a user does, and that it gives what the command line gives."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from urllib.parse import quote

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

from fftfilter.cli import cli
from tests.helpers import Started

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright, which drives browsers, is not installed")
expect = sync_api.expect

# Seconds: a kernel may have to be compiled, on a busy machine.
PATIENCE = 60
expect.set_options(timeout=1000 * PATIENCE)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

SIDE = 96
WAVE = (0.15625, 0.0625)  # 15 and 6 cycles
SIZES = [(390, 844), (768, 1024), (960, 600), (1024, 768), (1280, 720), (1440, 900), (2560, 1440)]
CONTROLS = {"button", "checkbox", "combobox", "link", "radio", "slider", "spinbutton", "tab", "textbox"}
SMOOTH = {"command": "lowpass", "radius": {"value": 8, "unit": "px"}, "shape": "gaussian", "output": "keep"}
# What the state says of a result that is that of the choices, and can be saved.
DONE = re.compile("full quality|Nothing is removed")
# Holds back what the server says, while `held` is true, and keeps what it is asked.
HOLDING = """
window.held = false;
window.asked = [];
window.WebSocket = class extends WebSocket {
  waiting = [];
  send(data) {
    asked.push(JSON.parse(data));
    super.send(data);
  }
  set onmessage(handler) {
    super.onmessage = (event) => { held ? this.waiting.push(event) : handler(event); };
    window.release = () => { held = false; this.waiting.splice(0).forEach(handler); };
  }
};
"""
# Holds back the answer to a save until `answer` is called, as if one of two pages was saved.
SLOW = """() => {
  const own = fetch;
  window.fetch = (url, ...more) => {
    if (url === "saving") return Promise.resolve(Response.json({done: 1, total: 2}));
    if (url !== "save") return own(url, ...more);
    return own(url, ...more).then((given) => new Promise((done, fail) => {
      window.answer = () => done(given);
      more[0].signal.onabort = fail;
    }));
  };
}"""
# Whether a canvas is empty; and the level that the loupe's right half begins with.
EMPTY = (
    "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.every((each) => !each)"
)
GLASS = """((canvas) => canvas.getContext("2d").getImageData(canvas.width / 2, 0, 1, 1).data[0])(
    document.querySelector(".loupe canvas"))"""
# The texts in type of less than 11 pixels.
SMALL_TYPE = """[...document.querySelectorAll("body *")].filter((each) => each.checkVisibility()
    && [...each.childNodes].some((child) => child.nodeType === 3 && child.data.trim())
    && parseFloat(getComputedStyle(each).fontSize) < 11).map((each) => each.textContent)"""
# Types a number while the server is held back; returns whether Save waits at the browser's next picture but one.
TYPING = """() => new Promise((done) => {
  held = true;
  const field = document.querySelector("[name=radius]");
  field.value = "9";
  field.dispatchEvent(new Event("input"));
  const look = () => done(document.querySelector(".save .pri[type=submit]").disabled);
  requestAnimationFrame(() => requestAnimationFrame(look));
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A stack of two pages: a wave over smooth noise, and noise alone. And a picture of one page, with the wave."""
    folder = tmp_path_factory.mktemp("explore")
    y, x = np.mgrid[:SIDE, :SIDE]
    noise = np.random.default_rng(5).normal(0, 12, (2, SIDE, SIDE))
    pages = 128 + noise + np.array([40, 0])[:, None, None] * np.cos(2 * np.pi * (WAVE[0] * x + WAVE[1] * y))
    levels = np.clip(pages, 0, 255).astype(np.uint8)
    size = {"resolution": (10_000, 10_000), "resolutionunit": "CENTIMETER"}  # of 1 um
    tifffile.imwrite(folder / "in.tif", levels, photometric="minisblack", **size)
    Image.fromarray(levels[0]).save(folder / "one.png")
    return folder


@pytest.fixture(scope="module")
def url(folder):
    """The address of the page, served by the program."""
    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", "in.tif"]
    with Started(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()


@pytest.fixture(scope="module")
def tab(url):
    """A tab of the browser, which collects what goes wrong in it."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        tab.set_default_timeout(1000 * PATIENCE)
        tab.add_init_script(HOLDING)
        tab.wrong = []

        def note(message):
            if message.type == "error":
                tab.wrong.append(f"{message.text} {message.location['url']}")

        tab.on("console", note)
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        origin = url.split("/")[2]
        tab.on("request", lambda each: None if origin in each.url.split("/")[2:3] else tab.wrong.append(each.url))
        yield tab
        browser.close()


@pytest.fixture
def page(tab, folder):
    """The tab, in which nothing may go wrong, except what a test expects (``tab.expected``).

    The page may ask for the small picture of a file that a test removes meanwhile, and is told that it is gone.
    """
    tab.wrong.clear()
    tab.expected = ()
    yield tab
    asked = {each: re.search(r"status of 400 .*/small\?file=([^&]+)", each) for each in tab.wrong}
    wrong = [each for each, small in asked.items() if not small or (folder / small[1]).exists()]
    assert [each for each in wrong if not any(part in each for part in tab.expected)] == []


def begun(page, url):
    """Open the page as the program does."""
    page.goto("about:blank")
    page.goto(url)
    state(page, "Nothing is filtered yet")


def begun_on(page, url, file):
    """Open the page on a file as a link does."""
    page.goto("about:blank")
    page.goto(f"{url}#{quote(json.dumps({'file': file}))}")
    state(page, "Nothing is filtered yet")


def opened(page, url, settings=SMOOTH, *, goal="hand", file="in.tif", number=0, **view):
    """Open the page with settings, as a link does, and wait for the result."""
    asked = {"file": file, "page": number, "goal": goal, "settings": settings, "view": {"show": "after"} | view}
    page.goto("about:blank")
    page.goto(f"{url}#{quote(json.dumps(asked))}")
    state(page, DONE)
    return page


def drawn(page):
    """Wait for the browser's next picture: from then on, what is older than the state is said to be."""
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def state(page, text):
    """Wait until the line of the state has a text."""
    drawn(page)
    expect(page.locator(".state p")).to_contain_text(text)


def command(page, text=""):
    """Return the command line when it is that of the state and has a text."""
    drawn(page)
    expect(page.locator("pre.command")).not_to_have_attribute("data-old", "")
    expect(page.locator("pre.command")).to_contain_text(text)
    state(page, DONE)
    return page.locator("pre.command").text_content()


def middle(page):
    """Return where frequency 0 is, and how many pixels of the screen a cycle per pixel has."""
    box = page.locator(".spc .stage").bounding_box()
    scale = min(box["width"], box["height"])
    half = 0.5 / SIDE * scale
    return box["x"] + box["width"] / 2 + half, box["y"] + box["height"] / 2 + half, scale


def shown(page, pane=0, of=1):
    """Return the gray levels that the picture's canvas shows, at the middle of each pixel of the picture.

    It is in one of several panes, which are 2 pixels apart.
    """
    levels = page.evaluate(
        """([side, pane, of]) => {
            const canvas = document.querySelector(".pic canvas");
            const width = (canvas.width - 2 * (of - 1)) / of, height = canvas.height;
            const {data} = canvas.getContext("2d").getImageData(pane * (width + 2), 0, width, height);
            const scale = Math.min(width, height) / side;
            const [left, top] = [(width - side * scale) / 2, (height - side * scale) / 2];
            const column = (x) => Math.floor(left + (x + 0.5) * scale);
            const row = (y) => Math.floor(top + (y + 0.5) * scale);
            const at = (x, y) => data[4 * (row(y) * Math.floor(width) + column(x))];
            return Array.from({length: side * side}, (_, i) => at(i % side, Math.floor(i / side)));
        }""",
        [SIDE, pane, of],
    )
    return np.array(levels).reshape(SIDE, SIDE)


def assert_shown(page, wanted, **pane):
    """Hold the canvas to a picture; words come before their frame."""
    for _ in range(10 * PATIENCE):
        difference = np.abs(shown(page, **pane) - wanted.astype(int))
        if difference.max() <= 1:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{np.count_nonzero(difference > 1)} pixels differ, by up to {difference.max()} levels")


def written(folder, line):
    """Return the bytes that a command line writes."""
    program, *arguments, source, target = shlex.split(line)
    assert program == "fftfilter"
    wanted = folder / f"wanted{target[-4:]}"
    assert CliRunner().invoke(cli, [*arguments, str(folder / source), str(wanted)]).exit_code == 0
    found = wanted.read_bytes()
    wanted.unlink()
    return found


def filtered(folder, line, number=0):
    """Return the pixels of a page that a command line writes."""
    (folder / "pixels.tif").write_bytes(written(folder, line))
    return tifffile.imread(folder / "pixels.tif")[number]


def drag(page, start, *ends):
    drawn(page)
    page.mouse.move(*start)
    page.mouse.down()
    for end in ends:
        page.mouse.move(*end)
    page.mouse.up()
    drawn(page)


def test_it_opens_on_the_picture_as_it_is_with_five_goals(page, url, folder):
    begun(page, url)
    assert page.title() == "in.tif - fftfilter"
    assert_shown(page, tifffile.imread(folder / "in.tif")[0])
    expect(page.locator(".goals button")).to_have_count(5)
    expect(page.locator(".ring, .notch, .save:visible, .rail:visible")).to_have_count(0)
    expect(page.locator(".spc .wait")).to_be_hidden()
    facts = "96 \u00d7 96 \u00b7 gray, 8 bit \u00b7 2 pages \u00b7 1\xa0\u00b5m per px"
    expect(page.locator(".meta")).to_have_text(facts)
    page.keyboard.press("4")
    line = command(page, "lowpass --radius")
    page.keyboard.press("a")
    assert_shown(page, filtered(folder, line))
    expect(page.locator(".foot")).to_contain_text("full quality")
    expect(page.locator("summary .cut").nth(1)).to_have_text("edges mirror \u00b7 output keep")
    page.locator("[aria-label=Undo]").click()
    state(page, "Nothing is filtered yet")


def test_patterns_of_a_picture_are_told_before_a_goal_is_chosen(page, url):
    begun_on(page, url, "one.png")
    expect(page.locator(".goals [data-goal=dots]")).to_contain_text("1 pattern found here")
    words = re.compile(r"This spot repeats every 5\.9\d\s*px: dots, weave or moire")
    expect(page.locator(".cap")).to_have_text(words)
    x, y, scale = middle(page)
    box = page.locator(".over .wave:visible circle").first.bounding_box()
    at = box["x"] + box["width"] / 2 - x, box["y"] + box["height"] / 2 - y
    assert [abs(each) / scale for each in at] == pytest.approx(WAVE, abs=0.2 / SIDE)


def test_a_ring_and_the_plot_of_gains_are_dragged_and_a_drag_is_undone(page, url, folder):
    opened(page, url)
    expect(page.locator(".ring")).to_have_attribute("aria-valuetext", "8\xa0px, period 8 pixels")
    expect(page.locator(".ring text")).to_have_text("8\xa0px")
    # The curve falls by 6 dB, of 40, down to the cutoff, where its handle is.
    hand, curve = (page.locator(f".plot {each}").get_attribute("d") for each in (".hand path", "path.gain"))
    at, top, bottom = (float(each) for each in re.findall(r"[\d.]+", hand))
    points = np.array([float(each) for each in re.findall(r"[\d.]+", curve)]).reshape(-1, 2)
    half = np.interp(at, *points.T)
    assert (points[0, 1], points[-1, 1]) == (top, bottom)
    assert (half - top) / (bottom - top) == pytest.approx(6.02 / 40, abs=0.01)
    x, y, scale = middle(page)
    r = 0.125 * scale
    drag(page, (x - r, y), *((x - r * (1 + step / 8), y) for step in range(1, 9)))
    radius = page.locator("[name=radius]")
    value = float(radius.input_value())
    assert math.isclose(value, 4, rel_tol=0.02)
    assert_shown(page, filtered(folder, command(page, f"--radius {value:g}px")))
    page.locator("[aria-label=Undo]").click()
    command(page, "--radius 8px")
    expect(page.locator("[aria-label=Undo]")).to_be_disabled()
    page.keyboard.press("Control+Shift+Z")
    command(page, f"--radius {value:g}px")
    page.locator("[aria-label=Undo]").click()
    command(page, "--radius 8px")
    page.locator("[aria-label=Redo]").click()
    command(page, f"--radius {value:g}px")

    # In the plot of gains
    box = page.locator(".plot .hand path").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(page, (x, y), (x - 20, y), (x - 40, y))
    assert float(radius.input_value()) > value
    command(page, f"--radius {radius.input_value()}px")
    page.locator("[aria-label=Undo]").click()
    expect(page.locator("[aria-label=Redo]")).to_be_enabled()
    drag(page, (x, y), (x - 20, y))  # another way, from which nothing leads back to the first one
    expect(page.locator("[aria-label=Redo]")).to_be_disabled()


def test_notches_are_added_by_clicks_sized_by_the_wheel_and_removed_by_a_key(page, url):
    with page.expect_event("requestfinished", lambda request: "/peaks?" in request.url):
        opened(page, url, {"command": "notch"} | {"at": [{"fx": 0.3, "fy": 0.2}]}, file="one.png")
    x, y, scale = middle(page)
    page.mouse.click(x + 0.25 * scale, y - 0.375 * scale)
    rows = page.locator(".grp .one")
    expect(rows).to_have_count(2)
    expect(page.locator(".notch .echo")).to_have_count(2)  # the conjugates
    expect(rows.last).to_have_text(re.compile(r"2\.2\d\s*px"))  # the shorter period below the longer one
    page.mouse.wheel(0, -100)
    found = re.search(r"--at (0\.2\d*),(-0\.37\d*),0\.0066cyc", command(page, "0.0066cyc"))
    assert (float(found[1]), float(found[2])) == pytest.approx((0.25, -0.375), abs=0.005)
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("pre.command")).not_to_contain_text(found[1])
    moved = re.findall(r"--at ([-\d.]+),", command(page))
    assert float(moved[1]) == pytest.approx(float(found[1]) - 10 / SIDE, abs=1e-4)
    page.keyboard.press("Delete")
    expect(rows).to_have_count(1)
    # Near a peak a click means the peak; here its conjugate.
    page.mouse.click(x - WAVE[0] * scale + 4, y - WAVE[1] * scale)
    expect(rows).to_have_count(2)
    found = re.findall(r"--at ([-\d.]+),([-\d.]+),", command(page, "cyc"))[-1]
    assert tuple(map(abs, map(float, found))) == pytest.approx(WAVE, abs=0.1 / SIDE)
    page.get_by_role("button", name="Clear all").click()
    state(page, "Click a bright spot")


def test_stripes_are_turned_by_a_drag(page, url):
    settings = {"command": "stripes", "angle": 0, "spare": {"value": 40, "unit": "px"}}
    opened(page, url, settings, goal="stripes")
    x, y, scale = middle(page)
    drag(page, (x, y + 0.3 * scale), (x + 0.1 * scale, y + 0.3 * scale), (x + 0.2 * scale, y + 0.1 * scale))
    angle = float(page.locator("[name=angle]").input_value())
    assert angle == pytest.approx(math.degrees(math.atan2(0.2, 0.1)), abs=0.5)
    command(page, f"stripes --angle {angle:g} --spare 40px")
    # The line goes through the pointer and through the middle.
    line = page.locator(".ridge .line").get_attribute("d")
    x0, y0, x1, y1 = (float(each) for each in re.findall(r"[-\d.]+", line))
    assert (y1 - y0) / (x1 - x0) == pytest.approx(0.1 / 0.2, abs=0.01)
    assert math.hypot(x1 - x0, y1 - y0) == pytest.approx(scale, rel=0.01)
    page.get_by_role("radio", name="Vertical").check()
    command(page, "stripes --angle 90")
    page.get_by_role("slider", name="Angle of the stripes").press("ArrowRight")
    command(page, "stripes --angle 90.5")
    page.get_by_role("radio", name="Horizontal").check()
    command(page, "stripes --angle 0")


def test_a_cutoff_that_is_dragged_past_the_other_changes_names_with_it(page, url):
    band = {"command": "bandpass", "inner": {"value": 25, "unit": "px"}, "outer": {"value": 8, "unit": "px"}}
    opened(page, url, band | {"output": "keep"})
    x, y, scale = middle(page)
    drag(page, (x - 0.04 * scale, y), (x - 0.2 * scale, y), (x - 0.25 * scale, y))
    first, second = (each.bounding_box() for each in page.locator(".plot .hand text").all())
    assert first["x"] + first["width"] < second["x"]
    inner, outer = (page.locator(f"[name={name}]") for name in ("inner", "outer"))
    expect(inner).to_have_value("8")
    assert float(outer.input_value()) == pytest.approx(4, rel=0.03)
    command(page, "bandpass --inner 8px --outer 4")


def test_the_wipe_has_the_picture_on_its_left_and_never_the_result(page, url, folder):
    opened(page, url, show="wipe")
    wipe = page.get_by_role("slider", name="Border between before and after")
    before = tifffile.imread(folder / "in.tif")[0]
    after = filtered(folder, command(page))
    assert_shown(page, np.hstack([before[:, : SIDE // 2], after[:, SIDE // 2 :]]))
    wipe.press("End")
    assert_shown(page, before)
    wipe.press("Home")
    assert_shown(page, after)
    page.keyboard.down("b")
    assert_shown(page, before)
    page.keyboard.up("b")
    assert_shown(page, after)
    # By the mouse, and side by side
    box, bar = page.locator(".pic .stage").bounding_box(), wipe.bounding_box()
    y = box["y"] + box["height"] / 2
    drag(page, (bar["x"] + 1, y), (box["x"] + 300, y), (box["x"] + box["width"] / 2, y))
    assert_shown(page, np.hstack([before[:, : SIDE // 2], after[:, SIDE // 2 :]]))
    page.keyboard.press("s")
    assert_shown(page, before, pane=0, of=2)
    assert_shown(page, after, pane=1, of=2)
    expect(page.locator(".tag:visible")).to_have_text(["Before", "After"])
    page.keyboard.press("r")
    state(page, DONE)
    expect(page.locator(".tag:visible")).to_have_text(["Removed: 0 is gray"])
    removed, lost = shown(page), before.astype(float) - after
    assert abs(removed[np.abs(lost) < 0.5].mean() - 128) < 2
    assert np.corrcoef(removed.ravel(), lost.ravel())[0, 1] > 0.99


def test_the_picture_is_zoomed_where_the_pointer_is_and_moved(page, url):
    opened(page, url)
    box, zoom = page.locator(".pic .stage").bounding_box(), page.get_by_title("One to one (Z)")
    fitted = min(box["width"], box["height"]) / SIDE
    x, y = box["x"] + box["width"] / 2 + 90, box["y"] + box["height"] / 2 - 60

    def zoomed(factor):
        expect(zoom).to_have_text(f"{round(100 * fitted * factor)} %")

    def place(dx=0.0, dy=0.0):
        read = page.locator(".pic .read")
        for away in (40, 0):  # so that what is read is of this place
            before = read.text_content()
            page.mouse.move(x + dx + away, y + dy)
            expect(read).not_to_have_text(before)
        return re.findall(r"[xy] ([\d.]+)", read.text_content())[:2]

    def scaled(factor):
        most = 90 / (fitted * factor)  # micrometers of 90 pixels of the screen
        length = max(length for length in (1, 2, 5, 10, 20, 50) if length <= most)
        expect(page.locator(".scale")).to_have_text(f"{length}\xa0\u00b5m")
        bar = page.locator(".scale i").bounding_box()["width"]
        assert bar == pytest.approx(length * fitted * factor, abs=0.5)

    zoomed(1)
    scaled(1)
    before = place()
    page.mouse.wheel(0, -600)
    zoomed(math.exp(0.9))
    assert [float(each) for each in place()] == pytest.approx([float(each) for each in before], abs=1)
    middle = place()
    drag(page, (x, y), (x - 20, y + 10), (x - 50, y + 30))
    assert [float(each) for each in place(-50, 30)] == pytest.approx([float(each) for each in middle], abs=1)
    page.keyboard.press("+")
    zoomed(math.exp(0.9) * 1.25)
    scaled(math.exp(0.9) * 1.25)
    page.keyboard.press("-")
    zoomed(math.exp(0.9))
    scaled(math.exp(0.9))
    page.get_by_role("button", name="Zoom out").click()
    zoomed(math.exp(0.9) / 1.25)
    page.keyboard.press("0")
    zoomed(1)
    page.mouse.wheel(0, 600)  # not below the whole
    zoomed(1)
    page.keyboard.press("=")
    zoomed(1.25)
    page.mouse.dblclick(x, y)
    zoomed(1)


def glass(page):
    """Return the gray levels of the loupe's canvas."""
    rows = page.locator(".loupe canvas").evaluate(
        """(canvas) => {
            const {data, width} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return [width, Array.from({length: data.length / 4}, (_, i) => data[4 * i])];
        }"""
    )
    return np.array(rows[1]).reshape(-1, rows[0])


def test_a_loupe_shows_before_and_after_at_one_to_one_under_the_pointer(page, url, folder):
    opened(page, url)
    line = command(page)
    before, after = tifffile.imread(folder / "in.tif")[0], filtered(folder, line)
    at = on_picture(page)
    page.mouse.move(*at(20.5, 30.5))
    page.keyboard.press("m")
    expect(page.locator(".loupe")).to_be_visible()
    expect(page.locator(".loupe .tag:visible")).to_have_text(["Before", "After"])
    # The picture has fewer pixels than the loupe.
    assert (glass(page) == np.hstack([before, after])).all()
    page.keyboard.press("]")
    newer = filtered(folder, command(page, "--radius 8.24px"))
    expect(page.locator(".loupe .tag[data-old]")).to_have_count(0)
    page.wait_for_function("(level) => " + GLASS + " === level", arg=int(newer[0, 0]))
    assert (glass(page) == np.hstack([before, newer])).all()
    page.mouse.move(5, 5)
    expect(page.locator(".loupe")).to_be_hidden()
    page.get_by_role("button", name="Loupe").click()
    expect(page.get_by_role("button", name="Loupe")).to_have_attribute("aria-pressed", "false")


def test_values_are_of_the_pixel_that_is_under_the_pointer_after_a_zoom(page, url, folder):
    opened(page, url)
    at = on_picture(page)
    page.mouse.move(*at(20.5, 30.5))
    read = page.locator(".pic .read")
    expect(read).to_contain_text("x 20.5\xa0\u00b5m  y 30.5\xa0\u00b5m")
    page.keyboard.press("+")
    expect(read).not_to_contain_text("x 20.5\xa0\u00b5m")
    page.keyboard.press("0")
    expect(read).to_contain_text("x 20.5\xa0\u00b5m  y 30.5\xa0\u00b5m")
    # Where the picture is reduced, a point of the screen is many pixels.
    Image.new("L", (4096, 1024), 90).save(folder / "wide.png")
    begun_on(page, url, "wide.png")
    box = page.locator(".pic .stage").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + box["height"] / 2)
    many = round(4096 / box["width"])
    expect(read).to_contain_text(f"90   1 point = {many} \u00d7 {many} px")
    page.goto("about:blank")
    (folder / "wide.png").unlink()


def test_columns_are_made_wider_by_their_borders(page, url):
    opened(page, url)
    for name, column in (("Border of the spectrum", ".spc"), ("Border of the choices", ".side")):
        border, usual = page.get_by_role("separator", name=name), page.locator(column).bounding_box()
        y = usual["y"] + 300
        drag(page, (usual["x"], y), (usual["x"] - 20, y), (usual["x"] - 70, y))
        wide = page.locator(column).bounding_box()
        assert wide["width"] == pytest.approx(usual["width"] + 70, abs=2)
        expect(border).to_have_attribute("aria-valuenow", str(round(wide["width"])))
        border.press("Shift+ArrowRight")
        assert page.locator(column).bounding_box()["width"] == pytest.approx(wide["width"] - 160, abs=2)
        border.press("ArrowLeft")
        kept = page.locator(column).bounding_box()["width"]
        page.reload()
        state(page, DONE)
        assert page.locator(column).bounding_box()["width"] == kept
        page.locator(f"{column} > .border").dblclick()
        assert page.locator(column).bounding_box()["width"] == usual["width"]


def test_the_part_on_the_screen_is_asked_for_while_something_is_dragged(page, url):
    opened(page, url)
    box = page.locator(".pic .stage").bounding_box()
    enlarged = min(box["width"], box["height"]) / SIDE * 1.25**8
    for _ in range(8):
        page.keyboard.press("+")
    expect(page.get_by_title("One to one (Z)")).to_have_text(f"{round(100 * enlarged)} %")
    for _ in range(5):
        page.locator(".pic .stage").press("ArrowRight")  # by 40 pixels of the screen
    x, y, scale = middle(page)
    page.evaluate("asked.length = 0")
    drag(page, (x - 0.125 * scale, y), (x - 0.13 * scale, y), (x - 0.14 * scale, y))
    state(page, DONE)
    part, *_ = [each["view"] for each in page.evaluate("asked") if "rest" in each and not each["rest"]]
    visible = [box["width"] / enlarged, box["height"] / enlarged]
    center = SIDE / 2 + 200 / enlarged, SIDE / 2
    wanted = [at + sign * each / 2 for sign in (-1, 1) for at, each in zip(center, visible, strict=True)]
    assert part == [max(0, math.floor(each)) for each in wanted[:2]] + [
        min(SIDE, math.ceil(each)) for each in wanted[2:]
    ]
    assert all(each["view"] is None for each in page.evaluate("asked") if each.get("rest"))


def pixel(page, fx, fy):
    """Return the color that the spectrum's canvas has at a frequency."""
    x, y, scale = middle(page)
    box = page.locator(".spc .stage").bounding_box()
    at = [x + fx * scale - box["x"], y + fy * scale - box["y"]]
    return page.evaluate(
        """([x, y]) => {
            const context = document.querySelector(".spc canvas").getContext("2d");
            return [...context.getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data.slice(0, 3)];
        }""",
        at,
    )


def test_the_spectrum_says_what_is_under_the_pointer_and_has_colors(page, url):
    opened(page, url)
    x, y, scale = middle(page)
    page.mouse.move(x + WAVE[0] * scale, y + WAVE[1] * scale)
    # The gain is exp2(-(8 * 0.168)^2).
    told = r"period 5\.9\d\s\u00b5m \u00b7 5\.9\d px +angle 68\.\d\u00b0 +(0|\u2212[0-4](\.5)?) dB +gain \u22121[01]"
    expect(page.locator(".spc .read")).to_have_text(re.compile(told))
    before = pixel(page, *WAVE)
    assert before[0] == before[1] == before[2] > 200
    page.get_by_role("radio", name="After", exact=True).last.check()
    drawn(page)
    assert pixel(page, *WAVE)[0] < before[0] - 10
    page.get_by_role("radio", name="Before", exact=True).last.check()
    page.get_by_role("combobox", name="Removed as").select_option("area")
    drawn(page)
    red, _, blue = pixel(page, 0.4, -0.4)
    assert red > blue + 60
    red, _, blue = pixel(page, 0.01, 0.01)
    assert abs(red - blue) < 20
    page.get_by_role("combobox", name="Removed as").select_option("none")
    expect(page.locator(".over .ring")).to_be_hidden()
    page.get_by_role("combobox", name="Colors").select_option("fire")
    drawn(page)
    red, _, blue = pixel(page, *WAVE)
    assert red > blue + 20


def test_a_profile_is_the_gray_levels_along_its_line(page, url, folder):
    opened(page, url)
    page.keyboard.press("p")
    levels = tifffile.imread(folder / "in.tif")[0, 48, 10:87].astype(float)
    after = filtered(folder, command(page))[48, 10:87].astype(float)

    def line(kind):
        path = page.locator(f".tray svg path.{kind}").first
        expect(path).to_have_attribute("d", re.compile("^M.*L"))
        return np.array([[float(each) for each in at.split()] for at in re.split("[ML]", path.get_attribute("d"))[1:]])

    filtered_, found = line("after"), line("before")  # which is drawn anew with it, in its scale
    low, high = min(levels.min(), after.min()), max(levels.max(), after.max())
    bottom, top = found[:, 1].max(), min(found[:, 1].min(), filtered_[:, 1].min())
    for (x, y), wanted in ((found.T, levels), (filtered_.T, after)):
        assert len(y) == 77
        assert (np.diff(x) > 0).all()
        np.testing.assert_allclose((bottom - y) / (bottom - top), (wanted - low) / (high - low), atol=0.02)
    begin, end = page.locator(".over .end").first, page.locator(".over .end").last
    expect(end).to_have_attribute("aria-valuetext", "86, 48")
    begin.press("Shift+ArrowDown")
    begin.press("ArrowRight")
    expect(begin).to_have_attribute("aria-valuetext", "11, 58")


def test_a_late_answer_is_not_shown_as_that_of_the_state(page, url):
    opened(page, url)
    page.locator("details.code summary").click()
    page.evaluate("held = true")
    page.keyboard.press("]")
    # What is shown is older than what is chosen: it is dimmed, and nothing can be done with it.
    expect(page.locator("pre.command")).to_have_attribute("data-old", "")
    expect(page.locator("svg.over[data-old]")).to_have_count(1)
    expect(page.locator(".tag[data-old]:visible")).to_have_count(1)
    state(page, "Filtering")
    save, copy = page.locator(".save .pri[type=submit]"), page.get_by_role("button", name="Copy waits")
    expect(save).to_be_disabled()
    expect(copy).to_be_disabled()
    dark = shown(page).mean()
    page.keyboard.press("Control+s")
    page.evaluate("release()")
    assert "--radius 8.24px" in command(page, "--radius 8.24px")
    expect(save).to_be_enabled()
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_enabled()
    assert shown(page).mean() > 1.3 * dark
    # What has no result yet
    page.locator("[name=command]").select_option("notch")
    state(page, "Click a bright spot in the spectrum")
    expect(page.locator("pre.command")).to_have_attribute("data-old", "")
    expect(save).to_be_disabled()
    expect(copy).to_have_count(1)


def test_what_was_removed_and_the_result_are_dimmed_as_long_as_either_is_older(page, url):
    opened(page, url)
    save = page.locator(".save .pri[type=submit]")
    page.keyboard.press("r")
    state(page, DONE)
    for shown, other in (("a", "r"), ("r", "a")):
        page.keyboard.press(shown)
        page.keyboard.press("]")
        command(page, "lowpass")
        page.evaluate("held = true")
        page.keyboard.press(other)
        expect(page.locator(".tag[data-old]:visible")).to_have_count(1)
        state(page, "Filtering")
        expect(save).to_be_disabled()
        page.evaluate("release()")
        expect(page.locator(".tag[data-old]:visible")).to_have_count(0)
        state(page, DONE)
        expect(save).to_be_enabled()


def test_what_was_changed_while_it_was_saved_is_said_not_to_be_in_it(page, url, folder):
    opened(page, url)
    page.evaluate(SLOW)
    page.locator(".save input").fill("slow.tif")
    page.keyboard.press("Control+s")
    state(page, "Saving page 2 of 2")
    expect(page.locator(".prog i")).to_have_attribute("style", "width: 50%;")
    page.locator(".pic .stage").press("]")
    expect(page.locator("pre.command")).to_contain_text("--radius 8.24px")
    page.evaluate("answer()")
    state(page, "Written: slow.tif. What you have changed since is not in it")
    page.locator(".save input").fill("done.tif")
    page.keyboard.press("Control+s")
    state(page, "Saving page 2 of 2")
    while not (folder / "done.tif").exists():
        page.wait_for_timeout(20)
    page.keyboard.press("Escape")
    state(page, "Canceled: done.tif was written already")
    page.goto("about:blank")  # which asks for no small picture of the file any more
    for name in ("slow.tif", "done.tif"):
        (folder / name).unlink()


@pytest.mark.parametrize(
    "asked",
    [
        {"command": "lowpass"},
        {"command": "lowpass", "radius": {"value": "8", "unit": "px"}},
        {"command": "bandpass", "inner": {"value": 8, "unit": "px"}, "outer": 5},
        {"command": "notch", "at": [{"fx": "a"}]},
        {"command": "notch", "auto": True, "keep": 7},
        SMOOTH | {"shapes": [5], "outside": False},
        "lowpass",
    ],
)
def test_an_address_that_was_damaged_is_said_not_to_be_understood(page, url, asked):
    page.goto("about:blank")
    page.goto(f"{url}#{quote(json.dumps({'file': 'in.tif', 'goal': 'hand', 'settings': asked}))}")
    state(page, "The address is not understood")
    expect(page.locator(".goals button")).to_have_count(5)


def test_a_damaged_view_is_that_of_the_beginning(page, url):
    opened(page, url, levels="a", profile=[1], wave={"fx": 0}, tray="profile", colors="none", way="none", step="x")
    expect(page.locator(".spc .wait:visible, .nums:visible")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 768, 1024])
def test_nothing_is_missing_in_small_windows(page, url, folder, width):
    gray = Image.open(folder / "one.png")
    Image.merge("RGB", [gray, gray.point(lambda level: level // 2), gray.point(lambda _: 7)]).save(folder / "color.png")
    page.set_viewport_size({"width": width, "height": 768 if width == 1024 else 900})
    opened(page, url, file="color.png", goal="smooth")
    expect(page.get_by_text("more: coarser, too")).to_be_visible()
    expect(page.locator(".plot .hand circle")).to_be_visible()
    expect(page.locator(".rail [aria-pressed=true]")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("combobox", name="Colors")).to_be_visible()
    if width > 600:
        green = page.get_by_role("radio", name="G", exact=True)
        assert green.bounding_box()["width"] >= 24
        green.click()
    else:
        page.locator(".inset").click()
    if width == 1024:
        box = page.locator(".pic .stage").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2 + 1, box["y"] + box["height"] / 2 + 1)
        level = gray.getpixel((SIDE // 2, SIDE // 2))
        expect(page.locator(".pic .read")).to_contain_text(f"before R {level} G {level // 2} B 7   after R ")
    x, y, scale = middle(page)
    page.mouse.click(x + 0.3 * scale, y - 0.1 * scale)
    expect(page.locator(".nums")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("button", name="Close the wave").click()
    for name in ("Undo", "Redo", "Keys and help"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    page.get_by_role("radio", name="Profile").check()
    expect(page.get_by_role("group", name="Line profile")).to_be_visible()
    expect(page.get_by_role("slider", name="End of the profile")).to_be_visible()
    page.get_by_role("radio", name="Hide").check()
    page.evaluate("scrollTo(0, 0)")
    # A lesson has an end.
    page.evaluate("document.querySelector('.links .link:last-child').click()")
    expect(page.locator(".lesson")).to_be_visible()
    page.get_by_role("button", name="Back to the filter").click()
    expect(page.locator(".lesson")).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    (folder / "color.png").unlink()


def test_the_command_is_copied_and_the_file_saved_is_the_one_it_writes(page, url, folder):
    opened(page, url, SMOOTH | {"edges": "mirror"})
    page.locator("details.code summary").click()
    page.get_by_role("button", name="Copy", exact=True).click()
    state(page, "Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "--edges mirror" in copied
    page.locator(".save input").fill("out.tif")
    expect(page.locator(".path")).to_have_text(str(folder / "out.tif"))
    page.get_by_role("button", name="Save 2 pages").click()
    state(page, "Written: out.tif")
    assert (folder / "out.tif").read_bytes() == written(folder, copied)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download").click()
    assert downloading.value.suggested_filename == "out.tif"
    assert open(downloading.value.path(), "rb").read() == (folder / "out.tif").read_bytes()  # noqa: PTH123, SIM115
    page.get_by_role("radio", name="Python").click()
    expect(page.locator("pre.python")).to_contain_text("filter_stack")
    (folder / "out.tif").unlink()


def test_a_file_that_is_there_is_asked_about_and_none_is_written_elsewhere(page, url, folder):
    page.expected = ("403", "409", "small?file=precious.tif")  # which is no picture
    opened(page, url)
    precious = folder / "precious.tif"
    precious.write_bytes(b"precious")
    page.locator(".save input").fill("precious.tif")
    page.keyboard.press("Control+s")
    expect(page.locator(".ask")).to_contain_text("precious.tif exists (8 bytes")
    page.keyboard.press("Escape")
    state(page, "Not saved")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Keep both").click()
    state(page, "Written: precious-2.tif")
    assert precious.read_bytes() == b"precious"
    page.locator(".save input").fill("precious.tif")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Replace it").click()
    state(page, "Written: precious.tif")
    assert precious.read_bytes() == (folder / "precious-2.tif").read_bytes() == written(folder, command_now(page))
    for name in ("precious.tif", "precious-2.tif"):
        (folder / name).unlink()
    # A name elsewhere
    page.locator(".save input").fill("../out.tif")
    page.keyboard.press("Control+s")
    state(page, "another folder")
    assert not (folder.parent / "out.tif").exists()
    page.locator(".save input").fill(str(folder / "out.tif"))
    expect(page.locator(".path")).to_have_text(str(folder / "out.tif"))


def test_a_small_picture_is_that_of_what_was_saved_in_its_place(page, url, folder):
    page.expected = ("409",)
    Image.new("L", (SIDE, SIDE), 250).save(folder / "white.png")
    opened(page, url, file="one.png")
    canvas = "document.querySelector('[data-file=\"white.png\"]')"
    level = f"({canvas}?.getContext('2d').getImageData(66, 48, 1, 1).data[0] ?? 0)"
    page.wait_for_function(f"() => {level} === 250")
    page.locator(".save input").fill("white.png")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Replace it").click()
    state(page, "Written: white.png")
    page.wait_for_function(f"() => {level} > 0 && {level} < 240")
    # What was saved is not filtered again with its folder.
    count = len([each for each in folder.iterdir() if each.suffix in (".png", ".tif")])
    expect(page.get_by_role("button", name=f"Apply to folder, {count - 1} files")).to_be_visible()
    page.goto("about:blank")
    (folder / "white.png").unlink()


def test_a_name_for_floats_is_of_a_file_that_has_them_and_one_that_was_typed_stays(page, url):
    opened(page, url, SMOOTH | {"output": "real"}, file="one.png")
    name, output = page.locator(".save input"), page.locator("[name=output]:visible")
    expect(name).to_have_value("one-filtered.tif")
    output.select_option("keep")
    command(page, "--output keep")
    expect(name).to_have_value("one-filtered.png")
    name.fill("mine.png")
    output.select_option("real")
    command(page, "--output real")
    expect(name).to_have_value("mine.png")


def command_now(page):
    return page.locator("pre.command").text_content()


def test_a_number_takes_the_unit_beside_it_and_a_unit_in_it_changes_that(page, url):
    page.expected = ("400",)
    opened(page, url)
    radius, unit = page.locator("[name=radius]"), page.get_by_role("combobox", name="Unit of Cutoff")
    # The slider goes from one cycle across the picture to two pixels.
    slider = page.get_by_role("slider", name="Cutoff, slider")
    expect(slider).to_have_value(str(round(1000 * (1 - math.log(12) / math.log(48)))))
    for place, text in (("1000", "2px"), ("0", "96px"), ("642", "8")):
        slider.fill(str(1000 - int(place)))
        command(page, f"--radius {text}")
    radius.fill("8")
    radius.press("Enter")
    command(page, "--radius 8px")
    unit.select_option("um")
    expect(radius).to_have_value("8")  # of pixels of 1 um
    command(page, "--radius 8um")
    radius.fill("5")
    radius.press("Enter")
    command(page, "--radius 5um")
    radius.fill("0.25 cyc")
    radius.press("Enter")
    expect(unit).to_have_value("cyc")
    expect(radius).to_have_value("0.25")
    command(page, "--radius 0.25cyc")
    expect(page.locator(".side")).to_contain_text("= 4\xa0px, 24\xa0cycles")
    radius.fill("12")
    radius.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    command(page, "--radius 12cyc")
    radius.fill("12345.678px")  # what stands there is what the program reads
    radius.press("Enter")
    command(page, "--radius 12345.678px")
    expect(radius).to_have_value("12345.678")
    radius.fill("8parsec")
    radius.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("unknown unit 'parsec'")
    expect(radius).to_have_attribute("aria-invalid", "true")
    state(page, "The number in red is not understood")
    expect(page.locator(".save .pri[type=submit]")).to_be_disabled()
    radius.fill("6\u00b5m")
    radius.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    command(page, "--radius 6um")
    # Nothing is saved of before as soon as a key is pressed, not only when the number is read.
    assert page.evaluate(TYPING)
    page.evaluate("release()")
    command(page, "--radius 9um")


def test_a_cutoff_goes_up_to_the_longer_side(page, url, folder):
    page.expected = ("400",)  # too few pixels for peaks
    Image.new("L", (SIDE, 1), 90).save(folder / "line.png")
    opened(page, url, file="line.png")
    page.get_by_role("slider", name="Cutoff, slider").fill("1000")
    command(page, f"--radius {SIDE}px")
    page.keyboard.press("3")
    command(page, "--radius 16px")
    (folder / "line.png").unlink()


def test_a_step_begins_at_what_was_typed_before_it(page, url):
    opened(page, url)
    radius, held = page.locator("[name=radius]"), []

    def hold(route):
        held.append(route)

    page.route("**/number?*", hold)  # the program is slow to read it
    radius.fill("5")
    radius.press("Enter")
    radius.press("ArrowUp")
    while not held:
        page.wait_for_timeout(10)
    for each in held:
        with page.expect_response("**/number?*"):
            each.continue_()
    page.unroute("**/number?*")
    page.wait_for_timeout(50)
    command(page, "--radius 5.05px")
    radius.press("Shift+ArrowDown")
    command(page, f"--radius {5.05 / 1.01**10:.4g}px")


def test_what_is_wrong_with_other_fields_stands_beside_them(page, url):
    opened(page, url, SMOOTH | {"shape": "butterworth"})
    order = page.locator("[name=order]")
    labels = page.locator(".body .f:visible .lb").all_inner_texts()
    assert labels == ["Filter", "Cutoff", "Shape", "Order", "Output"]
    order.fill("1000")
    order.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("order")
    expect(order).to_have_attribute("aria-invalid", "true")
    order.fill("3")  # which nothing has to end: what stands there is what is filtered by
    expect(page.get_by_role("alert")).to_have_count(0)
    command(page, "--order 3")


def test_waves_that_are_found_are_removed_as_groups_and_can_stay(page, url, folder):
    opened(page, url, {"command": "notch", "auto": True, "strength": 20}, goal="dots", file="one.png")
    assert "notch --auto --strength 20 one.png" in command(page)
    after = np.asarray(Image.open(save_as(page, folder, "auto.png")))
    assert_shown(page, after)
    before = np.asarray(Image.open(folder / "one.png"))
    assert np.abs(after.astype(int) - before).mean() > 20
    words = re.compile(r"Waves at 68\u00b0\s*5\.9\d\s*px \u00b7 3\d\s*dB")
    expect(page.locator(".grp > li").first).to_contain_text(words)
    expect(page.get_by_text("1 found. Untick what belongs to the picture.")).to_be_visible()
    # The mark of the wave on the slider, which begins at 45 dB on its left and ends at 10.
    decibels = int(re.search(r"(\d\d)\s*dB", page.locator(".grp > li").first.inner_text())[1])
    mark = page.locator(".marks i.on").first.get_attribute("style")
    assert float(re.search(r"[\d.]+", mark)[0]) == pytest.approx(100 * (45 - decibels) / 35, abs=2)
    box = page.locator(".grp input[type=checkbox]")
    expect(box).to_have_count(1)
    box.uncheck()
    line = command(page, "--keep")
    kept = re.search(r"--keep ([-\d.]+),([-\d.]+)", line)
    assert (abs(float(kept[1])), abs(float(kept[2]))) == pytest.approx(WAVE, abs=0.1 / SIDE)
    expect(page.locator("circle.keep")).to_have_count(2)
    assert save_as(page, folder, "kept.png").read_bytes() == written(folder, line)
    assert (np.asarray(Image.open(folder / "kept.png")) == before).all()
    for name in ("auto.png", "kept.png"):
        (folder / name).unlink()


def test_dots_are_removed_by_descreen_and_single_waves_are_the_other_way(page, url, folder):
    opened(page, url, file="one.png")
    page.keyboard.press("1")
    nothing = "Nothing is removed: no screen is found"
    state(page, nothing)
    assert command_now(page) == "fftfilter descreen one.png one-filtered.png"
    # It is no success, and what is saved is said to be the picture as it was.
    expect(page.locator(".foot")).to_have_attribute("data-kind", "none")
    expect(page.locator(".save [type=submit]")).to_have_text("Save unchanged")
    page.locator("[name=keep_detail]").fill("30")
    page.locator("[name=keep_detail]").press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("]")
    expect(page.locator("pre.command")).to_contain_text("descreen --strength 17 --keep-detail 30")
    state(page, nothing)
    line = command_now(page)
    assert save_as(page, folder, "dots.png").read_bytes() == written(folder, line)
    (folder / "dots.png").unlink()
    page.locator("[name=strength]").fill("3")
    page.locator("[name=strength]").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("strength 3 is invalid")
    page.locator("[name=strength]").fill("17")
    page.locator("[name=strength]").press("Enter")
    state(page, nothing)
    page.get_by_role("button", name="Take out single waves").click()
    command(page, "notch --auto --strength 18 --edges mirror")
    expect(page.locator(".grp input[type=checkbox]")).to_have_count(1)
    expect(page.locator(".save [type=submit]")).to_have_text("Save")
    # The card of the start does what it has promised.
    begun_on(page, url, "one.png")
    expect(page.locator(".goals [data-goal=dots]")).to_contain_text("1 pattern found here")
    page.keyboard.press("1")
    command(page, "notch --auto --strength 18 --edges mirror")
    page.expected = ("400",)


def test_a_search_that_finds_nothing_gives_the_next_thing_to_try(page, url, folder):
    levels = np.random.default_rng(3).integers(90, 110, (SIDE, SIDE))
    Image.fromarray(levels.astype(np.uint8)).save(folder / "noise.png")
    begun_on(page, url, "noise.png")
    for goal in ("dots", "stripes"):
        expect(page.locator(f".goals [data-goal={goal}]")).to_contain_text("none found here")
        assert page.locator(f".goals [data-goal={goal}] canvas").evaluate(EMPTY)
    page.keyboard.press("1")
    for after, text, button in (
        ("descreen noise", "no screen is found", "Look for weaker ones"),
        ("descreen --strength 10", "no screen is found", "Look for stripes"),
        (
            "stripes --angle auto",
            "no stripes are found: if there are faint ones, try angle 0 for rows",
            "Look for patterns",
        ),
        ("notch --auto --strength 18", "no periodic structure of 18 dB or more", "Look for weaker ones"),
    ):
        expect(page.locator("pre.command")).to_contain_text(after)
        state(page, f"Nothing is removed: {text}")
        page.get_by_role("button", name=button).click()
    expect(page.locator("pre.command")).to_contain_text("notch --auto --strength 10")
    page.goto("about:blank")
    (folder / "noise.png").unlink()


def test_faint_hum_is_a_button(page, url, folder):
    rng, y = np.random.default_rng(5), np.arange(256)[:, None]
    power = 1 / np.maximum(np.hypot(np.fft.fftfreq(256)[:, None], np.fft.fftfreq(300)), 1 / 256) ** 1.6
    soft = np.fft.ifft2(np.fft.fft2(rng.normal(size=(256, 300))) * power).real
    levels = 120 + 35 * (soft - soft.mean()) / soft.std() + rng.normal(0, 1, soft.shape)
    levels += 3 * np.sin(2 * np.pi * y / 42 + 1)
    Image.fromarray(np.rint(levels).clip(0, 255).astype(np.uint8)).save(folder / "hum.png")
    opened(page, url, {"command": "stripes", "angle": "auto", "edges": "mirror"}, goal="stripes", file="hum.png")
    page.get_by_role("button", name="Take waves at 0°").click()
    command(page, "stripes --angle 0 --waves")
    state(page, "Wave of 4")
    page.goto("about:blank")
    (folder / "hum.png").unlink()


def test_noise_is_smoothed_by_hand(page, url, folder):
    opened(page, url, file="one.png")
    page.locator("[name=command]").select_option("wiener")
    line = command(page, "fftfilter wiener one.png")
    assert_shown(page, filtered_one(folder, line))
    page.locator("[name=noise]").fill("20")
    page.locator("[name=noise]").press("Enter")
    command(page, "wiener --noise 20")
    state(page, "Wiener's filter of noise of 20.0 levels")


def on_picture(page):
    """Return where a pixel of the picture is on the screen."""
    box = page.locator(".pic .stage").bounding_box()
    scale = min(box["width"], box["height"]) / SIDE
    left, top = (box["x"] + (box["width"] - SIDE * scale) / 2, box["y"] + (box["height"] - SIDE * scale) / 2)
    return lambda x, y: (left + x * scale, top + y * scale)


def test_a_part_of_the_picture_is_drawn_and_moved(page, url):
    opened(page, url, file="one.png")
    page.get_by_text("Part of the picture", exact=True).click()
    page.get_by_role("radio", name="Only there").click()
    state(page, "Draw on the picture which part is meant")
    page.get_by_role("button", name="Add one in the middle").click()
    command(page, "--region 24,24,48,48")
    page.locator("[name=feather]").fill("3")
    command(page, "--region 24,24,48,48 --feather 3")
    page.locator("[name=feather]").fill("8")
    page.get_by_role("button", name="Clear all").last.click()
    state(page, "Draw on the picture which part is meant")
    page.get_by_role("radio", name="Rectangle").click()
    at = on_picture(page)
    drag(page, at(10, 20), at(30, 30), at(50, 70))
    assert "--region 10,20,40,50 one.png" in command(page, "--region")
    page.get_by_role("radio", name="Move", exact=True).click()
    drag(page, at(30, 20), at(31, 22), at(34, 23))  # its edge is a handle
    assert "--region 14,23,40,50 one.png" in command(page, "--region 14")
    shape = page.locator(".shape")
    shape.press("Shift+ArrowRight")
    shape.press("+")
    command(page, "--region 24,23,41,51")
    page.get_by_role("radio", name="Ellipse").click()
    drag(page, at(60, 10), at(70, 15), at(80, 18))
    expect(shape).to_have_count(2)
    shape.last.press("Delete")
    expect(shape).to_have_count(1)
    command(page, "--region 24,23,41,51")
    page.get_by_role("radio", name="Everywhere").click()
    expect(page.locator("pre.command")).not_to_contain_text("--region")


def test_a_part_that_is_painted_is_saved_with_its_mask(page, url, folder):
    opened(page, url, file="one.png")
    page.get_by_text("Part of the picture", exact=True).click()
    page.get_by_role("radio", name="Not there").click()
    state(page, "Draw on the picture which part is meant")
    at = on_picture(page)
    page.get_by_role("radio", name="Ellipse").click()
    drag(page, at(5, 5), at(30, 30), at(60, 40))
    page.get_by_role("radio", name="Brush").click()
    page.locator("[name=brush]").fill("9")
    page.locator("[name=brush]").press("Enter")
    drag(page, at(70, 70), at(80, 75), at(80, 90))
    line = command(page, "--protect one-filtered-region-")
    assert_shown(page, np.asarray(Image.open(save_as(page, folder, "part.png"))))
    (mask,) = folder.glob("one-filtered-region-*.png")
    # What was saved is one of the folder's files; the mask is no picture.
    expect(page.get_by_title("part.png")).to_have_count(1)
    assert mask.name not in page.locator(".strip").inner_text()
    assert line.split("--protect ")[1].startswith(mask.name)
    place = np.asarray(Image.open(mask))
    assert place[22, 32]
    assert place[72, 75]
    assert not place[80, 20]
    same = np.asarray(Image.open(folder / "part.png")) == np.asarray(Image.open(folder / "one.png"))
    assert same[place].all()
    # Copy writes the mask that the command needs.
    mask.unlink()
    page.locator("details.code summary").click()
    page.get_by_role("button", name="Copy", exact=True).click()
    state(page, f"Copied. The shapes are in {mask.name}")
    copied = page.evaluate("navigator.clipboard.readText()").replace(mask.name, str(mask))
    assert written(folder, copied) == (folder / "part.png").read_bytes()
    expect(page).to_have_url(re.compile(quote('"brush",9')))
    page.reload()
    assert command(page, mask.name) == line
    # Shapes are of pictures of one size.
    Image.new("L", (SIDE, SIDE // 2), 90).save(folder / "half.png")
    page.reload()
    page.get_by_title("half.png").click()
    state(page, "The part was drawn on a picture of another size")
    expect(page.locator("pre.command")).to_contain_text("half.png half-filtered.png")
    expect(page.locator("pre.command")).not_to_contain_text("--protect")
    page.locator("[aria-label=Undo]").click()
    assert command(page, mask.name) == line
    page.keyboard.press("5")
    assert "--protect" not in command(page, "highpass")
    for name in (mask.name, "part.png", "half.png"):
        (folder / name).unlink()


def save_as(page, folder, name):
    page.locator(".save input").fill(name)
    page.keyboard.press("Control+s")
    state(page, f"Written: {name}")
    return folder / name


def test_all_of_it_by_keys(page, url):
    begun(page, url)

    def tabbed(to):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("(to) => document.activeElement.matches(to)", to):
                return
        pytest.fail(f"Tab never comes to {to}")

    page.keyboard.press("4")
    command(page, "lowpass")
    tabbed(".wipe")
    page.keyboard.press("ArrowRight")
    tabbed(".ring")
    page.keyboard.press("End")
    command(page, "--radius 2um")  # of 1 um a pixel
    tabbed("[name=radius]")
    page.keyboard.press("Control+a")
    page.keyboard.type("7px\n")
    command(page, "--radius 7px")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("Control+z")
    command(page, "--radius 2um")
    page.keyboard.press("Control+y")
    command(page, "--radius 7px")
    for key, shown in (("l", "Levels"), ("p", "Profile"), ("p", "Hide"), ("o", "Files"), ("o", "Hide")):
        page.keyboard.press(key)
        expect(page.get_by_role("radio", name=shown, exact=True)).to_be_checked()
    page.keyboard.press("l")
    expect(page.get_by_role("slider", name="Black")).to_be_visible()
    # Light and dark are kept.
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 22, 25)")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(241, 242, 244)")
    page.evaluate("localStorage.clear()")


def test_values_under_the_pointer_are_those_of_the_files_and_levels_are_for_the_eye_alone(page, url, folder):
    opened(page, url, tray="levels")
    line, plain = command(page), filtered(folder, command(page)).astype(float)
    box = page.locator(".pic .stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2 + 3)
    before = tifffile.imread(folder / "in.tif")[0, SIDE // 2, SIDE // 2]
    after = int(plain[SIDE // 2, SIDE // 2])
    expect(page.locator(".pic .read")).to_contain_text(f"before {before}   after {after}")
    white = page.get_by_role("slider", name="White")
    expect(white).to_have_attribute("aria-valuenow", "100")  # percent, as levels of floats are no whole numbers
    for _ in range(3):
        white.press("Shift+ArrowLeft")
    assert_shown(page, np.rint(np.clip(plain * 255 / (255 - 30 * 255 / 256), 0, 255)))
    assert command(page) == line
    page.get_by_role("button", name="Reset").click()
    assert_shown(page, plain)
    page.get_by_role("slider", name="Black").press("Shift+ArrowRight")
    black = 10 * 255 / 256
    assert_shown(page, np.rint(np.clip((plain - black) * 255 / (255 - black), 0, 255)))
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("slider", name="Gamma").press("Shift+ArrowRight")
    assert_shown(page, np.rint(255 * (plain / 255) ** (1 / 1.02**10)))
    page.get_by_role("button", name="Auto").click()
    low, high = np.quantile(tifffile.imread(folder / "in.tif")[0], (5e-4, 1 - 5e-4))
    assert_shown(page, np.rint(np.clip((plain - low) * 255 / (high - low), 0, 255)))


def test_pages_of_a_stack_are_gone_through_and_what_is_chosen_is_kept_over_a_reload(page, url, folder):
    opened(page, url)
    page.keyboard.press("PageDown")
    expect(page.locator(".pages b")).to_have_text("2 of 2")
    assert_shown(page, filtered(folder, command(page), number=1))
    line = command(page)
    expect(page).to_have_url(re.compile(quote('"page":1')))
    page.reload()
    assert command(page) == line
    expect(page.locator(".pages b")).to_have_text("2 of 2")
    expect(page.locator("[name=command]")).to_have_value("lowpass")
    page.keyboard.press("Home")
    assert_shown(page, filtered(folder, command(page)))
    page.keyboard.press("End")
    expect(page.locator(".pages b")).to_have_text("2 of 2")
    page.keyboard.press("PageUp")
    expect(page.locator(".pages b")).to_have_text("1 of 2")
    page.get_by_role("slider", name="Page", exact=True).fill("2")
    expect(page.locator(".pages b")).to_have_text("2 of 2")
    assert_shown(page, filtered(folder, command(page), number=1))


def test_another_file_of_the_folder_is_opened(page, url, folder):
    opened(page, url)
    page.get_by_title("one.png").click()
    assert "one.png one-filtered.png" in command(page, "one.png")
    expect(page.locator(".strip [aria-current]")).to_have_attribute("title", "one.png")
    assert page.title() == "one.png - fftfilter"
    assert_shown(page, filtered_one(folder, command(page)))
    page.locator("[aria-label=Undo]").click()
    assert "in.tif in-filtered.tif" in command(page, "in.tif")
    assert page.title() == "in.tif - fftfilter"
    expect(page.locator(".pages b")).to_have_text("1 of 2")
    assert_shown(page, filtered(folder, command(page)))
    dropped = page.evaluate_handle(
        """bytes => {
            const given = new DataTransfer();
            given.items.add(new File([new Uint8Array(bytes)], "new.png"));
            return given;
        }""",
        [*(folder / "one.png").read_bytes()],
    )
    page.dispatch_event("main", "drop", {"dataTransfer": dropped})
    command(page, "new-filtered.png")
    assert page.title() == "new.png - fftfilter"
    smoothed = "fftfilter lowpass --radius 8px --shape gaussian --output keep one.png a.png"
    assert_shown(page, filtered_one(folder, smoothed))


def test_a_filter_is_applied_to_the_folder(page, url, folder):
    opened(page, url)
    line = command(page)
    page.get_by_role("button", name="Apply to folder, ").click()
    expect(page.locator(".save input")).to_have_value("filtered")
    expect(page.get_by_role("button", name="This file alone")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Apply to \d files$")).click()
    state(page, f"Written: {folder / 'filtered'}. ")
    expect(page.locator(".state p")).to_contain_text(re.compile(r"(\d) of \1 files filtered"))
    expect(page.locator(".save input")).to_have_value("in-filtered.tif")
    assert (folder / "filtered" / "in.tif").read_bytes() == written(folder, line)
    shutil.rmtree(folder / "filtered")


def filtered_one(folder, line):
    (folder / "pixels.png").write_bytes(written(folder, line))
    found = np.asarray(Image.open(folder / "pixels.png"))
    (folder / "pixels.png").unlink()
    return found


def test_a_click_in_the_spectrum_shows_its_wave(page, url):
    begun(page, url)
    expect(page.locator(".spc .wait")).to_be_hidden()
    x, y, scale = middle(page)
    page.mouse.click(x + WAVE[0] * scale, y + WAVE[1] * scale)
    numbers = page.locator(".nums")
    expect(numbers).to_contain_text("5.9")  # pixels from crest to crest
    expect(numbers).to_contain_text(re.compile(r"Amplitude\s*(39|40|41)"))
    expect(numbers).to_contain_text(re.compile(r"Along\s*68\.\d\u00b0"))
    page.get_by_role("button", name="Take this wave out").click()
    command(page, "notch --at 0.15")


def test_the_lesson_shows_each_step_of_the_book_on_this_picture(page, url, folder):
    begun(page, url)
    page.get_by_role("radio", name="Step by step").click()
    before = np.asarray(Image.open(folder / "one.png"))
    lesson, following = page.locator(".lesson"), page.get_by_role("button", name="Next")
    expect(lesson).to_contain_text("Step 1 of 6")
    assert_shown(page, before)
    expect(page.locator(".film img")).to_have_count(6)
    expect(page.locator(".film img").last).not_to_have_js_property("naturalWidth", 0)
    following.click()
    expect(page.locator(".tag").first).to_have_text("Wrapped past its edges")
    following.click()
    expect(lesson).to_contain_text("logarithm of the magnitude")
    kernel = lesson.locator("details").filter(has_text="staged/steps/butterfly.cl")
    kernel.locator("summary").click()
    assert "kernel void butterfly(" in kernel.locator("pre").inner_text()
    following.click()
    line = "fftfilter lowpass --radius 12px --shape {} --output keep in.tif out.tif"
    for pane, name in enumerate(("ideal", "gaussian")):
        assert_shown(page, filtered(folder, line.format(name)), pane=pane, of=2)
    expect(page.locator(".tag").first).to_have_text("Ideal: rings")
    following.click()
    assert_shown(page, filtered(folder, line.format("gaussian")))
    # A thumbnail leads to its step, and once more enlarges; Escape first closes what is enlarged, then the lesson.
    page.locator(".film button").nth(2).click()
    expect(lesson).to_contain_text("Step 3 of 6")
    page.locator(".film button").nth(2).click()
    expect(page.locator(".large img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".large img")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(lesson).to_be_hidden()
    # It is on one cutoff, and the words on two filters stand over no other two.
    page.get_by_role("radio", name="Step by step").click()
    page.locator(".film button").nth(3).click()
    expect(page.locator(".tag").first).to_have_text("Ideal: rings")
    page.keyboard.press("2")
    expect(page.locator(".tag").first).to_have_text("Before")
    expect(lesson).to_be_hidden()


def test_the_picture_grows_from_its_strongest_waves(page, url, folder):
    begun(page, url)
    page.get_by_role("radio", name="Step by step").click()
    page.locator(".film button").nth(2).click()
    slider = page.get_by_role("slider", name="Waves in the sum")
    slider.fill("0")
    expect(page.locator(".tag").nth(1)).to_have_text("The mean and 1 wave")
    slider.fill("100")
    expect(page.locator(".lesson")).to_contain_text("all")
    before = np.asarray(Image.open(folder / "one.png"))
    for pane in (0, 1):
        assert_shown(page, before, pane=pane, of=2)


def test_every_control_has_a_name(page, url):
    begun(page, url)
    session = page.context.new_cdp_session(page)

    def names():
        tree = session.send("Accessibility.getFullAXTree")["nodes"]
        controls = [node for node in tree if not node["ignored"] and node["role"]["value"] in CONTROLS]
        return [node.get("name", {}).get("value", "").strip() for node in controls]

    assert all(names())
    band = {"command": "bandstop", "inner": {"value": 25, "unit": "px"}, "outer": {"value": 8, "unit": "px"}}
    opened(page, url, band | {"notch": [{"fx": 0.25, "fy": 0.1}], "stripes": 30}, show="wipe", tray="levels")
    for details in page.locator(".folds details:not([hidden]) summary").all():
        details.click()
    found = names()
    assert len(found) > 40
    assert all(found)
    assert {"Inner cutoff", "Outer cutoff", "Angle of the stripes", "Black", "Gamma", "White"} <= set(found)
    assert any(re.match(r"Notch 1 at 0.25", name) for name in found)
    # What is drawn is among the symbols, and what the page links is there.
    drawn = page.evaluate("[...document.querySelectorAll('use')].map((each) => each.getAttribute('href'))")
    symbols = page.evaluate("fetch('page/symbols.svg').then((given) => given.text())")
    assert len(drawn) > 20
    assert {each.removeprefix("page/symbols.svg#") for each in drawn} <= {*re.findall(r'id="(\w+)"', symbols)}
    links = "[...document.querySelectorAll('link, img[src]')].map((each) => fetch(each.href ?? each.src))"
    assert {*page.evaluate(f"Promise.all({links}).then((all) => all.map((each) => each.status))")} == {200}
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("goal", ["dots", "hand"])
def test_nothing_sticks_out_of_the_window(page, url, goal):
    if goal == "dots":
        opened(page, url, {"command": "notch", "auto": True, "strength": 18}, goal=goal, file="one.png")
    else:
        begun(page, url)
        assert_nothing_sticks_out(page, ".top", ".side", ".foot", ".pic .stage")
        page.keyboard.press("4")
        command(page, "lowpass")
    assert_nothing_sticks_out(page, ".top", ".side", ".foot", ".pic .stage", ".save .pri[type=submit]")


def assert_nothing_sticks_out(page, *parts):
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for part in parts:
            box = page.locator(part).bounding_box()
            assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True), (part, width)
            assert "submit" not in part or box["y"] + box["height"] <= height
        # Nothing is cut: what is wider than its box scrolls, and only lists do.
        cut = page.evaluate(
            "[...document.querySelectorAll('.side, .foot, .save, .buttons, .body, .top, .vbar, .tray')]"
            ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.className)"
        )
        assert cut == [], width
        assert page.evaluate(SMALL_TYPE) == [], width
    page.set_viewport_size({"width": 1440, "height": 900})


def test_a_server_that_is_gone_is_told_in_words(page, folder, tab):
    command_line = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", "one.png"]
    with Started(command_line, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        opened(page, process.stdout.readline().strip(), file="one.png")
    state(page, "fftfilter does not answer")
    expect(page).to_have_url(re.compile("lowpass"))
    page.goto("about:blank")
    tab.wrong.clear()


def test_a_file_that_changes_under_the_page_is_not_saved_as_what_is_shown(page, url, folder):
    page.expected = ("409", "400")
    picture = folder / "changing.png"
    shutil.copy(folder / "one.png", picture)
    opened(page, url, file="changing.png")
    Image.fromarray(np.zeros((SIDE, SIDE), np.uint8)).save(picture)
    page.keyboard.press("Control+s")
    state(page, "is not the file that was opened")
    page.get_by_role("button", name="Open again").click()
    state(page, DONE)
    assert_shown(page, np.zeros((SIDE, SIDE)))
    page.keyboard.down("b")
    assert_shown(page, np.zeros((SIDE, SIDE)))
    page.keyboard.up("b")
    # By another page, too
    other = page.context.new_page()
    shutil.copy(folder / "one.png", picture)
    other.goto(page.url)
    state(other, DONE)
    other.close()
    page.keyboard.press("]")
    page.get_by_role("button", name="Open again").click()
    assert_shown(page, filtered_one(folder, command(page, "--radius 8.24px")))
    picture.unlink()
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Open again").click()
    state(page, "no such file")
    page.reload()
    state(page, "changing.png: cannot be read")  # the choice stays, on the file of the command line
    expect(page.locator("pre.command")).to_have_text(re.compile("lowpass --radius 8.24px .* in.tif"))


def test_a_recipe_is_the_command_line_s_and_presets_are_kept_by_the_browser(page, url, folder):
    page.expected = ("400",)
    opened(page, url, SMOOTH | {"edges": "mirror"})
    page.locator("details.code summary").click()
    page.get_by_role("radio", name="Recipe").click()
    page.get_by_role("button", name="Copy", exact=True).click()
    state(page, "Copied")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download the recipe").click()
    assert downloading.value.suggested_filename == "in-filtered.json"
    words = "lowpass --radius 8px --shape gaussian --output keep --edges mirror --save-recipe soft.json in.tif out.tif"
    CliRunner().invoke(cli, [word if "." not in word else str(folder / word) for word in words.split()])
    recipe = (folder / "soft.json").read_bytes()
    (folder / "out.tif").unlink()
    assert open(downloading.value.path(), "rb").read() == recipe  # noqa: PTH123, SIM115
    assert page.evaluate("navigator.clipboard.readText()").encode() == recipe

    # Presets: kept, renamed, deleted and back, also by another page.
    page.get_by_text("Presets", exact=True).click()
    name, keep = page.get_by_label("Name of the preset"), page.get_by_role("button", name="Keep", exact=True)
    for title in ("Soft", "A <b> of 2"):
        name.press_sequentially(title)
        keep.click()
        state(page, f"Kept: {title}")
    name.fill("Soft")
    keep.click()
    state(page, "There is a preset Soft")
    page.get_by_role("button", name="Replace it").click()
    page.get_by_role("button", name="Rename Soft").click()
    name.fill("Soft \u00e9")
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_role("button", name="Delete A <b> of 2").click()
    page.locator(".state").get_by_role("button", name="Undo").click()
    page.goto("about:blank")
    page.goto(url)
    page.get_by_text("Presets", exact=True).click()
    expect(page.locator(".grp .more .plain")).to_have_text(["A <b> of 2", "Soft \u00e9"])
    page.get_by_role("button", name="Soft \u00e9", exact=True).click()
    command(page, "lowpass --radius 8px --shape gaussian --output keep --edges mirror")

    # Files: by the field, and dropped. What is wrong is said in the program's words, and changes nothing.
    field = page.locator("input[type=file]")
    field.set_input_files({"name": "a.json", "mimeType": "", "buffer": recipe.replace(b"8px", b"3px")})
    before = command(page, "--radius 3px")
    masked = b'{"fftfilter_recipe": 2, "arguments": ["mask", "--mask=/etc/hostname"]}'
    for wrong, said in (
        (recipe.replace(b": 2,", b": 3,"), "b.json: is of version 3"),
        (masked, "b.json: the page has no mask: use fftfilter apply"),
        (b" " * (1 << 21), "b.json: has more than 1,048,576 bytes"),
    ):
        field.set_input_files({"name": "b.json", "mimeType": "", "buffer": wrong})
        state(page, said)
        assert command_now(page) == before
    dropped = page.evaluate_handle(
        "text => { const given = new DataTransfer(); given.items.add(new File([text], 'c.JSON')); return given; }",
        recipe.decode().replace("8px", "4px"),
    )
    page.dispatch_event("main", "drop", {"dataTransfer": dropped})
    command(page, "--radius 4px")
    page.evaluate("localStorage.clear()")


def test_presets_that_another_program_has_put_there_are_harmless(page, url):
    page.expected = ("400",)
    begun(page, url)
    odd = [3, None, {"name": "odd", "goal": [1], "recipe": "{}"}, {"name": 1, "recipe": ""}, {"name": "<img src=x>"}]
    for kept in ("{", "null", '{"a": 1}', json.dumps(odd)):
        page.evaluate("kept => localStorage.setItem('presets', kept)", kept)
        begun(page, url)
    page.get_by_text("Presets", exact=True).click()
    expect(page.locator(".grp .more")).to_have_count(1)
    page.get_by_role("button", name="odd", exact=True).click()
    state(page, "odd: is not a recipe: one is written by --save-recipe")
    page.evaluate("localStorage.clear()")


def test_missing_pixels_are_said_to_be_missing(page, url, folder):
    levels = np.linspace(0, 1, SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
    levels[32:64, 32:64] = np.nan
    tifffile.imwrite(folder / "holes.tif", levels)
    opened(page, url, file="holes.tif", tray="profile", profile=[0, 48, 95, 48])
    box = page.locator(".pic .stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".pic .read")).to_contain_text("before missing   after missing")
    assert page.locator(".tray svg path").first.get_attribute("d").count("NaN") == 0
    assert {*np.unique(shown(page)[36:60, 36:60])} == {102, 153}
    (folder / "holes.tif").unlink()


def of_module(page, url, name, expression, given=None):
    """Return what an expression in the names of one of the page's modules and in ``given`` is."""
    if not page.url.startswith(url):
        begun(page, url)
    load = f"import(new URL('page/{name}.js', location.href))"
    return page.evaluate(f"(given) => {load}.then((own) => ({expression}))", given)


UNITS = {
    "px": {"label": "px", "cyc": 1, "isPeriod": True},
    "um": {"label": "\u00b5m", "cyc": 0.5, "isPeriod": True},
    "bins": {"label": "cycles", "cyc": 1 / 96, "isPeriod": False},
    "cyc": {"label": "cyc/px", "cyc": 1, "isPeriod": False},
}
FACTS = {
    "width": 200,
    "height": 96,
    "unit": "um",
    "units": UNITS,
    "channels": 1,
    "depth": 8,
    "pages": 1,
    "pixel_size": None,
}


def test_cutoffs_and_lengths_are_told_as_people_read_them(page, url):
    def units(expression, *given):
        return of_module(page, url, "units", f"own.{expression}", [*given, UNITS])

    cutoffs = [{"value": value, "unit": unit} for value, unit in ((8, "px"), (24, "bins"), (4, "um"), (1, "lpi"))]
    assert [units("frequencyOf(given[0], given[1])", each) for each in cutoffs] == [0.125, 0.25, 0.125, None]
    found = [units("cutoffAt(given[0], given[1], given[2])", f, unit) for f, unit in ((0.125, "px"), (0.25, "bins"))]
    assert found == cutoffs[:2]
    assert units("cutoffAt(0.123456, 'lpi', given[0])") == {"value": 0.1235, "unit": "cyc"}
    assert units("cutoffAt(0.123456, 'um', given[0], 2)") == {"value": 4.1, "unit": "um"}
    assert [units("textOf(given[0])", each) for each in cutoffs[:2]] == ["8px", "24"]
    assert [units("saidOf(given[0], given[1])", each) for each in cutoffs[1:]] == [
        "24\xa0cycles",
        "4\xa0\u00b5m",
        "1\xa0lpi",
    ]
    assert [units("firstUnit({um: 1, mm: 1}, given[0])", size) for size in (None, 5e-6, 2e-5)] == ["px", "um", "mm"]
    assert units("firstUnit({}, 1e-6)") == "px"
    numbers = (0.12345, 64, 6.25, -0.0001234, 9994, 12345, 123456.7, 1e13)
    assert of_module(page, url, "units", "given.map((each) => own.brief(each))", numbers) == [
        *("0.123", "64", "6.25", "-0.000123", "9990", "12\xa0345", "123\xa0457", "10000000000000"),
    ]
    lengths = ((12.5, 1e-6), (500, 1e-6), (50, 1e-6), (3, 0.1), (1, 5e-8), (1, None))
    assert [units("lengthOf(given[0], given[1])", *each) for each in lengths] == [
        *("12.5\xa0\u00b5m", "0.5\xa0mm", "50\xa0\u00b5m", "0.3\xa0m", "50\xa0nm", ""),
    ]
    assert [units("angleOf(given[0], given[1])", *each) for each in ((1, 0), (0, 1), (1, 1), (1, -1), (-1, -1))] == [
        *(90, 0, 45, 135, 45)
    ]
    assert units("decibels(0.1)") == pytest.approx(-20)


def test_a_goal_begins_with_settings_that_suit_the_picture(page, url):
    commands = page.evaluate("fetch('picture').then((given) => given.json()).then(({commands}) => commands)")
    given = {"facts": FACTS, "commands": commands}
    all_of = "own.GOALS.map((goal) => [goal.id, goal.begin(given.facts, null)])"
    begun_with = dict(of_module(page, url, "settings", all_of, given))
    options = of_module(
        page, url, "settings", f"{all_of}.map(([, each]) => own.optionsOf(each, given.commands))", given
    )
    soft = {"shape": "gaussian", "edges": "mirror"}
    # A quarter of the shorter side of 96 pixels, of half a micrometer each; and 5 and 8 pixels.
    assert [(each["command"], own) for each, own in zip(begun_with.values(), options, strict=True)] == [
        ("descreen", {}),
        ("stripes", {"angle": "auto", "edges": "mirror"}),
        ("highpass", soft | {"radius": "12um", "output": "keep"}),
        ("lowpass", soft | {"radius": "2.5um", "output": "keep"}),
        ("highpass", soft | {"radius": "4um"}),
    ]
    assert (
        of_module(page, url, "settings", "own.goalOf('flat').id + own.goalOf('x').id + own.goalOf(null)")
        == "flathandnull"
    )


def test_another_command_takes_over_what_both_have(page, url):
    notch, radius = {"fx": 0.1, "fy": 0.2}, {"value": 3, "unit": "px"}
    before = {"command": "lowpass", "radius": radius, "shape": "ideal", "output": "signed", "edges": "mirror"}
    before |= {
        "pixel_size": "1um",
        "notch": [notch],
        "stripes": 30,
        "shapes": [["rectangle", 1, 2, 3, 4]],
        "outside": True,
    }
    kept = {name: before[name] for name in ("edges", "pixel_size", "shapes", "outside")}

    def other(command, settings):
        given = [settings, command, FACTS]
        return of_module(page, url, "settings", "own.withCommand(given[0], given[1], given[2])", given)

    band = {"inner": {"value": 12, "unit": "um"}, "outer": {"value": 4, "unit": "um"}}
    passes = {"shape": "ideal", "output": "signed"}
    assert other("bandpass", before) == kept | band | passes | {"command": "bandpass", "notch": [notch]}
    assert other("highpass", before) == kept | passes | {"command": "highpass", "radius": radius, "notch": [notch]}
    assert other("notch", before) == kept | {"command": "notch", "at": [notch]}
    assert other("stripes", before) == kept | {"command": "stripes", "angle": 30, "notch": [notch]}
    assert other("lowpass", other("notch", before))["notch"] == [notch]
    usual = {"command": "lowpass", "shape": "gaussian", "output": "keep", "radius": {"value": 4, "unit": "um"}}
    assert other("lowpass", None) == usual


def test_options_are_those_of_the_command_and_come_back_from_it(page, url):
    commands = page.evaluate("fetch('picture').then((given) => given.json()).then(({commands}) => commands)")
    width = {"value": 0.01, "unit": "cyc"}
    settings = {
        "command": "bandstop", "inner": {"value": 8, "unit": "px"}, "outer": {"value": 30, "unit": "bins"}, "angle": 3,
        "shape": "", "order": None, "width": {"value": 2, "unit": "bins"}, "edges": "mirror", "output": False,
        "notch": [{"fx": 0.1, "fy": -0.2}, {"fx": 0.25, "fy": 0, "width": width}], "stripes": 0,
    }  # fmt: skip
    options = of_module(page, url, "settings", "own.optionsOf(given[0], given[1])", [settings, commands])
    assert options == {
        "inner": "8px",
        "outer": "30",
        "width": "2",
        "edges": "mirror",
        "stripes": 0,
        "notch": ["0.1,-0.2", "0.25,0,0.01cyc"],
    }
    waves = {"command": "notch", "auto": True, "keep": [{"fx": 0.1, "fy": 0.2}]}
    assert of_module(page, url, "settings", "own.optionsOf(given[0], given[1])", [waves, commands]) == {
        "auto": True,
        "keep": ["0.1,0.2"],
    }
    start = {"command": "bandstop", "options": options | {"stripes": "0"}, "area": {"shapes": [], "outside": True}}
    read = "async (text, unit) => ({value: parseFloat(text), unit: text.replace(/[-0-9.]/g, '') || unit, cyc: 9})"
    back = of_module(page, url, "settings", f"own.settingsOf(given, {read})", start)
    given = {name: settings[name] for name in ("command", "inner", "outer", "width", "edges", "notch", "stripes")}
    assert back == given | {"shapes": [], "outside": True}
    old = {"command": "bandstop", "options": {"large": "40", "small": "3", "keep": ["0.1,0.2"], "order": "2"}}
    assert of_module(page, url, "settings", f"own.settingsOf(given, {read})", old) == {
        "command": "bandstop",
        "inner": {"value": 40, "unit": "px"},
        "outer": {"value": 3, "unit": "px"},
        "keep": [{"fx": 0.1, "fy": 0.2}],
        "order": 2,
    }


def test_a_file_and_its_settings_are_told_in_a_line(page, url):
    def facts(**more):
        return of_module(page, url, "settings", "own.factsText(given)", FACTS | more)

    assert facts() == "200 \u00d7 96 \u00b7 gray, 8 bit"
    assert facts(channels=3, depth="float", pages=2, pixel_size={"across_m": 2.5e-7, "text": "250 nm"}) == (
        "200 \u00d7 96 \u00b7 color, floats \u00b7 2 pages \u00b7 250 nm per px"
    )
    assert facts(channels=2, depth=16, pixel_size={"across_m": 0.0254 / 300}).endswith("gray, 16 bit \u00b7 300 dpi")
    commands = {"lowpass": {"edges": "wrap"}}
    words = "own.otherWords(given[0], given[1])"
    assert of_module(page, url, "settings", words, [{"command": "lowpass"}, commands]) == "edges wrap"
    more = {"command": "lowpass", "edges": "mirror", "output": "keep", "scale": "0:9", "pixel_size": "1um"}
    told = of_module(page, url, "settings", words, [more, commands])
    assert told == "edges mirror \u00b7 output keep \u00b7 scale 0:9 \u00b7 1um"


def test_colors_of_a_spectrum_go_from_below_its_median_to_its_brightest(page, url):
    def colors(expression, *given):
        return of_module(page, url, "colors", f"own.{expression}", given)

    assert colors("rangeOf(given[0])", [100] * 9990 + [250] * 10) == [88, 250]
    assert colors("rangeOf(given[0])", [3] * 10) == [0, 3]
    table = colors("colorsOf('viridis', [88, 250])")
    assert [hex(table[i]) for i in (0, 88, 250, 255)] == ["0xff540144"] * 2 + ["0xff25e7fd"] * 2
    assert hex(table[169]) == "0xff8c9121"  # the middle one
    gray = colors("colorsOf('none', [0, 255])")
    assert [hex(gray[i]) for i in (0, 128, 255)] == ["0xff000000", "0xff808080", "0xffffffff"]
    tint = of_module(page, url, "frame", "own.tintTable([240, 110, 40], 0.6)")
    assert [hex(tint[i]) for i in (0, 255)] == ["0x99286ef0", "0x286ef0"]


def test_a_spectrum_after_a_filter_has_lost_its_decibels(page, url):
    spectrum = {"width": 4, "pixels": [200] * 16}
    gain = {"width": 2, "pixels": [255, 128, 0, 26]}
    found = of_module(page, url, "colors", "own.filtered(given[0], given[1])", [spectrum, gain])
    # Gains of 1, 0.5, 0 and 0.1, in half decibels.
    assert found == [200, 200, 188, 188] * 2 + [0, 0, 160, 160] * 2
    y, x = np.mgrid[-16:16, -16:16] / 32
    f = np.hypot(x, y)
    low = {"width": 32, "pixels": np.where(f < 0.2, 255, 26).ravel().tolist()}
    flat = {"width": 32, "pixels": np.where(f < 0.3, 255, 215).ravel().tolist()}
    power = of_module(page, url, "colors", "own.powerOf(given[0], given[1], 0.02, 0.7)", [flat, low])
    for curve, steps in (("before", ((0.3, 0), (1, -20))), ("after", ((0.2, 0), (0.3, -19.83), (1, -39.83)))):
        assert [each["f"] for each in power[curve]] == sorted(each["f"] for each in power[curve])
        for each in power[curve]:
            if min(abs(each["f"] - border) for border, _ in steps) > 0.02:
                assert each["db"] == pytest.approx(next(db for border, db in steps if each["f"] < border), abs=0.01)
    assert 0.02 < power["before"][0]["f"] < 0.04
    assert 0.6 < power["before"][-1]["f"] < 0.7
    assert of_module(page, url, "colors", "own.powerOf(given, null, 0.02, 0.7)", flat)["after"] is None


def test_frames_are_read_and_painted_in_their_colors(page, url):
    bytes_ = [7, 0, 0, 0, 3, 0, 3, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0]
    paint = """(() => {
        const frame = own.readFrame(new Uint8Array(given).buffer);
        const context = new OffscreenCanvas(2, 1).getContext("2d");
        new own.Surface().put(frame).draw(context, 0, 0, 2, 1);
        const {pixels, ...head} = frame;
        return [head, [...context.getImageData(0, 0, 2, 1).data]];
    })()"""
    head, painted = of_module(page, url, "frame", paint, [*bytes_, 10, 20, 30, 200, 100, 50])
    assert head == {"id": 7, "kind": 3, "channels": 3, "width": 2, "height": 1, "level": 4, "x": 5, "y": 262}
    assert painted == [10, 20, 30, 255, 200, 100, 50, 255]
    cover = """(() => {
        const canvas = new OffscreenCanvas(4, 4);
        const pixels = new Uint8Array([10, 20, 200, 220]);
        own.cover(canvas, new own.Surface().put({width: 4, height: 1, channels: 1, pixels}));
        const {data} = canvas.getContext("2d").getImageData(0, 0, 4, 4);
        return Array.from({length: 16}, (_, i) => data[4 * i]);
    })()"""
    assert of_module(page, url, "frame", cover) == [20, 20, 200, 200] * 4  # its middle


def test_a_view_has_no_gap_where_the_picture_is_larger_than_the_stage(page, url):
    def placed(zoom, x, y):
        view = {"zoom": zoom, "x": x, "y": y}
        found = of_module(page, url, "view", "new own.Placement(given, {width: 200, height: 100}, 50, 50)", view)
        return [found[name] for name in ("scale", "x", "y", "width", "height")]

    assert placed(1, 0.5, 0.5) == [2, 50, 0, 100, 100]
    assert placed(4, 0.5, 0.5) == [8, -100, -150, 400, 400]
    assert placed(4, 0.6, 0.4) == [8, -140, -110, 400, 400]
    assert placed(4, 0, 1) == [8, 0, -300, 400, 400]
    assert placed(1.5, 0.2, 0) == [3, 25, 0, 150, 150]
    put = """(() => {
        const found = [];
        const view = own.viewOf({look: (changes) => found.push(changes.picture)}, "picture");
        for (const each of given) view.set(...each);
        view.reset();
        return found;
    })()"""
    whole = {"zoom": 1, "x": 0.5, "y": 0.5}
    assert of_module(page, url, "view", put, [[100, 2, 0.3], [2, -1, 0.3], [0.5, 0, 0]]) == [
        {"zoom": 64, "x": 1, "y": 0.3},
        {"zoom": 2, "x": 0, "y": 0.3},
        whole,
        whole,
    ]


def test_a_link_has_what_is_chosen_and_how_it_is_looked_at(page, url):
    settings = {"command": "lowpass", "radius": {"value": 8, "unit": "px"}}
    asked = {"file": "a b.png", "page": 1, "goal": "hand", "settings": settings, "wrong": None}
    view = {
        "show": "after",
        "levels": [0, 9, 1],
        "channel": "red",
        "tray": "levels",
        "zoom": 3,
        "hold": True,
        "wipe": 0.2,
    }
    back = "own.stateOf(own.hashOf({asked: given[0], view: {...given[1]}}))"
    found = of_module(page, url, "state", back, [asked, view])
    assert found["asked"] == asked
    assert {name: value for name, value in found["view"].items() if value is not None} == {
        name: view[name] for name in ("show", "levels", "channel", "tray")
    }
    missing = "given.map((settings) => own.missingOf({settings}))"
    here, cut = {"outside": False, "shapes": []}, {"command": "notch", "at": []}
    found = of_module(
        page,
        url,
        "state",
        missing,
        [
            *(cut, cut | {"auto": True}, cut | {"at": [1]}, settings | here, settings | here | {"output": "keep"}),
            *({"command": "stripes"}, {"command": "stripes", "angle": 0}, settings, None),
        ],
    )
    assert [each and each[:6] for each in found] == ["Click ", None, None, None, "Draw o", "Choose", None, None, None]


def test_a_result_is_current_if_it_and_its_words_are_of_the_state_and_full(page, url):
    def judged(got, **more):
        state = {"number": 3, "asked": {"settings": {"command": "lowpass"}, "wrong": None}, "view": {"show": "after"}}
        state["view"]["way"] = more.pop("way", "filter")
        state["view"]["show"] = more.pop("show", "after")
        state["asked"] |= more
        return of_module(
            page, url, "state", "[own.isStale, own.isCurrent].map((f) => Boolean(f(...given)))", [state, got]
        )

    full = {"number": 3, "isFull": True}
    words = {"words": {"number": 3}}
    assert judged({"result": full} | words) == [False, True]
    assert judged({"result": full, "words": {"number": 2}}) == [False, False]
    assert judged({"result": full | {"isFull": False}} | words) == [False, False]
    assert judged({"result": full | {"number": 2}} | words) == [True, False]
    assert judged({"result": full} | words, wrong={"field": "radius"}) == [True, False]
    assert judged({"result": full} | words, show="removed") == [True, False]
    assert judged({"removed": full} | words, show="removed") == [False, True]
    assert judged({"result": full} | words, show="removed", way="learn") == [False, True]
    assert judged({}, settings=None) == [False, False]
