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

import pytest

from fftfilter import system
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


OUT = "-t tmpfs -o mode=1777 tmpfs {here}/out"
FILE = "highpass {here}/in/a.pgm {here}/out/a.pgm"
FOLDER = "highpass {here}/many {here}/out/many"
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
    done = sandbox(FOLDER.replace("highpass", "highpass --processes 2"), MEMORY_DISK)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "cannot start processes: no usable temporary directory found" in done.stderr


@pytest.mark.parametrize("command", [FILE, FOLDER, "devices"])
def test_without_any_place_to_write_it_says_so(sandbox, command):
    done = sandbox(command, NO_MEMORY_DISK)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1, done.stderr
    assert "set POCL_CACHE_DIR to one that can be written to" in done.stderr


@pytest.mark.parametrize("fault", ["size=100k", "noexec"])
def test_another_cache_is_taken_for_one_that_is_full_or_not_for_programs(sandbox, fault):
    unfit = f"-t tmpfs -o mode=1777,{fault} tmpfs {{here}}/cache"
    done = sandbox(FILE, unfit, MEMORY_DISK, HOME="{here}/cache", TMPDIR="{here}/cache")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("limit", "commands", "cause"),
    [
        ("--fsize=20000", (FILE, FOLDER, "devices"), "20,000 bytes are allowed: raise ulimit -f"),
        ("--nofile=12", (FILE, FOLDER, "devices"), "12 may be: raise ulimit -n"),
        ("--nproc=1", (FILE, FOLDER, "devices"), "raise the limit on processes"),
        ("--nproc=9", (FOLDER.replace("highpass", "highpass --processes 2"),), "the limit on processes"),
    ],
)
def test_a_limit_that_stops_the_compiler_is_named(sandbox, limit, commands, cause):
    for command in commands:
        done = sandbox(command, CACHE, HOME="{here}/cache", TMPDIR="{here}/cache", limit=("prlimit", limit))
        assert cause in done.stderr + done.stdout
        assert done.returncode in ((0, 3) if command == "devices" else (1, 3))
        assert done.stderr.count("\n") == (0 if done.returncode == 0 else 1), done.stderr


def test_few_processes_are_enough(sandbox):
    """One for the compiler's linker among them."""
    done = sandbox(FOLDER, CACHE, HOME="{here}/cache", TMPDIR="{here}/cache", limit=("prlimit", "--nproc=4"))
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
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert "/proc/cpuinfo, which has none" in done.stderr


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
