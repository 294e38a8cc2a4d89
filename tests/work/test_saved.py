"""Recipes as JSON: every field comes back, and so does what a command line or a filter says."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields, replace
from pathlib import Path

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fftfilter
from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis.search import AutoNotches
from fftfilter.cli import cli
from fftfilter.commands.apply import from_json, load, words_of
from fftfilter.commands.filters import context_of, options_of
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.errors import FftfilterError, ParameterError
from fftfilter.files.sources import identity
from fftfilter.imagej_filter import ImageJFilter
from fftfilter.images import Asked, Coding
from fftfilter.output.modes import Auto, Range
from fftfilter.region import region_of
from fftfilter.work import saved
from fftfilter.work.missing import Missing
from fftfilter.work.recipe import METHODS, Recipe
from tests.folders.helpers import pgm
from tests.work.test_recipe import OTHERS

DOCUMENT = (Path(__file__).parents[2] / "docs/recipes.md").read_text(encoding="utf-8")
USUAL = METHODS["plain"].usual
PLAIN = Recipe(H.lowpass("8px"), options=USUAL)


def back(recipe):
    """Return a recipe after its way through the text of JSON."""
    return from_json(json.loads(json.dumps(saved.to_json(recipe))), "recipe")


@pytest.mark.parametrize("name", sorted({each.name for each in fields(Recipe)} - {"transfer", "options"}))
def test_every_field_comes_back(name):
    of_others = {
        "method": {"output": "keep", "options": METHODS["imagej"].usual},
        "region": {"output": "keep"},
        "auto": {"output": "keep"},
    }
    recipe = replace(PLAIN, **{name: OTHERS[name]}, **of_others.get(name, {}))
    assert back(recipe) == recipe != PLAIN
    assert back(recipe).key == recipe.key


@pytest.mark.parametrize(
    "recipe",
    [
        PLAIN,
        replace(PLAIN, options={**USUAL, "edges": "mirror", "engine": "book", "work_group_size": 8}),
        replace(PLAIN, options={**USUAL, "engine": "stockham", "engine_options": {"radix": 4}}),
        replace(PLAIN, scale=Auto(1.5)),
        replace(PLAIN, scale=Range(-1 / 3, 40.0)),
        replace(PLAIN, pages=Asked(None, 3), coding=Coding(9, 50, "lzw"), auto=AutoNotches(20.5, "ideal", False)),
        replace(PLAIN, output="keep", auto=AutoNotches(18.0, insists=True, keep=((0.1, -0.2), (0.0, 0.5)))),
    ],
)
def test_options_and_values_of_several_parts_come_back(recipe):
    assert back(recipe) == recipe


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "a recipe needs 'transfer'"),
        ({"transfer": {}}, "transfer: an object is not a list of parts"),
        ({"transfer": [], "engin": 3}, 'a recipe has no key "engin": choose auto, channels, '),
        ({"transfer": [], "options": {}}, 'a recipe has no key "options"'),
        ({"transfer": [], "device": "gpu"}, 'a recipe has no key "device"'),
        ({"transfer": [], "in-place": True}, 'a recipe has no key "in-place"'),
        ({"transfer": [], "png_level": 3}, 'a recipe has no key "png_level"'),
        ({"transfer": [], "output": "x"}, "'x' is not one of 'magnitude', 'keep', 'signed', 'real'"),
        ({"transfer": [], "output": ["keep"]}, "output: a list is not a text or a number"),
        ({"transfer": [], "output": None}, "output: null is not a text or a number"),
        ({"transfer": [], "scale": {"low": 3}}, "scale: an object is not a text or a number"),
        ({"transfer": [], "scale": "3"}, "scale '3' is unknown"),
        ({"transfer": [], "scale": "3:1"}, "is not a range"),
        ({"transfer": [], "scale": "auto:100"}, "give percent of the samples below 100"),
        ({"transfer": [], "scale": f"0:{10**500}"}, "is not a range"),
        ({"transfer": [], "output": "keep", "scale": "auto:1"}, "has no scale"),
        ({"transfer": [], "quality": 500}, "'--quality': 500 is not in the range"),
        ({"transfer": [], "quality": True}, "quality: true is not a text or a number"),
        ({"transfer": [], "compression": "x"}, "'x' is not one of 'none', 'lzw'"),
        ({"transfer": [], "pages": "3-1"}, "are an empty range"),
        ({"transfer": [], "pages": 0}, "are unknown"),
        ({"transfer": [], "hdu": -1}, "HDU '-1' is unknown: give a number"),
        ({"transfer": [], "edges": "no"}, "'no' is not one of 'wrap', 'mirror'"),
        ({"transfer": [], "strip": 1}, "strip: 1 is not true or false"),
        ({"transfer": [], "depth": "nan"}, "depth nan is invalid"),
        ({"transfer": [], "auto": "each", "strength": 3}, "strength 3 is invalid"),
        ({"transfer": [], "strength": 30}, "--strength is for the waves that --auto finds"),
        (
            {"transfer": [], "auto": "folder"},
            "auto folder is for command lines: a recipe has the notches that were found",
        ),
        ({"transfer": [], "auto": "each", "keep": ["1"]}, "keep '1' is not a wave"),
        ({"transfer": [], "auto": "each", "keep": "0.1,0.2"}, 'keep: "0.1,0.2" is not a list of texts'),
        ({"transfer": [], "output": "keep", "region": "1,2"}, "is not a rectangle"),
        ({"transfer": [], "output": "keep", "region": [1, 2, 3, 4]}, "region.file: a list is not a text"),
        ({"transfer": [], "output": "keep", "region": {"fil": "x"}}, 'region has no key "fil": choose file, digest'),
        ({"transfer": [], "output": "keep", "region": {"file": "x\0"}}, "is no name: give that of a mask"),
        ({"transfer": [], "output": "keep", "region": {"digest": "x"}}, "region.file: null is not a text"),
        ({"transfer": [], "output": "keep", "feather": 3}, "give region or protect"),
        ({"transfer": [], "region": "1,2,3,4"}, "need an output with the gray levels"),
        ({"transfer": [], "method": "x"}, "method 'x' is invalid: choose plain, imagej, descreen"),
        ({"transfer": [], "method": ["plain"]}, "method: a list is not a text"),
        ({"transfer": [], "method": "imagej", "edges": "wrap"}, 'a recipe has no key "edges"'),
        ({"transfer": [], "method": "imagej", "output": "real"}, 'a recipe has no key "output"'),
        ({"transfer": [], "method": "descreen"}, "a recipe of the method descreen has one part, which is of that kind"),
        (
            {"transfer": [], "engine-options": {"radix": {}}},
            'engine-options: an object is not an object of texts and numbers, as {"radix": 4}',
        ),
    ],
)
def test_a_fault_is_refused_in_a_line(given, said):
    with pytest.raises(FftfilterError) as caught:
        from_json(given, "r.json")
    assert said in str(caught.value)
    assert str(caught.value).startswith("r.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["--missing", "--region", "--protect"])
def test_a_mask_is_kept_by_the_name_of_its_file(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    pgm(tmp_path / "holes.pgm")
    recipe = recipe_of_words(["lowpass", "--output=keep", f"{option}=holes.pgm", "--nodata=-inf"])
    assert recipe.files == ("holes.pgm",)
    (tmp_path / "kept").mkdir()
    saved.save(recipe, "kept/recipe.json")
    assert '"file": "../holes.pgm"' in (tmp_path / "kept/recipe.json").read_text()
    assert load("kept/recipe.json") == recipe
    assert recipe_of_words(words_of(CONTEXT, recipe)) == recipe
    pgm(tmp_path / "holes.pgm", seed=1)
    with pytest.raises(ParameterError, match="has changed since the recipe was saved"):
        load("kept/recipe.json")
    option = option.removeprefix("--")
    (tmp_path / "kept/by hand.json").write_text(
        json.dumps({"fftfilter_recipe": 1, "transfer": [], "output": "keep", option: "../holes.pgm"})
    )
    assert load("kept/by hand.json").files == ("holes.pgm",)


# A recipe, a command line and the text of a filter

RADII = st.one_of(st.integers(1, 100).map(str), st.floats(0.01, 50).map(lambda each: f"{each!r}px"))
PEAKS = st.tuples(st.floats(-0.5, 0.5), st.floats(0.01, 0.5)).map(lambda at: f"{at[0]!r},{at[1]!r}")
CUTOFF = st.one_of(st.just([]), RADII.map(lambda each: [f"--radius={each}"]))
SHAPE = st.sampled_from([[], ["--shape=gaussian"], ["--shape=butterworth", "--order=5"]])
BAND = st.tuples(st.floats(1, 9), st.floats(10, 99)).map(lambda each: [f"--inner={each[0]!r}", f"--outer={each[1]!r}"])
LENGTHS = st.tuples(st.floats(1, 9), st.floats(10, 99)).map(
    lambda each: [f"--small={each[0]!r}um", f"--large={each[1]!r}", "--pixel-size=65.5nm"]
)
OWN = st.one_of(
    st.tuples(st.sampled_from(["lowpass", "highpass"]), CUTOFF, SHAPE),
    st.tuples(st.sampled_from(["bandpass", "bandstop"]), st.one_of(BAND, LENGTHS), SHAPE),
    st.tuples(
        st.just("notch"),
        st.lists(PEAKS.map(lambda at: f"--at={at}"), min_size=1, max_size=3),
        st.sampled_from([[], ["--harmonics=3", "--shape=ideal"]]),
    ),
    st.tuples(
        st.just("stripes"),
        st.lists(st.floats(-180, 180).map(lambda each: f"--angle={each!r}"), min_size=1, max_size=2),
        RADII.map(lambda each: [f"--spare={each}"]),
    ),
)
FACTORS = st.lists(st.one_of(PEAKS.map(lambda at: f"--notch={at},0.02cyc"), st.just("--stripes=33.5")), max_size=3)
OUTPUT = st.sampled_from(
    [[], ["--output=keep"], ["--output=signed", "--scale=auto:1.5"], ["--output=magnitude", "--scale=-0.1:40"]]
)
OTHER = st.sampled_from(
    [
        [],
        ["--edges=mirror", "--depth=6.5"],
        ["--edges=wrap"],
        ["--engine=book", "--precision=double"],
        ["--channels=luminance"],
    ]
)
FILES = st.sampled_from(
    [
        [],
        ["--pages=2-5", "--png-level=9", "--strip"],
        ["--format=tif", "--compression=lzw", "--embed-recipe"],
        ["--quality=50", "--preserve-times", "--missing=none", "--nodata=-inf"],
        ["--region=1,2,30,40", "--feather=2.5", "--format=png", "--hdu=2", "--palette=table"],
    ]
)
PLAIN_COMMANDS = st.tuples(OWN, FACTORS, OUTPUT, OTHER, FILES).map(
    lambda each: [each[0][0], *each[0][1], *each[0][2], *dict.fromkeys(each[1]), *each[2], *each[3], *each[4]]
)
DESCREEN_COMMANDS = st.sampled_from([[], ["--strength=20.5"], ["--keep-detail=30", "--depth=20"]]).map(
    lambda each: ["descreen", *each]
)
IMAGEJ_COMMANDS = st.tuples(
    RADII, st.sampled_from([[], ["--no-autoscale"], ["--no-saturate", "--suppress=vertical"]]), FILES
).map(lambda each: ["imagej", f"--large={each[0]}", *each[1], *each[2]])
CONTEXT = click.Context(cli, info_name="fftfilter")


def recipe_of_words(words):
    """Return the recipe of a command line without IN and OUT."""
    return options_of(words[0], ["IN"], context_of(CONTEXT, words, "IN", "OUT").params).recipe


@given(words=st.one_of(PLAIN_COMMANDS, IMAGEJ_COMMANDS, DESCREEN_COMMANDS))
@settings(max_examples=60, deadline=None)
def test_a_command_line_a_recipe_and_the_text_of_a_filter_say_the_same(words):
    try:
        recipe = recipe_of_words([each for each in words if not each.startswith(f"--{words[0]}=")])
    except (click.ClickException, FftfilterError):
        return  # such as cutoffs that are the same
    assert back(recipe) == recipe
    again = words_of(CONTEXT, recipe)
    assert again is not None, shlex.join(words)
    assert recipe_of_words(again) == recipe
    # A filter has no files.
    usual = Recipe(H.Transfer(()))
    of_files = ("pages", "coding", "format", "missing", "strip", "preserve_times", "embed_recipe")
    bare = replace(recipe, **{name: getattr(usual, name) for name in of_files})
    text = repr(saved.described(recipe))
    names = {each.__name__: each for each in (AutoNotches, Filter, ImageJFilter, DescreenFilter)}
    made = eval(text, {**names, "H": H})  # noqa: S307  our own
    assert repr(made) == text
    assert saved.recipe_of(made) == bare


def test_every_option_of_a_command_line_is_in_the_recipe():
    of_filter = ["--edges=mirror", "--depth=6.5", "--engine=book", "--precision=double", "--work-group-size=32"]
    of_input = ["--pages=2-5", "--hdu=2", "--level=1", "--palette=table", "--missing=none", "--nodata=-9999"]
    of_output = ["--png-level=9", "--quality=50", "--compression=lzw", "--format=tif"]
    flags = ["--strip", "--preserve-times", "--embed-recipe"]
    own = ["lowpass", "--radius=8px", "--output=signed", "--scale=auto:1.5", "--transpose=plain"]
    assert recipe_of_words([*own, *of_filter, *of_input, *of_output, *flags]) == Recipe(
        H.lowpass("8px"),
        options=USUAL
        | {"edges": "mirror", "depth": 6.5, "engine": "book", "precision": "double"}
        | {"work_group_size": 32, "transpose": "plain"},
        output="signed",
        scale=Auto(1.5),
        pages=Asked(2, 5, hdu=2, palette="table", level=1),
        coding=Coding(9, 50, "lzw"),
        format="tif",
        missing=Missing(-9999.0, "none"),
        strip=True,
        preserve_times=True,
        embed_recipe=True,
    )
    part = ["--channels=luminance", "--region=1,2,30,40", "--protect=5,6,7,8", "--feather=2.5"]
    assert recipe_of_words(["highpass", "--output=real", *part]) == Recipe(
        H.highpass(),
        options=USUAL | {"channels": "luminance"},
        output="real",
        region=region_of((1, 2, 30, 40), (5, 6, 7, 8), 2.5),
    )
    assert recipe_of_words(["highpass", "--scale=folder"]) == Recipe(H.highpass(), options=USUAL, span="folder")
    assert recipe_of_words(["imagej", "--no-autoscale", "--no-saturate"]) == Recipe(
        H.imagej(), "imagej", METHODS["imagej"].usual | {"autoscale": False, "saturate": False}, "keep"
    )


@pytest.mark.parametrize(
    "recipe",
    [
        replace(PLAIN, transfer=H.lowpass(4) * H.highpass(2)),
        replace(PLAIN, transfer=H.notch((0.1, 0.2), channels=(0,))),
        replace(PLAIN, transfer=H.lowpass(4) * H.notch((0.1, 0.2), harmonics=3)),
        replace(PLAIN, transfer=H.Transfer(())),
        replace(PLAIN, transfer=H.mask(np.eye(4))),
    ],
)
def test_a_recipe_that_no_command_line_describes_has_none(recipe):
    assert words_of(CONTEXT, recipe) is None


def test_the_waves_that_are_to_be_found_are_in_the_command_line():
    recipe = recipe_of_words(["notch", "--auto", "--strength=20.5", "--scale=stack", "--output=magnitude"])
    assert recipe.auto == AutoNotches(20.5, by_channel=False)
    words = ["notch", "--output=magnitude", "--scale=stack", "--auto=each", "--strength=20.5"]
    assert words_of(CONTEXT, recipe) == words
    words = ["notch", "--at=0.1,0.2,0.006cyc", "--shape=ideal", "--auto=each", "--strength=20.5", "--insist"]
    words = [*words, "--keep=0.1,-0.2", "--keep=0.25,0.5", "--longest=40.5", "--largest=30"]
    recipe = recipe_of_words(words)
    waves = {"keep": ((0.1, -0.2), (0.25, 0.5)), "longest": 40.5, "largest": 30}
    assert recipe.auto == AutoNotches(20.5, "ideal", by_channel=True, insists=True, **waves)
    assert recipe_of_words(words_of(CONTEXT, recipe)) == back(recipe) == recipe


def test_the_shape_of_a_cutoff_is_not_that_of_the_notches():
    recipe = recipe_of_words(["lowpass", "--radius=8px", "--shape=cosine", "--auto", "--stripes=0"])
    assert recipe.auto == AutoNotches(18.0, "gaussian", by_channel=False)
    assert words_of(CONTEXT, recipe)[:3] == ["lowpass", "--radius=8px", "--shape=cosine"]
    assert recipe_of_words(words_of(CONTEXT, recipe)) == back(recipe) == recipe


# Files


def test_a_filter_is_saved_and_loaded(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (12, 10), dtype=np.uint8)
    with Filter(H.lowpass("4px"), output="signed", scale=("auto", 2), edges="mirror") as filter_:
        fftfilter.save_filter(filter_, tmp_path / "recipe.json")
        wanted = filter_(image)
    with fftfilter.load_filter(tmp_path / "recipe.json") as loaded:
        assert repr(loaded) == repr(filter_).replace("2)", "2.0)")
        np.testing.assert_array_equal(loaded(image), wanted)


@pytest.mark.parametrize(("name", "key"), [("span", "scale"), ("missing", "nodata")])
def test_a_recipe_for_files_alone_makes_no_filter(tmp_path, name, key):
    saved.save(
        replace(PLAIN, output="signed", **{name: OTHERS[name]}),
        tmp_path / "recipe.json",
    )
    with pytest.raises(ParameterError, match=f"has '{key}', which is for files: use fftfilter apply"):
        fftfilter.load_filter(tmp_path / "recipe.json")


def test_the_files_of_a_recipe_are_known(tmp_path):
    np.save(tmp_path / "gains.npy", np.eye(4))
    name = str(tmp_path / "gains.npy")
    recipe = replace(PLAIN, transfer=H.lowpass(3) * H.mask_file(name))
    assert recipe.files == (name,)
    assert PLAIN.files == ()


def test_a_recipe_does_not_replace_an_input(tmp_path):
    source = pgm(tmp_path / "recipe.json")
    before = source.read_bytes()
    with pytest.raises(ParameterError):
        saved.save(PLAIN, source, spare=[identity(source)])
    assert source.read_bytes() == before


# The document


def test_the_document_describes_every_key_and_every_kind():
    tables = re.findall(r"^\| (`[^|]+) \|", DOCUMENT, re.MULTILINE)
    named = {name for cell in tables for name in re.findall(r"`([\w-]+)`", cell)}
    kinds = set(H.__all__) - {"Transfer", "load", "mask", "save"}
    with pytest.raises(ParameterError) as caught:
        from_json({"transfer": [], "x": 1}, "")
    keys = str(caught.value).partition(": choose ")[2].split(", ")
    assert named == {"transfer", "method", *keys, "autoscale", "saturate"} | kinds


def test_the_recipe_of_the_document_is_one(tmp_path):
    (text,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    digest = re.search(r'"digest": "(\w+)"', text)[1]
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save(tmp_path / "gains.png")
    own = H.mask_file(str(tmp_path / "gains.png")).parts[0].digest
    (tmp_path / "recipe.json").write_text(text.replace(digest, own))
    recipe = load(tmp_path / "recipe.json")
    assert [part.kind for part in recipe.transfer.parts] == ["bandpass", "notch", "mask"]
    assert (recipe.output, recipe.scale, recipe.edges) == ("signed", Range(0, 40), "mirror")
