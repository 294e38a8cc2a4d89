"""Recipes in files: the arguments of a command come back, names of masks lead from the file, and faults are a line."""

from __future__ import annotations

import json
import re
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
from fftfilter.commands.apply import filter_of
from fftfilter.commands.filters import COMMANDS, context_of, options_of
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.errors import FftfilterError, ParameterError, ReadError, WriteError
from fftfilter.files.sources import identity
from fftfilter.imagej_filter import ImageJFilter
from fftfilter.images import Asked, Coding
from fftfilter.output.modes import Auto
from fftfilter.region import region_of
from fftfilter.work.recipe import METHODS, Missing, Recipe
from fftfilter.work.saved import Saved, parse, read, saved_of
from tests.folders.helpers import pgm

DOCUMENT = (Path(__file__).parents[2] / "docs/recipes.md").read_text(encoding="utf-8")
USUAL = METHODS["plain"].usual
CONTEXT = click.Context(cli, info_name="fftfilter")


def recipe_of_words(words):
    """Return the recipe of a command line without IN and OUT."""
    return options_of(context_of(CONTEXT, words, "IN", "OUT")).recipe


def text_of(*arguments, **others):
    """Return the text of a recipe's file."""
    return json.dumps({"fftfilter_recipe": 2, "arguments": arguments, **others})


# The file


def test_a_recipe_reads_as_it_would_be_written_by_hand():
    text = saved_of(recipe_of_words(["lowpass", "--radius", "8px", "--scale", "each", "--stripes", "0"])).text("")
    assert text == (
        '{\n  "fftfilter_recipe": 2,\n  "arguments": [\n    "lowpass",\n    "--radius=8px",\n    "--stripes=0"\n  ]\n}'
    )
    assert parse(text, "r.json") == Saved(["lowpass", "--radius=8px", "--stripes=0"], {})


def test_names_of_masks_lead_from_the_file_and_all_are_known():
    words = ["lowpass", "--region=a b.png", "--missing=alpha", "--protect=1,2,3,4", "--times=mask --mask=c.npy"]
    saved = Saved([*words, "--mask=https://example.org/g.png"], {"a b.png": "1", "c.npy": "2"})
    assert json.loads(saved.text("kept"))["arguments"] == [
        "lowpass",
        "--region=../a b.png",
        "--missing=alpha",
        "--protect=1,2,3,4",
        "--times=mask --mask=../c.npy",
        "--mask=https://example.org/g.png",
    ]
    assert json.loads(saved.text("kept"))["digests"] == {"../a b.png": "1", "../c.npy": "2"}
    apart = Saved(["lowpass", "--times=mask --mask 'c d.npy'"], {}).renamed(str.upper)
    assert apart.arguments == ["lowpass", "--times=mask --mask 'C D.NPY'"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"no", "is not a recipe in JSON"),
        (b"\xff\xfe\x00", "is not a recipe in JSON"),
        (b"[1]", "is not a recipe: one is written by --save-recipe"),
        (b'{"arguments": []}', "is not a recipe"),
        (b'{"fftfilter_recipe": 3}', "is of version 3; this program reads 2: update fftfilter-opencl"),
        (b'{"fftfilter_recipe": true}', "the version true is invalid: fftfilter_recipe is 2"),
        (b'{"fftfilter_recipe": 0}', "the version 0 is invalid"),
        (b'{"fftfilter_recipe": 1.5}', "the version 1.5 is invalid"),
        (b'{"fftfilter_recipe": "1"}', 'the version "1" is invalid'),
        (b'{"fftfilter_recipe": 2}', 'a recipe has "arguments", a list of texts'),
        (b'{"fftfilter_recipe": 2, "arguments": "lowpass"}', 'a recipe has "arguments", a list of texts'),
        (b'{"fftfilter_recipe": 2, "arguments": ["lowpass", 3]}', 'a recipe has "arguments", a list of texts'),
        (b'{"fftfilter_recipe": 2, "arguments": [], "options": 1}', 'a recipe has "arguments", a list of texts'),
        (b'{"fftfilter_recipe": 2, "arguments": [], "digests": []}', '"digests" are no texts by the names of files'),
        (b'{"fftfilter_recipe": 2, "arguments": ["\\ud800"]}', "is not a recipe in JSON"),
        (text_of(*["--keep=0.1,0.2"] * 20_001).encode(), "has more than 20,000 arguments"),
        (
            b'{"fftfilter_recipe": 2, "arguments": ' + 100_000 * b"[" + 100_000 * b"]" + b"}",
            "is nested too deep for a recipe: give another file",
        ),
        (
            b'{"fftfilter_recipe": 2, "arguments": [' + (1 << 20) * b" " + b"]}",
            "has more than 1,048,576 bytes, which no recipe has: give another file",
        ),
        (b'{"fftfilter_recipe": 1, "transfer": []}', "the version 1 is invalid: fftfilter_recipe is 2; write it anew"),
    ],
    ids=lambda each: each[:50] if isinstance(each, str) else "",
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path, text, said):
    file = tmp_path / "recipe.json"
    file.write_bytes(text)
    with pytest.raises(FftfilterError) as caught:
        read(file)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["plain.png", "plain.tif", "pages.tif"])
def test_a_picture_without_a_recipe_is_told(tmp_path, name):
    page = Image.fromarray(np.zeros((4, 5), np.uint8))
    page.save(tmp_path / name, **({"save_all": True, "append_images": [page]} if name == "pages.tif" else {}))
    with pytest.raises(ParameterError, match=rf"{name}: has no recipe: one is put into a picture by --embed-recipe$"):
        read(tmp_path / name)


def test_a_recipe_that_cannot_be_written_is_told_by_its_name(tmp_path):
    with pytest.raises(WriteError, match=r"none.recipe.json: cannot be written"):
        fftfilter.save_filter(H.lowpass(), tmp_path / "none/recipe.json")
    source = pgm(tmp_path / "recipe.json")
    before = source.read_bytes()
    with pytest.raises(ParameterError):
        Saved(["lowpass"], {}).write(source, spare=[identity(source)])
    assert source.read_bytes() == before


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
        st.sampled_from([[], ["--harmonics=3", "--shape=ideal"], ["--in-channels=0,2", "--mirrored", "--is-wave"]]),
    ),
    st.tuples(
        st.just("stripes"),
        st.lists(st.floats(-180, 180).map(lambda each: f"--angle={each!r}"), min_size=1, max_size=2),
        RADII.map(lambda each: [f"--spare={each}"]),
    ),
)
TIMES = [
    "--times=notch --at 0.1,0.2 --at=0.2,0.1 --harmonics 2",
    "--times=stripes --angle=0 --width 2um --pixel-size 8nm",
]
FACTORS = st.lists(
    st.one_of(PEAKS.map(lambda at: f"--notch={at},0.02cyc"), st.sampled_from(["--stripes=33.5", *TIMES])), max_size=3
)
OUTPUT = st.sampled_from(
    [[], ["--output=keep"], ["--output=signed", "--scale=auto:1.5"], ["--output=magnitude", "--scale=-0.1:40"]]
)
OTHER = st.sampled_from(
    [
        [],
        ["--edges=mirror", "--depth=6.5"],
        ["--edges=wrap"],
        ["--engine=book", "--precision=double"],
        ["--engine=stockham", "--engine-options=radix=4"],
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
        ["--auto=each", "--insist", "--keep=0.1,0.2", "--strength=20"],
    ]
)
PLAIN_COMMANDS = st.tuples(OWN, FACTORS, OUTPUT, OTHER, FILES).map(
    lambda each: [each[0][0], *each[0][1], *each[0][2], *dict.fromkeys(each[1]), *each[2], *each[3], *each[4]]
)
DESCREEN_COMMANDS = st.sampled_from([[], ["--strength=20.5"], ["--keep-detail=30", "--depth=20"]]).map(
    lambda each: ["descreen", *each]
)
IMAGEJ_COMMANDS = st.tuples(
    RADII, st.sampled_from([[], ["--no-autoscale"], ["--no-saturate", "--suppress=vertical"]])
).map(lambda each: ["imagej", f"--large={each[0]}", *each[1]])
OF_FILES = ("--pages", "--missing", "--nodata")


@given(words=st.one_of(PLAIN_COMMANDS, IMAGEJ_COMMANDS, DESCREEN_COMMANDS))
@settings(max_examples=80, deadline=None)
def test_a_command_line_a_recipe_and_a_filter_say_the_same(tmp_path_factory, words):
    try:
        recipe = recipe_of_words([each for each in words if not each.startswith(f"--{words[0]}=")])
    except (click.ClickException, FftfilterError):
        return  # such as cutoffs that are the same
    saved = parse(saved_of(recipe).text(""), "r.json")
    assert (again := recipe_of_words(saved.arguments)) == recipe
    assert (again.key, again.arguments) == (recipe.key, recipe.arguments)
    if any(each.startswith(OF_FILES) for each in words):
        return  # a filter has no files
    try:
        made = filter_of(recipe)
    except FftfilterError:
        return  # such as notches of some channels with the luminance alone
    names = {each.__name__: each.unopened for each in (Filter, ImageJFilter, DescreenFilter)}
    opened = {name: lambda transfer, each=each, **options: each(transfer, options) for name, each in names.items()}
    same = eval(repr(made), {**opened, "AutoNotches": AutoNotches, "H": H})  # noqa: S307  our own
    assert repr(same) == repr(made)
    file = tmp_path_factory.mktemp("recipe") / "a.json"
    fftfilter.save_filter(same, file)
    assert repr(filter_of(recipe_of_words(read(file).arguments))) == repr(made)


def test_every_option_of_a_command_line_is_in_the_recipe():
    of_filter = ["--edges=mirror", "--depth=6.5", "--engine=book", "--precision=double", "--work-group-size=32"]
    of_input = ["--pages=2-5", "--hdu=2", "--level=1", "--palette=table", "--missing=none", "--nodata=-9999"]
    of_output = ["--png-level=9", "--quality=50", "--compression=lzw", "--format=tif"]
    flags = ["--strip", "--preserve-times", "--embed-recipe"]
    own = ["lowpass", "--radius=8px", "--output=signed", "--scale=auto:1.5", "--transpose=plain"]
    words = [*own, *of_filter, *of_input, *of_output, *flags]
    assert recipe_of_words(words) == Recipe(
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
    assert sorted(recipe_of_words(words).arguments) == sorted(each.replace("-9999", "-9999.0") for each in words)
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


def test_filters_are_multiplied_in_their_order():
    words = ["lowpass", "--radius=4", "--notch=0.1,0.2", "--times=highpass --radius 2", "--times=mask --mask no.npy"]
    assert recipe_of_words(words[:-1]).transfer == H.lowpass(4) * H.notch((0.1, 0.2)) * H.highpass(2)
    with pytest.raises(ReadError, match=r"no\.npy: cannot be read"):
        recipe_of_words(words)
    assert recipe_of_words(["notch", "--times=lowpass"]).transfer == H.lowpass()
    assert recipe_of_words(["notch", "--times="]).transfer == H.Transfer(())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "--times: ' ' is not a filter: give one such as 'lowpass --radius 8px'"),
        ("lowpass '", '--times: "lowpass \'" is not a filter'),
        ("bench radix", "--times: 'bench' is not a filter"),
        ("lowpass --output keep", "--times 'lowpass --output keep': No such option"),
        ("lowpass IN", "--times 'lowpass IN': Got unexpected extra argument (IN)"),
        ("lowpass --in-place", "--times 'lowpass --in-place': No such option"),
        ("lowpass --times highpass", "--times 'lowpass --times highpass': No such option"),
        ("mask", "--times 'mask': Missing option '--mask'"),
    ],
)
def test_a_factor_that_is_no_filter_is_refused_in_a_line(text, said):
    with pytest.raises(click.UsageError) as caught:
        recipe_of_words(["highpass", f"--times={text}"])
    assert caught.value.format_message().startswith(said)


def test_options_that_recipes_may_have_write_nothing_and_choose_no_device():
    """A recipe may be somebody else's. All others belong to whoever runs it."""
    kept = {each.opts[-1] for command in COMMANDS.values() for each in command.params if getattr(each, "kept", False)}
    options = {
        each.opts[-1] for command in COMMANDS.values() for each in command.params if each.param_type_name == "option"
    }
    others = "-h in-place device memory scratch profile save-stages preview verify input-limit save-recipe recursive"
    others += " pattern skip-existing fail-fast dry-run report retries log cluster processes quiet verbose state"
    assert options - kept == {each if each == "-h" else f"--{each}" for each in others.split()}
    # Those that name a file to read are the masks'.
    params = [each for each in COMMANDS["mask"].params if each.opts[-1] in kept]
    assert {each.opts[-1] for each in params if re.search("FILE|MASK|DIR", each.metavar or "")} == {
        *("--mask", "--missing", "--region", "--protect", "--ignore")
    }


# The document


def test_the_recipe_of_the_document_is_one(tmp_path):
    (text,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    digest = re.search(r'"gains.png": "(\w+)"', text)[1]
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save(tmp_path / "gains.png")
    own = H.mask_file(str(tmp_path / "gains.png")).parts[0].digest
    (tmp_path / "recipe.json").write_text(text.replace(digest, own))
    made = fftfilter.load_filter(tmp_path / "recipe.json", device="numpy")
    assert [part.kind for part in made.transfer.parts] == ["bandpass", "notch", "mask"]
    assert made.options == {"output": "signed", "scale": (0, 40), "device": "numpy"}  # mirror is Python's default
