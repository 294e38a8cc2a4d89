"""Where the program runs: users without a home, read-only and full disks, limits, as in containers.

Each run has a root of its own that is read-only, in a mount namespace that is gone afterwards.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which
from types import SimpleNamespace

import pytest

from fftfilter import system
from fftfilter.device_choice import INSTEAD
from tests.folders.helpers import pgm
from tests.helpers import needs_pocl_wheel

ROOT = Path(__file__).parent.parent
# A user for each run: a limit on a user's processes counts those of an earlier run that are about to end, too.
USERS = itertools.count(20_000 + 100 * os.getpid() % 40_000)
pytestmark = [
    needs_pocl_wheel,
    pytest.mark.skipif(
        not all(map(shutil.which, ("unshare", "setpriv", "prlimit", "taskset", "chroot", "mount"))),
        reason="needs the tools of a Linux system",
    ),
]


def hidden_parent(path):
    """Return the outermost folder above a path that other users may not enter, None if there is none."""
    return next((each for each in reversed(Path(path).parents) if not each.stat().st_mode & 0o001), None)


@pytest.fixture
def sandbox():
    """Give a function that runs the program as a user without a name and a home; only out/ can be written to.

    ``mounts`` are further mounts, as arguments of mount, with the sandbox's folder in place of {here} and its root in
    place of {root}; ``limit`` is a command in front of the program. Several commands run one after the other, with
    what the first has compiled, up to one that fails.
    """
    here = Path(tempfile.mkdtemp(prefix="fftfilter-test-"))
    here.chmod(0o755)
    for name in ("in", "many", "out", "cache", "no-vendors", "root"):
        (here / name).mkdir()
    root = here / "root"
    pgm(here / "in/a.pgm", 0, 64, 64)
    for i in range(40):
        (here / f"many/{i}.pgm").hardlink_to(here / "in/a.pgm")
    setup = [f"mount --rbind / {root}", f"mount -o remount,ro,bind {root}"]
    needed = {path: hidden_parent(path) for path in (sys.base_prefix, sys.prefix, str(ROOT))}
    setup += [f"mount -t tmpfs -o mode=755 tmpfs {root}{parent}" for parent in set(filter(None, needed.values()))]
    for path in sorted(path for path, parent in needed.items() if parent):
        setup += [f"mkdir -p {root}{path}", f"mount --bind {path} {root}{path}"]
    if subprocess.run(["unshare", "-m", "sh", "-c", setup[0]], capture_output=True, check=False).returncode:
        shutil.rmtree(here)
        pytest.skip("may not mount file systems")

    def run(commands, *mounts, limit=(), **variables):
        user = next(USERS)
        places = {"here": f"{root}{here}", "root": root}
        mounts = [f"mount {each}".format(**places) for each in (OUT, *mounts)]
        own = {name: str(value).format(here=here) for name, value in variables.items()}
        programs = [
            shlex.join([sys.executable, "-m", "fftfilter", *command.format(here=here).split()])
            for command in ([commands] if isinstance(commands, str) else commands)
        ]
        environment = {
            "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OCL_ICD_VENDORS": f"{here}/no-vendors",
            "PYTHONDONTWRITEBYTECODE": "1", **own,
        }  # fmt: skip
        inside = [
            "chroot",
            str(root),
            "setpriv",
            f"--reuid={user}",
            f"--regid={user}",
            "--clear-groups",
            *limit,
            *("sh", "-ec", " && ".join([*programs[:-1], f"exec {programs[-1]}"])),
        ]
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", "\n".join([*setup, *mounts, shlex.join(["exec", *inside])])],
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    yield run
    shutil.rmtree(here)


# ImageJ's filter, as NumPy takes small pictures of others before OpenCL is asked for.
OUT = "-t tmpfs -o mode=1777 tmpfs {here}/out"
FILE = "imagej {here}/in/a.pgm {here}/out/a.pgm"
FOLDER = "imagej {here}/many {here}/out/many"
NO_MEMORY_DISK = "-t tmpfs -o ro tmpfs {root}/dev/shm"
MEMORY_DISK = "-t tmpfs -o mode=1777 tmpfs {root}/dev/shm"
CACHE = "-t tmpfs -o mode=1777,size=20m tmpfs {here}/cache"


def test_a_user_without_a_home_filters_on_a_read_only_disk(sandbox):
    """What the compiler writes goes into the memory disk, the only place that is left."""
    done = sandbox((FILE, FOLDER), MEMORY_DISK)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    # Processes find each other by a file among the temporary ones.
    assert "40 of 40 files filtered" in done.stderr
    assert "by this process" in done.stderr
    done = sandbox(FOLDER.replace("imagej", "imagej --processes 2"), MEMORY_DISK)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "cannot start processes: no usable temporary directory found" in done.stderr


@pytest.mark.parametrize("command", [FILE, FOLDER, "devices"])
def test_without_any_place_to_write_it_says_so(sandbox, command):
    done = sandbox(command, NO_MEMORY_DISK)
    assert done.returncode == (3 if command == "devices" else 0), done.stderr  # NumPy filters
    assert done.stderr.count("\n") == (2 if command == FOLDER else 1), done.stderr
    assert done.stderr.count("set POCL_CACHE_DIR to one that can be written to") == 1


@pytest.mark.parametrize("fault", ["size=100k", "noexec"])
def test_another_cache_is_taken_for_one_that_is_full_or_not_for_programs(sandbox, fault):
    unfit = f"-t tmpfs -o mode=1777,{fault} tmpfs {{here}}/cache"
    done = sandbox(FILE, unfit, MEMORY_DISK, HOME="{here}/cache", TMPDIR="{here}/cache")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("limit", "commands", "cause"),
    [
        ("--fsize=20000", (FILE, FOLDER, "devices"), "20,000 bytes are allowed"),
        ("--nofile=12", (FILE, FOLDER, "devices"), "12 may be"),
        ("--nproc=1", (FILE, FOLDER, "devices"), "raise the limit on processes"),
        ("--nproc=9", (FOLDER.replace("imagej", "imagej --processes 2"),), "the limit on processes"),
    ],
)
def test_a_limit_that_stops_the_compiler_is_named(sandbox, limit, commands, cause):
    for command in commands:
        done = sandbox(command, CACHE, HOME="{here}/cache", TMPDIR="{here}/cache", limit=("prlimit", limit))
        assert cause in done.stderr + done.stdout
        assert done.returncode in ((0, 3) if command == "devices" else (0, 1))  # NumPy filters, or no process starts
        assert done.stderr.count("\n") <= (2 if "out/many" in command else 1), done.stderr
        assert done.returncode == 1 or command == "devices" or INSTEAD in done.stderr


@pytest.mark.parametrize("command", [FILE, FOLDER])
def test_no_linker_is_needed(sandbox, command):
    """Nor a C library to link with: both are hidden where they are."""
    linkers = {str(Path(found).resolve()) for name in ("ld", "ld.bfd", "ld.gold", "ld.lld") if (found := which(name))}
    hidden = [f"--bind /dev/null {{root}}{each}" for each in sorted(linkers)]
    if Path("/usr/lib/gcc").is_dir():
        hidden.append("-t tmpfs tmpfs {root}/usr/lib/gcc")
    done = sandbox(command, CACHE, *hidden, HOME="{here}/cache", TMPDIR="{here}/cache")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cache", ["POCL_CACHE_DIR", "HOME"])
def test_programs_are_never_kept_where_others_can_write(sandbox, cache):
    """In a folder that is open to all; one of this user alone, among the temporary files, takes its place."""
    own = {cache: "{here}/cache"}
    is_open = CACHE.replace("1777", "777")
    done = sandbox("devices", is_open, NO_MEMORY_DISK, **own)
    assert "by no other user" in done.stdout
    done = sandbox(FILE, is_open, MEMORY_DISK, **own)
    assert (done.returncode, done.stderr) == (0, "")


def test_few_processes_are_enough(sandbox):
    """One for the compiler's linker among them."""
    done = sandbox(FOLDER, CACHE, HOME="{here}/cache", TMPDIR="{here}/cache", limit=("prlimit", "--nproc=6"))
    assert done.returncode == 0, done.stderr
    assert "40 of 40 files filtered" in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_processor_and_no_memory_disk_are_enough(sandbox):
    done = sandbox(
        FOLDER, CACHE, NO_MEMORY_DISK, HOME="{here}/cache", TMPDIR="{here}/cache", limit=("taskset", "-c", "0")
    )
    assert done.returncode == 0, done.stderr
    assert "40 of 40 files filtered" in done.stderr


def test_a_processor_whose_features_are_not_listed_is_named(sandbox):
    """PoCL would build for another one, and crash."""
    done = sandbox(FILE, CACHE, "--bind /dev/null {root}/proc/cpuinfo", HOME="{here}/cache")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert "/proc/cpuinfo, which has none" in done.stderr
    assert INSTEAD in done.stderr


@pytest.mark.parametrize("command", [FILE, FOLDER, "devices"])
def test_a_system_without_proc_is_named(sandbox, command):
    """PoCL would abort as soon as it loads."""
    done = sandbox(command, CACHE, "-t tmpfs tmpfs {root}/proc", HOME="{here}/cache", TMPDIR="{here}/cache")
    assert done.returncode in (0, 3), done.stderr  # whether there is another way
    assert done.stderr.count("/proc is missing") == 1, done.stderr


def test_a_temporary_cache_is_one_that_only_its_user_can_write_to(tmp_path, monkeypatch):
    """Who else can write to it would write programs that are executed."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = system.temporary_cache()
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    for mode in (0o720, 0o702):
        folder.chmod(mode)
        assert system.temporary_cache() != folder
    folder.chmod(0o755)
    assert system.temporary_cache() == folder
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert system.temporary_cache() != folder


def test_what_is_done_at_once_is_a_future_whose_result_or_error_waits():
    assert system.at_once(divmod, 7, 2).result() == (3, 1)
    failed = system.at_once(divmod, 7, 0)
    assert failed.done()
    with pytest.raises(ZeroDivisionError):
        failed.result()


def test_a_limit_is_the_one_that_counts_now_and_none_where_there_is_none(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda which: {resource.RLIMIT_NOFILE: (7, 9)}.get(which, (-1, 5)))
    assert system.limit("RLIMIT_NOFILE") == 7
    assert system.limit("RLIMIT_AS") is None  # -1 is infinity


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/caches"}, "/caches/program"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": ""}, "/home/me/.cache/program"),
        ({"HOME": "/home/me"}, "/home/me/.cache/program"),
        ({"HOME": "here"}, None),  # it would be another one in each folder
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "here"}, None),
    ],
)
def test_the_cache_of_a_user_is_where_the_system_says(monkeypatch, variables, folder):
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert system.user_cache("program") == (folder and Path(folder))


def test_who_has_no_home_has_no_cache(monkeypatch):
    """One says so, and an older one leaves the ~."""
    monkeypatch.delenv("HOME")

    def none(_):
        raise RuntimeError("Could not determine home directory.")

    for user_cache_path in (none, lambda name: Path("~/.cache", name)):
        monkeypatch.setattr("platformdirs.user_cache_path", user_cache_path)
        assert system.user_cache("program") is None
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: Path("/caches", name))
    assert system.user_cache("program") == Path("/caches/program")


def test_of_temporary_folders_the_first_that_can_hold_programs_is_taken(monkeypatch, tmp_path):
    own, made = f"fftfilter-{os.getuid()}", []
    monkeypatch.setattr(Path, "mkdir", lambda self, **how: made.append((self, how)))
    monkeypatch.setattr(Path, "lstat", lambda _: SimpleNamespace(st_mode=0o40700, st_uid=os.getuid()))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/me")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    places = [Path(place, own) for place in (tmp_path, "/tmp", "/var/tmp", "/run/me", "/dev/shm")]  # noqa: S108
    for i, place in enumerate(places):
        monkeypatch.setattr(system, "can_hold", places[i:].__contains__)
        assert system.temporary_cache() == place
        assert made[-1] == (place, {"mode": 0o700, "exist_ok": True})
    monkeypatch.setattr(system, "can_hold", lambda _: True)
    monkeypatch.delenv("TMPDIR")
    assert system.temporary_cache() == places[1]
    # Another user may have made a folder of that name, for everybody to read.
    monkeypatch.setattr(Path, "lstat", lambda _: SimpleNamespace(st_mode=0o40755, st_uid=os.getuid() + 1))
    assert system.temporary_cache() is None


DISK = {"f_bavail": 1024, "f_frsize": 4096, "f_files": 9, "f_favail": 1, "f_flag": 0}


@pytest.mark.parametrize(
    ("disk", "fits"),
    [
        ({}, True),  # just 4 MiB
        ({"f_bavail": 1023}, False),
        ({"f_favail": 0}, False),  # no file more
        ({"f_favail": 0, "f_files": 0}, True),  # files are not counted
        ({"f_flag": os.ST_NOEXEC}, False),
        ({"f_flag": os.ST_NOSUID}, True),
    ],
)
def test_programs_need_four_megabytes_a_file_and_to_be_executed(monkeypatch, tmp_path, disk, fits):
    asked = []
    monkeypatch.setattr(os, "statvfs", lambda path: asked.append(path) or SimpleNamespace(**DISK | disk))
    assert system.can_hold(tmp_path / "new" / "folder") == fits
    assert asked == [tmp_path]


def test_windows_is_not_asked_for_what_it_does_not_have(monkeypatch, tmp_path):
    for name in ("getuid", "statvfs"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(sys, "platform", "win32")
    assert system.limit("RLIMIT_NOFILE") is None
    assert system.temporary_cache() is None
    assert system.can_hold(tmp_path / "new")


def test_a_file_in_the_place_of_a_folder_holds_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch(0o777)
    assert not system.can_hold(tmp_path / "file" / "folder")
    for missing in (os.W_OK, os.X_OK):
        monkeypatch.setattr(os, "access", lambda _, mode, missing=missing: not mode & missing)
        assert not system.can_hold(tmp_path)


def test_a_cache_of_programs_is_one_that_no_other_user_can_change(tmp_path):
    """By writing into it, or by replacing a folder above it: its programs are executed."""
    folder = tmp_path / "above" / "cache"
    assert system.is_private(folder)
    folder.mkdir(parents=True)
    for changed, mode, is_private in [
        (folder, 0o755, True),
        (folder, 0o775, True),  # a group is chosen by who gives it the right
        (folder, 0o777, False),
        (folder, 0o1777, False),
        (folder.parent, 0o777, False),
        (folder.parent, 0o1777, True),  # what is there already is only its owner's
    ]:
        changed.chmod(mode)
        assert system.is_private(folder) == is_private, oct(mode)
        changed.chmod(0o755)
    folder.parent.chmod(0o1777)
    assert not system.is_private(folder.parent / "new")
    (tmp_path / "link").symlink_to(folder.parent)
    assert not system.is_private(tmp_path / "link")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("given", ["cache", "above"])
def test_a_cache_that_another_user_owns_is_not_private(tmp_path, given):
    folder = tmp_path / "above" / "cache"
    folder.mkdir(parents=True)
    os.chown(folder if given == "cache" else folder.parent, 12345, -1)
    assert not system.is_private(folder)


@pytest.mark.parametrize(("name", "is_python"), [("python3.13", True), ("qgis", False), ("", False)])
def test_a_program_that_embeds_python_is_not_started_as_python(monkeypatch, tmp_path, name, is_python):
    monkeypatch.setattr(sys, "executable", name and str(tmp_path / name))
    if name:
        assert not system.is_python()  # nothing is there
        (tmp_path / name).touch(0o755)
    assert system.is_python() == is_python
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not system.is_python()


def test_processors_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 5, 7})
    assert system.cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert system.cores() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert system.cores() == 1


def test_what_control_groups_leave_of_threads_is_free(tmp_path, monkeypatch):
    """The least of all groups; one without a limit does not count."""
    monkeypatch.setattr(system, "_groups", lambda _: iter([tmp_path / "own", tmp_path]))
    monkeypatch.setattr(system, "limit", lambda _: None)
    assert system.free_tasks() is None
    for folder, most, now in ((tmp_path / "own", "max", 5), (tmp_path, "10", 7)):
        folder.mkdir(exist_ok=True)
        (folder / "pids.max").write_text(f"{most}\n")
        (folder / "pids.current").write_text(f"{now}\n")
    assert system.free_tasks() == 3
    (tmp_path / "pids.current").write_text("11")
    assert system.free_tasks() == 0


def test_what_comes_along_lies_inside_an_installed_package_and_beside_it_in_a_checkout(monkeypatch, tmp_path):
    package = tmp_path / "fftfilter"
    monkeypatch.setattr(system, "__file__", str(package / "system.py"))
    assert system.shipped("kernels") == tmp_path / "kernels"
    (package / "kernels").mkdir(parents=True)
    assert system.shipped("kernels") == package / "kernels"
