"""Saved files: the command's own, byte for byte, in one folder, and never in the place of something unasked."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fftfilter.commands.explore import Commands
from fftfilter.errors import WriteError
from fftfilter.explore.saving import Progress, applied
from fftfilter.explore.session import StoppedError
from tests.explore.conftest import request_for

SAVED, DOTS = request_for("highpass"), request_for("descreen")
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other names, links and folders")


@pytest.fixture
def scan(tmp_path):
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "scan.pgm").write_bytes(b"P5 12 10 255\n" + bytes(range(120)))
    return tmp_path / "scans" / "scan.pgm"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def state(folder):
    """Return what is in a folder, all the way down: files with their bytes, links with their targets."""

    def of(path):
        return path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else path.stat().st_mode

    return {path: of(path) for path in folder.rglob("*")}


def test_a_saved_file_has_the_bytes_of_the_command(visit, run, scan, tmp_path):
    asked = request_for("highpass", radius="20px", output="keep")
    status, told = visit(lambda page: page.save(asked, "fine.png"), scan)
    assert (status, told["written"]) == (200, str(scan.with_name("fine.png")))
    program, *command = shlex.split(told["command"])
    assert (program, command[-1]) == ("fftfilter", told["written"])
    run([*command[:-1], str(tmp_path / "by-command.png")])
    assert scan.with_name("fine.png").read_bytes() == (tmp_path / "by-command.png").read_bytes()


@needs_posix
def test_nothing_but_a_file_of_the_folder_is_written(visit, scan, tmp_path):
    folder = scan.parent
    (folder / "link").symlink_to(tmp_path)
    (folder / "pointer.png").symlink_to(tmp_path / "elsewhere.png")
    (folder / "input.png").symlink_to(scan)
    (tmp_path / "other.png").write_bytes(b"other")
    (folder / "full.png").symlink_to(tmp_path / "other.png")
    (folder / "sub.png").mkdir()
    os.mkfifo(folder / "pipe.png")
    (folder / "hard.png").hardlink_to(scan)
    wanted = {
        (403, "lies in another folder"): [
            *("../out.png", "/out.png", "sub.png/out.png", "link/out.png", "/dev/stdout", "/dev/null"),
            *("http://localhost/out.png", "file:///out.png", "memory://a/out.png"),
        ],
        (403, "is a link"): ["pointer.png", "full.png", "input.png", "link"],
        (403, "is a folder"): ["sub.png", str(folder / "sub.png")],
        (403, "is a device or pipe"): ["pipe.png"],
        (400, "is not a name"): [
            "",
            " ",
            ".",
            "..",
            "sub.png/",
            "/",
            None,
            3,
            ["a.png"],
            "a\0.png",
            "a\n.png",
            "\x7f.png",
            '"\\.png',
            "..%2F..%2Fout.png",
            "x%252F..%252Fout.png",
        ],
        (400, "is the input itself"): ["scan.pgm", "hard.png", str(scan)],
        (400, "cannot write .xyz files"): ["out.xyz"],
        (400, "a name without extension"): ["-", "out", ".png"],
        (400, "file name too long"): ["x" * 300 + ".png"],
    }
    before = state(tmp_path)

    async def save(page):
        told = [(key, out, await page.save(SAVED, out)) for key, outs in wanted.items() for out in outs]
        return told, await page.save(SAVED, "new.png")

    told, (status, _) = visit(save, scan)
    for (code, line), out, (got, answer) in told:
        assert (got, list(answer)) == (code, ["error"]), (out, answer)
        assert line in answer["error"], out
        assert "\n" not in answer["error"]
        assert len(answer["error"]) < 400
    assert status == 200
    (folder / "new.png").unlink()
    assert state(tmp_path) == before


NAMES = [
    "-o.png",
    "--in-place.png",
    "a:b.png",
    "~.png",
    "~root.png",
    "%2e%2e.png",
    "$HOME.png",
    " x.png",
    "*.png",
    "?.png",
]
NAMES += [
    "'.png",
    '".png',
    ".hidden.png",
    "..png",
    "CON.png",
    "\u00e9\u4e2d\U0001f600.png",
    "\u202e.png",
    "http:a.png",
]


@needs_posix
def test_a_name_is_a_name_whatever_it_looks_like(visit, scan, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def save(page):
        return [await page.save(SAVED, name) for name in NAMES]

    told = visit(save, "scans/scan.pgm")
    run(["highpass", str(scan), "wanted.png"])
    wanted = (tmp_path / "wanted.png").read_bytes()
    assert [(status, answer.get("written")) for status, answer in told] == [(200, f"scans/{name}") for name in NAMES]
    assert names(tmp_path) == ["scans", "wanted.png"]
    assert names(scan.parent) == sorted([*NAMES, "scan.pgm"])
    assert {(scan.parent / name).read_bytes() for name in NAMES} == {wanted}


@needs_posix
@pytest.mark.parametrize("name", ["-scan.pgm", "--with.pgm"])
def test_an_input_that_looks_like_an_option_is_an_input(visit, scan, monkeypatch, name):
    monkeypatch.chdir(scan.parent)
    scan.rename(name)
    assert visit(lambda page: page.save(SAVED, "out.png"), name)[0] == 200
    assert (scan.parent / "out.png").exists()


@needs_posix
def test_a_file_is_overwritten_by_the_answer_to_a_question_about_it_alone(visit, scan):
    folder = scan.parent
    mine, other = folder / "mine.png", folder / "other.png"
    for path in (mine, other):
        path.write_bytes(b"precious")
    mine.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(mine, 1234, 5678)
    (folder / "mine-2.png").write_bytes(b"")

    async def save(page):
        status, asked = await page.save(SAVED, "mine.png")
        assert (status, list(asked)) == (409, ["error", "overwrite", "free"])
        date = r"\d{4}-\d\d-\d\d \d\d:\d\d"
        assert re.fullmatch(rf"mine\.png exists \(8 bytes of {date}\): overwrite it\?", asked["error"])
        assert asked["free"] == "mine-3.png"
        answers = [
            None,
            True,
            "",
            "yes",
            {},
            asked["overwrite"] + "0",
            (await page.save(SAVED, "other.png"))[1]["overwrite"],
        ]
        for answer in answers:
            assert await page.save(SAVED, "mine.png", overwrite=answer) == (409, asked), answer
        mine.write_bytes(b"PRECIOUS")  # somebody else was here meanwhile
        os.utime(mine, ns=(1, 1))
        status, again = await page.save(SAVED, "mine.png", overwrite=asked["overwrite"])
        assert (status, mine.read_bytes()) == (409, b"PRECIOUS")
        return await page.save(SAVED, "mine.png", overwrite=again["overwrite"])

    assert visit(save, scan, mine)[0] == 200
    assert mine.read_bytes().startswith(b"\x89PNG")
    assert mine.stat().st_mode & 0o777 == 0o640
    assert os.geteuid() or (mine.stat().st_uid, mine.stat().st_gid) == (1234, 5678)
    assert other.read_bytes() == b"precious"
    assert names(folder) == ["mine-2.png", "mine.png", "other.png", "scan.pgm"]


@needs_posix
@pytest.mark.parametrize("was_there", [False, True], ids=["new", "asked"])
@pytest.mark.parametrize(
    ("come", "wanted"),
    [("file", 409), ("link", 403), ("folder", 403), ("input", 400), ("input's link to it", 400)],
)
def test_what_comes_between_the_question_and_the_file_stays(
    visit, scan, monkeypatch, tmp_path, come, wanted, was_there
):
    out = scan.with_name("out.png")
    (tmp_path / "elsewhere.png").write_bytes(b"elsewhere")
    if was_there:
        out.write_bytes(b"asked about")
    really_run, states = Commands.run, []

    def run(commands, words, source, target, advance):
        really_run(commands, words, source, target, advance)
        if come != "input's link to it":
            out.unlink(missing_ok=True)
        if come == "file":
            out.write_bytes(b"new")
        elif come == "link":
            out.symlink_to(tmp_path / "elsewhere.png")
        elif come == "folder":
            out.mkdir()
        elif come == "input":
            out.hardlink_to(scan)
        else:
            out.open("a").close()
            scan.unlink()
            scan.symlink_to(out)
        states.append(state(tmp_path))
        del states[-1][Path(target)]

    monkeypatch.setattr(Commands, "run", run)

    async def save(page):
        asked = (await page.save(SAVED, "out.png"))[1] if was_there else {}
        return await page.save(SAVED, "out.png", overwrite=asked.get("overwrite"))

    assert visit(save, scan)[0] == wanted
    assert [state(tmp_path)] == states


def test_what_appears_at_the_very_end_is_not_replaced(visit, scan, monkeypatch):
    link = os.link

    def link_late(source, target, **options):
        scan.with_name("out.png").write_bytes(b"sooner")
        link(source, target, **options)

    monkeypatch.setattr(os, "link", link_late)
    assert visit(lambda page: page.save(SAVED, "out.png"), scan)[0] == 400
    assert scan.with_name("out.png").read_bytes() == b"sooner"
    assert names(scan.parent) == ["out.png", "scan.pgm"]


def test_a_name_that_cannot_be_given_is_not_said_to_be_written(visit, scan, monkeypatch):
    def exists(*_, **__):
        raise FileExistsError(17, "File exists")  # and is gone when it is asked about

    monkeypatch.setattr(os, "link", exists)
    status, told = visit(lambda page: page.save(SAVED, "out.png"), scan)
    assert (status, "out.png: cannot be written" in told["error"]) == (400, True)
    assert names(scan.parent) == ["scan.pgm"]


@pytest.mark.parametrize("is_late", [False, True])
def test_a_disk_without_hard_links_gets_the_file_and_keeps_what_it_has(visit, scan, monkeypatch, is_late):
    out = scan.with_name("out.png")

    def no_link(*_, **__):
        if is_late:
            out.write_bytes(b"sooner")
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    status, _ = visit(lambda page: page.save(SAVED, "out.png"), scan)
    assert (status, out.read_bytes()[:4]) == ((400, b"soon") if is_late else (200, b"\x89PNG"))
    assert names(scan.parent) == ["out.png", "scan.pgm"]


@needs_posix
def test_a_folder_in_the_place_of_the_folder_gets_nothing(visit, scan, monkeypatch, tmp_path):
    really_run = Commands.run

    def run(commands, words, source, target, advance):
        really_run(commands, words, source, target, advance)
        scan.parent.rename(tmp_path / "moved")
        (tmp_path / "foreign").mkdir()
        scan.parent.symlink_to(tmp_path / "foreign")

    monkeypatch.setattr(Commands, "run", run)

    async def save(page):
        return [await page.save(SAVED, "out.png") for _ in range(2)]

    (first, told), (second, _) = visit(save, scan)
    assert (first, second) == (403, 409)  # its folder, and then the picture, is another one
    assert told["error"].startswith("out.png: its folder is another one now")
    assert names(tmp_path / "foreign") == []
    assert "out.png" not in names(tmp_path / "moved")


def test_out_says_which_folder_it_is(visit, scan, tmp_path):
    (tmp_path / "clean").mkdir()

    async def save(page):
        refused = (await page.save(SAVED, str(scan.with_name("out.png"))))[0]
        return refused, (await page.save(SAVED, str(tmp_path / "clean" / "a.png")))[0]

    assert visit(save, scan, tmp_path / "clean" / "out.png") == (403, 200)
    assert (tmp_path / "clean" / "a.png").exists()


def test_a_failure_is_told_of_the_name_and_leaves_nothing(visit, scan, monkeypatch):
    from fftfilter.images import writing

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "store", full)
    status, told = visit(lambda page: page.save(SAVED, "out.png"), scan)
    line = "cannot be written: no space left on device; free some space or choose another folder"
    assert (status, told["error"]) == (400, f"{scan.with_name('out.png')}: {line}")
    assert names(scan.parent) == ["scan.pgm"]


@pytest.fixture
def folder_run(scan, monkeypatch):
    """Filter the folder of a scan by a process that only says some lines; what is asked of it is noted."""

    def run(lines, progress):
        class Process:
            stdout = iter(lines)

            def __init__(self, command, **_):
                run.noted.append(command[command.index("fftfilter") + 1 :])

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

            def terminate(self):
                run.noted.append("terminate")

        monkeypatch.setattr(subprocess, "Popen", Process)
        session = SimpleNamespace(source=str(scan), folder=str(scan.parent), target=str(scan.parent / "out.png"))
        request = SimpleNamespace(session=session, words=("lowpass", "--radius", "8px"), marked=None)
        place = SimpleNamespace(path=scan.parent, inputs=lambda: 7 * ["a.png"], own_names=lambda: 7 * ["a.png"])
        return applied(request, "new", progress, place)

    run.noted = []
    return run


@pytest.mark.parametrize("is_saved", [False, True], ids=["all of it", "without what was saved"])
def test_a_folder_is_filtered_by_the_command_which_says_what_failed_and_what_it_notes(visit, scan, is_saved):
    shutil.copy(scan, scan.parent / "-other.pgm")
    (scan.parent / "broken.pgm").write_bytes(b"P5 9 9 255 ")

    async def apply(page):
        if is_saved:
            await page.save(DOTS, "saved.pgm")
        _, files = await page.get("files")
        return files["inputs"], await page.save(DOTS, "new", folder=True)

    count, (status, told) = visit(apply, scan)
    assert (count, status) == (3, 200)
    assert [each for each in names(scan.parent / "new") if each[0] != "."] == ["-other.pgm", "scan.pgm"]
    assert told["report"].startswith("2 of 3 files filtered")
    (failed,), (note,) = told["failed"], told["notes"]
    assert "broken.pgm: " in failed
    assert note == "2 files: no screen is found: the picture stays as it is"


def test_a_folder_of_which_nothing_is_filtered_leaves_none(folder_run, scan):
    with pytest.raises(WriteError, match=r"^no file is a picture$"):
        folder_run(["no file is\n", "a picture\n"], Progress())
    assert names(scan.parent) == ["scan.pgm"]


def test_the_process_that_filters_a_folder_ends_with_who_waits_for_it(folder_run):
    class Left(Progress):
        def advance(self, total):
            super().advance(total)
            raise StoppedError("canceled")

    progress = Left()
    with pytest.raises(StoppedError):
        folder_run(["{}\n", "{}\n"], progress)
    assert folder_run.noted[1:] == ["terminate"]
    assert (progress.done, progress.process is None) == (1, False)
