"""PGM and PPM: what is read, what is written, and what the error of each broken file says."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fftfilter import images
from fftfilter.errors import ReadError
from fftfilter.images import plain_formats
from tests.files.helpers import message


def decode(data):
    found = images.decode(data, "in.pgm")
    return found.planes, found.maxval


@pytest.mark.parametrize(
    ("data", "wanted", "maxval"),
    [
        (b"P2\n3 2\n9\n0 1 2\n3 4 9\n", [[[0, 1, 2], [3, 4, 9]]], 9),
        (b"P5\n3 2\n9\n\0\1\2\3\4\x09", [[[0, 1, 2], [3, 4, 9]]], 9),
        (b"P3 2 1 300 1 2 3  300 5 6", [[[1, 300]], [[2, 5]], [[3, 6]]], 300),
        (b"P6 2 1 255 \1\2\3\xff\5\6", [[[1, 255]], [[2, 5]], [[3, 6]]], 255),
        (b"P5 2 1 1000\n\0\1\3\xe8", [[[1, 1000]]], 1000),
        (b"P6 1 1 65535\n\1\0\2\0\3\0", [[[256]], [[512]], [[768]]], 65535),
    ],
    ids=["P2", "P5", "P3", "P6", "P5 two bytes", "P6 two bytes"],
)
def test_each_kind(data, wanted, maxval):
    planes, found = decode(data)
    assert planes.tolist() == wanted
    assert found == maxval
    assert planes.dtype == (np.uint8 if maxval < 256 else np.uint16)


@pytest.mark.parametrize(
    "data",
    [
        b"P2 # gray\n# made by hand\n2 #wide\n  1 # high\n255#white\n 7 # first\n8#last",
        b"P2#\r2\r\n1\t255\v7\f8\n\n\n",
        b"P5\n#1 1 1\n#\n2\n1 # 9\n255\n\7\x08",
        b"P5 2 1 255# a comment that ends the header\n\7\x08",
    ],
)
def test_comments_and_any_whitespace(data):
    assert decode(data)[0].tolist() == [[[7, 8]]]


def test_raw_samples_may_look_like_comments_and_whitespace():
    assert decode(b"P5 4 1 255\n#\n 5")[0].tolist() == [[[35, 10, 32, 53]]]


def test_line_end_of_two_bytes_is_seen_by_the_length_of_the_file():
    assert decode(b"P5\r\n2 1\r\n255\r\n\7\x08")[0].tolist() == [[[7, 8]]]
    assert decode(b"P5\n3 1\n255\r\n\7\x08")[0].tolist() == [[[10, 7, 8]]]


def test_a_last_line_end_is_no_sample():
    assert decode(b"P5 2 1 255\n\7\x08\n")[0].tolist() == [[[7, 8]]]


def test_a_header_line_of_many_hash_signs_is_quick():
    assert decode(b"P2\n" + b"#" * 100_000 + b"\n1 1 1\n1")[0].tolist() == [[[1]]]


@pytest.mark.parametrize("maxval", [1, 100, 255, 256, 1000, 65535])
@pytest.mark.parametrize(("channels", "suffix"), [(1, ".pgm"), (3, ".ppm"), (1, ".pnm"), (3, ".pnm")])
def test_maxval_and_samples_come_back(tmp_path, maxval, channels, suffix):
    dtype = np.uint8 if maxval < 256 else np.uint16
    planes = np.random.default_rng(1).integers(0, maxval + 1, (channels, 5, 7)).astype(dtype)
    path = tmp_path / f"x{suffix}"
    images.write(images.Picture(planes, None, maxval, "PPM"), path)
    magic = b"P5" if channels == 1 else b"P6"
    assert path.read_bytes().startswith(magic + b"\n7 5\n%d\n" % maxval)
    back = images.read(path)
    assert back.maxval == maxval
    assert back.planes.dtype == dtype
    np.testing.assert_array_equal(back.planes, planes)


@pytest.mark.parametrize("maxval", [255, 65535])
def test_pillow_reads_the_same(tmp_path, maxval):
    planes = np.arange(35).reshape(1, 5, 7).astype(np.uint8 if maxval < 256 else np.uint16) * (maxval // 35)
    images.write(images.Picture(planes, None, maxval, "PPM"), tmp_path / "x.pgm")
    with Image.open(tmp_path / "x.pgm") as image:
        np.testing.assert_array_equal(np.asarray(image), planes[0])


def test_gray_in_a_ppm_is_three_times_the_same(tmp_path):
    images.write(images.Picture(np.array([[[5, 6]]], np.uint8), None, 255, "PPM"), tmp_path / "x.ppm")
    assert (tmp_path / "x.ppm").read_bytes() == b"P6\n2 1\n255\n\5\5\5\6\6\6"


def test_gray_and_color_in_a_pnm_are_p5_and_p6():
    gray = np.zeros((1, 1, 1), np.uint8)
    assert b"".join(plain_formats.encode_pnm(gray, 9)) == b"P5\n1 1\n9\n\0"
    assert b"".join(plain_formats.encode_pnm(np.concatenate([gray] * 3), 9)) == b"P6\n1 1\n9\n\0\0\0"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"P5\n", "ends before its width"),
        (b"P5 12", "ends before its height"),
        (b"P5 12 12 # 255", "ends before its maxval"),
        (b"P5 12 12 255", "ends with its header; get a whole copy of it"),
        (b"P5 wide 12 255\n", "width is 'wide'; it must be a whole number above 0"),
        (b"P5 -3 12 255\n", "width is '-3'"),
        (b"P5 0 12 255\n", "width is '0'"),
        (b"P5 12 0 255\n", "height is '0'"),
        (b"P5 1 1 0\n\0", "maxval is '0'; it must be 1 to 65535"),
        (b"P5 1 1 65536\n\0\0", "maxval is '65536'"),
        (b"P5 10 10 255\n" + bytes(60), "40 bytes are missing of the 100"),
        (
            b"P5 10 10 256\n" + bytes(60),
            "140 bytes are missing of the 200 for the 10 x 10 pixels of its header; get a whole copy of it",
        ),
        (b"P5 2 1 255\n123", "1 bytes follow the last pixel; give one image a file, or correct its header"),
        (b"P5 1 1 255\n7P5 1 1 255\n8", "follow the last pixel; give one image a file"),
        (b"P5 1 1 255\n\n\nP5 1 1 255\n8", "give one image a file"),
        (b"P2 1 1 255 7\nP2 1 1 255 8", "'P2' among its samples; they must be whole numbers, of one image"),
        (
            b"P5 3 2 100\n\0\0\0\0\x65\0",
            "sample 101 at x=1, y=1 is above the maxval 100 of its header; correct one of them",
        ),
        (b"P5 2 1 1000\n\0\0\3\xe9", "sample 1001 at x=1, y=0"),
        (b"P2 2 1 255 0 256", "sample 256 at x=1, y=0"),
        (b"P2 1 1 255 " + b"9" * 50, "is above the maxval 255"),
        (b"P3 2 1 10 0 0 0 0 0 11", "sample 11 at x=1, y=0"),
        (
            b"P2 2 2 255 1 2 3",
            "1 samples too few for the 2 x 2 pixels of its header; correct it or get a whole copy of it",
        ),
        (b"P2 2 2 255", "4 samples too few"),
        (b"P2 2 1 255 1 2 3", "1 samples too many"),
        (b"P2 2 1 255 1 2.5", "'.5' among its samples"),
        (b"P2 2 1 255 -1 2", "'-1' among its samples"),
        (b"P2 2 1 255 1 \xff\xfe", "among its samples"),
    ],
)
def test_the_error_of_a_broken_file_says_what_is_wrong(data, words):
    with pytest.raises(ReadError) as caught:
        images.decode(data, "in.pgm")
    assert message(caught).startswith("in.pgm: ")
    assert words in message(caught)
