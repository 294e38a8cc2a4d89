"""How an output stores its samples."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.images import Depth, depth_as, read, suffix_of, write
from tests.images.helpers import picture


@pytest.mark.parametrize(
    ("given", "target", "depth"),
    [
        (picture(), "x.png", (np.uint8, 255)),
        (picture(maxval=100), "x.png", (np.uint8, 255)),
        (picture(maxval=100), "x.pgm", (np.uint8, 100)),
        (picture(maxval=100), "x.ppm", (np.uint8, 100)),
        (picture(maxval=100, format="PPM"), "-", (np.uint8, 100)),
        (picture(maxval=100, format="GIF"), "-", (np.uint8, 255)),
        (picture(dtype=np.uint16, maxval=1000), "x.pnm", (np.uint16, 1000)),
        (picture(dtype=np.uint16, maxval=100), "x.pnm", (np.uint8, 100)),
        (picture(dtype=np.uint16, maxval=255), "x.pnm", (np.uint8, 255)),
        (picture(dtype=np.uint16, maxval=256), "x.pnm", (np.uint16, 256)),
        (picture(dtype=np.uint16, maxval=1000), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.uint16, maxval=1000), "x.tif", (np.uint16, 65535)),
        (picture(dtype=np.uint16, maxval=1000), "x.jpg", (np.uint8, 255)),
        (picture(dtype=np.uint16, channels=3, alpha=True), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.uint16), "x.jp2", (np.uint16, 65535)),
        (picture(dtype=np.uint16, channels=3), "x.jp2", (np.uint8, 255)),
        (picture(dtype=np.float32), "x.tif", (np.float32, 1)),
        (picture(dtype=np.float32, channels=3), "x.tif", (np.float32, 1)),
        (picture(dtype=np.float32), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.float32), "x.pgm", (np.uint16, 65535)),
        (picture(dtype=np.float32), "x.jpg", (np.uint8, 255)),
        (picture(dtype=np.float32, format="TIFF"), "-", (np.float32, 1)),
        (picture(), "x.pfm", (np.float32, 1)),
    ],
)
def test_the_pictures_own_depth_or_as_near_as_the_format_can(given, target, depth):
    assert depth_as(suffix_of(target, None, given), given) == Depth(np.dtype(depth[0]), depth[1])


def test_a_named_format_goes_before_the_extension():
    assert depth_as(suffix_of("x.png", "jpg"), picture(dtype=np.uint16)) == Depth(np.dtype(np.uint8), 255)


@pytest.mark.parametrize("suffix", [".png", ".tif", ".pgm", ".ppm", ".jpg", ".pfm"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_it_is_the_depth_of_the_file_that_is_written(tmp_path, suffix, dtype):
    given = picture(dtype=dtype)
    write(given, tmp_path / f"x{suffix}")
    got = read(tmp_path / f"x{suffix}")
    assert Depth(got.planes.dtype, got.maxval) == depth_as(suffix, given)
