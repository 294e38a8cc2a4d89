"""Which pages are asked for."""

from __future__ import annotations

import pytest

from fftfilter.errors import ParameterError
from fftfilter.images.pages import ALL, Asked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("2-4", [1, 2, 3]), ("3", [2]), ("4-", [3, 4]), ("-2", [0, 1]), (" 1-5 ", [0, 1, 2, 3, 4])],
)
def test_pages_are_counted_from_1(text, wanted):
    assert list(Asked.parse(text).of(5, "x.tif")) == wanted


def test_all_pages_are_those_of_the_file():
    assert list(ALL.of(3, "x.tif")) == [0, 1, 2]


@pytest.mark.parametrize("text", ["", "-", "0", "0-3", "3-2", "1,2", "a", "1-2-3", "1.5", "9" * 5000])
def test_what_asks_for_no_page_is_refused(text):
    with pytest.raises(ParameterError, match="pages"):
        Asked.parse(text)


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(ParameterError, match=r"x.tif: has 3 pages, and no page 5"):
        Asked.parse("2-5").of(3, "x.tif")
