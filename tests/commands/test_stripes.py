"""``stripes --auto``: what is said, and what is taken out."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.analysis.test_striped import lines, scene


def test_the_command_says_what_it_takes_out_of_each_picture(run, rng, tmp_path):
    (tmp_path / "in").mkdir()
    clean = scene(rng)
    pictures = {"a.png": clean + lines(rng, 90), "b.png": clean}
    for name, values in pictures.items():
        Image.fromarray(np.rint(np.clip(values, 0, 255)).astype(np.uint8)).save(tmp_path / "in" / name)
    one, other, recipe = tmp_path / "in" / "a.png", tmp_path / "in" / "b.png", tmp_path / "recipe.json"
    code, out, err = run("stripes", "--auto", "--verify", "--save-recipe", recipe, one, tmp_path / "a.png")
    assert (code, err.startswith(f"{one}: lines at 90 degrees, offsets of ")) == (0, True)
    assert b"off by at most 1 of 255" in out or b"off by at most 0 of 255" in out
    code, _, err = run("stripes", "--auto", other, tmp_path / "b.png")
    assert (code, err.startswith(f"{other}: no stripes are found: if there are faint ones, try ")) == (0, True)
    assert (np.asarray(Image.open(tmp_path / "b.png")) == np.asarray(Image.open(other))).all()
    code, _, err = run("apply", recipe, tmp_path / "in", tmp_path / "out")
    assert (code, "1 file: no stripes are found" in err) == (0, True)
    for name in pictures:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / name).read_bytes()
    words = ("lowpass", "--radius", "3px", "--output", "keep", "--edges", "mirror", "--stripes", "auto", "-q")
    assert run(*words, one, tmp_path / "smooth.png") == (0, b"", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no stripes are given: give --angle, or --auto"),
        (["--auto", "folder"], "--auto folder is for waves"),
        (["--auto", "--strength", "20"], "--strength is for the waves that --auto finds"),
        (["--angle", "steep"], "angle 'steep' is not a number of degrees"),
    ],
)
def test_what_means_nothing_is_refused(run, words, message):
    code, _, err = run("stripes", *words, "a.png", "b.png")
    assert (code, message in err) == (2, True)
