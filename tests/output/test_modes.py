"""Modes: rows whose fields say what the output has to be like."""

from __future__ import annotations

from typing import get_args

import pytest

from fftfilter.errors import ParameterError
from fftfilter.output.modes import MODES, Auto, Output, Range, check_channels, check_colors, check_scale


def test_type_checkers_know_the_names_of_all_rows():
    assert get_args(Output) == tuple(MODES)


def test_exactly_one_mode_is_the_default():
    assert [name for name, mode in MODES.items() if mode.is_default] == ["magnitude"]


def test_a_range_up_to_the_largest_begins_at_0_or_is_symmetric():
    assert MODES["magnitude"].range_up_to(0.4) == Range(0, 0.4, of_white=True)
    assert MODES["signed"].range_up_to(0.4) == Range(-0.4, 0.4, of_white=True)
    assert MODES["signed"].range_up_to(0) == Range(-1, 1, of_white=True)  # rounding noise alone


@pytest.mark.parametrize(
    ("name", "scale", "wanted"),
    [
        ("magnitude", None, False),
        ("magnitude", Range(0, 40), True),
        ("magnitude", Auto(), True),
        ("signed", None, True),
        ("keep", None, True),
        ("real", None, False),
    ],
)
def test_pipelines_need_no_ramps_for_what_they_make_by_themselves(name, scale, wanted):
    assert MODES[name].needs_ramps(scale) is wanted


@pytest.mark.parametrize("name", ["keep", "real"])
def test_a_scale_is_for_modes_that_have_one(name):
    check_scale(name, None)
    with pytest.raises(
        ParameterError, match=r"has no scale: leave the scale out, or choose output magnitude or signed$"
    ):
        check_scale(name, Range(0, 40))


@pytest.mark.parametrize(("low", "is_said"), [(0, False), (-1, True)])
def test_a_magnitude_s_range_that_begins_below_0_is_said(low, is_said):
    assert bool(MODES["magnitude"].cautions(Range(low, 40))) == is_said
    assert not MODES["signed"].cautions(Range(low, 40))


@pytest.mark.parametrize("name", MODES)
def test_a_part_of_the_colors_is_for_modes_that_keep_the_rest(name):
    check_channels(name, None)
    check_channels(name, "all")
    if name in ("keep", "real"):
        check_channels(name, "luminance")
        return
    with pytest.raises(ParameterError) as caught:
        check_channels(name, "chroma")
    assert str(caught.value) == (
        f"channels chroma keeps the rest of the colors, and output {name} has other gray levels: choose output keep or "
        "real"
    )


def test_a_part_of_the_colors_is_for_gray_and_rgb():
    for channels, count in (("luminance", 1), ("chroma", 3), ("all", 4), (None, 2)):
        check_colors(channels, count, "in.tif")
    with pytest.raises(ParameterError) as caught:
        check_colors("luminance", 4, "in.tif")
    assert str(caught.value) == (
        "in.tif has 4 channels, and channels luminance is for gray and RGB: leave 1 or 3, or choose all"
    )
