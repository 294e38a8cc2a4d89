"""The page: for any picture and filter, and with what belongs on it."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview.page import CAPTION, GAP, MARGIN, SIDE, TITLE, WIDTH, page
from fftfilter.preview.report import FilterReport


def rings(pixels, *, row=0):
    """Return the distances of a cutoff's yellow pixels from the middle of the spectrum, above and left of it."""
    left, top = MARGIN + SIDE + GAP, TITLE + CAPTION + row * (CAPTION + SIDE + GAP)
    r, g, b = pixels[top : top + SIDE // 2, left : left + SIDE // 2].astype(int).transpose(2, 0, 1)
    y, x = np.nonzero((r > 200) & (g > 185) & (b < 150))
    assert len(y) > 40
    return np.hypot(SIDE / 2 - y, SIDE / 2 - x)


def test_the_panels_stand_side_by_side():
    planes = np.full((3, SIDE, SIDE), 40, np.uint8)
    planes[0] = 200
    pixels = page(FilterReport(planes, 255, H.lowpass("8px")), 255 - planes, 255, "a title", "a filter")
    assert pixels.shape[1:] == (WIDTH, 3)
    middle = TITLE + CAPTION + SIDE // 2
    seen = [tuple(pixels[middle, MARGIN + i * (SIDE + GAP) + 50].tolist()) for i in (0, 2, 3)]
    assert seen == [(200, 40, 40), (55, 215, 215), (128, 128, 128)]
    # The cutoff lies around the spectrum's middle, at 1/8 of its width.
    np.testing.assert_allclose(rings(pixels), SIDE / 8, atol=3)


def test_it_says_what_is_shown_and_how_much_is_removed(said):
    wave = np.rint(128 + 100 * np.cos(np.pi / 4 * np.arange(96)) * np.ones((64, 1))).astype(np.uint8)[None]
    half = FilterReport(wave, 255, H.mask([[0.5]], any_size=True))
    page(half, wave, 255, "a title", "a filter of n/8")
    assert said[:6] == [
        "a title",
        "a filter of n/8 = 8",
        "input",
        "spectrum, what is removed tinted",
        "result",
        "removed: 25.00% of the power; gray is 0, white 50 of 255",
    ]


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


def test_of_a_large_picture_the_middle_is_shown_too(rng, said):
    planes = rng.integers(0, 256, (1, 32, 2 * SIDE + 2)).astype(np.uint8)
    report = FilterReport(planes, 255, H.lowpass("10px"))
    pixels = page(report, planes, 255, "", "")
    top = TITLE + 2 * CAPTION + SIDE + GAP + (SIDE - 32) // 2
    assert (
        pixels[top : top + 32, MARGIN : MARGIN + SIDE, 0] == planes[0, :, SIDE // 2 + 1 : SIDE // 2 + 1 + SIDE]
    ).all()
    # And a quarter of the spectrum, in which a cutoff of 1/10 lies farther out.
    assert said[7:10] == ["its middle at 100 %", "spectrum, to 0.12 cycles per pixel", "10px"]
    assert said[10] == "likewise"
    assert said[11].startswith("likewise; white ")
    np.testing.assert_allclose(rings(pixels), SIDE / 10, atol=3)
    np.testing.assert_allclose(rings(pixels, row=1), SIDE / 10 * 4, atol=3)
