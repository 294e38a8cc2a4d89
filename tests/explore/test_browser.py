"""The page in a real Chromium: what a user does, and that it gives what the command line gives."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner

from fftfilter.cli import cli
from fftfilter.transfer.units import Radius
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
START = "lowpass --radius 8px --shape gaussian --output keep"
CONTROLS = {"button", "checkbox", "combobox", "link", "radio", "slider", "spinbutton", "tab", "textbox"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A stack of two pages: a wave over smooth noise, and noise alone."""
    folder = tmp_path_factory.mktemp("explore")
    y, x = np.mgrid[:SIDE, :SIDE]
    noise = np.random.default_rng(5).normal(0, 12, (2, SIDE, SIDE))
    pages = 128 + noise + np.array([40, 0])[:, None, None] * np.cos(2 * np.pi * (WAVE[0] * x + WAVE[1] * y))
    tifffile.imwrite(folder / "in.tif", np.clip(pages, 0, 255).astype(np.uint8), photometric="minisblack")
    return folder


@pytest.fixture(scope="module")
def url(folder):
    """The address of the page, served by the program."""
    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", "--with", START, "in.tif", "out.tif"]
    with Started(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()


@pytest.fixture(scope="module")
def tab(url):
    """A tab of the browser, which collects what goes wrong in it."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        tab.set_default_timeout(1000 * PATIENCE)
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
def page(tab, url):
    """The page as it is opened; nothing may go wrong in it."""
    tab.wrong.clear()
    tab.goto(url)
    tab.locator("#peaks[aria-busy=false]").wait_for()
    said(tab, START)
    yield tab
    assert tab.wrong == []


def said(page, text):
    """Wait until the command line has a text."""
    expect(page.locator("#command")).to_contain_text(text)


def middle(page):
    """Return where frequency 0 is, and how many pixels of the screen a cycle per pixel has."""
    box = page.locator("#spectrum-viewer .stage").bounding_box()
    scale = min(box["width"], box["height"])
    half = 0.5 / SIDE * scale
    return box["x"] + box["width"] / 2 + half, box["y"] + box["height"] / 2 + half, scale


def shown(page):
    """Return the gray levels that the picture's canvas shows, at the middle of each pixel of the picture."""
    levels = page.evaluate(
        """(side) => {
            const canvas = document.querySelector("#result-viewer canvas");
            const {width, height} = canvas;
            const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
            const scale = Math.min(width, height) / side;
            const [left, top] = [(width - side * scale) / 2, (height - side * scale) / 2];
            const column = (x) => Math.floor(left + (x + 0.5) * scale);
            const row = (y) => Math.floor(top + (y + 0.5) * scale);
            const at = (x, y) => data[4 * (row(y) * width + column(x))];
            return Array.from({length: side * side}, (_, i) => at(i % side, Math.floor(i / side)));
        }""",
        SIDE,
    )
    return np.array(levels).reshape(SIDE, SIDE)


def assert_shown(page, wanted):
    """Hold the canvas to a picture; words come before their frame."""
    for _ in range(10 * PATIENCE):
        difference = np.abs(shown(page) - wanted)
        if difference.max() <= 1:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{np.count_nonzero(difference > 1)} pixels differ, by up to {difference.max()} levels")


def filtered(folder, command, page=0):
    """Return the pixels that a command line writes, and its file's bytes."""
    program, *arguments, source, target = shlex.split(command)
    assert program == "fftfilter"
    assert (source, target) == ("in.tif", "out.tif")
    wanted = folder / "wanted.tif"
    assert CliRunner().invoke(cli, [*arguments, str(folder / source), str(wanted)]).exit_code == 0
    return tifffile.imread(wanted)[page].astype(int), wanted.read_bytes()


def test_it_opens_with_the_filtered_picture(page, folder):
    assert page.title() == "in.tif - fftfilter"
    expect(page.locator("[name=radius]")).to_have_value("8px")
    wanted, _ = filtered(folder, page.locator("#command").inner_text())
    assert_shown(page, wanted)


def test_a_ring_is_dragged_and_a_drag_is_undone(page, folder):
    x, y, scale = middle(page)
    r = 0.125 * scale
    page.mouse.move(x - r, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(x - r * (1 + step / 8), y)
    page.mouse.up()
    radius = page.locator("[name=radius]")
    assert math.isclose(float(radius.input_value().removesuffix("px")), 4, rel_tol=0.02)
    said(page, f"--radius {radius.input_value()}")
    wanted, _ = filtered(folder, page.locator("#command").inner_text())
    assert_shown(page, wanted)
    page.locator("#undo").click()
    said(page, "--radius 8px")
    expect(page.locator("#undo")).to_be_disabled()
    page.keyboard.press("Control+Shift+Z")
    said(page, f"--radius {radius.input_value()}")


def test_notches_are_added_by_clicks_sized_by_the_wheel_and_removed_by_a_key(page):
    x, y, scale = middle(page)
    page.locator(".peak-row").click()
    notch = page.locator("#notches input")
    fx, fy, width = notch.input_value().split(",")
    assert (abs(float(fx)), abs(float(fy))) == pytest.approx(WAVE, abs=0.1 / SIDE)
    said(page, f"--notch {fx},{fy},{width}")
    page.locator("#undo").click()
    # Near a peak a click means the peak; here its conjugate.
    page.mouse.click(x - WAVE[0] * scale + 4, y - WAVE[1] * scale)
    expect(notch).to_have_value(f"{fx},{fy},{width}")
    page.mouse.click(x + 0.25 * scale, y - 0.375 * scale)
    fx, fy = map(float, notch.nth(1).input_value().split(","))
    assert (fx, fy) == pytest.approx((0.25, -0.375), abs=0.005)
    page.mouse.wheel(0, -100)
    said(page, ",0.0066cyc")
    page.keyboard.press("Shift+ArrowLeft")
    assert float(notch.nth(1).input_value().split(",")[0]) == pytest.approx(fx - 10 / SIDE, abs=1e-4)
    page.keyboard.press("Delete")
    expect(notch).to_have_count(1)


def test_a_notch_is_dragged_and_moved_by_keys_both_ways(page):
    def at():
        return tuple(map(float, page.locator("#notches input").input_value().split(",")[:2]))

    x, y, scale = middle(page)
    page.mouse.click(x + 0.25 * scale, y - 0.375 * scale)
    expect(page.locator("#notches input")).to_have_count(1)
    fx, fy = at()
    page.mouse.move(x + fx * scale, y + fy * scale)
    page.mouse.down()
    for part in (0.5, 1):
        page.mouse.move(x + (fx - 0.1 * part) * scale, y + (fy + 0.3 * part) * scale)
    page.mouse.up()
    dragged = at()
    assert dragged == pytest.approx((fx - 0.1, fy + 0.3), abs=0.003)
    said(page, f"--notch {dragged[0]:g},{dragged[1]:g}")
    for key, moved in {"ArrowUp": (0, -1), "ArrowRight": (1, 0), "ArrowDown": (0, 1), "ArrowLeft": (-1, 0)}.items():
        before = at()
        page.keyboard.press(key)
        expected = [each + step / SIDE for each, step in zip(before, moved, strict=True)]
        assert at() == pytest.approx(expected, abs=1e-4), key
    for key, width in {"+": ",0.0066cyc", "=": ",0.00726cyc", "-": ",0.0066cyc"}.items():
        page.keyboard.press(key)
        assert page.locator("#notches input").input_value().endswith(width), key


def drag(page, start, *ends):
    page.mouse.move(*start)
    page.mouse.down()
    for end in ends:
        page.mouse.move(*end)
    page.mouse.up()


def test_stripes_are_turned_and_spared_by_drags(page):
    page.locator("[name=command]").select_option("stripes")
    x, y, scale = middle(page)
    drag(page, (x, y + 0.3 * scale), (x + 0.1 * scale, y + 0.3 * scale), (x + 0.2 * scale, y + 0.1 * scale))
    angle = float(page.locator("[name=angle]").input_value())
    assert angle == pytest.approx(math.degrees(math.atan2(0.2, 0.1)), abs=0.5)
    # Across the line, where nothing else lies.
    start = (x - 0.025 * scale * math.cos(math.radians(angle)), y + 0.025 * scale * math.sin(math.radians(angle)))
    drag(page, start, (x + 0.06 * scale, y + 0.08 * scale))
    spare = page.locator("[name=spare]").input_value()
    assert float(spare.removesuffix("px")) == pytest.approx(10, rel=0.03)
    said(page, f"fftfilter stripes --angle {angle:g} --spare {spare}")


def test_a_cutoff_that_is_dragged_past_the_other_changes_names_with_it(page):
    page.locator("[name=command]").select_option("bandpass")
    inner, outer = (page.locator(f"[name={name}]") for name in ("inner", "outer"))
    assert (inner.input_value(), outer.input_value()) == ("25px", "8px")
    x, y, scale = middle(page)
    drag(page, (x - 0.04 * scale, y), (x - 0.2 * scale, y), (x - 0.25 * scale, y))
    expect(inner).to_have_value("8px")
    assert float(outer.input_value().removesuffix("px")) == pytest.approx(4, rel=0.02)


def test_cutoffs_are_written_in_the_unit_that_is_chosen(page):
    for unit, text in {"cyc": "0.125cyc", "%": "25%", "px": "8px"}.items():
        page.locator("#unit").select_option(unit)
        expect(page.locator("[name=radius]")).to_have_value(text)
        said(page, f"--radius {text} ")


def test_the_views_are_zoomed_together_and_a_double_click_fits(page):
    def grip():
        return page.locator(".rings .line").bounding_box()["width"]

    x, y, scale = middle(page)
    fitting = grip()
    box = page.locator("#result-viewer .stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -600)
    page.wait_for_function(
        "(width) => document.querySelector('.rings .line').getBoundingClientRect().width > 2 * width", arg=fitting
    )
    page.mouse.dblclick(x - 0.3 * scale, y + 0.2 * scale)
    assert grip() == pytest.approx(fitting)
    # Its first click had added a notch.
    expect(page.locator("#notches input")).to_have_count(0)


def test_before_and_after_are_wiped(page, folder):
    page.locator("#show").get_by_text("Before | after").click()
    wipe = page.locator("#wipe")
    expect(wipe).to_have_attribute("aria-valuetext", "50 % before")
    box = page.locator("#result-viewer .stage").bounding_box()
    x, quarter = box["x"] + box["width"] / 2, min(box["width"], box["height"]) / 4
    page.mouse.move(x, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(x + quarter, box["y"] + 50)
    page.mouse.up()
    before = tifffile.imread(folder / "in.tif")[0]
    after, _ = filtered(folder, page.locator("#command").inner_text())
    border = SIDE * 3 // 4
    assert_shown(page, np.hstack([before[:, :border], after[:, border:]]))
    wipe.press("ArrowLeft")
    now = 50 + 100 * quarter / box["width"] - 1
    expect(wipe).to_have_attribute("aria-valuenow", f"{now:.0f}")


def test_the_command_is_copied_and_the_file_saved_is_the_one_it_writes(page, folder):
    page.locator(".peak-row").click()
    page.locator("[name=command]").select_option("bandpass")
    page.locator("[name=edges]").select_option("mirror")
    said(page, "--edges mirror")
    page.locator("[data-copy=command]").click()
    expect(page.locator("#status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#command").inner_text()
    page.locator("[data-copy=python]").click()
    assert "filter_stack" in page.evaluate("navigator.clipboard.readText()")
    (folder / "out.tif").unlink(missing_ok=True)
    page.locator("#save button").click()
    expect(page.locator("#status")).to_contain_text("Written: out.tif")
    assert (folder / "out.tif").read_bytes() == filtered(folder, copied)[1]


def test_a_file_that_is_there_is_asked_about(page, folder):
    asked, answers = [], [False, True]

    def answer(dialog):
        asked.append(dialog.message)
        dialog.accept() if answers.pop(0) else dialog.dismiss()

    page.on("dialog", answer)
    (folder / "precious.tif").write_bytes(b"precious")
    page.locator("#out").fill("precious.tif")
    page.locator("#save button").click()
    expect(page.locator("#status")).to_have_text("Not saved.")
    assert (folder / "precious.tif").read_bytes() == b"precious"
    page.locator("#save button").click()
    expect(page.locator("#status")).to_contain_text("Written: precious.tif")
    assert (folder / "precious.tif").read_bytes() == filtered(folder, page.locator("#command").inner_text())[1]
    assert [each.partition(" (8 bytes")[0] for each in asked] == ["precious.tif exists"] * 2
    page.remove_listener("dialog", answer)
    # The browser reports the refused requests.
    page.wrong[:] = [each for each in page.wrong if "409" not in each]


def test_a_name_elsewhere_is_not_written(page, folder):
    page.locator("#out").fill("../out.tif")
    page.locator("#save button").click()
    expect(page.locator("#status.error")).to_contain_text("another folder")
    assert not (folder.parent / "out.tif").exists()
    # The browser reports the refused request.
    page.wrong[:] = [each for each in page.wrong if "403" not in each]


def test_what_is_wrong_stands_beside_its_field(page):
    radius = page.locator("[name=radius]")
    radius.fill("8parsec")
    expect(page.get_by_role("alert")).to_contain_text("unknown unit 'parsec'")
    expect(radius).to_have_attribute("aria-invalid", "true")
    radius.fill("6px")
    said(page, "--radius 6px")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_all_of_it_by_keys(page):
    def tabbed(to):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("(to) => document.activeElement.matches(to)", to):
                return
        pytest.fail(f"Tab never comes to {to}")

    tabbed("[name=show]")
    page.keyboard.press("ArrowRight")
    tabbed("#wipe")
    page.keyboard.press("ArrowRight")
    tabbed(".ring")
    page.keyboard.press("ArrowUp")
    said(page, "--radius 7.921px")
    tabbed("[name=command]")
    page.keyboard.type("stripes")
    tabbed(".peak-row")
    page.keyboard.press("Enter")
    said(page, "fftfilter stripes --angle 0 --notch")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    said(page, "fftfilter lowpass --radius 7.921px")


def test_cutoffs_mean_on_the_page_what_they_mean_to_the_program(page):
    texts = [
        "40",
        "8px",
        ".125cyc",
        "25%",
        "2.6um",
        "1 mm",
        "150lpi",
        "12lp/mm",
        "1e3nm",
        "0.5\u00b5m",
        "parsec",
        "0",
        "-3px",
    ]
    found = page.evaluate(
        """async (texts) => {
            const {Units} = await import("./page/units.js");
            const units = new Units(96, 65e-9);
            const frequencies = texts.map((text) => units.frequency(text));
            const again = Object.keys(units.choices).map((unit) => units.frequency(units.text(0.0987, unit)));
            return {frequencies, again};
        }""",
        texts,
    )
    for text, frequency in zip(texts[:-3], found["frequencies"], strict=False):
        assert frequency == pytest.approx(Radius.parse(text).with_pixel(65e-9).bins(SIDE, SIDE) / SIDE, rel=1e-9), text
    assert found["frequencies"][-3:] == [None] * 3
    assert found["again"] == pytest.approx([0.0987] * len(found["again"]), rel=1e-3)


def test_lengths_are_told_in_the_unit_that_fits(page):
    found = page.evaluate(
        """async () => {
            const {Units} = await import("./page/units.js");
            const units = new Units(96, 1e-5);
            return [...[0.001, 2, 200, 2e5].map((pixels) => units.length(pixels)), new Units(96, null).length(2)];
        }"""
    )
    assert found == ["10 nm", "20 \u00b5m", "2 mm", "2 m", ""]


def test_a_start_by_the_sizes_of_structures_has_their_cutoffs(page):
    found = page.evaluate(
        """async (options) => {
            const {filterOf, optionsOf} = await import("./page/filter.js");
            return optionsOf(filterOf({command: "bandpass", options}), null);
        }""",
        {"large": "40", "small": "2.6um", "notch": ["0.1,0.2"], "output": "keep"},
    )
    given = {name: value for name, value in found.items() if value is not None}
    assert given == {"inner": "40px", "outer": "2.6um", "notch": ["0.1,0.2"], "output": "keep"}


def test_a_start_comes_back_as_it_was_given(page):
    starts = [
        {"command": "highpass", "options": {"radius": "9px", "stripes": "30", "shape": "fermi", "width": "2"}},
        {
            "command": "lowpass",
            "options": {"shape": "butterworth", "order": "3", "notch": ["0.1,0.2"], "edges": "mirror"},
        },
        {"command": "bandstop", "options": {"inner": "9", "outer": "30%", "output": "signed", "scale": "0:9"}},
        {"command": "notch", "options": {"at": ["0.1,0.2", "0.2,0.1,8px"], "harmonics": "3", "shape": "ideal"}},
        {"command": "stripes", "options": {"angle": "30", "width": "9", "spare": "20px", "pixel_size": "65nm"}},
    ]
    taken = ["width", "order", None, None, None]
    found = page.evaluate(
        """async ([starts, taken]) => {
            const {filterOf, optionsOf} = await import("./page/filter.js");
            return starts.map((start, index) => optionsOf(filterOf(start), taken[index]));
        }""",
        [starts, taken],
    )
    for start, options in zip(starts, found, strict=True):
        given = {name: value for name, value in options.items() if value not in (None, [])}
        wanted = {
            name: float(each) if name in ("angle", "stripes") else each for name, each in start["options"].items()
        }
        assert given == wanted


def test_every_control_has_a_name(page):
    page.locator("[name=command]").select_option("bandstop")
    page.locator("[name=stripesOn]").check()
    page.locator("#add-notch").click()
    page.locator("#show").get_by_text("Before | after").click()
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    controls = [node for node in tree if not node["ignored"] and node["role"]["value"] in CONTROLS]
    names = [node.get("name", {}).get("value", "").strip() for node in controls]
    assert len(names) > 30
    assert all(names)
    assert {"Inner cutoff", "Outer cutoff", "Angle of the stripes"} <= set(names)
    assert any(re.match(r"Notch 1 at 0.25", name) for name in names)


def test_pages_of_a_stack_are_gone_through(page, folder):
    page.locator("#page").press("ArrowRight")
    expect(page.locator("#page-number")).to_have_text("2 of 2")
    expect(page.locator("#peaks-found")).to_have_text("none found")
    wanted, _ = filtered(folder, page.locator("#command").inner_text(), page=1)
    assert_shown(page, wanted)


def test_the_steps_of_the_book_are_shown_with_their_kernels(page):
    page.locator("#tab-steps").click()
    steps = page.locator("#step-list li")
    expect(steps.first.locator("h2")).to_have_text("1. image")
    expect(page.locator("#steps-said")).to_contain_text("by the engine book")
    butterflies = steps.filter(has_text="staged/steps/butterfly.cl").first
    kernels = butterflies.locator("option").all_inner_texts()  # the longest first, which on a busy machine is any
    (place,) = [i for i, kernel in enumerate(kernels) if kernel.startswith("staged/steps/butterfly.cl")]
    butterflies.locator("select").select_option(index=place)
    assert "kernel void butterfly(" in butterflies.locator("pre").inner_text()
    assert (
        steps.first.locator("img").evaluate("async (image) => { await image.decode(); return image.naturalWidth; }")
        == SIDE
    )


def test_nothing_sticks_out_of_the_window(page):
    for width, height in [(1280, 720), (820, 1180), (390, 844)]:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        save = page.locator("#save button").bounding_box()
        assert save["x"] + save["width"] <= width
    page.set_viewport_size({"width": 1280, "height": 720})
