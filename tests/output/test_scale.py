"""The output's range as it is given on the command line."""

from __future__ import annotations

import pytest

from fftfilter.errors import ParameterError
from fftfilter.output.modes import Auto, Range, parse_scale, scale_of


@pytest.mark.parametrize(("text", "low", "high"), [("0:40", 0, 40), ("-10:300.5", -10, 300.5), (" 1e1 : 2e1", 10, 20)])
def test_a_range_is_two_numbers_in_gray_levels_of_the_input(text, low, high):
    assert parse_scale(text) == Range(low, high, of_white=False)


@pytest.mark.parametrize("word", ["each", "folder", "stack"])
def test_the_words_are_no_range(word):
    assert parse_scale(word) is None


@pytest.mark.parametrize(("text", "percent"), [("auto", 0.35), ("auto:2", 2), ("auto:0", 0)])
def test_auto_says_how_many_percent_are_saturated(text, percent):
    assert parse_scale(text) == Auto(percent)


@pytest.mark.parametrize("text", ["auto:", "auto:100", "auto:-1", "auto:nan", "auto:wide"])
def test_impossible_percents_are_refused(text):
    with pytest.raises(
        ParameterError, match=f"scale '{text}' is invalid: give percent of the samples below 100, such as auto:0.35"
    ):
        parse_scale(text)


def test_python_gives_auto_as_a_word_or_a_pair():
    for given, wanted in {"auto": Auto(), ("auto", 2): Auto(2), "each": None, (0, 40): Range(0, 40)}.items():
        assert scale_of(given) == wanted
    assert scale_of([0, 40]) == Range(0, 40)  # as JSON has it
    for given in (Range(0, 0.5, of_white=True), Auto(3), None):
        assert scale_of(given) == given
    with pytest.raises(ParameterError) as caught:
        scale_of("folder")
    assert str(caught.value) == (
        "scale 'folder' is unknown: give 'each', 'auto', ('auto', P), or two gray levels such as (0, 40)"
    )


@pytest.mark.parametrize("text", ["", "wide", "40", "0:", ":40", "0:40:80", "0-40"])
def test_an_unknown_scale_is_refused_with_the_known_ones(text):
    known = "give each, folder, stack, auto, auto:P, or LO:HI such as 0:40"
    with pytest.raises(ParameterError, match=f"^scale '{text}' is unknown: {known}$"):
        parse_scale(text)


@pytest.mark.parametrize("text", ["9:1", "4:4", "nan:1", "0:inf"])
def test_the_first_number_of_a_range_is_the_smaller_one(text):
    with pytest.raises(ParameterError, match=f"scale '{text}' is not a range: give two numbers, the smaller first"):
        parse_scale(text)
