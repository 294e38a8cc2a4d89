"""``auto``: the waves of each picture are found and removed, as by ``--auto``, and reported."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import AutoNotches
from fftfilter import transfer as H
from fftfilter.analysis.found import Peak
from fftfilter.cli import cli
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from tests.helpers import COMMAND

SIZE = 64, 80
Y, X = np.mgrid[: SIZE[0], : SIZE[1]]
WAVE = 20 * np.sin(2 * np.pi * (0.2 * X + 0.13 * Y))
BOOK = {"engine": "book"}


@pytest.fixture
def clean(rng):
    return 120 + rng.normal(0, 5, SIZE)


@pytest.fixture
def image(clean):
    return np.rint(clean + WAVE).astype(np.uint8)


def by_command(tmp_path, image, *words):
    tifffile.imwrite(tmp_path / "in.tif", image, photometric="rgb" if image.ndim == 3 else "minisblack")
    ran = CliRunner().invoke(cli, [*words, "--engine", "book", str(tmp_path / "in.tif"), str(tmp_path / "out.tif")])
    assert ran.exit_code == 0, ran.output
    return tifffile.imread(tmp_path / "out.tif"), ran.stderr


CASES = [
    ("lowpass --radius 3px --output keep", H.lowpass("3px"), {"output": "keep"}),
    ("lowpass --radius 3px --edges mirror --output real", H.lowpass("3px"), {"output": "real", "edges": "mirror"}),
    ("highpass --radius 9px --depth 6", H.highpass("9px"), {"depth": 6}),
    (
        "notch --output keep --region 9,9,40,40",
        H.Transfer(()),
        {"output": "keep", "edges": "mirror", "region": (9, 9, 40, 40)},
    ),
    ("wiener --noise 5 --edges mirror", H.wiener(5), {"output": "keep", "edges": "mirror"}),
]


@pytest.mark.parametrize(("command", "transfer", "options"), CASES, ids=[command for command, *_ in CASES])
@pytest.mark.parametrize("kind", ["gray", "color", "holes"])
def test_it_gives_the_bytes_of_the_command(tmp_path, image, command, transfer, options, kind):
    axis = None
    if kind == "color":  # the wave in two channels
        image, axis = np.stack([image, image[::-1], 120 + image // 64], axis=-1), -1
    if kind == "holes":
        image = image / np.float32(255)
        image[20:24, 30:50] = np.nan
    wanted, said = by_command(tmp_path, image, *command.split(), "--auto")
    with Filter(transfer, auto=True, **(COMMAND | BOOK | options)) as filter_:
        np.testing.assert_array_equal(filter_(image, channel_axis=axis), wanted)
        (note,), (peaks,) = filter_.notes(), filter_.peaks()
    assert note.startswith("removed 4.19 px at ")
    assert note.partition(";")[0] in said
    assert peaks[0].period_px == pytest.approx(4.19, abs=0.01)


def test_functions_find_waves_and_stripes(rng, clean, image):
    assert np.std(fftfilter.notch(image, auto=True, **BOOK) - clean) < 3 < np.std(WAVE)
    smooth = fftfilter.lowpass(image, "2.1px", auto=True, output="keep", **({"edges": "wrap"} | BOOK))
    assert np.std(smooth - clean) < 4
    options = AutoNotches(shape="ideal", keep=[(0.2, 0.13)])
    np.testing.assert_array_equal(fftfilter.notch(image, auto=options, **BOOK), image)
    both = fftfilter.notch(image, (0.3, 0.1), auto=True, shape="cosine", **BOOK)
    cosine = {"shape": "cosine"}
    wanted = Filter(H.notch((0.3, 0.1), **cosine), auto=AutoNotches(**cosine), **BOOK)
    np.testing.assert_array_equal(both, wanted(image))
    striped = np.rint(clean + rng.normal(0, 15, (SIZE[0], 1))).astype(np.uint8)
    made = fftfilter.stripes(striped, auto=True, **BOOK)
    np.testing.assert_array_equal(made, fftfilter.stripes(striped, "auto", **BOOK))
    assert 1.5 * np.std(made - clean) < np.std(striped - clean)


def test_each_image_of_a_stack_has_its_own_waves(image, clean):
    stack = np.stack([image, np.rint(clean).astype(np.uint8), image[::-1]])
    with Filter(H.Transfer(()), output="keep", auto=True, **({"edges": "wrap"} | BOOK)) as filter_:
        alone = np.stack([filter_(each) for each in stack])
        for made in filter_(stack), np.stack(list(filter_.stream(stack))), pickle.loads(pickle.dumps(filter_))(stack):  # noqa: S301  our own
            np.testing.assert_array_equal(made, alone)
        assert filter_(stack).shape == stack.shape
        assert [len(each) for each in filter_.peaks()] == [1, 0, 1]
        assert ": no wave is removed: try stripes" in filter_.notes()[1]
        np.testing.assert_array_equal(alone[1], stack[1])
        assert repr(filter_) == "Filter(H.Transfer(()), engine='book', edges='wrap', auto=True)"
        np.testing.assert_array_equal(filter_.with_options(auto=False)(stack), stack)
        da = pytest.importorskip("dask.array")
        np.testing.assert_array_equal(filter_(da.from_array(stack, chunks=(2, 9, 9))).compute(), alone)


def test_a_picture_without_waves_comes_back_as_a_copy_and_in_other_levels_if_they_are_asked_for(clean):
    given = np.rint(clean).astype(np.uint8)
    with Filter(H.Transfer(()), output="keep", auto=True, **({"edges": "wrap"} | BOOK)) as filter_:
        made = filter_(given)
        np.testing.assert_array_equal(made, given)
        assert not np.shares_memory(made, given)
        assert (filter_.extremes(), filter_.clipped()) == ([(0, given.max())], [0])
        np.testing.assert_array_equal(filter_(given, levels=51), np.floor(given / 5 + 0.5))
        np.testing.assert_allclose(filter_(given, dtype=np.float32), given / 255, atol=1e-6)
        np.testing.assert_array_equal(filter_(given, white=510), np.floor(given / 2 + 0.501))


@pytest.mark.parametrize("output", ["keep", "magnitude"])
def test_channels_with_a_scale_in_common_have_one_filter(rng, output):
    picture = np.rint(120 + rng.normal(0, 5, (2, *SIZE)) * np.array([[[1]], [[3]]])).astype(np.uint8)
    with Filter(H.wiener(), output=output, **({"edges": "wrap"} | BOOK)) as filter_:
        filter_(picture, channel_axis=0)
        (note,) = filter_.notes()
    assert note.count("Wiener's filter") == (2 if output == "keep" else 1)
    assert ("in channel 1" in note) == (output == "keep")


def test_what_was_found_is_told_in_one_line_a_picture(clean):
    with Filter(H.stripes("auto") * H.wiener(), output="keep", auto=True, **({"edges": "wrap"} | BOOK)) as filter_:
        filter_(np.rint(clean).astype(np.uint8))
        (note,) = filter_.notes()
    waves, noise = note.split("; ")
    assert ": no wave is removed: try " in waves
    assert noise.startswith("Wiener's filter of noise of ")


@pytest.mark.parametrize(
    ("options", "is_wave"),
    [
        ({"edges": "mirror"}, True),
        ({}, False),
        ({"edges": "mirror", "depth": 6}, False),
        ({"edges": "mirror", "channels": "luminance"}, False),
    ],
    ids=str,
)
def test_the_waves_themselves_are_subtracted_at_mirrored_edges_unless_a_part_stays(options, is_wave):
    peak = Peak(0.2, 0.1, strength_db=30, amplitude=5, width=0.01)
    options = {"edges": "wrap", **options, **BOOK}
    with Filter(H.lowpass(3), auto=AutoNotches(shape="cosine"), **options) as filter_:
        made = filter_.without([peak])
        low, notch, _ = made.parts  # the last are waves along rows or columns
        assert (low, notch.shape, notch.at, notch.is_wave) == (filter_.transfer.parts[0], "cosine", (0.2, 0.1), is_wave)
        assert made.depth == filter_.transfer.depth


def test_it_is_saved_loaded_and_shown(tmp_path, image):
    with Filter(H.lowpass("3px"), auto=AutoNotches(strength=20), **(COMMAND | BOOK)) as filter_:
        fftfilter.save_filter(filter_, tmp_path / "recipe.json")
        loaded = fftfilter.load_filter(tmp_path / "recipe.json")
        np.testing.assert_array_equal(loaded(image), filter_(image))
        look, words = tmp_path / "look.png", ("lowpass", "--radius=3px", "--auto", "--strength=20", "--preview")
        wanted, _ = by_command(tmp_path, image, *words, str(look))
        np.testing.assert_array_equal(filter_(image), wanted)
        np.testing.assert_array_equal(
            np.asarray(fftfilter.show(image, filter_))[70:], np.asarray(Image.open(look))[70:]
        )


@pytest.mark.parametrize(
    "given",
    [
        *(1, "x", np.zeros((3, 3)), [], AutoNotches("x"), AutoNotches(True), AutoNotches(shape="round")),
        *(AutoNotches(keep=each) for each in (3, [(9, 9)], [(0.1,)], "ab", [(np.nan, 0)], np.zeros((3, 3)))),
        *(AutoNotches(longest=0), AutoNotches(largest=np.nan), AutoNotches(longest="x")),
    ],
)
def test_what_is_no_search_is_refused_in_one_line(image, given):
    with pytest.raises(ParameterError) as caught:
        fftfilter.notch(image, auto=given)
    assert "\n" not in str(caught.value)


def test_what_it_cannot_go_with_is_refused(image):
    for call, said in (
        (lambda: fftfilter.notch(image), "no wave is given: give at="),
        (lambda: fftfilter.notch(image, auto=False), "no wave is given: give at="),
        (lambda: fftfilter.stripes(image), "no stripes are given: give an angle"),
        (lambda: fftfilter.stripes(image, auto=False), "no stripes are given: give an angle"),
        (lambda: fftfilter.imagej(image, auto=True), "auto True is not for ImageJ's filter"),
        (lambda: fftfilter.descreen(image, auto=True), "auto True is not for descreen"),
        (lambda: fftfilter.lowpass(image[:20], 3, auto=True, **COMMAND), "80 x 20 pixels are too few"),
    ):
        with pytest.raises(ParameterError, match=said):
            call()
