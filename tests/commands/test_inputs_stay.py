"""Whatever an output is called, it replaces no input that --in-place does not name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from fftfilter import images
from fftfilter.folders.run import FolderRun
from tests.folders.helpers import pgm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, and streams that are files")
here = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def given(tmp_path, monkeypatch):
    """A folder with a picture and other names of it, as the current one."""
    folder = tmp_path / "given"
    pgm(folder / "a.pgm")
    (folder / "hard.pgm").hardlink_to(folder / "a.pgm")
    (folder / "soft.pgm").symlink_to("a.pgm")
    (tmp_path / "way").symlink_to(folder)
    monkeypatch.chdir(folder)
    return folder / "a.pgm"


OTHER_NAMES = [
    "a.pgm",
    "hard.pgm",
    "soft.pgm",
    "../way/a.pgm",
    pytest.param("/proc/self/cwd/a.pgm", marks=here),
    "local://{}/a.pgm",
]


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_an_output_that_is_the_input_by_another_name_is_refused(run, given, name):
    before, name = given.read_bytes(), name.format(given.parent)
    for command in (["highpass"], ["spectrum"]):
        code, out, said = run(*command, "a.pgm", name)
        assert (code, out, said.count("\n"), "is the input itself" in said) == (2, b"", 1, True), said
    assert given.read_bytes() == before
    assert sorted(path.name for path in given.parent.iterdir()) == ["a.pgm", "hard.pgm", "soft.pgm"]


@pytest.mark.parametrize("name", ["a.pgm", "hard.pgm", "../way/a.pgm"])
def test_in_place_is_what_allows_it(run, given, name):
    before = given.read_bytes()
    assert run("highpass", "--in-place", "a.pgm", name)[0] == 0
    # A hard link's name gets a file of its own: the other names keep the old one.
    assert (given.read_bytes() == before) == (name == "hard.pgm")


@pytest.mark.parametrize(
    ("arguments", "stdin", "stdout"),
    [
        (("-", "a.pgm"), True, False),
        (("-", "-"), True, True),
        (("a.pgm", "-"), False, True),
        (("a.pgm", "/dev/stdout"), False, True),
    ],
    ids=str,
)
def test_streams_that_are_the_input_are_refused(given, arguments, stdin, stdout):
    before = given.read_bytes()
    with given.open("rb") as read, given.open("r+b") as written:
        done = subprocess.run(
            [sys.executable, "-m", "fftfilter", "highpass", *arguments],
            stdin=read if stdin else subprocess.DEVNULL,
            stdout=written if stdout else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert (done.returncode, b"is the input itself" in done.stderr) == (2, True), done.stderr
    assert given.read_bytes() == before


def test_a_mask_a_page_and_steps_replace_no_input(run, given):
    Image.new("L", (12, 10), 255).save("mask.png")
    Image.new("L", (12, 10), 9).save("01-image.png")
    before = {name: (given.parent / name).read_bytes() for name in ("mask.png", "01-image.png", "a.pgm")}
    for arguments in (
        ("mask", "--mask", "mask.png", "a.pgm", "mask.png"),
        ("mask", "--in-place", "--mask", "mask.png", "a.pgm", "../way/mask.png"),
        ("mask", "--mask", "mask.png", "--preview", "mask.png", "a.pgm", "out.pgm"),
        ("mask", "--mask", "mask.png", "a.pgm", "01-image.png", "../way/"),
        ("mask", "--mask", "mask.png", "01-image.png", "mask.png", "../way/"),
        ("highpass", "--preview", "01-image.png", "01-image.png", "out.png"),
        ("highpass", "--save-stages", ".", "01-image.png", "out.png"),
    ):
        code, _, said = run(*arguments)
        assert (code, said.count("\n")) == (2, 1), (arguments, said)
        assert {name: (given.parent / name).read_bytes() for name in before} == before, arguments
        assert not [*Path().glob("out.*")], arguments  # nothing was begun


def swapping(monkeypatch, function, swap):
    """Let something happen when the input has been read."""
    own = getattr(images, function)

    def changed(*arguments, **options):
        found = own(*arguments, **options)
        swap()
        return found

    monkeypatch.setattr(images, function, changed)


@pytest.mark.parametrize("pages", [1, 3])
def test_an_output_that_becomes_a_link_to_the_input_in_the_middle_replaces_nothing(run, given, monkeypatch, pages):
    """Also if the input has another file's name by then: what was opened counts."""
    frames = [Image.new("L", (12, 10), i) for i in range(pages)]
    frames[0].save("in.tif", save_all=True, append_images=frames[1:])
    before = (given.parent / "in.tif").read_bytes()

    moved, out = given.with_name("moved.tif"), given.with_name("out.tif")

    def swap():
        if not out.is_symlink():
            Path("in.tif").rename(moved)
            pgm(given.with_name("in.tif"))
            out.symlink_to(moved)

    swapping(monkeypatch, "opened", swap)
    for command in (("highpass",), ("spectrum", "--pages", "1")):
        code, _, said = run(*command, "in.tif", "out.tif")
        assert (code, said.count("\n"), "moved.tif: is the input itself" in said) == (2, 1, True), said
        assert moved.read_bytes() == before
        out.unlink()
        moved.replace("in.tif")


def test_a_file_that_goes_while_the_program_starts_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setattr("os.path.isfile", lambda _: True)  # as it was a moment ago
    code, _, said = run("highpass", tmp_path / "gone.pgm", tmp_path / "out.pgm")
    line = f"{tmp_path / 'gone.pgm'}: cannot be read: no such file or directory; check the name"
    assert (code, said) == (1, f"fftfilter: {line}\n")


@pytest.mark.parametrize("way", ["link", "hard link"])
@pytest.mark.parametrize("option", ["--save-recipe", "--report", "--preview"])
def test_what_an_option_writes_replaces_no_input_whatever_it_is_called(run, tmp_path, option, way):
    """Not a file, not one of several, nor one of a folder that is reached through a link.

    What takes the place of a hard link leaves the input alone; a report is appended to.
    """
    given, other = tmp_path / "in/sub.png", tmp_path / "other.png"
    given.parent.mkdir()
    for path in given, other:
        Image.linear_gradient("L").save(path)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/way").symlink_to(given.parent)
    before = given.read_bytes()
    written = tmp_path / {"--save-recipe": "r.json", "--report": "r.jsonl", "--preview": "r.png"}[option]
    if way == "link":
        written.symlink_to(given)
    else:
        written.hardlink_to(given)
    for names in (
        (given, tmp_path / "out.png"),
        (given, other, tmp_path / "out"),
        (tmp_path / "tree", tmp_path / "out"),
    ):
        target = f"{names[-1]}/" if names[-1].name == "out" else names[-1]
        code, out, said = run("lowpass", "-r" if names[0].is_dir() else "-q", option, written, *names[:-1], target)
        assert given.read_bytes() == before
        if way == "hard link" and code == 0:
            assert option != "--report"
            written.unlink()
            written.hardlink_to(given)
        else:
            assert (code, out, said.count("\n")) == (2, b"", 1), said
            assert not (tmp_path / "out").exists()


def test_what_an_option_writes_replaces_no_mask_and_no_recipe(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pgm(tmp_path / "in/a.pgm")
    Image.new("L", (12, 8), 255).save("mask.png")
    assert run("lowpass", "--output", "keep", "--region", "mask.png", "--save-recipe", "r.json", "in", "out")[0] == 0
    (tmp_path / "mask.json").hardlink_to("mask.png")
    before = {name: Path(name).read_bytes() for name in ("mask.png", "r.json")}
    for option, name in ("--report", "r.json"), ("--save-recipe", "r.json"), ("--report", "mask.json"):
        code, _, said = run("apply", "r.json", option, name, "in", "out")
        assert (code, said.count("\n"), "is the input itself" in said) == (2, 1, True), said
        assert {name: Path(name).read_bytes() for name in before} == before


def test_a_report_that_becomes_another_file_meanwhile_empties_none(run, tmp_path, monkeypatch):
    given = pgm(tmp_path / "in/a.pgm")
    before, report, survey = given.read_bytes(), tmp_path / "r.jsonl", FolderRun.survey

    def swapping(self):
        survey(self)
        report.symlink_to(given)

    monkeypatch.setattr(FolderRun, "survey", swapping)
    code, _, said = run("lowpass", "--report", report, given.parent, tmp_path / "out")
    assert (code, said.count("\n"), "r.jsonl is no regular file" in said) == (1, 1, True), said
    assert given.read_bytes() == before
