"""Which pages are asked for."""

from __future__ import annotations

import pytest
from PIL import Image

from fftfilter.errors import ParameterError, SeveralPagesError
from fftfilter.files.sources import Slices
from fftfilter.images import decode, opened
from fftfilter.images.pages import ALL, Asked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("2-4", [1, 2, 3]), ("3", [2]), ("4-", [3, 4]), ("-2", [0, 1]), (" 1-5 ", [0, 1, 2, 3, 4])],
)
def test_pages_are_counted_from_1(text, wanted):
    assert list(Asked.parse(text).of(5, "x.tif")) == wanted


def test_all_pages_are_those_of_the_file():
    assert list(ALL.of(3, "x.tif")) == [0, 1, 2]


@pytest.mark.parametrize("text", ["", "-", "0", "0-3", "3-0", "1,2", "a", "1-2-3", "1.5", "9" * 5000])
def test_what_asks_for_no_page_is_refused(text):
    with pytest.raises(ParameterError, match=f"^pages '{text}' are unknown: give 2-5, 3, 3- or -5, counted from 1$"):
        Asked.parse(text)


def test_a_range_that_runs_backwards_is_refused():
    with pytest.raises(ParameterError, match=r"^pages '3-2' are an empty range: give the smaller number first$"):
        Asked.parse("3-2")
    assert Asked.parse("3-3") == Asked.parse("3")


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(ParameterError, match=r"x.tif: has 3 pages, and no page 5"):
        Asked.parse("2-5").of(3, "x.tif")
    with pytest.raises(ParameterError, match=r"^x.png: has 1 page, and no page 2$"):
        opened(b"P5 2 1 255\nab", "x.png", Asked.parse("2"))


@pytest.mark.parametrize("count", [1, 2])
def test_a_file_that_is_read_in_parts_is_closed_after_its_only_page_and_with_its_pages(tmp_path, count):
    frames = [Image.new("L", (8, 8), i) for i in range(count)]
    frames[0].save(tmp_path / "x.tif", save_all=True, append_images=frames[1:])
    data = Slices((tmp_path / "x.tif").open("rb"))
    found = opened(data, "x.tif")
    assert data.file.closed == (count == 1)
    if count > 1:
        found.close()
        assert data.file.closed
        data = Slices((tmp_path / "x.tif").open("rb"))
        with pytest.raises(SeveralPagesError):
            decode(data, "x.tif")
        assert data.file.closed
