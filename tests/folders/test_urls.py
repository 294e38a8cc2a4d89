"""Runs of the program on URLs: memory:// in this process, http:// from a server on this machine."""

from __future__ import annotations

import errno
import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter.cli import cli
from fftfilter.errors import pip_install
from fftfilter.files.urls import Url
from fftfilter.folders import processes
from tests.files.helpers import serve

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

ODD = ["a 2.pgm", "a 10.pgm", "50% #1.pgm", "Grüße 猫.pgm"]


def pgm(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (8, 12), dtype=np.uint8)
    path.write_bytes(b"P5\n12 8\n255\n" + pixels.tobytes())


def names(folder):
    """Return the files below a folder but for hidden ones."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in files if not path.name.startswith("."))


@pytest.fixture
def run():
    def run(*arguments):
        result = CliRunner().invoke(cli, ["highpass", *(str(a) for a in arguments)])
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture
def given(tmp_path):
    """Files of all names, a bad one, a hidden one and one that is not an image, in folders."""
    for i, name in enumerate([*ODD, "deep/er/b.pgm", ".hidden.pgm", ".hidden/c.pgm"]):
        pgm(tmp_path / "in" / name, i)
    (tmp_path / "in/bad.pgm").write_bytes(b"P5 ")
    (tmp_path / "in/notes.txt").write_text("not an image")
    return tmp_path / "in"


@pytest.fixture
def web(given):
    """The files as http://."""
    with serve(given) as url:
        yield url


def into_memory(memory, given):
    for path in given.rglob("*"):
        if path.is_file():
            memory.pipe_file(f"/in/{path.relative_to(given)}", path.read_bytes())


def in_memory(memory, folder):
    found = memory.find(folder)
    return {name.removeprefix(f"{folder}/"): memory.cat_file(name) for name in found if "/." not in name}


def test_objects_become_what_files_become(run, tmp_path, given, memory):
    into_memory(memory, given)
    report = tmp_path / "report.jsonl"
    code, _, said = run("-r", "--report", report, "memory://in/", "memory://out/")
    assert (code, said.count("\n")) == (1, 2), said
    assert "fftfilter: memory://in/bad.pgm: " in said
    assert "5 of 6 files filtered" in said
    assert "1 of other types left out (1 .txt)" in said
    assert run("-r", "-q", given, tmp_path / "out")[0] == 1
    alone = {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")}
    assert in_memory(memory, "/out") == alone
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert sorted(line["output"] for line in lines if line["status"] == "done") == sorted(
        f"memory://out/{name}" for name in alone
    )


@pytest.mark.parametrize("format_", ["pgm", "tif"])
def test_a_name_that_no_file_can_have_costs_its_own_file_alone(run, tmp_path, given, memory, format_):
    for name in ("a.pgm", "b\0.pgm"):
        memory.pipe_file(f"/in/{name}", (given / "a 2.pgm").read_bytes())
    code, _, said = run("--format", format_, "memory://in/", f"{tmp_path}/")
    assert (code, said.count("\n")) == (1, 2), said
    assert "fftfilter: memory://in/: 1 of its names are not those of files, such as 'b\\x00.pgm'" in said
    assert (tmp_path / f"a.{format_}").exists()


def test_a_url_that_cannot_be_reached_is_no_internal_error(run, tmp_path, given):
    url = f"zip://a.pgm::{tmp_path / 'missing.zip'}"
    line = f"fftfilter: {url}: cannot be reached: no such file or directory; check the name\n"
    assert run(url, tmp_path / "out.pgm") == run(given / "a 2.pgm", url) == (1, "", line)


def test_a_report_goes_to_a_url(run, tmp_path, given, memory, web):
    code, _, _ = run("-rq", "--report", "memory://reports/run.jsonl", given, tmp_path / "out")
    assert code == 1
    lines = [json.loads(line) for line in memory.cat_file("/reports/run.jsonl").splitlines()]
    assert sorted(line["status"] for line in lines) == ["done"] * 5 + ["failed"]
    for report, why in (
        (f"{web}run.jsonl", "can only be read"),
        ("memory://reports/a.png", "has the name of an image"),
        ("nosuch://reports/run.jsonl", "give a path, or a URL"),
        (tmp_path, "is a folder"),
    ):
        code, _, said = run("-rq", "--report", report, given, tmp_path / "other")
        assert (code, said.count("\n"), why in said) == (2, 1, True), said
        assert names(tmp_path / "other") == []


def test_over_a_network_many_files_are_under_way_at_once(run, tmp_path, given, memory, monkeypatch):
    into_memory(memory, given)
    asked, choose = [], processes.choose_workers

    def noted(*given, over_network):
        asked.append(over_network)
        return choose(*given, over_network=over_network)

    monkeypatch.setattr(processes, "choose_workers", noted)
    for source, target in (("memory://in/", tmp_path / "a"), (given, "memory://out/"), (given, tmp_path / "b")):
        run("-q", source, target)
    assert asked == [True, True, False]


def test_a_report_that_a_url_takes_no_more_is_told_and_missed_at_the_end(run, tmp_path, given, memory, monkeypatch):
    store = type(memory).pipe_file

    def full(self, path, value, **options):
        if value:  # all but the empty one at the start
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        store(self, path, value, **options)

    monkeypatch.setattr(type(memory), "pipe_file", full)
    code, _, said = run("-q", "--report", "memory://reports/run.jsonl", given / "deep/er", tmp_path / "out")
    assert (code, said.count("\n")) == (1, 1), said
    assert said.startswith("fftfilter: memory://reports/run.jsonl: cannot be written (")
    assert said.endswith("; the report is incomplete\n")
    assert names(tmp_path / "out") == ["b.pgm"]


def test_what_is_done_is_noted_behind_a_url_every_ten_seconds(memory, monkeypatch):
    from fftfilter.folders import journal

    now, noted = [100.0], []
    monkeypatch.setattr(journal, "time", SimpleNamespace(monotonic=lambda: now[0], time_ns=lambda: int(now[0])))
    book = journal.UrlJournal(Url("memory://out"))
    for seconds in (100, 109, 111, 112, 121, 123):
        now[0] = seconds
        book.add(f"{seconds}.png", journal.Entry("digest", "settings", journal.Stamp(1, 2)))
        noted.append(memory.cat("/out/*") if memory.exists("/out") else {})
    assert [len(parts) for parts in noted] == [0, 0, 1, 1, 1, 2]
    (lines,) = noted[2].values()
    assert [json.loads(line)[0] for line in lines.splitlines() if line] == ["100.png", "109.png", "111.png"]
    book.close()
    assert len(memory.find("/out")) == 2  # nothing was left to note


def test_the_web_is_read(run, tmp_path, given, web):
    code, _, said = run("-r", web, tmp_path / "out")
    assert (code, said.count("\n"), "5 of 6 files" in said) == (1, 2, True), said
    assert run("-r", "-q", given, tmp_path / "alone")[0] == 1
    assert names(tmp_path / "out") == names(tmp_path / "alone")
    for name in names(tmp_path / "out"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    _, listed, _ = run("-n", "--pattern", "a*", web, tmp_path / "none")
    assert [line.split(" -> ")[0] for line in listed.splitlines() if " -> " in line] == [
        f"{web}a%202.pgm",
        f"{web}a%2010.pgm",
    ]
    for target in (web, f"{web}out/", "https://127.0.0.1:1/out/"):
        code, _, said = run(given, target)
        assert (code, said.count("\n"), "can only be read" in said) == (2, 1, True)


def test_one_file(run, tmp_path, given, memory, web):
    assert run(given / "deep/er/b.pgm", tmp_path / "alone.pgm")[0] == 0
    wanted = (tmp_path / "alone.pgm").read_bytes()
    assert run(f"{web}deep/er/b.pgm", "memory://one.pgm") == (0, "", "")
    assert memory.cat_file("/one.pgm") == wanted
    memory.pipe_file("/b.pgm", (given / "deep/er/b.pgm").read_bytes())
    assert run("memory://b.pgm", (tmp_path / "two.pgm").as_uri()) == (0, "", "")
    assert (tmp_path / "two.pgm").read_bytes() == wanted
    assert run((given / "deep/er").as_uri(), (tmp_path / "out").as_uri())[0] == 0
    assert names(tmp_path / "out") == ["b.pgm"]
    assert run("memory://b.pgm", "memory://b.pgm")[0] == 2
    assert run("--in-place", "memory://b.pgm", "memory://b.pgm") == (0, "", "")
    assert memory.cat_file("/b.pgm") == wanted


def test_a_run_is_resumed(run, given, memory, monkeypatch):
    """Each output folder remembers what it was made from, in parts that are joined when they are many."""
    from fftfilter.folders import journal

    into_memory(memory, given)
    memory.rm_file("/in/bad.pgm")

    def skipped():
        code, _, said = run("-r", "--skip-existing", "memory://in/", "memory://out/")
        assert code == 0, said
        return int(said.split(" skipped")[0].rsplit(" ", 1)[1]) if "skipped" in said else 0

    assert skipped() == 0
    assert skipped() == 5
    memory.pipe_file("/in/a 2.pgm", memory.cat_file("/in/a 10.pgm"))
    memory.pipe_file("/out/deep/er/b.pgm", b"changed")
    memory.rm_file("/out/a 10.pgm")
    assert skipped() == 2
    assert skipped() == 5
    monkeypatch.setattr(journal, "MANY_PARTS", 1)
    monkeypatch.setattr(journal, "LINES_A_PART", 1)
    memory.pipe_file("/out/a 2.pgm", b"changed")
    assert skipped() == 4
    assert skipped() == 5
    parts = [name for name in memory.find("/out") if "/out/.fftfilter" in name]
    assert len(parts) == 1
    memory.pipe_file(parts[0], memory.cat_file(parts[0])[:-30])
    assert skipped() == 4


def test_what_is_done_behind_a_url_can_be_kept_here(run, tmp_path, given, memory):
    into_memory(memory, given)
    words = ("-r", "--state", tmp_path / "state", "--skip-existing", "memory://in/", "memory://out/")
    assert "5 of 6 files filtered" in run(*words)[2]
    assert "0 of 6 files filtered" in run(*words)[2]
    assert not [name for name in memory.find("/out") if "/.fftfilter" in name]
    assert {each.parent.name for each in (tmp_path / "state").rglob(".*.jsonl")} == {"state", "er"}


def test_what_cannot_be_remembered_is_told_and_costs_nothing(run, given, memory, monkeypatch):
    into_memory(memory, given)
    memory.rm_file("/in/bad.pgm")
    store = type(memory).pipe_file

    def full(self, path, value, **options):
        if ".fftfilter-done" in path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        store(self, path, value, **options)

    monkeypatch.setattr(type(memory), "pipe_file", full)
    code, _, said = run("-q", "memory://in/", "memory://out/")
    assert (code, said.count("\n")) == (0, 1), said
    assert "memory://out: cannot note what is done (" in said
    assert "No space left" in said
    assert len(memory.find("/out")) == 4


def test_what_cannot_be_done_is_one_line(run, tmp_path, given, memory, web, monkeypatch):
    into_memory(memory, given)
    missing = "memory://none.pgm", f"{web}none.pgm", f"{web}none/", "memory://none/", "http://127.0.0.1:1/a.png"
    for url in missing:
        code, _, said = run(url, tmp_path / ("out" if url.endswith("/") else "out.pgm"))
        assert (code, said.count("\n")) == (1, 1), said
        assert "internal error" not in said
    for arguments, words in (
        (("nosuch://a/b.png", tmp_path / "b.png"), "nosuch"),
        (("--preserve-times", "memory://in/", tmp_path / "out"), "--preserve-times"),
        (("--preserve-times", f"{web}a%202.pgm", tmp_path / "out.pgm"), "--preserve-times"),
        (("--preserve-times", given, "memory://out/"), "memory://out/: has no times for --preserve-times"),
        (("--preserve-times", given / ODD[0], "memory://in/a 10.pgm", f"{tmp_path}/out/"), "has no times for"),
        (("memory://in/", "memory://in/"), "is the input itself"),
        (("memory://in/", "memory://out.png"), "has the name of an image"),
    ):
        code, _, said = run(*arguments)
        assert (code, said.count("\n"), words in said) == (2, 1, True), said
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    code, _, said = run("memory://in/", tmp_path / "out")
    assert (code, said.count("\n"), pip_install(extra="cluster") in said) == (
        2,
        1,
        True,
    )


@pytest.mark.skipif(os.name == "nt", reason="a name with a colon")
def test_a_path_is_no_url(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pgm(tmp_path / "http:/a.pgm")
    assert run("./http://a.pgm", "out.pgm") == (0, "", "")


def test_a_url_of_this_machine_s_files_is_the_input_itself_as_its_path_is(run, tmp_path):
    inner, other = tmp_path / "in", tmp_path / "other"
    for i, file in enumerate((inner / "a.pgm", inner / "b.pgm", other / "a.pgm")):
        pgm(file, i)
    before = [file.read_bytes() for file in sorted(tmp_path.rglob("*.pgm"))]
    one = inner / "a.pgm"
    for *options, source, target in (
        (inner, f"local://{inner}"),
        (f"local://{inner}", inner),
        (f"local://{inner}", f"local://{tmp_path}//in/"),
        (one, inner / "b.pgm", f"local://{inner}/"),
        (inner / "b.pgm", other / "a.pgm", one, f"local://{other}/"),  # which would replace what is not read yet
        (one, f"local://{one}"),
        ("--preview", f"file://{one.with_suffix('.png')}", one, f"local://{one.with_suffix('.png')}"),
        ("--report", f"local://{one}", inner, tmp_path / "out"),
    ):
        code, _, said = run(*options, source, target)
        assert (code, said.count("\n")) == (2, 1), (source, target, said)
    assert [file.read_bytes() for file in sorted(tmp_path.rglob("*.pgm"))] == before


def test_an_output_behind_a_url_replaces_no_input_through_a_link(run, tmp_path):
    pgm(tmp_path / "in/a.pgm")
    before = (tmp_path / "in/a.pgm").read_bytes()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.pgm").hardlink_to(tmp_path / "in/a.pgm")
    code, _, said = run(tmp_path / "in", f"local://{tmp_path}/out")
    assert (code, "is the input itself" in said) == (1, True), said
    assert (tmp_path / "in/a.pgm").read_bytes() == before
