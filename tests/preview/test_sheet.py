"""The contact sheet: a row a file, at most 60 rows, outliers marked."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview.page import EVEN, FARTHEST, MARGIN, NAMES, Row, Sheet, row
from fftfilter.preview.page import HEAD as TITLE
from fftfilter.preview.page import SMALL_GAP as GAP
from fftfilter.preview.page import SMALL_SIDE as SIDE
from fftfilter.preview.panels import FAINT, RED, Canvas
from fftfilter.preview.report import FilterReport

CAPTIONS = ["input", "spectrum, removed tinted", "result", "removed, gray is 0"]


@pytest.fixture(scope="module")
def strip():
    planes = np.arange(64, dtype=np.uint8).reshape(1, 8, 8)
    return row(FilterReport(planes, 255, H.lowpass()), planes, 255, 0, "a.png").strip


def sheet_of(shares, strip):
    sheet = Sheet(len(shares))
    for i, share in enumerate(shares):
        sheet.add(Row(i, f"{i}.png", "8 x 8", share, strip))
    return sheet


def rows_of(pixels):
    return (len(pixels) - TITLE - MARGIN) // (SIDE + GAP)


def marked(pixels):
    """Return the rows with a red bar."""
    bar = (pixels[TITLE + SIDE // 2 :: SIDE + GAP, MARGIN + 1] == RED).all(axis=1)
    return np.flatnonzero(bar).tolist()


def test_a_row_says_what_is_removed(rng):
    planes = rng.integers(0, 256, (1, 64, 96)).astype(np.uint8)
    made = row(FilterReport(planes, 255, H.mask([[0.5]], any_size=True)), planes, 255, 7, "a.png")
    assert (made.number, made.name, made.size, made.share) == (7, "a.png", "96 x 64", pytest.approx(0.25))


def test_a_row_has_the_input_the_spectrum_the_result_and_what_is_removed(strip):
    planes = np.full((3, 40, 40), 40, np.uint8)
    planes[0] = 200
    made = row(FilterReport(planes, 255, H.lowpass()), 255 - planes, 255, 0, "b.png")
    sheet = Sheet(2)
    sheet.add(made._replace(number=1))
    sheet.add(Row(0, "a.png", "8 x 8", 0.1, strip))
    pixels = sheet.picture("").astype(int)
    left, middle = MARGIN + NAMES + 75, TITLE + SIDE + GAP + 75  # of the second row
    seen = [pixels[middle, left + i * (SIDE + GAP)] for i in (0, 2, 3)]
    np.testing.assert_allclose(seen, [(200, 40, 40), (55, 215, 215), (128, 128, 128)], atol=6)


def test_few_files_have_a_row_each(strip):
    pixels = sheet_of([0.1, 0.11, 0.09], strip).picture("three")
    assert (rows_of(pixels), marked(pixels)) == (3, [])


def test_a_sheet_says_how_many_files_there_are_and_are_shown(strip, monkeypatch):
    said = []
    monkeypatch.setattr(Canvas, "text", lambda *arguments, **_: said.append(arguments[3]))
    sheet_of([0.1] * 7 + [0.5], strip).picture("few")
    assert said[:6] == ["few", "8 pictures; 1 outlier, marked", *CAPTIONS]
    assert said[6:9] == ["0.png", "8 x 8", "10.00% of the power removed"]
    # Shares within a factor of e**0.35 of the median are usual.
    assert said[-4:] == ["7.png", "8 x 8", "50.00% of the power removed", "outlier: usual are 7.05% to 14.19%"]
    said.clear()
    sheet_of([0.1] * 6 + [0.5, 0.01], strip).picture("few")
    assert said[1] == "8 pictures; 2 outliers, marked"
    said.clear()
    sheet_of([0.1] * 100, strip).picture("many")
    shown = sum(text.endswith(".png") for text in said)
    assert 52 <= shown <= 60
    assert said[1] == f"100 pictures, {shown} shown: evenly spread, and the farthest"


def test_what_is_said_stands_above_the_pictures_and_on_their_left(strip, monkeypatch):
    places = {}
    monkeypatch.setattr(Canvas, "text", lambda _, x, y, text, *__: places.update({text: (x, y)}))
    pixels = sheet_of([0.1] * 7 + [0.5], strip).picture("few")
    assert [places[caption] for caption in CAPTIONS] == [
        (MARGIN + NAMES + column * (SIDE + GAP), TITLE - 8) for column in range(4)
    ]
    top = TITLE + 7 * (SIDE + GAP)
    last = ("7.png", "50.00% of the power removed", "outlier: usual are 7.05% to 14.19%")
    assert [places[text] for text in last] == [(MARGIN + 8, top + down) for down in (18, 58, 78)]
    # Lines are between the rows.
    assert {*np.flatnonzero((pixels[:, MARGIN + 20] == FAINT).all(axis=1))} == {
        TITLE + row * (SIDE + GAP) - GAP // 2 for row in range(8)
    }


def test_outliers_are_marked(strip):
    assert marked(sheet_of([0.1, 0.11, 0.09, 0.1, 0.5, 0.1, 0.001, 0.1], strip).picture("")) == [4, 6]


def test_files_of_which_nothing_is_removed_are_outliers_if_they_are_few(strip):
    some = [0.1, 0.11, 0.09, 0.1, 0.5, 0.1, 0.1, 0.1, 0.1]
    assert marked(sheet_of([*some, 0], strip).picture("")) == [4, 9]
    assert marked(sheet_of([*some, 0, 0, 0], strip).picture("")) == [4]


def test_of_many_files_some_are_shown_and_all_that_are_far_out(rng, strip):
    shares = rng.uniform(0.1, 0.12, 1000)
    shares[[137, 555]] = 0.9, 0.0001
    sheet = sheet_of(shares, strip)
    pixels = sheet.picture("many")
    assert rows_of(pixels) == EVEN + 2 * FARTHEST
    assert len(marked(pixels)) == 2


def test_files_are_shown_from_all_over_the_folder_in_their_order(strip, monkeypatch):
    said = []
    monkeypatch.setattr(Canvas, "text", lambda *arguments, **_: said.append(arguments[3]))
    sheet = Sheet(520)
    for i in reversed(range(520)):  # as processes end
        sheet.add(Row(i, f"{i}.png", "8 x 8", 0.1 + i / 1e4, strip))
    sheet.picture("many")
    shown = [int(text.removesuffix(".png")) for text in said if text.endswith(".png")]
    # Every tenth, and the first and the last four of all others.
    assert shown == sorted({*range(9, 520, 10), 0, 1, 2, 3, 515, 516, 517, 518})
