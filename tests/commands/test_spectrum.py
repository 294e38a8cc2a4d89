"""``spectrum``: what is written, and which options reach it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import fftfilter
from fftfilter import images, transforms
from fftfilter.errors import ParameterError, ReadError


@pytest.fixture
def image(tmp_path, rng):
    """A picture with colors and transparency, whose second channel is dark."""
    image = rng.integers(0, 256, (12, 20, 4), dtype=np.uint8)
    image[..., 1] //= 16
    image[..., 3] |= 1  # what is all transparent is filled
    Image.fromarray(image).save(tmp_path / "in.png")
    return image


def log_magnitude(channel):
    return np.log1p(np.abs(np.fft.fftshift(np.fft.fft2(channel))))


def test_channels_share_one_scale_and_transparency_is_left_out(run, tmp_path, image):
    line = "20 x 12: log-magnitude spectrum, one bin a pixel\n"
    assert run("spectrum", "-v", "--engine", "book", tmp_path / "in.png", tmp_path / "out.png") == (0, b"", line)
    made = np.asarray(Image.open(tmp_path / "out.png"))
    wanted = np.stack([log_magnitude(image[..., i]) for i in range(3)], axis=-1)
    assert made.shape == (12, 20, 3)
    assert np.abs(made - np.floor(255 * wanted / wanted.max())).max() <= 1


@pytest.mark.usefixtures("image")
def test_the_transform_is_that_of_the_options(run, tmp_path, monkeypatch):
    asked = []

    def fft2(planes, **options):
        asked.append(options)
        return np.fft.fft2(planes)

    monkeypatch.setattr(transforms, "fft2", fft2)
    names = (tmp_path / "in.png", tmp_path / "out.png")
    assert run("spectrum", *names)[0] == 0
    assert run("spectrum", "--engine", "stockham", "--device", "cpu", "--precision", "double", *names)[0] == 0
    assert asked == [
        {"algorithm": None, "device": None, "precision": "single"},
        {"algorithm": "stockham", "device": "cpu", "precision": "double"},
    ]


@pytest.mark.usefixtures("image")
def test_it_is_written_in_place_and_as_its_options_say(run, tmp_path):
    given = tmp_path / "in.png"
    sizes = []
    for level in (0, 9):
        assert run("spectrum", "--engine", "book", "--png-level", level, given, tmp_path / "out.png")[0] == 0
        sizes.append((tmp_path / "out.png").stat().st_size)
    assert sizes[0] > sizes[1]
    assert run("spectrum", "--engine", "book", given, given)[0] == 2
    assert run("spectrum", "--engine", "book", "--in-place", "--png-level", "9", given, given)[0] == 0
    assert given.read_bytes() == (tmp_path / "out.png").read_bytes()


@pytest.mark.usefixtures("image")
def test_what_out_cannot_hold_is_refused_before_the_transform(run, tmp_path, monkeypatch):
    monkeypatch.setattr(transforms, "fft2", lambda *_, **__: pytest.fail("transformed"))
    code, _, said = run("spectrum", tmp_path / "in.png", tmp_path / "out.pgm")
    assert (code, "write .ppm or .png" in said) == (1, True)


def test_a_picture_with_transparency_has_a_spectrum_in_formats_without(run, tmp_path, image):
    assert run("spectrum", "--engine", "book", tmp_path / "in.png", tmp_path / "out.png")[0] == 0
    assert run("spectrum", "--engine", "book", tmp_path / "in.png", tmp_path / "out.ppm") == (0, b"", "")
    made = np.asarray(Image.open(tmp_path / "out.ppm"))
    assert made.shape == image[..., :3].shape
    assert (made == np.asarray(Image.open(tmp_path / "out.png"))).all()


def test_what_has_no_end_is_read_up_to_the_limit(run, tmp_path, monkeypatch):
    def raw(source, limit):
        raise ReadError(f"{source}: more than {limit} bytes")

    monkeypatch.setattr(images, "raw", raw)
    line = "fftfilter: -: more than 2000 bytes\n"
    assert run("spectrum", "--input-limit", "2kB", "-", tmp_path / "out.png") == (1, b"", line)


@pytest.mark.parametrize("folder", ["in", "in" + 80 * "g"])
def test_the_whole_name_of_a_folder_is_said(run, tmp_path, folder):
    (tmp_path / folder).mkdir()
    code, _, said = run("spectrum", tmp_path / folder, tmp_path / "out.png")
    assert (code, said.split(":")[-1].split(".")[0].strip()) == (2, repr(f"{tmp_path / folder}"))


# As numbers


def rings(image, window, sides=(1, 1), by="frequency"):
    """Return the mean power in rings or sectors by numpy.fft in float64, and how many frequencies each has."""
    height, width = image.shape
    weight = np.ones(image.shape)
    if window == "hann":
        weight = np.outer(*(0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n) for n in image.shape))
    level = (image * weight).sum() / weight.sum()
    power = np.abs(np.fft.fft2((image - level) * weight)) ** 2 / np.square(weight).sum()
    fx, fy = np.fft.fftfreq(width) / sides[0], np.fft.fftfreq(height)[:, None] / sides[1]
    step = 1 / min(width * sides[0], height * sides[1])
    place = np.rint(np.hypot(fx, fy) / step)
    if by == "angle":
        # The highest frequency of a side has both signs.
        place = np.rint(np.degrees(np.arctan2(fx, fy)) % 180 / 2) % 90
    is_counted = np.ones(image.shape, bool)
    is_counted[0, 0] = False
    found = np.unique(place[is_counted])
    return step * found, [
        [power[is_counted & (place == each)].mean(), (is_counted & (place == each)).sum()] for each in found
    ]


@pytest.mark.parametrize("size", [(48, 60), (33, 47)])
@pytest.mark.parametrize("window", ["none", "hann"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_the_power_is_that_of_numpy_and_of_noise_its_variance(rng, size, window, dtype):
    image = (rng.normal(100, 10, size)).astype(dtype)
    place, power, count = fftfilter.power_spectrum(image, window=window)
    wanted_place, wanted = rings(image.astype(float), window)
    np.testing.assert_allclose(place, wanted_place, rtol=1e-9)
    np.testing.assert_allclose(np.column_stack([power, count]), wanted, rtol=1e-3)
    assert np.average(power, weights=count) == pytest.approx(100, rel=0.15)
    large = fftfilter.power_spectrum(image.astype(np.float64) * 1e30, window=window)
    np.testing.assert_allclose(large.power, power * 1e60, rtol=1e-3)


def test_angles_are_those_of_stripes():
    y, x = np.mgrid[:64, :64]
    angle, power, _ = fftfilter.power_spectrum(np.sin(2 * np.pi * (8 * x + 8 * y) / 64), by="angle")
    assert angle[power.argmax()] in (44, 46)  # counterclockwise, rows down
    angle, power, count = fftfilter.power_spectrum(np.sin(2 * np.pi * 8 * x / 64), by="angle")
    assert (angle[power.argmax()], count.sum()) == (90, 64 * 64 - 1)


def test_the_table_has_units_if_the_size_of_a_pixel_is_known(run, tmp_path, rng):
    image = rng.integers(0, 256, (48, 60), np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    assert run("spectrum", "--table", tmp_path / "a.csv", tmp_path / "in.png") == (0, b"", "")
    table = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
    assert table.dtype.names == ("cycles_per_pixel", "period_px", "power", "frequencies", "pictures")
    np.testing.assert_allclose(table["power"], np.array(rings(image.astype(float), "none")[1])[:, 0], rtol=1e-3)
    words = ("--table", tmp_path / "b.csv", "--pixel-size", "65nm", "--window", "hann")
    assert run("spectrum", *words, tmp_path / "in.png", tmp_path / "out.png") == (0, b"", "")
    table = np.genfromtxt(tmp_path / "b.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["cycles_per_m"], table["cycles_per_pixel"] / 65e-9)
    np.testing.assert_allclose(table["period_m"] * table["cycles_per_m"], 1)
    Image.fromarray(image).save(tmp_path / "wide.png", dpi=(300, 600))
    assert run("spectrum", "--table", tmp_path / "c.csv", tmp_path / "wide.png")[0] == 0
    table = np.genfromtxt(tmp_path / "c.csv", delimiter=",", names=True)
    wanted = rings(image.astype(float), "none", (0.0254 / 300, 0.0254 / 600))
    np.testing.assert_allclose(table["cycles_per_m"], wanted[0], rtol=1e-3)
    np.testing.assert_allclose(table["power"], np.array(wanted[1])[:, 0], rtol=1e-2)
    assert run("spectrum", "--by", "angle", "--table", "-", tmp_path / "in.png")[1].startswith(b"angle_deg,power")


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".pfm"])
@pytest.mark.parametrize("window", ["none", "hann"])
def test_floats_are_the_magnitudes_of_numpy(run, tmp_path, rng, suffix, window):
    image = rng.integers(0, 256, (13, 20), np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    assert run("spectrum", "--window", window, tmp_path / "in.png", tmp_path / f"out{suffix}")[0] == 0
    fade = np.outer(*(0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n) for n in (13, 20)))
    wanted = np.abs(np.fft.fftshift(np.fft.fft2(image * (fade if window == "hann" else 1))))
    made = np.load(tmp_path / "out.npy") if suffix == ".npy" else images.read(tmp_path / f"out{suffix}").planes[0]
    np.testing.assert_allclose(made, wanted, atol=1e-6 * wanted.max())


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing argument 'OUT'"),
        ("--with lowpass --table t.csv", "--with writes a page"),
        ("--table in.png", "is the input"),
        ("--table nowhere/t.csv", "cannot be written"),
        ("--table t.csv --pixel-size wide", "is not a"),
    ],
)
def test_tables_that_cannot_be_written_are_refused_in_a_line(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "in.png").read_bytes()
    code, _, error = run("spectrum", *words.split(), "in.png")
    assert (code > 0, message in error, (tmp_path / "in.png").read_bytes() == before) == (True, True, True), error
    assert not (tmp_path / "t.csv").exists()


def test_values_of_the_function_are_checked():
    image = np.zeros((8, 8))
    for words in ({"by": "time"}, {"window": "square"}, {"pixel_size": (0, 1)}):
        with pytest.raises(ParameterError):
            fftfilter.power_spectrum(image, **words)
    assert fftfilter.power_spectrum(np.zeros((1, 1))).power.size == 0
    assert not fftfilter.power_spectrum(image).power.any()


def test_the_table_of_a_folder_is_the_mean_of_its_pictures(run, tmp_path, rng):
    images_, folder = rng.integers(0, 1000, (3, 40, 50)).astype(np.uint16), tmp_path / "many"
    (folder / "inner").mkdir(parents=True)
    for number, image in enumerate(images_):
        Image.fromarray(image).save(folder / ("inner" if number == 2 else ".") / f"{number}.png", dpi=(254, 254))
    for words, taken in (((), 2), (("-r",), 3), (("-r", "--pattern", "0*"), 1)):
        assert run("spectrum", "--table", tmp_path / "t.csv", *words, folder) == (0, b"", "")
        table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
        assert {*table["pictures"]} == {taken}
        wanted = np.mean([rings(image.astype(float), "none")[1] for image in images_[:taken]], axis=0)
        np.testing.assert_allclose(np.column_stack([table["power"], table["frequencies"]]), wanted, rtol=1e-3)
        np.testing.assert_allclose(table["period_m"], table["period_px"] * 1e-4)
    (folder / "bad.png").write_bytes(b"x")
    code, _, said = run("spectrum", "--table", tmp_path / "t.csv", "--pixel-size", "2um", folder)
    assert (code, said.count("\n"), "bad.png: not an image" in said) == (1, 1, True)
    assert run("spectrum", "--table", tmp_path / "t.csv", tmp_path / "nothing")[0] == 1
    assert run("spectrum", "--table", tmp_path / "t.csv", folder, tmp_path / "out.png")[0] == 2


def test_floats_of_any_size_have_one_mean(run, tmp_path, rng):
    (tmp_path / "many").mkdir()
    image = rng.normal(0, 1, (40, 50)).astype(np.float32)
    for factor in (1e-20, 1.0, 1e20):
        np.save(tmp_path / "many" / f"{factor}.npy", image * np.float32(factor))
    assert run("spectrum", "--table", tmp_path / "t.csv", tmp_path / "many")[0] == 0
    table = np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["power"], np.array(rings(image, "none")[1])[:, 0] * 1e40 / 3, rtol=1e-3)


def test_missing_pixels_of_a_table_are_filled(run, tmp_path, rng):
    image = rng.normal(10, 1, (40, 50)).astype(np.float32)
    image[3, 4] = -9999
    np.save(tmp_path / "in.npy", image)
    for words, most in (((), 1e6), (("--nodata", "-9999"), 100)):
        assert run("spectrum", "--table", tmp_path / "t.csv", *words, tmp_path / "in.npy")[0] == 0
        assert np.genfromtxt(tmp_path / "t.csv", delimiter=",", names=True)["power"].mean() < most
    assert most == 100


# Back to a picture


@pytest.mark.parametrize(
    ("image", "precision", "suffix"),
    [
        (np.arange(13 * 20).reshape(13, 20) % 256, "single", "png"),
        (np.arange(13 * 20 * 3).reshape(13, 20, 3) % 251, "single", "png"),
        (np.arange(12 * 20).reshape(12, 20) * 273, "single", "png"),
        (np.arange(12 * 20).reshape(12, 20) / 7 - 9, "double", "tif"),
        (np.full((1, 1), 7), "single", "tif"),
    ],
    ids=["bytes", "color", "words", "floats", "pixel"],
)
def test_a_complex_spectrum_goes_back_to_its_picture(run, tmp_path, image, precision, suffix):
    dtype = np.float32 if image.dtype.kind == "f" else np.uint8 if image.max() < 256 else np.uint16
    np.save(tmp_path / "in.npy", image.astype(dtype))
    words = ("--complex", "--precision", precision, tmp_path / "in.npy", tmp_path / "f.npy")
    assert run("spectrum", *words) == (0, b"", "")
    made = np.load(tmp_path / "f.npy")
    wanted = np.fft.fftshift(np.fft.fft2(image.astype(dtype), axes=(0, 1)), axes=(0, 1))
    assert made.dtype == (np.complex128 if precision == "double" else np.complex64)
    np.testing.assert_allclose(made, wanted, atol=1e-6 * np.abs(wanted).max())
    assert run("spectrum", "--invert", tmp_path / "f.npy", tmp_path / f"out.{suffix}") == (0, b"", "")
    back = images.read(tmp_path / f"out.{suffix}")
    assert back.planes.dtype == dtype
    planes = np.moveaxis(image.reshape(*image.shape[:2], -1), -1, 0).astype(dtype)
    np.testing.assert_allclose(back.planes, planes, rtol=1e-7 if suffix == "tif" else 0, atol=1e-13)


def test_a_changed_spectrum_is_a_changed_picture(run, tmp_path, rng):
    image = rng.integers(0, 256, (12, 20))
    spectrum = np.fft.fftshift(np.fft.fft2(image))
    spectrum[6, 10] *= 1.5  # the mean
    np.save(tmp_path / "f.npy", spectrum)
    wanted = image + image.mean() / 2
    assert run("spectrum", "--invert", tmp_path / "f.npy", tmp_path / "out.tif") == (0, b"", "")
    assert images.read(tmp_path / "out.tif").planes[0] == pytest.approx(wanted, rel=1e-6)
    code, _, said = run("spectrum", "--invert", tmp_path / "f.npy", tmp_path / "out.png")
    assert (code, "of the samples are clipped: write .tif or .npy" in said) == (0, True)
    assert (images.read(tmp_path / "out.png").planes[0] == np.rint(wanted).clip(0, 255)).all()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


HUGE = npy(np.zeros((4, 4), complex)).replace(b"(4, 4)", b"(4000000, 4000000)".ljust(6))
LONE = np.zeros((8, 8), complex)
LONE[1, 2] = 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty (0 bytes)"),
        (b"\x89PNG\r\n", "is no spectrum to invert; give the .npy of complex numbers"),
        (npy(np.zeros((8, 8))), "of shape (8, 8) and type float64 is no spectrum"),
        (npy(np.zeros(8, complex)), "of shape (8,) and type complex128 is no spectrum"),
        (npy(np.zeros((0, 8), complex)), "of shape (0, 8)"),
        (npy(np.array([[None]])), "is no spectrum"),
        (npy(np.zeros((8, 8), complex))[:-9], "9 bytes are missing"),
        (HUGE, "4000000 x 4000000 pixels take"),
        (npy(np.full((8, 8), np.nan + 0j)), "has numbers that are not finite"),
        (npy(LONE), "is the spectrum of no picture: F(-fx, -fy) is not the conjugate of F(fx, fy)"),
    ],
)
def test_what_is_no_spectrum_is_refused_in_a_line(run, tmp_path, content, message):
    (tmp_path / "f.npy").write_bytes(content)
    code, out, said = run("spectrum", "--invert", tmp_path / "f.npy", tmp_path / "out.png")
    assert (code, out, said.count("\n"), message in said) == (1, b"", 1, True), said
    assert not (tmp_path / "out.png").exists()


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--complex in.png out.png", "for which OUT is an .npy"),
        ("--complex --invert in.png out.npy", "--complex writes OUT alone"),
        ("--complex --window hann in.png out.npy", "--complex writes OUT alone"),
        ("--invert --table t.csv f.npy out.png", "--invert writes OUT alone"),
        ("--recursive in.png out.png", "recursive"),
    ],
)
def test_what_does_not_go_together_is_refused(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, _, said = run("spectrum", *words.split())
    assert (code, message in said) == (2, True), said
