"""``--preview`` and ``spectrum --with``: a page on one picture, a contact sheet of a folder."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.preview.page import TITLE
from fftfilter.preview.panels import Canvas
from tests.helpers import SAMPLES


@pytest.fixture
def folder(camera, tmp_path):
    """Three pictures."""
    (tmp_path / "in").mkdir()
    for i in range(3):
        Image.fromarray(np.roll(camera, 100 * i)).save(tmp_path / "in" / f"{i}.png")
    return tmp_path / "in"


def size_of(path):
    with Image.open(path) as picture:
        return picture.format, picture.mode, picture.size


def test_a_page_is_drawn_beside_the_output_which_stays_the_same(run, tmp_path):
    given = ["highpass", SAMPLES / "camera.pgm"]
    assert run(*given, tmp_path / "plain.png") == (0, b"", "")
    assert run(*given, "--preview", tmp_path / "page.png", tmp_path / "out.png") == (0, b"", "")
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "out.png").read_bytes()
    assert size_of(tmp_path / "page.png")[:2] == ("PNG", "RGB")


def test_the_spectrum_with_a_filter_is_the_same_page(run, tmp_path):
    page, look = tmp_path / "page.png", tmp_path / "look.png"
    run("highpass", "--preview", page, SAMPLES / "camera.pgm", tmp_path / "out.png")
    assert run("spectrum", "--with", "highpass", SAMPLES / "camera.pgm", look) == (0, b"", "")
    assert page.read_bytes() == look.read_bytes()


@pytest.mark.parametrize("with_", [[], ["--with", "highpass"]], ids=["spectrum", "page"])
def test_a_spectrum_is_of_one_page(run, tmp_path, with_):
    stack = np.random.default_rng(3).integers(0, 256, (3, 64, 64)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "stack.tif", stack, photometric="minisblack")
    Image.fromarray(stack[1]).save(tmp_path / "second.tif")
    command = ["spectrum", *with_]
    for pages in [], ["--pages", "2-3"]:
        code, _, said = run(*command, *pages, tmp_path / "stack.tif", tmp_path / "out.png")
        assert code == 2
        assert f"{3 - len(pages) // 2} pages, and this is for one picture: choose one with --pages." in said
    (tmp_path / "a").mkdir()
    assert run(*command, "--pages", "2", tmp_path / "stack.tif", tmp_path / "a" / "out.png") == (0, b"", "")
    assert run(*command, tmp_path / "second.tif", tmp_path / "out.png") == (0, b"", "")
    if not with_:  # a page has the name of its file
        assert (tmp_path / "a" / "out.png").read_bytes() == (tmp_path / "out.png").read_bytes()


@pytest.mark.parametrize(("pages", "shown"), [((), "2"), (("--pages", "2-"), "2"), (("--pages", "3"), "3")], ids=str)
def test_the_preview_of_a_stack_shows_its_middle_page_or_the_one_that_is_asked_for(run, tmp_path, pages, shown):
    stack = np.random.default_rng(3).integers(0, 256, (3, 64, 64)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "stack.tif", stack, photometric="minisblack")
    (tmp_path / "in").mkdir()
    (tmp_path / "stack.tif").rename(tmp_path / "in/stack.tif")
    common = ["highpass", "-q", "--preview", tmp_path / "page.png"]
    made = []
    for chosen in (pages, ("--pages", shown)):
        assert run(*common, *chosen, tmp_path / "in/stack.tif", tmp_path / "out.tif") == (0, b"", "")
        with Image.open(tmp_path / "page.png") as page:
            made.append(np.asarray(page)[TITLE:])
    np.testing.assert_array_equal(*made)
    code, _, _ = run(*common, *pages, tmp_path / "in", tmp_path / "out")
    assert code == 0
    assert size_of(tmp_path / "page.png")[2][1] < 2 * 150 + 150  # a sheet with one row


def test_a_page_says_whose_it_is_and_the_sheet_of_a_folder_too(run, tmp_path, monkeypatch):
    texts, text = [], Canvas.text

    def noted(canvas, x, y, words, *style, **more):
        texts.append(words)
        text(canvas, x, y, words, *style, **more)

    monkeypatch.setattr(Canvas, "text", noted)
    monkeypatch.chdir(tmp_path)
    stack = np.random.default_rng(3).integers(0, 256, (3, 24, 32)).astype(np.uint8)
    (tmp_path / "in").mkdir()
    tifffile.imwrite("in/b.tif", stack, photometric="minisblack")
    Image.fromarray(stack[0]).save("in/a.png")
    common = ("lowpass", "-q", "--depth", "6", "--preview", "page.png")
    assert run(*common, "in/b.tif", "out.tif") == (0, b"", "")
    assert texts[:2] == ["b.tif, page 2   32 x 24", "lowpass, ideal, radius n/8 = 3, depth 6 dB"]
    texts.clear()
    (tmp_path / "in/bad.png").write_bytes(b"\x89PNG")
    code, _, said = run(*common, "--processes", 1, "in", "out")
    assert (code, said.count("bad.png"), said.count("\n")) == (1, 1, 1)
    assert texts[:2] == ["in   lowpass, ideal, radius n/8, depth 6 dB", "2 pictures"]
    assert [each for each in texts if each.startswith("in/")] == ["in/a.png", "in/b.tif, page 2"]
    assert texts.count("32 x 24") == 2


def test_a_folder_has_a_contact_sheet(run, folder, tmp_path):
    sheet = tmp_path / "sheet.png"
    code, _, err = run("highpass", "--preview", sheet, folder, tmp_path / "out")
    assert code == 0
    assert "3 of 3 files filtered" in err
    form, mode, (_, height) = size_of(sheet)
    assert (form, mode) == ("PNG", "RGB")
    assert height > 3 * 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["highpass", "--preview", "page.gif", "in/0.png", "out.png"], "give a name that ends in .png"),
        (["highpass", "--preview", "out.png", "in/0.png", "out.png"], "--preview out.png is OUT itself"),
        (["highpass", "--preview", "in/0.png", "in/0.png", "out.png"], "in/0.png: is the input itself"),
        (["highpass", "--preview", "in/sheet.png", "in", "out"], "lies among the pictures of IN or OUT"),
        (["highpass", "--preview", "in/1.png", "in/0.png", "in/1.png", "out/"], "in/1.png: is the --report, --preview"),
        (["spectrum", "--with", "devices", "in/0.png", "out.png"], "'devices' is not a filter"),
        (["spectrum", "--with", "", "in/0.png", "out.png"], "is not a filter"),
        (["spectrum", "--with", "lowpass 'a", "in/0.png", "out.png"], "is not a filter"),
        (["spectrum", "--with", "lowpass a.png", "in/0.png", "out.png"], "give options only"),
        (["spectrum", "--with", "lowpass --radius 8qx", "in/0.png", "out.png"], "unknown unit"),
        (["spectrum", "--with", "lowpass", "in/0.png", "out.tif"], "give a name that ends in .png"),
    ],
)
def test_what_could_not_end_well_is_refused(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(2):
        Image.new("L", (8, 8), i).save(folder / f"{i}.png")
    before = (folder / "0.png").read_bytes(), (folder / "1.png").read_bytes()
    code, out, err = run(*arguments)
    assert (code, out) == (2, b"")
    assert message in err
    assert ((folder / "0.png").read_bytes(), (folder / "1.png").read_bytes()) == before
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
