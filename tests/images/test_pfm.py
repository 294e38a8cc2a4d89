"""PFM files of gray and color, against bytes made here and Pillow, which knows the gray ones."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from fftfilter.errors import ReadError
from fftfilter.images import Picture, Size, decode, measure, read, write

VALUES = np.arange(18, dtype=np.float32).reshape(2, 3, 3) / 7 - 1  # 2 rows of 3 pixels
COLOR = b"PF\n3 2\n-1.0\n" + VALUES[::-1].astype("<f4").tobytes()  # the lowest row first


def test_color_is_read_in_either_byte_order():
    for data in (COLOR, b"PF\n3 2\n1.0\n" + VALUES[::-1].astype(">f4").tobytes()):
        np.testing.assert_array_equal(decode(data, "x.pfm").planes, VALUES.transpose(2, 0, 1))


def test_color_is_written_as_it_is_read(tmp_path):
    write(Picture(VALUES.transpose(2, 0, 1), None, 1, "PPM"), tmp_path / "x.pfm")
    assert (tmp_path / "x.pfm").read_bytes() == COLOR
    assert measure(tmp_path / "x.pfm") == Size(3, 2, 3, 4)


def test_gray_is_written_as_pillow_does(tmp_path):
    gray = np.ascontiguousarray(VALUES[:, :, 0])
    by_pillow = io.BytesIO()
    Image.fromarray(gray).save(by_pillow, "PPM")
    write(Picture(gray[None], None, 1, "PPM"), tmp_path / "x.pfm")
    assert (tmp_path / "x.pfm").read_bytes() == by_pillow.getvalue()
    np.testing.assert_array_equal(read(tmp_path / "x.pfm").planes[0], gray)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (COLOR[:-1], "1 bytes are missing of the 72"),
        (COLOR + b"x", "1 bytes follow the last pixel"),
        (b"PF\n3 0\n-1.0\n", "^x.pfm: the header of this PFM is damaged; get a whole copy of it$"),
        (b"PF\n3 2\n0\n" + bytes(72), "header of this PFM is damaged"),
        (b"PF\n3 2\n-e-\n" + bytes(72), "header of this PFM is damaged"),
        (b"PF\n3 2\n-1e999\n" + bytes(72), "header of this PFM is damaged"),
    ],
)
def test_a_damaged_file_is_refused(data, words):
    with pytest.raises(ReadError, match=words):
        decode(data, "x.pfm")
