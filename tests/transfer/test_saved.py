"""Transfer functions in files: what is saved is loaded, and what is no recipe is refused in a line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fftfilter import transfer as H
from fftfilter.errors import FftfilterError, ParameterError, ReadError, WriteError
from fftfilter.transfer import saved

PART = {"kind": "lowpass", "radius": "8px"}


@pytest.mark.parametrize(
    "made",
    [
        H.Transfer(()),
        H.highpass(),
        (H.highpass(3) * H.stripes(0)).with_depth(6.5),
        H.lowpass("2.5um", shape="cosine", width="20um").with_pixel_size("65nm"),
        H.lowpass("8px", shape="butterworth", order=3) * H.highpass(1 / 3),
        H.bandpass("20px", "4px") * H.bandstop(30, 34.5),
        H.notch((0.123, -0.047), harmonics=3, shape="ideal") * H.notch((0.1, 0.2), channels=(0, 2)),
        H.notch((0.1, 0.2), mirrored=True)
        * H.notch((0.3, 0.2), is_wave=True, width=2)
        * H.wiener()
        * H.descreen(20, 5),
        H.stripes(33.5, spare="20px") * H.stripes(0, width="1um").with_pixel_size("300dpi"),
        H.imagej(40, 0, suppress="vertical", tolerance=7.5),
        H.lowpass("1um").with_pixel_size("65nm") * H.stripes(0, width="2um").with_pixel_size("80nm"),
    ],
    ids=str,
)
def test_a_transfer_function_comes_back_from_its_file_and_from_its_text(tmp_path, made):
    file = tmp_path / "recipe.json"
    H.save(made, file)
    assert H.load(file) == made
    assert eval(repr(made)) == made  # noqa: S307  our own


def test_a_mask_is_kept_by_the_name_of_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("gains.npy", np.linspace(0, 1, 12).reshape(3, 4))
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save("gains.png")
    (tmp_path / "kept").mkdir()
    made = H.mask_file("gains.npy") * H.mask_file("gains.png")
    H.save(made, "kept/recipe.json")
    assert json.loads((tmp_path / "kept/recipe.json").read_text())["transfer"][0]["file"] == "../gains.npy"
    assert H.load("kept/recipe.json") == made == eval(repr(made))  # noqa: S307  our own
    monkeypatch.chdir(tmp_path / "kept")
    assert H.load("recipe.json") == made  # names are relative to the recipe, not to the current folder


def test_a_mask_that_has_changed_is_refused_and_one_of_an_array_cannot_be_kept(tmp_path):
    file = tmp_path / "gains.npy"
    np.save(file, np.eye(4))
    H.save(H.mask_file(str(file)), tmp_path / "recipe.json")
    np.save(file, np.ones((4, 4)))
    with pytest.raises(ParameterError, match="has changed since the recipe was saved"):
        H.load(tmp_path / "recipe.json")
    file.unlink()
    with pytest.raises(ReadError, match="no such file"):
        H.load(tmp_path / "recipe.json")
    with pytest.raises(
        ParameterError,
        match=r"^the mask of 4 x 4 is in no file, which a recipe names: save its gains with numpy.save, and read",
    ):
        H.save(H.mask(np.eye(4)), tmp_path / "recipe.json")


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (1, "is not an object such as"),
        ({}, "the kind null is unknown: choose bandpass"),
        ({"kind": "load", "file": "x"}, 'the kind "load" is unknown'),
        ({"kind": ["lowpass"]}, "the kind a list is unknown"),
        ({"kind": "mask", "gains": [[1]]}, 'the kind "mask" is unknown'),
        ({"kind": "x" * 70}, f'the kind "{"x" * 49}... is unknown'),
        ({"kind": "x" * 58}, f'the kind "{"x" * 58}" is unknown'),
        ({"kind": "notch", "at": [0.1, 0.2], "mirrored": 1}, "transfer[0].mirrored: 1 is not true or false"),
        ({"kind": "mask_file", "file": "a\0b"}, "is no name: give that of a mask"),
        ({"kind": "lowpass", "radus": 3}, 'a lowpass has no key "radus": choose radius, shape, order, width'),
        ({"kind": "lowpass", "shape": 3}, "transfer[0].shape: 3 is not a text"),
        ({"kind": "lowpass", "radius": [1]}, "is not a number"),
        ({"kind": "lowpass", "radius": -1}, "must be finite and greater than zero"),
        ({"kind": "lowpass", "shape": "butterworth", "order": 1.5}, "order 1.5 is out of range"),
        ({"kind": "notch"}, "a notch needs 'at': give it"),
        ({"kind": "notch", "at": {}}, "is not a peak"),
        (
            {"kind": "notch", "at": [0.1, 0.2], "channels": 3},
            "an object is not a notch: an argument has the wrong type",
        ),
        ({"kind": "mask_file", "file": 3}, "an argument has the wrong type"),
        (PART | {"pixel_size": [3]}, "pixel size '[3]' is not a number"),
    ],
)
def test_a_part_with_a_fault_is_refused_in_a_line_that_says_where(part, said):
    with pytest.raises(FftfilterError) as caught:
        saved.from_json([part], "r.json: transfer")
    assert said in str(caught.value)
    assert str(caught.value).startswith("r.json: transfer[0]")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"no", "is not a recipe in JSON"),
        (b"\xff\xfe\x00", "is not a recipe in JSON"),
        (b"[1]", "is not a recipe: one is written by --save-recipe"),
        (b'{"transfer": []}', "is not a recipe"),
        (b'{"fftfilter_recipe": 2, "transfer": []}', "is of version 2; this program reads 1: update fftfilter-opencl"),
        (b'{"fftfilter_recipe": true}', "the version true is invalid: fftfilter_recipe is 1"),
        (b'{"fftfilter_recipe": 0}', "the version 0 is invalid"),
        (b'{"fftfilter_recipe": 1.5}', "the version 1.5 is invalid"),
        (b'{"fftfilter_recipe": "1"}', 'the version "1" is invalid'),
        (b'{"fftfilter_recipe": 1, "depth": 0}', "depth 0 is invalid: give decibels above 0"),
        (b'{"fftfilter_recipe": 1, "transfer": [], "transfer": []}', "a key stands twice"),
        (b'{"fftfilter_recipe": 1, "transfer": NaN}', "is out of range"),
        (b'{"fftfilter_recipe": 1, "transfer": [1e999]}', "is out of range"),
        (b'{"fftfilter_recipe": 1, "transfer": [], "engine": "\\ud800"}', "is not a recipe in JSON"),
        (b'{"fftfilter_recipe": 1, "transfer": [' + 5000 * b"9" + b"]}", "is not a recipe in JSON"),
        (
            b'{"fftfilter_recipe": 1, "transfer": ' + 100_000 * b"[" + 100_000 * b"]" + b"}",
            "is nested too deep for a recipe: give another file",
        ),
        (
            b'{"fftfilter_recipe": 1, "transfer": [' + (1 << 20) * b" " + b"]}",
            "has more than 1,048,576 bytes, which no recipe has: give another file",
        ),
    ],
    ids=lambda each: each[:50] if isinstance(each, str) else "",
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path, text, said):
    file = tmp_path / "recipe.json"
    file.write_bytes(text)
    with pytest.raises(FftfilterError) as caught:
        H.load(file)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_file_is_named_from_the_recipe_in_it_and_from_the_current_folder_outside(tmp_path):
    assert saved.placed("file", "../gains.npy", "kept") == "gains.npy"
    assert saved.placed("file", "gains.npy", "") == "gains.npy"
    assert saved.placed("shape", "../gains.npy", "kept") == "../gains.npy"
    assert saved.relative("file", "gains.npy", "kept") == str(Path("..") / "gains.npy")
    for way in saved.placed, saved.relative:
        assert way("file", "https://example.org/gains.npy", "kept") == "https://example.org/gains.npy"
    assert saved.folder_of("https://example.org/kept/recipe.json") == ""
    assert saved.folder_of(tmp_path / "recipe.json") == str(tmp_path)


def test_a_recipe_that_cannot_be_written_is_told_by_its_name(tmp_path):
    with pytest.raises(WriteError, match=r"none.recipe.json: cannot be written"):
        H.save(H.lowpass(), tmp_path / "none/recipe.json")


@pytest.mark.parametrize("name", ["plain.png", "plain.tif", "pages.tif"])
def test_a_picture_without_a_recipe_is_told(tmp_path, name):
    page = Image.fromarray(np.zeros((4, 5), np.uint8))
    page.save(tmp_path / name, **({"save_all": True, "append_images": [page]} if name == "pages.tif" else {}))
    with pytest.raises(ParameterError, match=rf"{name}: has no recipe: one is put into a picture by --embed-recipe$"):
        H.load(tmp_path / name)


def test_a_recipe_reads_as_it_would_be_written_by_hand():
    assert saved.text_of({"transfer": saved.to_json(H.lowpass("8px") * H.stripes(0)), "output": "keep"}) == (
        '{\n  "fftfilter_recipe": 1,\n  "transfer": [\n'
        '    {"kind": "lowpass", "radius": "8px"},\n'
        '    {"kind": "stripes", "angle": 0.0}\n'
        '  ],\n  "output": "keep"\n}\n'
    )
