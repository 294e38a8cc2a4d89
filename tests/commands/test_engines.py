"""``fftfilter engines``: what it prints is what the algorithms' docstrings tell."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fftfilter.commands.engines import engines
from fftfilter.errors import ParameterError
from fftfilter.staged import algorithms


def test_all_are_listed_with_all_labels():
    text = CliRunner().invoke(engines, []).output
    fused, *blocks = text.strip().split("\n\n")
    assert fused.startswith("fused: The default for images")
    assert [block.partition(":")[0] for block in blocks] == algorithms.names()
    for block in blocks:
        for label in algorithms.LABELS:
            assert f"\n   {label} " in block


def test_one_is_listed_with_its_options():
    text = CliRunner().invoke(engines, ["stockham"]).output
    assert text.startswith("stockham: ")
    assert "Options  radix=4, arithmetic=plain" in text
    assert "book" not in text


def test_json_has_the_same():
    entries = json.loads(CliRunner().invoke(engines, ["--json"]).output)
    assert [entry["name"] for entry in entries] == algorithms.names()
    assert entries[0].keys() == {"name", "title", "options", *(label.lower() for label in algorithms.LABELS)}


def test_an_unknown_one_is_told_the_known_ones():
    with pytest.raises(ParameterError, match=r"choose .*book"):
        CliRunner().invoke(engines, ["magic"], catch_exceptions=False)
