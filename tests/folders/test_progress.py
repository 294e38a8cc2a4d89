"""What a terminal shows of work that takes long."""

from __future__ import annotations

import io
from contextlib import nullcontext

import pytest
from PIL import Image

from fftfilter.commands.shared import one_file
from fftfilter.device import programs
from fftfilter.folders.progress import Progress, line


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "quiet", "seconds", "said"),
    [
        (Terminal(), False, 3700, "fftfilter: 9 pages take about 1:01:40\n"),
        (Terminal(), False, 27, "fftfilter: 9 pages take about 0:00:27\n"),
        (Terminal(), False, 19, ""),
        (Terminal(), True, 3700, ""),
        (io.StringIO(), False, 3700, ""),
    ],
)
def test_only_a_terminal_is_told_that_work_takes_long(monkeypatch, stream, quiet, seconds, said):
    monkeypatch.setattr("sys.stderr", stream)
    Progress(9, quiet=quiet).foretell("9 pages", seconds)
    assert stream.getvalue() == said


@pytest.mark.parametrize(("scale", "minutes"), [("each", "0:02:24"), ("stack", "0:04:48")])
def test_pages_are_foretold_before_the_first(monkeypatch, tmp_path, scale, minutes):
    frames = [Image.new("L", (12, 10), 40 * i) for i in range(6)]
    frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
    monkeypatch.setattr(one_file, "PIXELS_A_SECOND", 5)  # 720 pixels take 144 s
    monkeypatch.setattr(programs, "while_building", nullcontext)  # which the command replaces
    monkeypatch.setattr("sys.stderr", Terminal())
    from fftfilter.cli import cli

    with pytest.raises(SystemExit):
        cli.main(["highpass", "--scale", scale, str(tmp_path / "x.gif"), str(tmp_path / "out.tif")])
    import sys

    assert sys.stderr.getvalue().startswith(f"fftfilter: 6 pages take about {minutes}\n")


def test_a_line_says_how_much_is_done_and_how_long_the_rest_takes():
    assert line(6, 24, 3) == "[######..................] 6/24  2/s  0:00:09 left"
    assert line(0, 24, 3) == "[........................] 0/24  0/s  ? left"
    assert line(25, 24, 5) == "[########################] 25/25  5/s  0:00:00 left"
