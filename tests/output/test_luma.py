"""Luminance and chroma, against JPEG's matrix in full."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fftfilter.errors import ParameterError
from fftfilter.region import filtered_part, of_channels, part_of

# JFIF 1.02: Y, Cb - 128 and Cr - 128 of R, G and B.
TO_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])


def by_matrix(planes, filter_, which):
    """Return a picture whose Y (0), or Cb and Cr (1, 2), are filtered."""
    ycc = np.tensordot(TO_YCC, planes.astype(float), 1)
    for i in which:
        ycc[i] = filter_(ycc[i])
    return np.tensordot(np.linalg.inv(TO_YCC), ycc, 1)


def smooth(planes):
    return (planes + np.roll(planes, 1, -1)) / 2


@pytest.mark.parametrize(("channels", "which"), [("luminance", [0]), ("chroma", [1, 2])])
def test_one_part_is_filtered_and_the_other_stays(rng, channels, which):
    planes = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)
    np.testing.assert_allclose(filtered_part(planes, channels, smooth), by_matrix(planes, smooth, which), atol=1e-3)


def test_luminance_is_that_of_pillow(rng):
    planes = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)
    jpeg = np.asarray(Image.fromarray(planes.transpose(1, 2, 0)).convert("YCbCr"))
    assert np.abs(part_of(planes, "luminance")[0] - jpeg[..., 0]).max() <= 1


def test_gray_is_luminance_without_chroma():
    gray = np.full((1, 2, 2), 7, np.uint8)
    assert filtered_part(gray, "luminance", lambda plane: plane + 1).tolist() == (gray + 1).tolist()
    assert filtered_part(gray, "chroma", None).tolist() == gray.tolist()


def test_all_channels_are_filtered_as_they_are():
    planes = np.arange(8).reshape(2, 2, 2)
    for channels in (None, "all"):
        assert filtered_part(planes, channels, lambda given: given * 2).tolist() == (planes * 2).tolist()


def test_a_change_of_chroma_leaves_the_luminance():
    change = of_channels(np.array([[[3.0]], [[-2.0]]]), "chroma")
    assert part_of(np.array(change), "luminance")[0, 0, 0] == pytest.approx(0)


def test_pictures_that_are_neither_gray_nor_rgb_are_refused():
    with pytest.raises(ParameterError, match="the picture has 4 channels, and channels chroma is for gray and RGB"):
        part_of(np.zeros((4, 2, 2)), "chroma")
