"""``spectrum``: what is written, and which options reach it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fftfilter import images, transforms
from fftfilter.errors import ReadError


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
