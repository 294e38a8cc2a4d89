"""What a terminal shows of work that takes long."""

from __future__ import annotations

import io
import re
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import click
import pytest
from PIL import Image

from fftfilter.cli import cli
from fftfilter.commands import one_file
from fftfilter.commands.filters import context_of
from fftfilter.device import opencl
from fftfilter.files import messages
from fftfilter.files.messages import Progress, line
from tests.folders.helpers import pgm


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_says_how_much_is_done_and_how_long_the_rest_takes():
    assert line(6, 24, 3) == "[######..................] 6/24  2/s  0:00:09 left"
    assert line(0, 24, 3) == "[........................] 0/24  0/s  ? left"
    assert line(25, 24, 5) == "[########################] 25/25  5/s  0:00:00 left"


def test_the_bar_is_drawn_ten_times_a_second_at_most_and_erased_once(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(messages, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "50")  # of which the last one stays free
    bar, shown = Progress(8), []
    for seconds in (100.5, 100.55, 101.5):
        now[0] = seconds
        bar.advance()
        shown.append(sys.stderr.getvalue())
    bar.clear()
    bar.clear()
    first = "\r\x1b[K[###.....................] 1/8  2/s  0:00:04 left"
    third = "\r\x1b[K[#########...............] 3/8  2/s  0:00:02 left"
    assert shown == [first, first, first + third]
    assert sys.stderr.getvalue() == shown[-1] + "\r\x1b[K"
    monkeypatch.setenv("COLUMNS", "40")
    bar.advance()
    assert sys.stderr.getvalue().endswith("\r\x1b[K[############............] 4/8  2.67/s ")


@pytest.mark.parametrize(
    ("words", "given", "count"),
    [
        (["highpass"], "in", 3),
        (["highpass", "--scale", "folder"], "in", 6),
        (["highpass"], "x.gif", 4),
        (["highpass", "--scale", "stack"], "x.gif", 8),
        (["peaks"], "in", 3),
        (["highpass", "-q"], "in", 0),
        (["highpass", "-q"], "x.gif", 0),
        (["peaks", "-q"], "in", 0),
    ],
    ids=str,
)
def test_each_file_and_each_page_moves_the_bar_by_one(monkeypatch, tmp_path, words, given, count):
    frames = [Image.new("L", (12, 10), 40 * i) for i in range(4)]
    frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
    for i in range(2):
        pgm(tmp_path / f"in/{i}.pgm", i, 64, 64)
    (tmp_path / "in/bad.pgm").write_bytes(b"P5 ")
    monkeypatch.setattr(messages, "_SECONDS_BETWEEN", 0)
    monkeypatch.setattr(opencl, "while_building", nullcontext)  # which the command replaces
    monkeypatch.setattr("sys.stderr", Terminal())
    target = [] if "peaks" in words else [str(tmp_path / ("out" if given == "in" else "out.tif"))]
    with pytest.raises(SystemExit):
        cli.main([*words, str(tmp_path / given), *target])
    said = sys.stderr.getvalue()
    assert re.findall(r"\d+/\d+(?=  )", said) == [f"{i}/{count}" for i in range(1, count + 1)]
    assert ("\x1b" in said) == (count > 0)
    if count:  # erased at the end
        assert said.rpartition(" left")[2].startswith("\r\x1b[K")
    # Nor is it said that programs are compiled, which 'peaks' has none of.
    assert (opencl.while_building is nullcontext) == (words != ["highpass"] and "--scale" not in words)


def test_who_runs_a_command_is_told_of_each_page_and_of_how_many_there_are(tmp_path):
    frames, told = [Image.new("L", (12, 10), 40 * i) for i in range(3)], []
    frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
    words = ["highpass", "-q", "--scale", "stack"]
    command = context_of(click.Context(cli), words, str(tmp_path / "x.gif"), str(tmp_path / "out.tif"))
    command.meta[one_file.ADVANCE] = told.append
    command.command.invoke(command)
    assert told == [6] * 6
