"""``stripes --auto``: what is said, and what is taken out."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import Filter
from fftfilter import transfer as H
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


@pytest.fixture
def sensor(rng):
    """Pictures of one sensor, with and without its lines, which are too faint to be found in one of them."""
    clean = [scene(np.random.default_rng(seed)) for seed in range(12)]
    pattern = rng.normal(0, 0.8, (len(clean[0]), 1))
    rounded = [np.rint(np.clip(each + pattern, 0, 255)).astype(np.uint8) for each in clean]
    return np.stack(rounded), np.stack(clean)


def left(made, clean):
    """Return the root mean square of what rows have in common, beside the clean pictures."""
    rows = (np.asarray(made, float) - clean).mean(axis=2)
    return np.sqrt(np.square(rows - rows.mean(axis=1, keepdims=True)).mean())


def test_lines_that_all_pages_have_are_found_in_all_together(run, sensor, tmp_path):
    faulty, clean = sensor
    tifffile.imwrite(tmp_path / "in.tif", faulty, photometric="minisblack")
    words = ("stripes", "--auto", "--fixed-pattern", "pages", "--verify", tmp_path / "in.tif", tmp_path / "out.tif")
    code, _, err = run(*words)
    assert (code, "in.tif: lines at 0 degrees, offsets of 0." in err) == (0, True)
    made = tifffile.imread(tmp_path / "out.tif")
    assert left(made, clean) < 0.5 * left(faulty, clean)
    again = Filter(H.stripes("auto", fixed_pattern="pages"))(faulty)
    np.testing.assert_allclose(made, again, atol=1)


def test_lines_that_all_files_have_are_found_but_for_those_that_cannot_be_read(run, sensor, tmp_path):
    faulty, clean = sensor
    (tmp_path / "in").mkdir()
    for i, each in enumerate(faulty):
        Image.fromarray(each).save(tmp_path / "in" / f"{i:02}.png")
    (tmp_path / "in" / "99.png").write_bytes(b"no picture")
    recipe = tmp_path / "recipe.json"
    words = ("--angle", "0", "--fixed-pattern", "folder", "--save-recipe", recipe)
    code, _, err = run("stripes", *words, tmp_path / "in", tmp_path / "out")
    assert (code, "13 pictures: lines at 0 degrees" in err, "99.png: not an image" in err) == (1, True, True)
    made = np.stack([np.asarray(Image.open(each)) for each in sorted((tmp_path / "out").glob("*.png"))])
    assert left(made, clean) < 0.5 * left(faulty, clean)
    assert run("apply", recipe, tmp_path / "in", tmp_path / "again")[0] == 1
    assert (tmp_path / "again" / "03.png").read_bytes() == (tmp_path / "out" / "03.png").read_bytes()


def test_pictures_without_a_pattern_stay_as_they_are(run, sensor, tmp_path):
    rounded = np.rint(np.clip(sensor[1], 0, 255)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "in.tif", rounded, photometric="minisblack")
    code, _, err = run("stripes", "--auto", "--fixed-pattern", "pages", tmp_path / "in.tif", tmp_path / "out.tif")
    assert (code, "in.tif: no lines are found that all pictures have: try --angle 0" in err) == (0, True)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), rounded)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--angle", "33", "--fixed-pattern", "pages"), "a fixed pattern has lines along rows or columns"),
        (("--auto", "--fixed-pattern", "pages", "--ratio"), "ratio takes the logarithms of each picture"),
        (("--auto", "--fixed-pattern", "folder"), "--fixed-pattern folder is for folders, and IN is a file"),
    ],
)
def test_a_fixed_pattern_that_means_nothing_is_refused(run, words, message, tmp_path):
    Image.new("L", (30, 20)).save(tmp_path / "in.png")
    code, _, err = run("stripes", *words, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, message in err) == (2, True)


def test_pictures_of_several_sizes_have_no_pattern(run, tmp_path):
    for name, width in (("a.png", 300), ("b.png", 200)):
        Image.new("L", (width, 100)).save(tmp_path / name)
    words = ("stripes", "--auto", "--fixed-pattern", "folder", tmp_path, tmp_path / "out")
    code, _, err = run(*words)
    assert (code, "here are 300 x 100 in 1 channels and 200 x 100 in 1 channels" in err) == (2, True)
    assert not (tmp_path / "out").exists()
