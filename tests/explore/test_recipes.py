"""Recipes of a page: those that it gives are the command line's, and those that it takes read no other file."""

from __future__ import annotations

import json
import shlex

import click
import numpy as np
import pytest
from PIL import Image

from fftfilter.cli import cli
from fftfilter.commands.explore import Commands, explore

from .conftest import request_for

DEEP = '{"fftfilter_recipe": 2, "arguments": ' + "[" * 200_000 + "]" * 200_000 + "}"
OF_COMMANDS = [
    "lowpass --radius 8px --shape gaussian --output keep --edges mirror",
    "bandstop --large 40px --small 3px --notch 0.123456789,0.047,0.006cyc",
    "highpass --radius 2.6um --pixel-size 65nm --scale 0:40",
    "notch --auto --strength 20 --keep 0.123456,0.2 --edges mirror",
    "stripes --angle 33 --width 0.003cyc --spare 20px",
    "lowpass --radius 30 --shape butterworth --order 3 --stripes 90",
    "descreen --strength 20 --keep-detail 30",
    "wiener --noise 8",
]


def text_of(*words):
    """Return the text of a recipe with arguments."""
    return json.dumps({"fftfilter_recipe": 2, "arguments": words})


@pytest.fixture
def commands():
    return Commands(click.Context(explore, parent=click.Context(cli, info_name="fftfilter")), ())


@pytest.fixture
def picture(tmp_path):
    levels = np.random.default_rng(3).integers(0, 256, (48, 40), np.uint8)
    Image.fromarray(levels).save(tmp_path / "in.png")
    return tmp_path / "in.png"


async def loaded(page, text, name="soft.json"):
    """Return the status and the answer for the file of a recipe."""
    async with page.session.post(page.url + "recipe", params={"name": name}, data=text) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("words", OF_COMMANDS)
def test_the_recipe_of_a_page_is_the_file_of_save_recipe_and_is_loaded_again(visit, run, picture, words):
    file = picture.with_name("soft.json")
    run([*shlex.split(words), "--save-recipe", str(file), str(picture), str(picture.with_name("out.png"))])

    async def load(page):
        status, start = await loaded(page, file.read_bytes())
        assert status == 200, start
        words, *_ = await page.answer(request_for(start["command"], rest=False, **start["options"]))
        return words["recipe"]

    assert visit(load, picture) == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a recipe in JSON"),
        ("[]", "is not a recipe: one is written by --save-recipe"),
        ("\xff", "is not a recipe in JSON"),
        (DEEP, "is nested too deep"),
        ('{"fftfilter_recipe": 3}', "is of version 3; this program reads 2: update fftfilter-opencl"),
        ('{"fftfilter_recipe": true}', "is invalid: fftfilter_recipe is 2"),
        ('{"fftfilter_recipe": 2}', "a recipe has 'arguments', a list of texts"),
        (text_of("bench"), "filter 'bench' is invalid: choose lowpass"),
        (text_of("lowpass", "--radus=1"), "No such option"),
        (text_of("lowpass", "--in-place"), "No such option"),
        (text_of("lowpass", "--depth=6"), "a recipe: --depth is not for a page to set"),
        (text_of("lowpass", "--times=highpass"), "a recipe: --times is not for a page to set"),
        (text_of("notch", "--at=0.1,0.2", "--mirrored"), "a recipe: --mirrored is not for a page to set"),
        (text_of("lowpass", "--scale=1e999:3"), "is not a range"),
        (text_of("lowpass", "\ud800"), "is not a recipe in JSON"),
        (text_of("stripes", *["--angle=0"] * 501), "a page takes at most 500 options and waves: use fftfilter apply"),
        (text_of("stripes", "--angle=33", "--angle=9"), "one angle of stripes"),
        (text_of("imagej"), "the page has no imagej: use fftfilter apply"),
    ],
)
def test_a_recipe_that_is_refused_is_told_in_a_line(visit, picture, text, said):
    data = text.encode("latin-1")
    status, answer = visit(lambda page: loaded(page, data), picture)
    line = answer["error"].replace('"', "'")
    assert status == 400
    assert line.startswith("soft.json: ")
    assert said in line
    assert "\n" not in line
    assert len(line) < 400


@pytest.mark.parametrize(
    "words",
    [
        ["mask", "--mask=%s"],
        ["lowpass", "--mask", "%s"],
        ["lowpass", "--times=mask --mask=%s"],
        ["lowpass", "--region=%s"],
        ["lowpass", "--protect", "%s"],
        ["lowpass", "--missing=%s"],
    ],
)
def test_a_page_reads_no_file_that_a_recipe_names(commands, picture, monkeypatch, words):
    read = []
    for reader in ("images.raw", "transfer.gains.mask_file", "files.sources.content"):
        monkeypatch.setattr(f"fftfilter.{reader}", lambda *given: read.append(given))
    lines = set()
    for file in (str(picture), str(picture.with_name("none.png")), "1.5", "http://127.0.0.1:9/x"):
        text = text_of(*words).replace("%s", file)
        with pytest.raises(ValueError, match=r"is not for a page to set|the page has no mask") as error:
            commands.of_recipe(text.encode(), "a.json", str(picture))
        lines.add(str(error.value))
    assert len(lines) == 1  # nobody learns which files there are
    assert read == []


def test_a_recipe_of_a_megabyte_is_refused_in_a_line_and_the_page_goes_on(visit, picture):
    async def load(page):
        many = await loaded(page, text_of("lowpass", *["--stripes=0"] * 20_000), "\n\x07" + "x" * 5000)
        large = await loaded(page, b" " * (1 << 21))
        return many, large, await page.get("picture")

    (status, many), (too_large, line), (going_on, _) = visit(load, picture)
    assert (status, too_large, going_on) == (400, 413, 200)
    assert many["error"].isprintable()
    assert len(many["error"]) < 400
    assert line == {"error": "Request Entity Too Large"}
