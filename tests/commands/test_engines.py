"""``fftfilter engines``: what it prints is what the algorithms' docstrings say."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fftfilter.commands.engines import engines
from fftfilter.errors import ParameterError
from fftfilter.staged import algorithms


def test_all_are_listed_with_all_labels():
    text = CliRunner().invoke(engines, []).output
    blocks = text.strip().split("\n\n")
    assert [block.partition(":")[0] for block in blocks] == ["fused", *algorithms.names()]
    for block in blocks:
        for label in algorithms.LABELS:
            assert f"\n   {label} " in block


def test_one_is_listed_with_its_options():
    text = CliRunner().invoke(engines, ["stockham"]).output
    assert text.startswith("stockham: ")
    assert "Options  radix=4, arithmetic=plain" in text
    assert "book" not in text
    assert CliRunner().invoke(engines, ["fused"]).output.startswith("fused: The default: ")


def test_json_has_the_same():
    entries = json.loads(CliRunner().invoke(engines, ["--json"]).output)
    assert [entry["name"] for entry in entries] == ["fused", *algorithms.names()]
    assert entries[0].keys() == {"name", "title", "options", *(label.lower() for label in algorithms.LABELS)}


def test_an_unknown_one_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"choose fused, .*book"):
        CliRunner().invoke(engines, ["magic"], catch_exceptions=False)
