"""Names of files while they are written, and what killed runs leave behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fftfilter.files.atomic import remove_leftovers, remove_leftovers_beside, temporary_name
from tests.files.helpers import environment

WEEK = 7 * 24 * 3600


@pytest.fixture
def gone():
    """Give the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def name_of(process, *, here=True, start="b.pgm", end="tmp"):
    """Return the temporary name that a process of this or another machine gives a file."""
    own = Path(temporary_name(start, end)).name
    machine = own.removesuffix(end)[-9:-5]
    name = own.replace(f".fftfilter-{os.getpid()}-", f".fftfilter-{process}-")
    return name if here else name.replace(f"-{machine}", f"-{int(machine, 16) ^ 1:04x}")


def put(folder, name, *, age=0):
    (folder / name).write_text("half")
    now = (folder / name).stat().st_mtime
    os.utime(folder / name, (now - age, now - age))
    return name


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_temporary_name_is_hidden_in_the_same_folder_and_new_each_time(tmp_path):
    names = {temporary_name(str(tmp_path / "photo.png")) for _ in range(9)}
    assert len(names) == 9
    for name in map(Path, names):
        assert name.parent == tmp_path
        assert name.name.startswith(f".photo.png.fftfilter-{os.getpid()}-")
        assert name.suffix == ".tmp"
    assert len(os.fsencode(Path(temporary_name("é" * 200)).name)) < 255


def test_files_of_processes_that_are_gone_go(tmp_path, gone):
    put(tmp_path, name_of(gone))
    put(tmp_path, name_of(gone, start="two\nlines"))
    put(tmp_path, name_of(gone, end="part.png"))
    kept = [put(tmp_path, name_of(os.getpid())), put(tmp_path, name_of(os.getppid()), age=3600)]
    assert remove_leftovers(tmp_path) == 3
    assert left(tmp_path) == sorted(kept)


def test_only_so_many_entries_are_looked_at(tmp_path, gone):
    for i in range(9):
        put(tmp_path, name_of(gone, start=f"{i}.pgm"))
    assert remove_leftovers(tmp_path, most=4) == 4


def test_files_of_other_machines_go_when_they_are_old(tmp_path, gone):
    for age in WEEK, 25 * 3600:
        put(tmp_path, name_of(gone, here=False, start=f"{age}"), age=age)
    kept = [put(tmp_path, name_of(gone, here=False, start=f"{age}"), age=age) for age in (0, 23 * 3600)]
    assert remove_leftovers(tmp_path) == 2
    assert left(tmp_path) == sorted(kept)


def test_leftovers_beside_an_output_go_and_a_stream_has_none(tmp_path, gone, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = [put(tmp_path, name_of(gone)), put(tmp_path, "b.pgm")]
    for no_file in "-", "memory://b.pgm":
        remove_leftovers_beside(no_file)
    assert left(tmp_path) == sorted(kept)
    remove_leftovers_beside(tmp_path / "out.png")
    assert left(tmp_path) == ["b.pgm"]


def test_processes_of_another_container_of_this_host_name_are_not_seen(tmp_path):
    """Containers that have their host's network have its name, and process numbers of their own."""
    in_a_container = ["unshare", "-Urpf", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*in_a_container, "true"], check=False).returncode:
        pytest.skip("needs to make process numbers of its own")
    kept = put(tmp_path, name_of(os.getpid()))
    code = "import sys; from fftfilter.files.atomic import remove_leftovers; print(remove_leftovers(sys.argv[1]))"
    command = [*in_a_container, sys.executable, "-c", code, tmp_path]
    run = subprocess.run(command, env=environment(), capture_output=True, check=True)
    assert (run.stdout.split(), left(tmp_path)) == ([b"0"], [kept])


def test_files_of_an_earlier_process_with_the_same_number_go(tmp_path):
    """In a container, a program often has the number that it had before."""
    put(tmp_path, name_of(os.getpid(), start="old"), age=3600)
    kept = put(tmp_path, name_of(os.getpid()))
    assert remove_leftovers(tmp_path) == 1
    assert left(tmp_path) == [kept]


def test_who_ends_at_once_removes_its_own_files_and_no_others(tmp_path, gone):
    put(tmp_path, name_of(os.getpid()))
    put(tmp_path, name_of(os.getpid(), end="part.png"))
    kept = [put(tmp_path, name) for name in (name_of(gone), name_of(os.getpid(), here=False), "a.png")]
    remove_leftovers(tmp_path, own=True)
    assert left(tmp_path) == sorted(kept)


def test_other_files_stay(tmp_path, gone):
    name = name_of(gone)
    others = {".other.tmp", name[1:], f"{name}.png", name.removesuffix(".tmp"), name.replace("fftfilter", "x"), "a.pgm"}
    for other in others:
        put(tmp_path, other, age=WEEK)
    assert remove_leftovers(tmp_path) == 0
    assert left(tmp_path) == sorted(others)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_dead_process_that_nobody_has_waited_for_is_gone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as zombie:
        zombie.stdout.read()  # to its end
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        put(tmp_path, name_of(zombie.pid))
        assert remove_leftovers(tmp_path) == 1


def test_a_number_beyond_that_of_any_process_is_no_error(tmp_path):
    put(tmp_path, name_of("9" * 30))
    assert remove_leftovers(tmp_path) == 0


def test_a_folder_that_cannot_be_listed_has_no_leftovers(tmp_path):
    (tmp_path / "file").touch()
    assert remove_leftovers(tmp_path / "missing") == 0
    assert remove_leftovers(tmp_path / "file") == 0
