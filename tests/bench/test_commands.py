"""``fftfilter bench``: which commands it has, invalid options, and how a benchmark is run.

Each command is run in the tests of its table.
"""

from __future__ import annotations

import io
import sys

import pytest
from click.testing import CliRunner

from fftfilter.bench import FORMATS
from fftfilter.commands.bench import bench, benchmark_command


def test_there_are_the_tables_of_the_papers():
    assert set(bench.commands) == {"stages", "radix", "sizes", "speedup", "engines"}


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["radix", "--n", "100"], "'100' is invalid: give a power of two from 2 to 2^30, such as 2^20"),
        (["radix", "--n", "2^40"], "'2^40' is invalid: give a power of two from 2 to 2^30, such as 2^20"),
        *(
            (["sizes", "--largest", n], f"{n!r} is invalid: give a power of two")
            for n in ("0", "1", "2^0", "2^31", "3")
        ),
        (["engines", "--size", "0x4"], "'0x4' is invalid: give width x height, such as 640x480"),
        (["engines", "--size", "4"], "'4' is invalid: give width x height, such as 640x480"),
    ],
)
def test_invalid_lengths_and_sizes_are_refused(arguments, advice):
    done = CliRunner().invoke(bench, arguments)
    assert done.exit_code == 2
    assert advice in done.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "numbers"),
    [
        (["radix", "--n", "2^3"], "8", 8),
        (["speedup", "--n", "16"], "16", 16),
        (["sizes", "--largest", "8"], "8", 64),
        (["stages", "--side", "5"], "5", 25),
        (["engines", "--size", "1x1", "--size", "3x5"], "3x5", 15),
    ],
)
def test_what_takes_more_than_the_free_memory_is_refused(monkeypatch, arguments, given, numbers):
    monkeypatch.setattr("fftfilter.commands.bench.lacking", lambda taken: 999 if taken > 64 else None)
    done = CliRunner().invoke(bench, arguments)
    taken = f"{64 * numbers:,}"
    assert done.exit_code == 2
    assert f"{given} takes {taken} bytes, more than the 999 of free memory" in done.stderr.replace("2^3", "8")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["radix", "--n", "2"], {"n": 2}),
        (["radix", "--n", "2^4"], {"n": 16}),
        (["sizes"], {"engine": "book", "largest": 4096}),
        (["stages"], {"engine": "book", "side": 512, "transpose": None}),
        (["engines", "--size", "3x5", "--size", "64x8"], {"shapes": ((5, 3), (8, 64)), "names": ()}),
    ],
)
def test_lengths_are_numbers_or_powers_of_two_and_sizes_are_given_width_first(words, given):
    name, *options = words
    parsed = bench.commands[name].make_context(name, options).params
    assert {each: parsed[each] for each in given} == given


def test_a_benchmark_is_measured_as_its_options_say():
    settings = []

    @benchmark_command
    def command(setting):
        settings.append((setting.asked, setting.precision, setting.runs))

    for words in ([], ["--device", "cpu", "--precision", "double", "--runs", "3"]):
        assert CliRunner().invoke(command, words).exit_code == 0
    assert settings == [(None, "single", 9), ("cpu", "double", 3)]


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_a_table_is_printed_in_the_form_that_is_asked_for(table, form):
    done = CliRunner().invoke(command_of(table, iter([])), [f"--{form}"] if form != "text" else [])
    assert done.stdout == FORMATS[form](table) + "\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_which_measurement_runs(table, monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    command_of(table, iter(["first", "second"])).main([], standalone_mode=False)
    assert sys.stderr.getvalue() == "\r\x1b[Kfirst\r\x1b[Ksecond\r\x1b[K"


def command_of(table, steps):
    """Return a command that runs a made-up benchmark."""

    @benchmark_command
    def command(setting):
        setting.made = table
        try:
            for step in steps:
                setting.progress(step)
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
