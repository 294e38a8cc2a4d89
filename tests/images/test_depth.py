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
        (picture(dtype=np.uint16, channels=3), "x.jp2", (np.uint16, 65535)),
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


@pytest.mark.parametrize(
    ("given", "suffix", "wanted"),
    [
        (picture(dtype=np.uint16), ".png", np.uint16),
        (picture(dtype=np.uint16, channels=3), ".png", np.uint8),
        (picture(dtype=np.uint16, alpha=True), ".png", np.uint8),
        (picture(dtype=np.uint16, channels=3), ".tif", np.uint16),
    ],
)
def test_frames_of_color_have_8_bits_where_readers_know_no_more(given, suffix, wanted):
    assert depth_as(suffix, given, is_page=True).dtype == wanted


@pytest.mark.parametrize(
    ("suffix", "integers"), [(".tif", np.int16), (".npy", np.int16), (".fits", np.int16), (".pfm", None)]
)
def test_levels_that_are_kept_are_integers_again_where_the_format_has_them(suffix, integers):
    given = picture(dtype=np.float32)
    given.integers = np.dtype(np.int16)
    wanted = Depth(np.dtype(np.float32), 1, integers and np.dtype(integers))
    assert depth_as(suffix, given, keeps_levels=True) == wanted
    assert depth_as(suffix, given) == depth_as(suffix, given, is_real=True, keeps_levels=True) == Depth(wanted.dtype, 1)
    assert depth_as(".png", given, keeps_levels=True) == Depth(np.dtype(np.uint16), 65535)


def test_values_as_they_are_are_floats():
    assert depth_as(".npy", picture(), is_real=True) == Depth(np.dtype(np.float32), 1)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (np.int16, [-32768, 32767, 2, 0]),
        (np.uint32, [0, 2**32 - 1, 2, 0]),
        (np.int64, [-(2**63), 2**63 - 1024, 2, 0]),  # of float64's numbers the last one below 2**63
    ],
)
def test_floats_are_rounded_to_the_integers_of_a_file_and_clipped(dtype, wanted):
    depth = Depth(np.dtype(np.float32), 1, np.dtype(dtype))
    got = depth.rounded(np.array([-1e30, np.inf, 1.7, np.nan], np.float32))
    assert (got.dtype, got.tolist()) == (dtype, wanted)
    assert depth.rounded(np.array([np.nan, 1]), missing=9).tolist() == [9, 1]


def test_a_named_format_goes_before_the_extension():
    assert depth_as(suffix_of("x.png", "jpg"), picture(dtype=np.uint16)) == Depth(np.dtype(np.uint8), 255)


@pytest.mark.parametrize("suffix", [".png", ".tif", ".pgm", ".ppm", ".jpg", ".pfm"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_it_is_the_depth_of_the_file_that_is_written(tmp_path, suffix, dtype):
    given = picture(dtype=dtype)
    write(given, tmp_path / f"x{suffix}")
    got = read(tmp_path / f"x{suffix}")
    assert Depth(got.planes.dtype, got.maxval) == depth_as(suffix, given)
