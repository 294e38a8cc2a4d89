"""``--ratio``: files, pages, previews, recipes, ``--verify``, and what is refused."""

import numpy as np
import pytest
import tifffile
from PIL import Image

import fftfilter
from fftfilter import Filter
from fftfilter import transfer as H

OPTIONS = ("--radius", "40px", "--shape", "gaussian", "--ratio")


@pytest.fixture
def lit(tmp_path):
    """Return waves under uneven light, uint8, and write them with a dark square."""
    y, x = np.mgrid[:60, :81]
    made = (100 + 50 * np.sin(x / 2) * np.sin(y / 3)) * np.exp(-((x - 20) ** 2 + y**2) / 8000)
    made = made.round().astype(np.uint8)
    made[10:12, 20:22] = 0
    Image.fromarray(made).save(tmp_path / "in.png")
    return made


def test_the_command_keeps_levels_and_says_what_has_no_logarithm(run, tmp_path, lit):
    code, printed, errors = run("highpass", *OPTIONS, "--verify", tmp_path / "in.png", tmp_path / "out.png")
    assert code == 0
    assert b"off by at most" in printed
    assert "4 samples are 0 or less, have no logarithm, and stay as they are" in errors
    wanted = Filter(H.highpass("40px", shape="gaussian"), ratio=True)(lit)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out.png")), wanted)


def test_transparent_black_is_missing_and_not_dark(run, tmp_path, lit):
    alpha = np.full(lit.shape, 255, np.uint8)
    alpha[:, 30:] = 0  # more than half
    bright = np.where(alpha == 0, 0, np.maximum(lit, 1)).astype(np.uint8)
    wanted = Filter(H.highpass("40px", shape="gaussian"), ratio=True)(bright, missing=alpha == 0)
    for source, said in ((bright, []), (np.where(alpha == 0, 0, lit), ["4 samples are 0 or less"])):
        Image.fromarray(np.dstack([source, alpha]), "LA").save(tmp_path / "in.png")
        code, _, errors = run("highpass", *OPTIONS, tmp_path / "in.png", tmp_path / "out.png")
        assert (code, [line[11:].split(",")[0] for line in errors.splitlines()[1:]]) == (0, said)
        if not said:
            np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out.png"))[..., 0], wanted)


@pytest.mark.parametrize("output", ["real", "removed"])
def test_values_are_factors_and_verified(run, tmp_path, lit, output):
    out = tmp_path / "out.tif"
    assert run("highpass", *OPTIONS, "--output", output, "--verify", tmp_path / "in.png", out)[0] == 0
    made = tifffile.imread(out)
    assert made.dtype == np.float32
    assert abs(np.log(made[lit > 0]).mean()) < 0.01  # around 1


def test_pages_previews_and_recipes(run, tmp_path, lit):
    pages = np.stack([lit, lit // 2 + 1])
    tifffile.imwrite(tmp_path / "in.tif", pages, photometric="minisblack")
    recipe, page = tmp_path / "r.json", tmp_path / "page.png"
    options = (*OPTIONS, "--edges", "wrap", "--verify", "--save-recipe", recipe, "--preview", page)
    assert run("highpass", *options, tmp_path / "in.tif", tmp_path / "out.tif")[0] == 0
    assert page.stat().st_size
    made = tifffile.imread(tmp_path / "out.tif")
    np.testing.assert_array_equal(made, Filter(H.highpass("40px", shape="gaussian"), ratio=True, edges="wrap")(pages))
    assert run("apply", recipe, tmp_path / "in.tif", tmp_path / "again.tif")[0] == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), made)
    np.testing.assert_array_equal(fftfilter.load_filter(recipe)(pages), made)


@pytest.mark.parametrize(
    "command", [("stripes", "--angle", "90"), ("notch", "--auto", "--strength", "12"), ("wiener",)]
)
def test_what_follows_from_the_picture_follows_from_its_logarithm(run, tmp_path, lit, command):
    image = np.maximum(lit, 1) * (1 + 0.1 * np.sin(2 * np.pi * np.arange(81) / 4.3))
    tifffile.imwrite(tmp_path / "in.tif", image.astype(np.float32))
    code, printed, errors = run(*command, "--ratio", "--verify", tmp_path / "in.tif", tmp_path / "out.tif")
    assert code == 0, errors
    assert b"0 of 4860 samples by too much" in printed


@pytest.mark.parametrize(
    ("command", "out", "message"),
    [
        (("highpass", "--output", "magnitude"), "out.png", "output magnitude is stretched"),
        (("highpass", "--output", "removed"), "out.png", "--output removed with --ratio takes floats"),
        (("notch", "--auto", "folder"), "out", "--ratio is for each picture by itself: leave folder out of --auto"),
        (("wiener", "--noise", "5"), "out.png", "a noise in gray levels is none of a logarithm"),
        (("descreen",), "out.png", "No such option '--ratio'"),
    ],
)
@pytest.mark.usefixtures("lit")
def test_what_makes_no_sense_is_refused_in_a_line(run, tmp_path, command, out, message):
    source = tmp_path if out == "out" else tmp_path / "in.png"
    code, _, errors = run(*command, "--ratio", source, tmp_path / out)
    assert (code, len(errors.splitlines())) == (2, 1)
    assert message in errors
    assert not (tmp_path / out).exists()


def test_a_file_of_negative_values_fails_by_its_name(run, tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", np.full((40, 40), -1, np.float32))
    code, _, errors = run("highpass", *OPTIONS, tmp_path / "in.tif", tmp_path / "out.tif")
    assert code != 0
    assert "in.tif: 100% of the values are 0 or less, which have no logarithm" in errors
