"""Saved files: the command's own, byte for byte, in one folder."""

from __future__ import annotations

import shlex

import pytest

from tests.explore.conftest import wish
from tests.helpers import SAMPLES, needs_links


@pytest.fixture
def scan(tmp_path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "scan.pgm").write_bytes((SAMPLES / "camera.pgm").read_bytes())
    return tmp_path / "scans" / "scan.pgm"


def test_a_saved_file_has_the_bytes_of_the_command(visit, run, scan, tmp_path):
    wished = wish("highpass", radius="20px", output="keep")
    status, told = visit(lambda page: page.save(wished, "fine.png"), scan)
    assert (status, told["written"]) == (200, str(scan.with_name("fine.png")))
    program, *command = shlex.split(told["command"])
    assert (program, command[-1]) == ("fftfilter", told["written"])
    run([*command[:-1], str(tmp_path / "by-command.png")])
    assert scan.with_name("fine.png").read_bytes() == (tmp_path / "by-command.png").read_bytes()


@needs_links
@pytest.mark.parametrize("out", ["../out.png", "/out.png", "sub/out.png", "link/out.png", "pointer.png", ".."])
def test_another_folder_is_refused(visit, scan, tmp_path, out):
    (scan.parent / "link").symlink_to(tmp_path)
    (scan.parent / "pointer.png").symlink_to(tmp_path / "elsewhere.png")
    (scan.parent / "sub").mkdir()
    before = sorted(tmp_path.rglob("*"))
    status, told = visit(lambda page: page.save(wish("highpass"), out), scan)
    assert status == 403
    assert "lies in another folder" in told["error"]
    assert sorted(tmp_path.rglob("*")) == before


def test_out_says_which_folder_it_is(visit, scan, tmp_path):
    (tmp_path / "clean").mkdir()

    async def save(page):
        refused = (await page.save(wish("highpass"), str(scan.with_name("out.png"))))[0]
        return refused, (await page.save(wish("highpass"), str(tmp_path / "clean" / "a.png")))[0]

    assert visit(save, scan, tmp_path / "clean" / "out.png") == (403, 200)
    assert (tmp_path / "clean" / "a.png").exists()


@pytest.mark.parametrize(
    ("out", "line"),
    [
        ("scan.pgm", "is the input itself"),
        ("out.xyz", "cannot write .xyz files"),
        ("", "is not a name"),
        (None, "is not a name"),
        ("a\0.png", "is not a name"),
    ],
)
def test_what_cannot_be_written_is_one_line(visit, scan, out, line):
    before = scan.read_bytes()
    status, told = visit(lambda page: page.save(wish("highpass"), out), scan)
    assert status == 400
    assert line in told["error"]
    assert scan.read_bytes() == before
