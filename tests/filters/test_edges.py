"""Mirrored edges, from Python and on the command line, beside the float64 reference of the padded image."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import fftfilter
from fftfilter import images
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.images import Depth
from fftfilter.output.rounding import Difference
from fftfilter.transfer import reference
from fftfilter.work.verify import references_of

each_engine = pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
EVEN = H.highpass("5px")
# Not even along each axis: not a function of |fx| and |fy|.
SLANTED = EVEN * H.notch((0.2, 0.13), width="0.05cyc")


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (8, 64), dtype=np.uint8)


def assert_right(got, given, transfer, output="magnitude"):
    """Hold one picture to the contract."""
    planes, found = np.atleast_3d(given.T).T, np.atleast_3d(got.T).T
    white = 1 if found.dtype.kind == "f" else int(np.iinfo(found.dtype).max)
    own_white = 1 if given.dtype.kind == "f" else int(np.iinfo(given.dtype).max)
    depth = Depth(found.dtype, white)
    (right,) = references_of(planes, own_white, transfer, output, scale=None, depth=depth, edges="mirror")
    wanted, values, unit = right
    difference = Difference.of(found, wanted, white, unit=unit, values=values)
    assert difference.is_right, difference


# Python


@each_engine
@pytest.mark.parametrize(
    ("transfer", "output"),
    [(EVEN, "magnitude"), (EVEN, "keep"), (EVEN, "signed"), (EVEN, "real"), (SLANTED, "magnitude")],
    ids=str,
)
def test_an_image_is_filtered_as_if_it_were_mirrored(engine, transfer, output, image):
    assert_right(Filter(transfer, engine=engine, output=output, edges="mirror")(image), image, transfer, output)


@each_engine
def test_images_of_a_stack_have_a_scale_each_and_channels_one(engine, image):
    stack = np.stack([image, image // 4])
    with Filter(SLANTED, engine=engine, edges="mirror", output="magnitude") as mirrored:
        for got, alone in zip(mirrored(stack), stack, strict=True):
            assert_right(got, alone, SLANTED)
        assert_right(mirrored(stack, channel_axis=0), stack, SLANTED)


def test_floats(rng):
    given = rng.random((8, 64), np.float32)
    assert_right(fftfilter.highpass(given, "5px", edges="mirror", output="magnitude"), given, EVEN)


def test_a_filter_whose_result_is_complex_is_mirrored_too(image):
    gains = np.random.default_rng(3).random((16, 128))
    assert_right(fftfilter.apply_mask(image, gains, edges="mirror", output="magnitude"), image, H.mask(gains))


def test_the_values_of_a_complex_result_are_its_real_part(image):
    gains = np.random.default_rng(3).random((16, 128))
    got = fftfilter.apply_mask(image, gains, edges="mirror", output="real")
    np.testing.assert_allclose(got, reference.filtered(image, gains, "mirror").real, atol=1e-3)
    assert got.min() < 0


def test_weak_results_of_16_bits_are_exact():
    y, x = np.mgrid[:64, :64]
    smooth = 30000 + 25000 * np.cos(np.pi * (x + 0.5) / 64)
    faint = np.rint(smooth + 40 * np.cos(2 * np.pi * (x + y) / 3)).astype(np.float32)
    assert_right(
        fftfilter.highpass(faint, "6px", edges="mirror", dtype=np.uint16, output="magnitude"), faint, H.highpass("6px")
    )


def test_a_mask_for_one_size_has_gains_for_twice_each_side(image):
    with pytest.raises(ParameterError, match="the mask of 64 x 8 does not fit an image of 128 x 16"):
        fftfilter.apply_mask(image, np.ones(image.shape), edges="mirror", output="magnitude")
    gains = np.arange(35).reshape(5, 7)
    any_size = H.mask(gains + np.roll(gains[::-1, ::-1], (1, 1), (0, 1)), any_size=True)
    assert_right(Filter(any_size, edges="mirror", output="magnitude")(image), image, any_size)


@each_engine
def test_radii_that_do_not_fit_are_refused_as_they_were_given(engine, image):
    with pytest.raises(ParameterError, match="cutoffs 2 and 4px are the same on 64 x 8 pixels"):
        fftfilter.bandpass(image, 2, "4px", edges="mirror", engine=engine, output="magnitude")
    with pytest.raises(ParameterError, match="edges 'reflect' is invalid: choose wrap, mirror"):
        Filter(EVEN, edges="reflect", output="magnitude")


# Files


def written(path, array):
    images.write(images.Picture(np.atleast_3d(array).transpose(2, 0, 1), None, 255, "PPM"), path)
    return path


def run(*arguments):
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("options", [[], ["--engine", "book"], ["--notch", "0.2,0.13"]])
def test_a_color_file_is_verified(tmp_path, rng, options):
    given = written(tmp_path / "in.png", rng.integers(0, 256, (8, 64, 3), dtype=np.uint8))
    arguments = ["--radius", "5px", "--edges", "mirror", "--verify", *options, given, tmp_path / "out.png"]
    code, said, error = run("highpass", *arguments)
    assert (code, error) == (0, "")
    assert "off by at most" in said


def test_a_folder_is_verified_reported_and_done_again_for_other_edges(tmp_path, rng):
    (tmp_path / "in").mkdir()
    for name in ("a.png", "b.png"):
        written(tmp_path / "in" / name, rng.integers(0, 256, (8, 64), dtype=np.uint8))
    common = ["highpass", "--radius", "5px", "--skip-existing", tmp_path / "in", tmp_path / "out"]
    assert run(*common, "-q")[0] == 0
    report = tmp_path / "report.jsonl"
    code, _, error = run(*common, "--edges", "mirror", "--verify", "--report", report)
    assert (code, "2 of 2 files" in error, "skipped" in error) == (0, True, False)
    assert {json.loads(line)["filter"]["edges"] for line in report.read_text().splitlines()} == {"mirror"}


def test_with_mirror_images_a_result_that_the_offset_nearly_cancels_is_exact():
    """The offset of the image is 0, and that of what is filtered, with its mirror images beside it, is not."""
    image = np.random.default_rng(5).choice([-0.3, 0, 0.3], (16, 16)).astype(np.float32)
    with Filter(H.lowpass(0.1), engine="stockham", edges="mirror", output="real") as mean:
        np.testing.assert_allclose(mean(image), image.mean(dtype=np.float64), rtol=1e-6)
