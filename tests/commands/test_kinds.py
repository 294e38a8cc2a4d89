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
    assert set(KINDS[name].parameters) <= options
    others = {each.name for each in KINDS.values() if each.factor and each.name != name}
    assert others & options == (others if KINDS[name].takes_others else set())


def test_every_kind_is_a_function_of_the_transfer_room():
    assert set(KINDS) <= set(H.__all__)


def test_the_page_sets_no_option_that_names_a_file():
    files = {"IN...", "OUT", "FILE", "DIR"}
    for name, options in Commands(None, ()).options.items():
        taken = [each for each in COMMANDS[name].params if each.name in options]
        assert len(taken) == len(options)
        assert {each.metavar for each in taken} & files == set()
