"""ImageJ's FFT Bandpass Filter beside pictures that ImageJ itself has made: see imagej/README.md."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.imagej_filter import ImageJFilter, brightness, leveled
from fftfilter.output.ramp import Gray
from fftfilter.transfer import reference
from fftfilter.work import verify
from fftfilter.work.opened import open_input
from fftfilter.work.recipe import Recipe

GOLDEN = Path(__file__).parent / "imagej"
AUTOSCALE = ("autoscale", "saturate")
MADE = sorted(path.stem for path in GOLDEN.glob("*-*.png"))


def picture(name):
    return np.asarray(Image.open(GOLDEN / f"{name}.png"))


@pytest.fixture
def gray():
    return picture("gray")


@pytest.mark.parametrize("name", MADE)
def test_pictures_are_those_of_imagej(name):
    source, large, small, stripes, tolerance, mode = name.split("-")
    image, wanted = picture(source), picture(name)
    got = fftfilter.imagej(
        image,
        float(large),
        float(small),
        suppress=("none", "horizontal", "vertical")[int(stripes)],
        tolerance=float(tolerance),
        autoscale=mode != "plain",
        saturate=mode == "auto",
        channel_axis=-1 if image.ndim == 3 else None,
    )
    assert (got.dtype, got.shape) == (image.dtype, image.shape)
    off = np.abs(got.astype(int) - wanted)
    assert off.max() <= 1
    # ImageJ computes in single precision, whose rounding shows in the last of 16 bits.
    assert (off == 0).mean() >= (0.999 if image.dtype == np.uint8 else 0.98)


def test_the_words_of_its_dialog_on_the_command_line(tmp_path):
    def run(*arguments):
        result = CliRunner().invoke(cli, ["imagej", *map(str, arguments)])
        assert (result.exit_code, result.stdout) == (0, "")
        return result.stderr

    def off(path, name):
        return np.abs(np.asarray(Image.open(path)).astype(int) - picture(name)).max()

    said = run("-v", GOLDEN / "color.png", tmp_path / "a.png")
    assert "75 x 50: ImageJ's bandpass, large 40px, small 3px;" in said
    assert off(tmp_path / "a.png", "color-40-3-0-5-auto") == 0
    plain = ["--small", 3, "--suppress", "horizontal", "--no-autoscale"]
    run(*plain, "--large", "4um", "--pixel-size", "100nm", GOLDEN / "gray.png", tmp_path / "b.png")
    assert off(tmp_path / "b.png", "gray-40-3-1-5-plain") <= 1
    run("--no-saturate", "-q", GOLDEN / "gray.png", GOLDEN / "wide.png", f"{tmp_path}/")
    assert off(tmp_path / "gray.png", "gray-40-3-0-5-stretched") <= 1


def test_every_page_of_a_stack_is_autoscaled_by_itself(tmp_path, gray):
    tifffile.imwrite(tmp_path / "stack.tif", np.stack([gray, gray // 2]), photometric="minisblack")
    result = CliRunner().invoke(cli, ["imagej", "-v", str(tmp_path / "stack.tif"), str(tmp_path / "out.tif")])
    assert result.exit_code == 0
    first, second = tifffile.imread(tmp_path / "out.tif")
    assert np.abs(first.astype(int) - picture("gray-40-3-0-5-auto")).max() <= 1
    np.testing.assert_array_equal(second, fftfilter.imagej(gray // 2))


def test_stripes_are_known_by_a_tolerance_of_5_percent_unless_told_otherwise(gray):
    made = fftfilter.imagej(gray, suppress="horizontal", autoscale=False)
    np.testing.assert_array_equal(made, fftfilter.imagej(gray, suppress="horizontal", tolerance=5, autoscale=False))
    assert np.abs(made.astype(int) - picture("gray-40-3-1-5-plain")).max() <= 1


def test_floats_stay_as_they_are_and_stacks_are_of_single_images(gray):
    values = fftfilter.imagej(gray.astype(np.float32) / 8 - 16)
    assert values.dtype == np.float32
    plain = picture("gray-40-3-0-5-plain").astype(float)
    shown = (plain > 0) & (plain < 255)
    np.testing.assert_allclose(values[shown], plain[shown] / 8 - 16, atol=0.51 / 8)
    stack = fftfilter.imagej(np.stack([gray, 255 - gray]))
    np.testing.assert_array_equal(stack[0], fftfilter.imagej(gray))
    np.testing.assert_array_equal(stack[1], fftfilter.imagej(255 - gray))
    deep = fftfilter.imagej(gray, autoscale=False, dtype="uint16", levels=510)
    assert np.abs(deep.astype(int) - 2 * plain).max() <= 2


def test_a_picture_of_one_color_is_black_when_autoscaled_as_imagejs_is():
    flat = np.full((73, 96), 90, np.uint8)
    assert not fftfilter.imagej(flat).any()
    assert (fftfilter.imagej(flat, autoscale=False) == 90).all()


def test_a_picture_of_nearly_one_color_is_stretched_to_its_darkest_and_brightest_pixel():
    """All others are in one bin of the histogram, which leaves no range within."""
    image = np.full((73, 96), 90, np.uint8)
    image[30, 40], image[50, 60] = 50, 150
    wanted = np.full((73, 96), 102, np.uint8)
    wanted[30, 40], wanted[50, 60] = 0, 255
    np.testing.assert_array_equal(fftfilter.imagej(image, 1e6, 0), wanted)


@pytest.mark.parametrize("is_turned", [False, True])
def test_where_whole_tiles_end_one_line_after_the_first_that_one_is_black(is_turned, rng):
    """The first of 256 rows, of which 103 lie above the image, 51 in the image and 2 * 51 below."""
    image = rng.random((51, 96), np.float32)
    got = fftfilter.imagej(image.T if is_turned else image)
    padded = np.pad(image.astype(np.float64), ((103, 102), (80, 80)), "symmetric")
    padded[0] = 0
    values = np.fft.ifft2(np.fft.fft2(padded) * H.imagej().gain(256, 256)).real[103:154, 80:176]
    np.testing.assert_allclose(got.T if is_turned else got, values, atol=1e-5)


def test_floats_and_whole_numbers_become_each_other_by_their_white(gray):
    plain = picture("gray-40-3-0-5-plain").astype(int)
    floats = gray / np.float32(255)
    assert np.abs(fftfilter.imagej(floats, dtype=np.uint8) - plain).max() <= 1  # floats are not autoscaled
    np.testing.assert_allclose(fftfilter.imagej(gray, dtype=np.float32), fftfilter.imagej(floats), atol=1e-5)
    color, wanted = picture("color"), picture("color-40-3-0-5-auto").astype(int)
    deep = fftfilter.imagej(color, channel_axis=-1, dtype=np.uint16)
    assert np.abs(deep - 257 * wanted).max() <= 129
    shown = fftfilter.imagej(color / np.float32(255), channel_axis=-1)
    np.testing.assert_allclose(shown, wanted / 255, atol=0.51 / 255)


def test_what_is_black_becomes_gray_in_a_color_picture(gray):
    image = np.where((gray > 100) & (gray < 120), np.uint8(0), gray)
    wanted = fftfilter.imagej(image, autoscale=False)
    assert wanted[image == 0].max() > 20
    np.testing.assert_array_equal(fftfilter.imagej(np.stack([image] * 3), channel_axis=0), [wanted] * 3)


def test_what_lies_beyond_black_and_white_is_counted(rng):
    image = np.where(rng.random((73, 96)) < 0.5, 0, 255).astype(np.uint8)
    values = fftfilter.imagej(image.astype(np.float32), 40, 0)
    with ImageJFilter(H.imagej(40, 0), autoscale=False) as f:
        f(image)
        assert f.extremes() == [pytest.approx((values.min(), values.max()), rel=1e-4)]
        low, high = (values < -0.5).mean(), (values >= 255.5).mean()
        assert min(low, high) > 0.1
        assert f.clipped() == [pytest.approx(low + high, abs=1e-3)]
        f(np.stack([image] * 3), channel_axis=0)
        assert f.clipped() == [pytest.approx(((values < 0) | (values > 255)).mean(), abs=1e-3)]


def test_pixels_that_are_missing_are_refused(gray):
    holes = gray > 200
    for given, missing in ((gray, holes), (np.ma.MaskedArray(gray, holes), None)):
        with pytest.raises(ParameterError, match=r"^ImageJ's filter knows no missing pixels: fill them, or take band"):
            fftfilter.imagej(given, missing=missing)
    floats = gray / np.float32(255)
    floats[3, 4] = np.nan
    for given, axis in ((floats, None), (np.stack([floats] * 3), 0)):
        with pytest.raises(ParameterError, match="values are NaN or infinite, the first at row 3, column 4"):
            fftfilter.imagej(given, channel_axis=axis)


def test_the_bytes_on_the_device_are_those_of_the_padded_picture():
    with ImageJFilter(H.imagej()) as f, f.with_options(engine="book") as book:
        assert f.device_bytes((3, 73, 96)) == f.device_bytes((1, 150, 7)) > 6 * 256 * 256
        # The smallest power of two of at least 1.5 times the longer side.
        for longer, side in ((96, 256), (86, 256), (85, 128), (11, 32), (10, 16)):
            assert book.device_bytes((1, 7, longer)) == side * side * (2 * 8 + 1)


def test_a_filter_is_used_again_streamed_and_copied(gray):
    wanted = fftfilter.imagej(gray, autoscale=False)
    with ImageJFilter(H.imagej(), autoscale=False) as f:
        assert repr(f) == "ImageJFilter(H.imagej('40px', '3px'), autoscale=False)"
        for got in [f(gray), *f.stream([gray]), copy.deepcopy(f)(gray)]:
            np.testing.assert_array_equal(got, wanted)
        low, high = f.extremes()[0]
        assert low < 0 < high < 255
        assert f.clipped()[0] == pytest.approx((wanted == 0).mean(), abs=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"suppress": "diagonal"}, "suppress 'diagonal' is unknown: choose none, horizontal, vertical"),
        ({"tolerance": 101}, "tolerance 101 is out of range"),
        ({"large": "wide"}, "large 'wide' is not a number"),
        ({"small": -1}, "small '-1' must be finite and greater than zero"),
        ({"output": "real"}, "output 'real' is not for ImageJ's filter"),
        ({"edges": "wrap"}, "edges 'wrap' is not for ImageJ's filter"),
        ({"channels": "chroma"}, "channels 'chroma' is not for ImageJ's filter"),
        ({"large": "4um"}, "4um needs the size of a pixel"),
        ({"levels": 1000}, "levels 1000 is invalid for uint8"),
        ({"dtype": "complex64"}, "output type complex64 has no gray levels"),
        ({"channel_axis": 0}, "a picture of 73 channels is neither gray nor RGB"),
    ],
)
def test_invalid_values_are_refused(gray, given, message):
    image = gray[..., None] if "channel_axis" in given else gray
    with pytest.raises(ParameterError, match=message):
        fftfilter.imagej(image, **given)


@pytest.mark.parametrize("options", [(), ("--no-autoscale",)], ids=str)
@pytest.mark.parametrize("name", ["gray.png", "color.png", "deep.png", "gray.tif", "color.tif", "stack.tif"])
def test_an_output_is_compared_with_float64(tmp_path, gray, name, options):
    source = GOLDEN / name
    if name.endswith(".tif"):
        source = tmp_path / name
        made = {"gray": gray / np.float32(8) - 16, "color": picture("color") / np.float32(255)}
        is_color = source.stem == "color"
        pages = made.get(source.stem, np.stack([gray, 255 - gray]))
        tifffile.imwrite(source, pages, photometric="rgb" if is_color else "minisblack")
    arguments = ["imagej", "--verify", *options, str(source), str(tmp_path / f"out{source.suffix}")]
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, result.stdout.count(": off by at most ")) == (0, 1)


def test_another_output_is_told(tmp_path, gray, monkeypatch):
    Image.fromarray(gray).save(tmp_path / "in.png")
    options = dict.fromkeys(AUTOSCALE, True)
    given = open_input(tmp_path / "in.png", Recipe(H.imagej(), "imagej", options, "keep"))

    def is_right(pixels):
        Image.fromarray(pixels).save(tmp_path / "out.png")
        return verify.of_earlier(given, tmp_path / "out.png").is_right

    assert is_right(fftfilter.imagej(gray))
    assert not is_right(fftfilter.imagej(gray, saturate=False))
    # As if half of the pixels lay on the edges of the histogram's bins.
    values = brightness(gray[None], lambda padded: reference.filtered(padded, H.imagej().gain(*padded.shape)).real)
    levels = Gray(255, np.dtype(np.uint8), 255)
    ((moved,), *_) = leveled(gray[None], values, levels, autoscale=True, saturate=True, nudge=9.0)
    assert not is_right(moved)
    monkeypatch.setattr("fftfilter.work.verify.NUDGES", (0.0, 9.0))
    assert is_right(moved)


def test_what_does_not_fit_into_memory_when_padded_is_refused(monkeypatch, gray):
    monkeypatch.setattr("fftfilter.system.lacking", lambda taken: 1000 if taken > 1 << 19 else None)
    with pytest.raises(TooLargeError, match=r"^96 x 73 pixels take .* bytes to filter, more than the 1,000 of"):
        fftfilter.imagej(gray, 41)
