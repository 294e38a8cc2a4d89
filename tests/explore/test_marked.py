"""Parts of a picture: what a page marks is what the command filters, and hostile shapes are refused in a line."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shlex

import numpy as np
import pytest
from PIL import Image

from fftfilter import images
from fftfilter.explore.request import MOST_NUMBERS, MOST_SHAPES, Marked
from tests.explore.conftest import answer_on, request_for

SOFT = request_for(radius="8px", output="keep")
RECTANGLE = {"shapes": [["rectangle", 10, 4, 20, 16]]}
ELLIPSE = {"shapes": [["ellipse", 2, 3, 30, 20]], "feather": 3}
MIXED = {"shapes": [["brush", 6, 4, 4, 40, 30, 20, 44], ["ellipse", 1, 1, 5, 5]], "outside": True, "feather": 0}


@pytest.fixture
def picture(tmp_path):
    levels = np.random.default_rng(3).integers(0, 256, (48, 44, 3), np.uint8)
    Image.fromarray(levels).save(tmp_path / "in.png")
    return tmp_path / "in.png"


async def marked(page, asked, path="mask"):
    """Return the status and the answer to a request that names no output."""
    async with page.session.post(page.url + path, data=json.dumps({"request": asked})) as response:
        return response.status, await response.json()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("asked", [SOFT, request_for("descreen"), request_for("highpass", output="real")])
@pytest.mark.parametrize("area", [RECTANGLE, ELLIPSE, MIXED], ids=["rectangle", "ellipse", "mixed"])
def test_a_marked_part_is_the_one_that_the_command_filters(visit, run, picture, asked, area):
    folder, suffix = picture.parent, "tif" if asked["options"].get("output") == "real" else "png"
    target, asked = folder / f"out.{suffix}", asked | {"area": area}

    async def ask(page):
        words, pixels, _ = await page.answer(asked)
        saved = await page.save(asked, f"saved.{suffix}")
        return words, pixels, saved, await marked(page, asked)

    words, pixels, (status, told), (kept, file) = visit(ask, picture, target)
    assert (status, kept) == (200, 200), told
    assert file["written"] == words["mask"]
    assert (words["mask"] is None) == (area is RECTANGLE)
    recipe = folder / "recipe.json"
    run([*shlex.split(words["command"])[1:-2], "--save-recipe", str(recipe), str(picture), str(target)])
    assert target.read_bytes() == (folder / f"saved.{suffix}").read_bytes()
    assert recipe.read_text() == words["recipe"]
    if suffix == "png":
        assert (pixels == np.asarray(Image.open(target))).all()
    if words["python"].startswith("from"):
        written = images.read(target).planes
        target.unlink()
        exec(words["python"], {})  # noqa: S102  it is shown to be run
        assert (images.read(target).planes == written).all()
    else:
        assert asked["command"] == "descreen"


def test_what_is_not_marked_stays_and_a_drag_shows_about_the_same(visit, tmp_path, camera):
    Image.fromarray(np.tile(camera, (2, 2))).save(tmp_path / "in.png")
    asked = SOFT | {"area": {"shapes": [["ellipse", 200, 100, 600, 500]], "feather": 40}}

    async def ask(page):
        removed, shown, _ = await page.answer(asked | {"show": "removed"})
        return await page.answer(asked), await page.answer(asked | {"rest": False, "level": 2}), shown, removed

    (_, rest, _), (_, dragged, _), removed, words = visit(ask, tmp_path / "in.png")
    assert "error" not in words
    inside = Marked.of(asked["area"], 1024, 1024).pixels()
    before = np.tile(camera, (2, 2))
    assert (rest == before)[~inside].all()
    assert not (rest == before)[inside].all()
    assert (removed[~inside] == removed[0, 0]).all()
    halved = rest.reshape(512, 2, 512, 2).mean(axis=(1, 3))
    assert np.abs(dragged - halved).mean() < 2


def test_a_rectangle_of_the_command_line_or_of_a_recipe_is_marked(visit, picture):
    words = ["lowpass", "--radius=8px", "--output=keep", "--protect=1,2,3,4", "--feather=5"]
    text = json.dumps({"fftfilter_recipe": 2, "arguments": words})

    async def load(page):
        _, facts = await page.get("picture")
        async with page.session.post(page.url + "recipe", data=text) as response:
            return facts["start"], await response.json()

    start, loaded = visit(load, picture, start="lowpass --output keep --region 4,5,20,30")
    assert start["area"] == {"shapes": [["rectangle", 4, 5, 20, 30]], "outside": False}
    assert loaded["area"] == {"shapes": [["rectangle", 1, 2, 3, 4]], "outside": True, "feather": 5.0}


BRUSH = ["brush", 6, 4, 4]
HOSTILE = [
    *(3, "region", [], True, {}, {"shapes": None}, {"shapes": {}}, {"shapes": "rectangle"}),
    {"shapes": [RECTANGLE["shapes"][0]] * (MOST_SHAPES + 1)},
    {"shapes": [["brush", 6, *([4, 4] * MOST_NUMBERS)]]},
    *(
        {"shapes": [shape]}
        for shape in (None, 3, "brush", [], [None], [["rectangle"]], ["triangle", 1, 2, 3], {"a": 1})
    ),
    *(
        {"shapes": [["rectangle", *box]]}
        for box in ([0, 0, 0, 5], [-1, 0, 5, 5], [40, 0, 5, 5], [0, 44, 5, 5], [0, 0, 1e9, 1])
    ),
    *(
        {"shapes": [["ellipse", *box]]}
        for box in ([1, 1, 5], [1, 1, 5, 5, 5], [1.5, 1, 5, 5], ["1", 1, 5, 5], [1, 1, None, 5])
    ),
    *(
        {"shapes": [["rectangle", *box]]}
        for box in ([True, 0, 5, 5], [0, 0, 1 << 70, 5], [[0], 0, 5, 5], ["/etc/passwd", 1, 1, 1])
    ),
    *(
        {"shapes": [["brush", *numbers]]}
        for numbers in ([], [6], [6, 4], [6, 4, 4, 4], [0, 4, 4], [-6, 4, 4], [6, 49, 4])
    ),
    *({"shapes": [BRUSH], "feather": each} for each in (-1, 1e9, "8", None, [], True, {})),
    {"shapes": [["rectangle", 0, 0, 44, 48]], "outside": True},
]


@pytest.mark.parametrize("area", HOSTILE, ids=[str(i) for i in range(len(HOSTILE))])
def test_a_hostile_part_is_refused_in_a_line_and_nothing_is_written(visit, picture, area):
    asked = SOFT | {"area": area}

    async def attack(page):
        return await page.save(asked, "out.png"), await marked(page, asked), (await page.answer(asked))[0]

    *posted, live = visit(attack, picture)
    for status, answer in posted:
        assert status == 400
        assert answer["error"] == live["error"]
    assert live["error"].isprintable()
    assert len(live["error"]) < 300
    assert names(picture.parent) == ["in.png"]


@pytest.mark.parametrize("value", ["1,2,3,4", "/etc/hostname", "in.png", "http://127.0.0.1:9/x"])
@pytest.mark.parametrize("name", ["region", "protect", "missing"])
def test_no_option_of_a_request_names_a_mask(visit, picture, name, value):
    """A request has options of its own; others are not heard, so that no file is read."""
    words, _, _ = visit(lambda page: page.answer(SOFT | {"options": SOFT["options"] | {name: value}}), picture)
    assert "error" not in words
    assert value not in words["command"].split()[:-2]


def test_levels_that_do_not_stay_take_no_part(visit, picture):
    words, _, _ = visit(lambda page: page.answer(request_for("highpass") | {"area": RECTANGLE}), picture)
    assert "region and protect need an output with the gray levels of the input" in words["error"]


def test_a_mask_replaces_no_other_file_and_is_written_once(visit, picture, tmp_path):
    asked = SOFT | {"area": ELLIPSE}

    async def save(page):
        status, told = await marked(page, asked)
        assert status == 200
        file = tmp_path / told["written"]
        good = file.read_bytes()
        # Twice at once, and over the same mask.
        both = await asyncio.gather(marked(page, asked), page.save(asked, "a.png"), marked(page, asked))
        assert [status for status, _ in both] == [200] * 3
        assert file.read_bytes() == good
        refused = []
        file.write_bytes(b"precious")
        refused += [await marked(page, asked), await page.save(asked, "b.png")]
        assert file.read_bytes() == b"precious"
        file.unlink()
        file.symlink_to(tmp_path / "elsewhere.png")
        refused += [await marked(page, asked), await page.save(asked, "b.png")]
        file.unlink()
        return refused

    refused = visit(save, picture)
    assert [status for status, _ in refused] == [400, 400, 403, 403]
    assert "is another file" in refused[0][1]["error"]
    assert names(tmp_path) == ["a.png", "in.png"]


def test_a_save_that_fails_leaves_no_mask(visit, picture, monkeypatch):
    from fftfilter.commands.explore import Commands

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Commands, "run", fail)
    status, answer = visit(lambda page: page.save(SOFT | {"area": ELLIPSE}, "out.png"), picture)
    assert (status, names(picture.parent)) == (400, ["in.png"]), answer


def test_a_download_and_a_folder_take_the_part_and_leave_no_mask(visit, picture):
    asked = SOFT | {"area": ELLIPSE}
    # A size for which the program compiles nothing of its own
    Image.open(picture).convert("L").crop((0, 0, 32, 24)).save(picture)

    async def downloaded(page, out, asked=asked):
        async with page.session.post(
            page.url + "save", json={"request": asked, "out": out, "download": True}
        ) as response:
            return await response.read()

    async def download(page):
        data = {out: await downloaded(page, out) for out in ("out.png", "out.fits")}
        floats = SOFT | {"options": {"output": "real"}, "area": ELLIPSE}
        wrong = await downloaded(page, "out.png", floats)
        status, told = await page.save(asked, "all", folder=True)
        assert status == 200, told
        before = names(picture.parent)
        for out in data:
            await page.save(asked, out)
        return data, wrong, before

    data, wrong, before = visit(download, picture)
    assert before == ["all", "in.png"]
    assert data == {out: (picture.parent / out).read_bytes() for out in data}  # FITS names the mask
    assert data["out.png"] == (picture.parent / "all" / "in.png").read_bytes()
    assert json.loads(wrong)["error"].startswith("out.png: .png holds whole numbers")


def test_a_long_stroke_on_a_live_connection_is_refused_or_answered(visit, picture):
    async def ask(page):
        async with page.live() as socket:
            stroke = ["brush", 44, *([i % 44 for i in range(MOST_NUMBERS - 3)] + [0])]
            stroke = stroke[: len(stroke) - len(stroke) % 2]
            for shapes in ([stroke], [["ellipse", 0, 0, 44, 48]]):
                await socket.send_str(json.dumps(SOFT | {"area": {"shapes": shapes}}))
                words, _, _ = await answer_on(socket)
                assert "error" not in words

    visit(ask, picture)


def test_the_border_of_a_reduced_region_is_as_wide_in_the_picture():
    marked = Marked.of({"shapes": [["rectangle", 4, 6, 20, 10]], "feather": 6}, 48, 44)
    assert marked
    assert marked.reduced(2, 24, 22).feather == 3


def test_a_brush_is_round_at_its_ends_and_corners():
    pixels = Marked.of({"shapes": [["brush", 9, 8, 8, 30, 8, 30, 30]]}, 48, 44).pixels()
    for x, y in ((8, 8), (30, 30), (30, 8)):
        assert pixels[y - 3 : y + 4, x].all()
        assert pixels[y, x - 3 : x + 4].all()
    assert pixels[5, 32]  # outside of the corner
    assert not pixels[3, 35]


def test_a_mask_is_made_once_while_something_is_dragged():
    first, second = (Marked.of({"shapes": [["brush", 9, 8, 8, 30, 8, 30, 30]]}, 48, 44) for _ in range(2))
    assert first.region("out.png") is second.region("out.png")


def test_what_reaches_the_border_or_a_limit_exactly_is_taken():
    whole = ["rectangle", 0, 0, 44, 48]
    for shape in (whole, ["ellipse", 24, 38, 20, 10], ["brush", 44, 44, 48], ["brush", 1, 0, 0]):
        assert Marked.of({"shapes": [shape]}, 48, 44).shapes == (tuple(shape),)
    assert len(Marked.of({"shapes": [whole] * MOST_SHAPES}, 48, 44).shapes) == MOST_SHAPES
    long = ["brush", 6, *[4, 4] * (MOST_NUMBERS // 2 - 1)]
    assert Marked.of({"shapes": [long]}, 48, 44).shapes == (tuple(long),)
    assert [Marked.of({"shapes": [whole], "feather": each}, 48, 44).feather for each in (0, 1000)] == [0, 1000]
    assert Marked.of({"shapes": []}, 48, 44) is None


def test_a_mask_has_the_pixels_of_its_shapes():
    marked = Marked.of({"shapes": [["rectangle", 2, 3, 4, 5], ["rectangle", 20, 0, 1, 1]]}, 24, 30)
    wanted = np.zeros((24, 30), bool)
    wanted[3:8, 2:6] = wanted[0, 20] = True
    assert (marked.pixels() == wanted).all()
    assert (np.asarray(Image.open(io.BytesIO(marked.png()))) == wanted).all()
    ellipse = Marked.of({"shapes": [["ellipse", 4, 2, 20, 12]]}, 24, 30).pixels()
    assert [(each.min(), each.max()) for each in np.nonzero(ellipse)] == [(2, 13), (4, 23)]
    assert ellipse.sum() == pytest.approx(np.pi * 10 * 6, rel=0.05)


def test_the_name_of_a_mask_is_that_of_its_shapes_in_a_picture_of_a_size():
    def name(*shapes, height=48):
        return Marked.of({"shapes": [*shapes]}, height, 44).file("a.b/out.png")

    first, second = ["ellipse", 2, 3, 30, 20], ["ellipse", 2, 3, 30, 21]
    assert re.fullmatch(r"a\.b/out-region-[0-9a-f]{8}\.png", name(first))
    assert name(first) == name(first)
    assert len({name(first), name(second), name(first, second), name(second, first), name(first, height=40)}) == 5


@pytest.mark.parametrize("is_outside", [False, True])
def test_a_reduced_part_lies_where_the_part_lies(is_outside):
    shapes = [["rectangle", 8, 4, 20, 12], ["brush", 4, 30, 40, 40, 40]]
    marked = Marked.of({"shapes": shapes, "outside": is_outside, "feather": 0}, 48, 44)
    weight = marked.reduced(2, 24, 22).weight(24, 22)
    wanted = np.zeros((24, 22), bool)
    wanted[2:8, 4:14] = True
    assert ((weight > 0.5) == (wanted != is_outside))[:18].all()
    assert (weight[20, 16:20] > 0.5).all() != is_outside
