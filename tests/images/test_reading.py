"""Bytes to a picture: which reader, which errors, and sizes from headers alone."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from fftfilter.errors import ReadError, TooLargeError
from fftfilter.images import Size, decode, measure, read
from fftfilter.images.png_writer import encode
from tests.files.helpers import message, python
from tests.helpers import SAMPLES
from tests.images.helpers import ALPHA, COLOR, GRAY, noise, png, png_header, tiff

RNG = np.random.default_rng(7)


def test_samples_are_read():
    shapes = {name: read(SAMPLES / name).planes.shape for name in ("camera.pgm", "brick.png", "astronaut.png")}
    assert shapes == {"camera.pgm": (1, 512, 512), "brick.png": (1, 512, 512), "astronaut.png": (3, 512, 512)}


def test_the_content_decides_and_not_the_name(tmp_path):
    (tmp_path / "x.png").write_bytes(b"P5 2 1 255\nab")
    assert read(tmp_path / "x.png").format == "PPM"
    Image.fromarray(COLOR).save(tmp_path / "x.pgm", "PNG")
    assert read(tmp_path / "x.pgm").format == "PNG"


def test_pgm_to_pgm_never_imports_pillow(tmp_path):
    (tmp_path / "in.pgm").write_bytes(b"P5 2 1 255\nab")
    code = (
        "import sys; from fftfilter import images as i; i.check_output('in.pgm', 'out.pgm');"
        "i.write(i.read('in.pgm'), 'out.pgm'); i.measure('in.pgm'); assert 'PIL' not in sys.modules"
    )
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("source", ["in.png", "-"])
@pytest.mark.parametrize("data", [b"P5 2 2 255\nab", b"not an image"], ids=["netpbm", "Pillow"])
def test_errors_begin_with_the_name_of_the_source(data, source):
    with pytest.raises(ReadError) as caught:
        decode(data, source)
    assert message(caught).startswith({"in.png": "in.png: ", "-": "standard input: "}[source])


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path):
    for action in read, measure:
        with pytest.raises(ReadError) as caught:
            action(tmp_path / "two\nlines.png")
        assert r"two\nlines.png': cannot be read: no such file" in message(caught)


@pytest.mark.parametrize("form", ["PNG", "PGM"])
def test_more_pixels_than_memory_are_refused_by_the_header(form):
    data = b"P5 524288 524288 255\n"
    if form == "PNG":  # as many bytes as so many pixels need at least
        data = png(png_header(2**19, 2**19), (b"IDAT", bytes(2**26)), (b"IEND", b""))
    with pytest.raises(TooLargeError, match="524288 x 524288 pixels take 824,633,720,832 bytes"):
        decode(data, "x")


def test_an_absurd_header_is_refused():
    with pytest.raises(TooLargeError) as caught:
        decode(b"P5 " + b"9" * 5000 + b" 1 255\n", "x.pgm")
    assert len(message(caught)) < 300


@pytest.mark.parametrize("format_", ["PNG", "TIFF"])
def test_a_header_may_be_longer_than_what_is_read_first(tmp_path, format_):
    file = io.BytesIO()
    profile = bytes(16) + b"GRAY" + RNG.bytes(3 << 20)
    Image.fromarray(GRAY).save(file, format_, icc_profile=profile)
    (tmp_path / "x").write_bytes(file.getvalue())
    assert read(tmp_path / "x").metadata.profile == profile


def test_the_tags_of_a_tiff_may_stand_behind_what_is_read_first(tmp_path):
    (tmp_path / "x").write_bytes(tiff(np.full((1100, 1000, 1), 7, np.uint8), photometric=1))
    assert (read(tmp_path / "x").planes == 7).all()


# Sizes


def saved(image, format_):
    file = io.BytesIO()
    image.save(file, format_)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"P5 7 5 255\n", (7, 5, 1, 1)),
        (b"P3\n# wide\n7 5\n1000\n", (7, 5, 3, 2)),
        (saved(Image.fromarray(GRAY), "PNG"), (3, 2, 1, 1)),
        (saved(Image.fromarray(GRAY.astype(np.uint16)), "PNG"), (3, 2, 1, 2)),
        (saved(Image.fromarray(COLOR), "PNG")[:50], (3, 2, 3, 1)),
        (saved(Image.fromarray(np.dstack([GRAY, ALPHA])), "PNG"), (3, 2, 1, 1)),
        (saved(Image.fromarray(np.dstack([COLOR, ALPHA])), "PNG"), (3, 2, 3, 1)),
        (saved(Image.fromarray(COLOR).quantize(), "GIF"), (3, 2, 3, 1)),
        (saved(Image.fromarray(GRAY.astype(np.float32)), "TIFF"), (3, 2, 1, 4)),
        (saved(Image.fromarray(GRAY.astype(np.float32)), "SPIDER"), (3, 2, 1, 4)),
        (b"".join(encode(noise(4))), (11, 9, 3, 2)),
        (tiff(noise(3), photometric=2), (11, 9, 3, 2)),
        (tiff(noise(4).astype(np.uint8), photometric=5), (11, 9, 3, 1)),
    ],
    ids=[
        "P5",
        "P3",
        "L",
        "I;16",
        "RGB cut off",
        "LA",
        "RGBA",
        "P",
        "F",
        "F in SPIDER",
        "RGBA of 16 bits",
        "TIFF of 16 bits",
        "CMYK",
    ],
)
def test_a_size_is_that_of_the_header(tmp_path, data, wanted):
    (tmp_path / "x").write_bytes(data)
    assert measure(tmp_path / "x") == Size(*wanted)


def test_the_size_of_an_image_behind_a_url():
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/x.pgm", b"P5 7 5 255\n")
    assert measure("memory://x.pgm") == Size(7, 5, 1, 1)
    memory.rm_file("/x.pgm")


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "empty (0 bytes)"), (b"text", "not an image"), (b"P5 wide", "width is 'wide'"), (b"II*\0\x08", "TIFF")],
)
def test_a_size_that_cannot_be_found_is_an_error(tmp_path, data, words):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ReadError) as caught:
        measure(tmp_path / "x")
    assert words in message(caught)
