"""``fftfilter bench``: which commands it has, invalid options, and how a benchmark is run.

Each command is run in the tests of its table.
"""

from __future__ import annotations

from inspect import signature

import pytest
from click.testing import CliRunner

from fftfilter.bench import papers
from fftfilter.commands.bench import bench, benchmark_command


def test_there_are_the_papers_and_the_peers():
    assert set(bench.commands) == {"stages", "radix", "sizes", "speedup", "engines", "peers", "transforms"}


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["radix", "--n", "100"], "'100' is invalid: give a power of two from 2 to 2^30, such as 2^20"),
        (["radix", "--n", "2^40"], "'2^40' is invalid: give a power of two from 2 to 2^30, such as 2^20"),
        (["engines", "--size", "0x4"], "'0x4' is invalid: give width x height, such as 640x480"),
    ],
)
def test_invalid_lengths_and_sizes_are_refused(arguments, advice):
    done = CliRunner().invoke(bench, arguments)
    assert done.exit_code == 2
    assert advice in done.stderr


@pytest.mark.parametrize("name", ["stages", "radix", "sizes", "speedup"])
def test_a_command_without_options_measures_what_its_function_does(monkeypatch, name):
    usual = {each.name: each.default for each in signature(getattr(papers, name)).parameters.values()}
    given = {}
    monkeypatch.setattr(papers, name, lambda setting, **own: given.update(own, setting=setting) or (_ for _ in ()))
    assert CliRunner().invoke(bench, [name]).exit_code == 0
    assert given | {"setting": None} == usual | {"setting": None}


def command_of(table, steps):
    """Return a command that runs a made-up benchmark."""

    @benchmark_command
    def command(setting):
        setting.made = table
        try:
            yield from steps
        finally:
            table.notes.append("Finished.")

    return command


def test_an_interrupt_keeps_what_was_measured(table):
    def steps():
        yield "first"
        table.put(("last", "here"), n=1)
        yield "second"
        raise KeyboardInterrupt

    done = CliRunner().invoke(command_of(table, steps()), ["--csv"])
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["name", "fast", "slow", "last"]
    assert done.exit_code != 0


def test_a_table_is_completed_before_it_is_printed(table):
    done = CliRunner().invoke(command_of(table, iter(["only step"])), [])
    assert done.stdout.endswith("A note.\nFinished.\n")


def test_nothing_is_printed_where_nothing_was_measured(table):
    table.rows.clear()
    assert CliRunner().invoke(command_of(table, iter([])), []).stdout == ""


def test_a_plot_is_drawn_beside_the_table(table, tmp_path):
    pytest.importorskip("matplotlib")
    done = CliRunner().invoke(command_of(table, iter([])), ["--plot", str(tmp_path / "table.png")])
    assert "Invented" in done.stdout
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_drawn_is_refused_before_anything_is_measured(table, tmp_path):
    pytest.importorskip("matplotlib")

    def steps():
        pytest.fail("measured")
        yield "never"

    done = CliRunner().invoke(command_of(table, steps()), ["--plot", str(tmp_path / "table.xyz")])
    assert "cannot draw" in str(done.exception)
    assert done.stdout == ""
