"""``show``: the page of ``--preview`` for arrays."""

from __future__ import annotations

import io

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import ParameterError
from fftfilter.preview.page import CAPTION, GAP, MARGIN, SIDE, TITLE
from tests.helpers import COMMAND

BOOK = {"engine": "book"}


def below_title(picture):
    return np.asarray(picture)[TITLE:]


OPTIONS = [
    ("highpass --radius 5px", H.highpass("5px"), {}),
    (
        "lowpass --radius 3 --output keep --edges mirror --depth 12",
        H.lowpass(3),
        {"output": "keep", "edges": "mirror", "depth": 12},
    ),
    ("lowpass --radius 3 --output real", H.lowpass(3), {"output": "real"}),
    (
        "bandpass --inner 2 --outer 4 --output keep --channels luminance",
        H.bandpass(2, 4),
        {"output": "keep", "channels": "luminance"},
    ),
]


@pytest.mark.parametrize(("command", "transfer", "options"), OPTIONS, ids=[command for command, *_ in OPTIONS])
def test_it_draws_and_says_what_the_command_draws_and_says(command, transfer, options, rng, tmp_path, said):
    image = rng.integers(0, 256, (12, 10, 3), dtype=np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    names = [str(tmp_path / name) for name in ("look.png", "in.png", "out.tif")]
    run = CliRunner().invoke(cli, [*command.split(), "--engine", "book", "--preview", *names])
    assert run.exit_code == 0, run.output
    by_command, said[:] = said[:], []
    options = {**COMMAND, **options, **BOOK}
    got = fftfilter.show(image, transfer, channel_axis=-1, **options)
    np.testing.assert_array_equal(below_title(got), below_title(Image.open(names[0])))
    assert by_command == [f"in.png   {said[0]}", *said[1:]]
    assert said[0] == "10 x 12"


def test_a_notebook_gets_a_png(rng):
    page = fftfilter.show(rng.random((12, 10)), H.lowpass("8px"), **BOOK)
    assert Image.open(io.BytesIO(page._repr_png_())).size == page.size


def test_values_are_shown_from_0_to_1():
    page = np.asarray(fftfilter.show(np.full((12, 10), 0.5), H.lowpass(3), output="real", **BOOK))
    assert page[TITLE + CAPTION + SIDE // 2, MARGIN + 2 * (SIDE + GAP) + SIDE // 2].tolist() == [128] * 3


def test_a_filter_shows_itself(rng):
    image = rng.integers(0, 256, (12, 10), dtype=np.uint8)
    filter_ = fftfilter.Filter(H.lowpass(3), output="keep", **BOOK)
    wanted = fftfilter.show(image, H.lowpass(3), output="keep", **BOOK)
    assert fftfilter.show(image, filter_) == wanted
    assert fftfilter.show(image, filter_, output="magnitude") != wanted


def test_of_a_stack_the_middle_image_is_shown(rng):
    stack = rng.integers(0, 256, (4, 12, 10), dtype=np.uint8)
    missing = stack > 200
    wanted = fftfilter.show(stack[1], H.lowpass(3), missing=missing[1], **BOOK)
    assert fftfilter.show(stack, H.lowpass(3), missing=missing, **BOOK) == wanted
    assert fftfilter.show(list(stack), H.lowpass(3), missing=missing[1], **BOOK) == wanted
    # In the result, enlarged eight times in the middle of its panel, there is nothing where the image has nothing.
    left, top = MARGIN + 2 * (SIDE + GAP) + (SIDE - 80) // 2, TITLE + CAPTION + (SIDE - 96) // 2
    y, x = np.nonzero(missing[1])
    assert not np.asarray(wanted)[top + 4 + 8 * y, left + 4 + 8 * x].any()
    xr = pytest.importorskip("xarray")
    given, holes = (xr.DataArray(each, dims=("time", "y", "x")) for each in (stack, missing))
    assert fftfilter.show(given.transpose("x", "y", "time"), H.lowpass(3), missing=holes, **BOOK) == wanted


@pytest.mark.parametrize("kind", ["bool", "int64", "float16", "float64"])
def test_it_is_drawn_for_any_type_with_missing_pixels(kind, rng):
    image = rng.integers(0, 2, (12, 10)).astype(kind)
    page = fftfilter.show(np.ma.masked_equal(image, 0) if kind == "bool" else image, H.lowpass(3), **BOOK)
    assert below_title(page).std() > 5


def test_images_that_nothing_is_known_of_are_refused():
    for given in (np.zeros((0, 4, 4)), np.zeros((2, 2), complex), "in.png"):
        with pytest.raises(ParameterError, match="is not an image"):
            fftfilter.show(given, H.lowpass(3), **BOOK)
    with pytest.raises(ParameterError, match=r"give channel_axis=-1"):
        fftfilter.show(np.zeros((12, 10, 3)), H.lowpass(3), **BOOK)
    with pytest.raises(ParameterError, match="is not a transfer function"):
        fftfilter.show(np.zeros((12, 10)), "8px", **BOOK)
