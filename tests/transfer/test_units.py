"""Radii as they are given: numbers with units, and what is none."""

from __future__ import annotations

import pytest

from fftfilter.errors import ParameterError
from fftfilter.transfer.units import Radius


@pytest.mark.parametrize(
    ("text", "bins"),
    [("40", 40), ("8px", 12.5), ("0.125cyc", 12.5), ("25%", 12.5), (" 1e1 ", 10), ("2.5PX", 40), (12, 12), (0.5, 0.5)],
)
def test_units_on_an_image_of_100_by_200(text, bins):
    assert Radius.parse(text).bins(100, 200) == bins


@pytest.mark.parametrize("text", ["40", "8px", "0.125cyc", "25%"])
def test_a_radius_is_printed_as_it_was_given(text):
    assert str(Radius.parse(text)) == text


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "-inf", "0px", 0, -1, float("nan"), "1e999"], ids=str)
def test_a_radius_is_finite_and_above_zero(text):
    with pytest.raises(ParameterError, match=r"^radius '.*' must be finite and greater than zero: give a number"):
        Radius.parse(text)


@pytest.mark.parametrize("text", ["", "px", "abc", "1.2.3", "4 5", "--4", "%"])
def test_a_radius_is_a_number(text):
    with pytest.raises(ParameterError, match=r"^inner '.*' is no number: give a number"):
        Radius.parse(text, "inner")


def test_an_unknown_unit_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"unknown unit 'mm'.*40, 8px, 0.125cyc, 25%"):
        Radius.parse("8mm")


def test_a_radius_is_the_same_frequency_on_an_image_of_twice_the_sides():
    for text in ("40", "8px", "0.125cyc", "25%"):
        radius = Radius.parse(text)
        assert radius.on_twice_the_sides().bins(128, 256) / 128 == radius.bins(64, 128) / 64
