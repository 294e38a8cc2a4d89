"""What a picture takes of memory is said before it is taken."""

from __future__ import annotations

import io
import struct
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ReadError, TooLargeError
from fftfilter.images import Asked, Picture, Size, decode, opened, write
from fftfilter.images.quiet import damage_as_error
from fftfilter.transfer import highpass
from fftfilter.work.recipe import Recipe
from tests.files.helpers import message, python
from tests.images.helpers import png, png_header

TAKEN = """
import re, sys
from pathlib import Path
import numpy as np
from fftfilter import images, transfer
from fftfilter.filters import Filter
def most():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
def filtered(name):
    with Filter(transfer.highpass(40)) as made:
        picture = images.read(name)
        picture.planes = made(picture.planes, channel_axis=0, dtype=picture.planes.dtype)
        made.close()
        images.write(picture, name)
filtered(sys.argv[1])
before = most()
filtered(sys.argv[2])
sys.stdout.write(str(most() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes as Linux does")
def test_the_estimate_is_what_is_taken(tmp_path):
    ramp = (np.add.outer(np.arange(2048), np.arange(2048)) % 251).astype(np.uint8)
    for name, size in ("small.png", 256), ("large.png", 2048):  # radices 4 and 8: one program
        write(Picture(ramp[None, :size, :size], None, 255, "PNG"), tmp_path / name)
    done = python(f"import sys; sys.argv[1:] = ['small.png', 'large.png']\n{TAKEN}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    taken, estimated = int(done.stdout), Recipe(highpass(40)).working(Size(2048, 2048, 1, 1))
    assert 0.6 * estimated < taken < 1.1 * estimated


@pytest.mark.skipif(sys.platform != "linux", reason="knows only Linux's limits")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_shell_is_a_limit(limit):
    code = f"""
import resource
from fftfilter import errors, images
resource.setrlimit(resource.{limit}, (1 << 30, 1 << 30))
try: images.decode(b'P5 40000 20000 255\\n', 'x.pgm')
except errors.TooLargeError as error: print(error)
"""
    done = python(code)
    assert b"x.pgm: 40000 x 20000 pixels take 2,400,000,000 bytes to filter, more than the " in done.stdout, done.stderr


def gif(width, height):
    """Return a GIF of a few pixels whose header has another size."""
    head = struct.pack("<6sHHBBB", b"GIF89a", width, height, 0x80, 0, 0) + bytes(6)
    return head + struct.pack("<BHHHHB", 0x2C, 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00" + b";"


def jpeg(width, height, data):
    """Return a JPEG with the size in its header replaced."""
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]


def test_a_header_that_promises_more_than_its_bytes_can_hold_is_refused(tmp_path):
    write(Picture(np.zeros((1, 8, 8), np.uint8), None, 255, "PNG"), tmp_path / "x.jpg")
    small = (tmp_path / "x.jpg").read_bytes()
    tall = png(png_header(33, 33554472), (b"IDAT", bytes(40)), (b"IEND", b""))
    for data, size in (
        (gif(30000, 40000), "30000 x 40000"),
        (jpeg(46341, 46341, small), "46341 x 46341"),
        (tall, "33 x 33554472"),
    ):
        with pytest.raises(ReadError) as caught:
            decode(data, "x")
        assert message(caught).endswith(f" bytes cannot hold the {size} pixels of its header; get a whole copy of it")


@pytest.mark.parametrize("format_", ["GIF", "JPEG"])
def test_a_picture_of_one_color_takes_few_bytes(format_):
    file = io.BytesIO()
    Image.new("L", (1500, 1000), 9).save(file, format_)
    assert decode(file.getvalue(), "x").planes.shape == (1, 1000, 1500)


def test_memory_that_does_not_suffice_is_no_damage():
    with pytest.raises(MemoryError), damage_as_error("x"):
        raise MemoryError


def test_what_filters_counts_too():
    with pytest.raises(
        TooLargeError,
        match=r"^x: 3000 x 100 pixels take 1,000,000,000,000,000 bytes to filter, .* of memory that are free; use a",
    ):
        decode(b"P5 3000 100 255\n" + bytes(300_000), "x", lambda _: 10**15)


@pytest.mark.parametrize(
    ("head", "taken"),
    [
        *((b"P5 1048576 1048576 255\n", 3), (b"P6 1048576 1048576 255\n", 9), (b"P5 1048576 1048576 65535\n", 6)),
        # Samples that are written as text take as much as floats while they are read.
        *((b"Pf 1048576 1048576 1\n", 12), (b"P2 1048576 1048576 255\n", 12)),
    ],
)
def test_what_a_sample_takes_depends_on_its_bytes(head, taken):
    with pytest.raises(TooLargeError, match=f"pixels take {taken * 2**40:,} bytes to filter"):
        decode(head, "x")


def gif_of_many(width, height, frames):
    """Return a GIF of frames of one pixel on a large screen."""
    frame = struct.pack("<BHHHHB", 0x2C, 0, 0, 1, 1, 0) + b"\x02\x02\x4c\x01\x00"
    return struct.pack("<6sHHBBB", b"GIF89a", width, height, 0x80, 0, 0) + bytes(6) + frame * frames + b";"


def tiff_of_many(width, height, pages):
    """Return a TIFF whose pages share one strip."""
    data, tags = b"II*\0" + struct.pack("<I", 24) + bytes(16), 9
    for page in range(pages):
        following = len(data) + 2 + 12 * tags + 4 if page < pages - 1 else 0
        values = (
            (256, width),
            (257, height),
            (258, 8),
            (259, 8),
            (262, 1),
            (273, 8),
            (277, 1),
            (278, height),
            (279, 16),
        )
        data += struct.pack("<H", tags) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values)
        data += struct.pack("<I", following)
    return data


@pytest.mark.parametrize("data", [gif_of_many(6000, 1500, 5000), tiff_of_many(6000, 1500, 5000)], ids=["GIF", "TIFF"])
def test_pages_of_more_pixels_than_a_day_can_decode_are_refused(data):
    with pytest.raises(TooLargeError) as caught:
        opened(data, "x")
    begins = (
        f"x: its pages have 45,000,000,000 pixels to decode, too many for {len(data):,} bytes; take fewer by --pages, "
        "such as --pages -10"
    )
    assert message(caught) == begins
    pages = opened(data, "x", Asked(11, 12))
    assert (len(pages), pages.pixels) == (2, (12 if data.startswith(b"GIF") else 2) * 9_000_000)
    pages.close()
    with pytest.raises(TooLargeError) if data.startswith(b"GIF") else nullcontext():  # which decodes those before, too
        opened(data, "x", Asked(4999, 5000)).close()


def test_a_tile_that_is_larger_than_its_picture_takes_memory_too():
    file = io.BytesIO()
    tifffile.imwrite(file, np.zeros((16, 16), np.uint8), tile=(16, 16), compression="zlib")
    file.seek(0)
    with tifffile.TiffFile(file) as tags:
        sides = [tags.pages[0].tags[name] for name in ("TileWidth", "TileLength")]
        data = bytearray(file.getvalue())
    for side in sides:
        data[side.offset + 2 : side.offset + 12] = struct.pack("<HII", 4, 1, 1 << 20)
    with pytest.raises(TooLargeError, match="1048576 x 1048576 pixels"):
        opened(bytes(data), "x.tif")
