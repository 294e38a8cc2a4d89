"""``fftfilter engines``: what it prints is what the algorithms' docstrings say."""

from __future__ import annotations

import json

from click.testing import CliRunner

from fftfilter.cli import cli
from fftfilter.staged import algorithms


def printed(*words):
    return CliRunner().invoke(cli, ["engines", *words]).output


def test_all_are_listed_with_all_labels():
    text = printed()
    blocks = text.strip().split("\n\n")
    assert [block.partition(":")[0] for block in blocks] == ["fused", "numpy", *algorithms.names()]
    for block in blocks:
        for label in algorithms.LABELS:
            assert f"\n   {label} " in block


def test_one_is_listed_with_its_options():
    text = printed("stockham")
    assert text.startswith("stockham: ")
    assert "Options  radix=4, arithmetic=plain" in text
    assert "book" not in text
    assert printed("fused").startswith("fused: The default: ")


def test_json_has_the_same():
    entries = json.loads(printed("--json"))
    assert [entry["name"] for entry in entries] == ["fused", "numpy", *algorithms.names()]
    assert entries[0].keys() == {"name", "title", "options", *(label.lower() for label in algorithms.LABELS)}


def test_an_unknown_one_is_refused_with_the_known_ones():
    assert "engine 'magic' is invalid: choose fused, numpy, binary-exchange, book, " in printed("magic")


def test_several_are_listed_in_the_order_of_the_catalogue_and_lines_fit_a_screen():
    text = printed("stockham", "binary-exchange")
    first, second = text.strip().split("\n\n")
    assert (first.partition(":")[0], second.partition(":")[0]) == ("binary-exchange", "stockham")
    assert "   Options  p\n" in first  # which has no value of its own
    assert max(len(line) for line in printed().splitlines() if line[:3] == "   ") <= 100
    assert {line[:12].strip() for line in text.splitlines() if line[:3] == "   "} - {""} <= {
        "Options",
        *algorithms.LABELS,
    }
