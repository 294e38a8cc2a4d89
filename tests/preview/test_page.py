"""The page: for any picture and filter, and with what belongs on it."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview.page import CAPTION, GAP, MARGIN, SIDE, TITLE, WIDTH, page
from fftfilter.preview.report import FilterReport


def test_the_panels_stand_side_by_side():
    planes = np.full((3, SIDE, SIDE), 40, np.uint8)
    planes[0] = 200
    pixels = page(FilterReport(planes, 255, H.lowpass("8px")), 255 - planes, 255, "a title", "a filter")
    assert pixels.shape[1:] == (WIDTH, 3)
    middle = TITLE + CAPTION + SIDE // 2
    seen = [tuple(pixels[middle, MARGIN + i * (SIDE + GAP) + 50].tolist()) for i in (0, 2, 3)]
    assert seen == [(200, 40, 40), (55, 215, 215), (128, 128, 128)]


@pytest.mark.parametrize(
    ("size", "kind"), [((1, 1), np.uint8), ((9, 1), np.uint16), ((4, 600), np.float32), ((64, 64), np.float32)], ids=str
)
def test_it_is_drawn_for_any_picture(rng, size, kind):
    planes = (rng.normal(100, 30, (1, *size)) if kind is np.float32 else rng.integers(0, 256, (1, *size))).astype(kind)
    filters = H.bandstop("8px", "3px") * H.notch((0.2, 0.1)) * H.stripes(33) * H.mask([[2.0]], any_size=True)
    pixels = page(FilterReport(planes, 1, filters), planes, 1, "a title " * 100, "\N{SNOWMAN}")
    assert pixels.std() > 5


def test_all_that_is_constant_is_drawn_too():
    planes = np.full((1, 40, 40), 7, np.uint8)
    assert page(FilterReport(planes, 255, H.highpass()), np.zeros_like(planes), 255, "", "").shape[1] == WIDTH


def test_of_a_large_picture_the_middle_is_shown_too(rng):
    planes = rng.integers(0, 256, (1, 32, 2 * SIDE + 2)).astype(np.uint8)
    report = FilterReport(planes, 255, H.lowpass("8px"))
    pixels = page(report, planes, 255, "", "")
    top = TITLE + 2 * CAPTION + SIDE + GAP + (SIDE - 32) // 2
    assert (
        pixels[top : top + 32, MARGIN : MARGIN + SIDE, 0] == planes[0, :, SIDE // 2 + 1 : SIDE // 2 + 1 + SIDE]
    ).all()
