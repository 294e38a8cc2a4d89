"""Recipes: equal if they make the same bytes, also as a copy in another process, and told apart by every field."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest

from fftfilter import __version__
from fftfilter import transfer as H
from fftfilter.analysis.search import AutoNotches
from fftfilter.errors import ParameterError
from fftfilter.images import Asked, Coding, Picture, Size
from fftfilter.output.modes import Auto, Range
from fftfilter.region import region_of
from fftfilter.transfer.product import EDGES
from fftfilter.work.opened import open_input
from fftfilter.work.recipe import METHODS, Missing, Recipe
from tests.folders.helpers import pgm

GAINS = np.linspace(0, 1, 12).reshape(3, 4)
OTHERS = {
    "transfer": H.mask(GAINS[::-1]),
    "method": "imagej",
    "options": {"engine": "book"},
    "output": "keep",
    "scale": Range(0.0, 40.0),
    "span": "stack",
    "pages": Asked(1, 2),
    "auto": AutoNotches(20.0),
    "coding": Coding(9),
    "format": "png",
    "missing": Missing(-9999.0),
    "strip": True,
    "preserve_times": True,
    "embed_recipe": True,
    "region": region_of((0, 0, 3, 4), None, None),
}


@pytest.mark.parametrize("name", [each.name for each in fields(Recipe) if each.compare])
def test_every_field_tells_recipes_apart(name):
    recipe = Recipe(H.mask(GAINS), output="signed" if name in ("scale", "span") else "real")
    other = replace(recipe, **{name: OTHERS[name]})
    assert other != recipe
    assert other.key != recipe.key


def test_words_that_say_the_same_make_other_outputs_only_if_they_are_in_them():
    recipe = Recipe(H.highpass(), arguments=("highpass",))
    other = replace(recipe, arguments=("highpass", "--edges=wrap"))
    assert (other, other.key) == (recipe, recipe.key)
    assert replace(other, embed_recipe=True).key != replace(recipe, embed_recipe=True).key


def test_a_copy_is_the_same_recipe():
    recipe = Recipe(H.mask(GAINS, any_size=True) * H.lowpass("8px"), auto=AutoNotches(18.0))
    copy = pickle.loads(pickle.dumps(recipe))  # noqa: S301  its own
    assert copy == recipe
    assert copy.key == recipe.key
    assert replace(recipe, transfer=H.mask(GAINS) * H.lowpass("8px")) != recipe  # a mask for one size


def test_a_key_is_that_of_every_process():
    made = "from fftfilter import transfer as H; from fftfilter.work.recipe import METHODS, Recipe; "
    script = made + "import sys; print(Recipe(H.lowpass('8px')).key, 'numpy' in sys.modules, 'pyopencl' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == [Recipe(H.lowpass("8px")).key, "False", "False"]


def test_a_range_of_all_takes_the_place_of_the_span():
    recipe = Recipe(H.highpass(), output="signed", span="folder")
    assert (recipe.measuring().output, recipe.measuring().span) == ("magnitude", "each")
    made = recipe.with_range(0.5)
    assert (made.scale, made.span) == (Range(-0.5, 0.5, of_white=True), "each")
    assert recipe.with_range(0.0).scale == Range(-1.0, 1.0, of_white=True)  # of rounding noise


@pytest.mark.parametrize(
    ("given", "target", "message"),
    [
        ({"output": "keep", "scale": Auto()}, "out.png", "has no scale"),
        ({"output": "kept"}, "out.png", "output 'kept' is invalid: choose magnitude"),
        ({"output": "keep", "span": "stack"}, "out.png", "has no scale"),
        ({"coding": Coding(quality=50)}, "out.png", "has no quality"),
        ({"output": "real"}, "out.png", "holds whole numbers"),
    ],
)
def test_what_cannot_go_together_is_refused(given, target, message):
    with pytest.raises(ParameterError, match=message):
        Recipe(H.highpass(), **given).refuse(target)


@pytest.mark.parametrize(
    "options", [{"engine": "book"}, {"precision": "double"}, {"transpose": "tiled"}, {"engine": "no"}]
)
def test_the_memory_of_the_staged_pipeline_is_looked_at_before_a_file_is_decoded(tmp_path, monkeypatch, options):
    """Also for the files of a folder, which are opened by the same call."""
    source = pgm(tmp_path / "in.pgm", width=300)
    asked = []
    monkeypatch.setattr("fftfilter.images.picture.check_memory", lambda *given: asked.append(given[2]))
    sizes = []
    for recipe in Recipe(H.highpass()), Recipe(H.highpass(), options=options):
        asked.clear()
        open_input(source, recipe)
        sizes.append(asked[0])
    assert (sizes[1] > sizes[0]) == (options != {"engine": "no"})  # which is refused with the filter


def test_the_staged_pipeline_takes_memory_for_mirror_images():
    options = {"engine": "book", "precision": "single"}
    wrapped, mirrored = (Recipe(H.lowpass(3), options={**options, "edges": edges}).working for edges in EDGES)
    assert mirrored(Size(10, 12, 1, 1)) > wrapped(Size(20, 24, 1, 1))


@pytest.mark.parametrize(("autoscale", "keeps_levels"), [(True, False), (False, True)])
def test_what_imagej_autoscales_has_no_levels_of_the_input(autoscale, keeps_levels):
    usual = METHODS["imagej"].usual
    assert Recipe(H.imagej(), "imagej", usual | {"autoscale": autoscale}, "keep").keeps_levels == keeps_levels


def test_a_part_or_a_region_of_a_picture_takes_memory_beside_it():
    size = Size(10, 12, 3, 1)
    luminance = Recipe(H.lowpass(3), options={"channels": "luminance"}, output="keep")
    region = Recipe(H.lowpass(3), output="keep", region=region_of((0, 0, 3, 4), None, None))
    usual = Recipe(H.lowpass(3), options={"channels": "all"}, output="keep")
    assert usual.working(size) == 18 * 120  # the planes, their columns as floats, the result
    assert [each.working(size) > usual.working(size) for each in (luminance, region)] == [True, True]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"output": "keep"}, "output keep"),
        (
            {"output": "signed", "scale": Auto(1.5), "options": {"edges": "mirror"}},
            "output signed, scale auto:1.5, edges mirror",
        ),
        ({"scale": Range(-0.5, 40), "options": {"edges": "wrap"}}, "output magnitude, scale -0.5:40"),
        ({"output": "real", "region": region_of((0, 1, 2, 3), None, 4)}, "output real, region 0,1,2,3, feather 4.0"),
        ({"method": "descreen", "output": "keep"}, "output keep"),
    ],
)
def test_a_recipe_says_in_words_what_is_done(given, said):
    method = "descreen, " if "method" in given else ""
    transfer = H.lowpass("8px")
    wanted = f"fftfilter {__version__}: {method}lowpass, ideal, radius 8px; {said}"
    assert Recipe(H.lowpass(3), **given).said(transfer) == wanted


@pytest.mark.parametrize(
    ("shape", "dtype", "is_said"), [((1, 2, 3), "u1", True), ((3, 2, 3), "u1", False), ((1, 2, 3), "f4", False)]
)
def test_pages_that_imagej_autoscales_are_said(shape, dtype, is_said):
    recipe = Recipe(H.imagej(), "imagej", {"autoscale": True}, output="keep")
    first = Picture(np.zeros(shape, dtype), None, 255, "TIFF")
    assert bool(recipe.how.caution_of_pages(recipe, first)) == is_said
