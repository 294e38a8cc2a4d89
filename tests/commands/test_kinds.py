"""Kinds of filters: what their rows say together."""

from __future__ import annotations

import pytest

from fftfilter import transfer as H
from fftfilter.commands.explore import Commands
from fftfilter.commands.filters import COMMANDS
from fftfilter.commands.kinds import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_makes_a_filter_of_are_options_of_its_command(name):
    options = {each.name for each in COMMANDS[name].params}
    assert {each.name for each in KINDS[name].options} <= options
    others = {other for other, each in KINDS.items() if each.factor and other != name}
    assert others & options == (others if KINDS[name].takes_others else set())


def test_every_kind_is_a_function_of_the_transfer_room():
    assert set(KINDS) <= set(H.__all__)


def test_the_page_sets_no_option_that_names_a_file():
    files = {"IN...", "OUT", "FILE", "DIR"}
    for name, options in Commands(None, ()).options.items():
        taken = [each for each in COMMANDS[name].params if each.name in options]
        assert len(taken) == len(options)
        assert {each.metavar for each in taken} & files == set()


COMMON = {"precision": "single", "png_level": 1, "verbose": 0}
SHOWN = {"output": "magnitude", "edges": "wrap", "scale": "each"}
SMOOTHED = {"output": "keep", "edges": "mirror", "scale": "each"}
USUAL = {
    **{name: {"shape": "ideal", **SHOWN} for name in ("lowpass", "highpass", "bandpass", "bandstop")},
    "notch": {"harmonics": 1, "shape": "gaussian", **SHOWN, "output": "keep"},
    "stripes": SMOOTHED,
    "wiener": {"noise": ("auto",), **SMOOTHED},
    "descreen": {"keep_detail": 0.0},
    "mask": {**SHOWN, "output": "keep"},
    "imagej": {"large": "40", "small": "3", "suppress": "none", "tolerance": 5, "autoscale": True, "saturate": True},
}


@pytest.mark.parametrize("name", KINDS)
def test_options_that_are_left_out_have_the_values_that_help_says(name):
    params = COMMANDS[name].params
    usual = {each.name: each.default for each in params if isinstance(each.default, str | int | float | tuple)}
    assert {key: value for key, value in usual.items() if value is not False} == USUAL[name] | COMMON
    helps = " ".join(each.help for each in params if getattr(each, "help", None))
    for words in ("[default of N: 10]", "[default: 8]", "[default: 64]"):
        assert words in helps
    if name == "notch":
        assert "How far a wave has to stand out" in helps
        assert "[default: 18]" in helps
