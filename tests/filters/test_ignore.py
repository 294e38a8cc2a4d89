"""``ignore``: what is found in a picture is found in its other pixels, and all pixels are filtered."""

from __future__ import annotations

import pickle
import re
from functools import partial

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.folders.mean_spectrum import mean_spectrum
from fftfilter.missing import fill_by_numpy
from fftfilter.region import area_of
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from fftfilter.work.recipe import unmeasured

SIZE = 96, 120
Y, X = np.mgrid[: SIZE[0], : SIZE[1]]
WAVE = 12 * np.sin(2 * np.pi * (0.2 * X + 0.13 * Y))
STARS = np.random.default_rng(5).random(SIZE) < 0.01
BOOK = {"engine": "book"}


@pytest.fixture
def sky(rng):
    return 1000 + rng.normal(0, 4, SIZE)


@pytest.fixture
def image(sky):
    """A sky under a wave, and its stars, among which the wave is not found."""
    stars = np.where(STARS, 20000, 0)
    return np.rint(sky + WAVE + stars).astype(np.uint16), stars


def saved(folder, image, mask=STARS):
    tifffile.imwrite(folder / "in.tif", image)
    Image.fromarray(255 * mask.astype(np.uint8)).save(folder / "mask.png")
    return folder / "in.tif", folder / "mask.png"


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_the_wave_is_that_of_the_sky_and_leaves_the_stars_too(sky, image):
    image, stars = image
    options = {"auto": True, "output": "real", "edges": "mirror", **BOOK}
    masked = fftfilter.notch(image, ignore=STARS, **options) - stars - sky
    assert fftfilter.find_peaks(image) == []
    assert np.std(masked) < 0.15 * np.std(WAVE)
    assert np.std(masked[STARS]) < 0.15 * np.std(WAVE)
    (peak,) = fftfilter.find_peaks(image, ignore=STARS)
    assert (round(peak.fx, 2), round(peak.fy, 2), round(peak.amplitude)) == (0.2, 0.13, 12)


@pytest.mark.parametrize("transfer", [H.highpass("60px"), H.stripes(0), H.notch((0.2, 0.13), width="0.05cyc")])
def test_what_is_taken_is_that_of_the_filled_picture(rng, transfer):
    """The background under a galaxy is that around it; the galaxy itself stays."""
    mask = (X - 70) ** 2 + (Y - 40) ** 2 < 60
    galaxy = np.where(mask, rng.uniform(0, 2000, SIZE), 0)
    rows = np.repeat(rng.normal(0, 9, (SIZE[0], 1)), SIZE[1], axis=1)
    image = (2000 + 3 * Y + WAVE + rows + galaxy).astype(np.float32)
    own = {"ignore": mask, "edges": "mirror", "output": "real", **BOOK}
    made = Filter(transfer, **own)(image)
    filled = fill_by_numpy(image[None].astype(np.float64), mask[None])[0]
    fitted = Filter(transfer, **own).fit(filled[None], 1, holes=mask[None])
    less = image - (filled - fitted.planes[0])  # without lines
    filled, gain = fill_by_numpy(less[None], mask[None])[0], grid_with("mirror", fitted.transfer, *SIZE).gain()
    for _ in range(3):  # what is removed goes on below the galaxy
        taken = filled - reference.filtered(filled, gain, "mirror").real
        filled = np.where(mask, (fill_by_numpy((less - taken)[None], mask[None])[0] + taken), less)
    taken = filled - reference.filtered(filled, gain, "mirror").real
    np.testing.assert_allclose(made, less - taken, atol=0.02)
    without = image - galaxy  # what a filter should take from the picture with the galaxy, it takes from this one
    wanted = Filter(transfer, **{**own, "ignore": None})(without.astype(np.float32))
    plain = Filter(transfer, **{**own, "ignore": None})(image)
    # A galaxy hardly gets into the estimate of lines, whose steps it does not share.
    least = 0.001 * np.std(galaxy[mask]) if transfer.is_fitted else 0
    assert np.std((made - galaxy - wanted)[mask]) < max(0.5 * np.std((plain - galaxy - wanted)[mask]), least)


def test_the_noise_is_that_of_the_other_pixels(sky):
    image = np.rint(sky / 5 + np.where(STARS, 50, 0)).astype(np.uint8)
    said = []
    for pixels in (STARS, None):
        with Filter(H.wiener(), ignore=pixels, output="real", edges="mirror", **BOOK) as filter_:
            filter_(image)
            said += filter_.notes()
    levels = [float(re.search(r"([\d.]+) levels", note)[1]) for note in said]
    assert levels[0] == pytest.approx(0.8, abs=0.2)
    assert levels[1] > 3


def test_the_pixels_may_be_a_rectangle_and_the_filter_may_be_pickled(image):
    image, _ = image
    made = Filter(H.Transfer(()), auto=True, output="real", ignore=(50, 20, 40, 40), **BOOK)
    assert "ignore='50,20,40,40'" in repr(made)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made))(image), made(image))  # noqa: S301  its own
    box = np.zeros(SIZE, bool)
    box[20:60, 50:90] = True
    np.testing.assert_array_equal(made.with_options(ignore=box)(image), made(image))


@pytest.mark.parametrize(
    "words",
    [
        "notch --auto --edges mirror",
        "notch --at 0.2,0.13 --wiener auto",
        "notch --auto",
        "wiener",
        "stripes --auto",
        "stripes --angle 0",
        "lowpass --auto",
        "highpass",
        "highpass --depth 9",
    ],
)
def test_the_command_is_right_by_the_reference_and_its_recipe_says_it(tmp_path, image, words):
    source, mask = saved(tmp_path, image[0])
    keep = ["--output", "keep", "--ignore", mask, "--engine", "book"]
    made = run(*words.split(), *keep, "--verify", "--save-recipe", tmp_path / "r.json", source, tmp_path / "out.tif")
    assert (made.exit_code, made.stdout.count("off by at most")) == (0, 1), made.output
    assert "mask.png" in (tmp_path / "r.json").read_text()
    assert run("apply", tmp_path / "r.json", source, tmp_path / "again.tif").exit_code == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), tifffile.imread(tmp_path / "out.tif"))


def test_a_filter_in_python_makes_a_recipe_with_the_file_of_its_mask(tmp_path, image):
    source, mask = saved(tmp_path, image[0])
    made = Filter(H.wiener(), output="keep", edges="mirror", ignore=str(mask), **BOOK)
    fftfilter.save_filter(made, tmp_path / "made.json")
    assert run("apply", tmp_path / "made.json", source, tmp_path / "out.tif").exit_code == 0
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), made(image[0]))


def test_peaks_and_a_folder_find_them_in_the_other_pixels(tmp_path, image):
    source, mask = saved(tmp_path, image[0])
    found = run("peaks", "--ignore", mask, source)
    assert [line[:7] for line in found.stdout.splitlines()[1:2]] == ["4.19 px"]
    (tmp_path / "many").mkdir()
    for name in "ab":
        tifffile.imwrite(tmp_path / "many" / f"{name}.tif", image[0])
    of_folder = mean_spectrum(
        [str(tmp_path / "many" / "a.tif")], lambda: None, holes=partial(unmeasured, ignore=area_of(STARS, "ignore"))
    )
    assert (of_folder.spectrum.pictures, of_folder.failed) == (1, [])
    made = run("notch", "--auto", "folder", "--ignore", mask, "--engine", "book", tmp_path / "many", tmp_path / "out")
    assert made.exit_code == 0, made.output
    assert "removed 4.19 px" in made.stderr


def test_missing_pixels_hide_no_wave_of_a_folder(tmp_path):
    for name in "ab":
        image = (100 + WAVE).astype(np.float32)
        image[STARS] = 1e6
        (tmp_path / "many").mkdir(exist_ok=True)
        tifffile.imwrite(tmp_path / "many" / f"{name}.tif", image)
    Image.fromarray(255 * STARS.astype(np.uint8)).save(tmp_path / "mask.png")
    for words in ((), ("--nodata", "1e6"), ("--missing", tmp_path / "mask.png")):
        peaks = run("peaks", *words, tmp_path / "many")
        made = run("notch", "--auto", "folder", "--engine", "book", *words, tmp_path / "many", tmp_path / "out")
        assert (peaks.exit_code, made.exit_code) == (0, 0), made.output
        found = "4.19 px" in peaks.stdout, "removed 4.19 px" in made.stderr
        assert found == (bool(words),) * 2, words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("lowpass --ignore mask.png", "ignore is for what is found in a picture"),
        ("notch --auto --ignore 90,80,40,40", "in.tif: ignore 90,80,40,40 reaches beyond the picture of 120 x 96"),
        ("notch --auto --ignore small.png", "small.png has 9 x 9 pixels, and the picture 120 x 96"),
        ("notch --auto --ignore none.png", "none.png is empty"),
        ("notch --auto --ignore nowhere.png", "nowhere.png"),
        ("peaks --ignore small.png", "small.png has 9 x 9 pixels"),
        ("descreen --ignore mask.png", "--ignore"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused_in_a_line(tmp_path, monkeypatch, image, words, message):
    saved(tmp_path, image[0])
    monkeypatch.chdir(tmp_path)
    Image.new("L", (9, 9), 255).save("small.png")
    Image.new("L", SIZE[::-1]).save("none.png")
    made = run(*words.split(), "in.tif", *([] if words.startswith("peaks") else ["out.tif"]))
    assert made.exit_code in (1, 2)
    assert message in made.stderr
    assert not (tmp_path / "out.tif").exists()


def test_filters_that_find_nothing_refuse_it_in_python():
    with pytest.raises(ParameterError, match="ignore is for what is found in a picture"):
        fftfilter.lowpass(np.zeros((8, 8), np.uint8), 2, ignore=(0, 0, 2, 2), **BOOK)
    with pytest.raises(ParameterError, match="is not for descreen"):
        fftfilter.descreen(np.zeros((64, 64), np.uint8), ignore=(0, 0, 2, 2), **BOOK)
