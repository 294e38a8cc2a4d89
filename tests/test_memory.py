"""The memory that this process can still take, with limits of real control groups and shells."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tifffile

import fftfilter
from fftfilter import system
from fftfilter.errors import TooLargeError
from fftfilter.system import free_memory, lacking
from tests.helpers import COMMAND, needs_posix

ROOT = Path(__file__).parent.parent
PRINT = "import sys; from fftfilter.system import free_memory; sys.stdout.write(str(free_memory()))"
# Where groups with a limit of memory are made, and the limit's file: versions 1 and 2.
GROUPS = {"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}


def free_in_child(first):
    """Return what a process has free that runs some code first."""
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{PRINT}"], capture_output=True, check=True, cwd=ROOT, timeout=60
    )
    return int(done.stdout)


@pytest.mark.parametrize(
    "filtered",
    [
        fftfilter.descreen,
        lambda image: fftfilter.stripes(image, 80),
        lambda image: fftfilter.notch(image, auto=True, edges="mirror"),
        lambda image: fftfilter.notch(image, auto=True),
        lambda image: fftfilter.lowpass(image, missing=image == 0, **COMMAND),
        fftfilter.imagej,
    ],
)
def test_a_picture_that_takes_more_steps_than_fit_into_memory_is_refused_before_them(monkeypatch, filtered):
    free, image = 9 << 20, np.zeros((4300, 1200), np.uint8)
    monkeypatch.setattr(system, "free_memory", lambda: free)
    size = f"1200 x 4300 pixels take [0-9,]+ bytes to filter, more than the {free:,} of memory"
    with pytest.raises(TooLargeError, match=size):
        filtered(image)


@pytest.fixture
def group():
    """A control group of 512 MiB, if this user may make one."""
    for folder, limit in GROUPS.items():
        made = Path(folder, f"fftfilter-{uuid.uuid4().hex}")
        with suppress(OSError):
            made.mkdir()
            try:
                (made / limit).write_text(str(512 << 20))
                yield made
                return
            finally:
                made.rmdir()
    pytest.skip("this user may make no control group with a limit of memory")


@needs_posix
def test_what_is_free_is_less_than_all():
    assert 0 < free_memory() < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert lacking(1000) is None
    assert 0 < lacking(1 << 60) < 1 << 60


def test_a_control_group_is_a_limit(group):
    free = free_in_child(f"import os; open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))")
    assert 256 << 20 < free <= 512 << 20


def test_cached_files_count_as_free(tmp_path, monkeypatch):
    """In a group, whose account says so, and on the machine, whose kernel counts them itself."""
    for name, text in {
        "memory.max": "1000",
        "memory.current": "900",
        "memory.stat": "anon 500\ninactive_file 300",
    }.items():
        (tmp_path / name).write_text(text)
    assert list(system._left(tmp_path)) == [400]
    (tmp_path / "memory.max").write_text("max")
    assert list(system._left(tmp_path)) == []
    monkeypatch.setattr(system, "_number", lambda _, name: {"MemFree:": 3, "MemAvailable:": 7}.get(name))
    assert next(system._limits_of_memory()) == 7 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="knows only Linux's limits")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_shell_is_a_limit(limit):
    taken = "import resource; taken = bytearray(256 << 20)"
    free = free_in_child(f"{taken}; resource.setrlimit(resource.{limit}, (1 << 30, 1 << 30))")
    assert 256 << 20 < free < 768 << 20


@pytest.mark.parametrize(("sizes", "free"), [((7, 5, 9), 5), ((7, -3), 0), ((), None)])
def test_the_least_of_all_limits_is_free_and_never_less_than_nothing(monkeypatch, sizes, free):
    monkeypatch.setattr(system, "_limits_of_memory", lambda: iter(sizes))
    assert free_memory() == free


def test_exactly_what_is_free_can_be_taken_and_a_byte_more_is_lacking(monkeypatch):
    monkeypatch.setattr(system, "free_memory", lambda: 100 << 20)
    assert lacking(100 << 20) is None
    assert lacking((100 << 20) + 1) == 100 << 20
    monkeypatch.setattr(system, "free_memory", lambda: 7)
    assert lacking(64 << 20) == 7
    assert lacking((64 << 20) - 1) is None  # so little is not asked for
    monkeypatch.setattr(system, "free_memory", lambda: None)
    assert lacking(1 << 60) is None


@pytest.fixture
def files(monkeypatch):
    """What is read of the files of a Linux system, by their paths."""
    found = {}

    def read_text(file, *_, **__):
        if str(file) not in found:
            raise FileNotFoundError(file)
        return found[str(file)]

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(system, "limit", lambda _: None)
    return found


def test_every_group_of_this_process_up_to_the_top_is_a_limit(files, monkeypatch):
    """Of version 2, whose line names no controllers, and of version 1, where memory has a tree of its own."""
    files["/proc/meminfo"] = "MemTotal:  9 kB\nMemFree:  2 kB\nMemAvailable:  5 kB\n"
    files["/proc/self/cgroup"] = "12:cpu,cpuacct:/other\n4:devices,memory:/a/b\n0::/c:d\n"
    seen = []
    monkeypatch.setattr(system, "_left", lambda group: [seen.append(str(group)) or len(seen)])
    assert list(system._limits_of_memory()) == [5 * 1024, 1, 2, 3, 4, 5]
    top = "/sys/fs/cgroup"
    assert seen == [f"{top}/memory/a/b", f"{top}/memory/a", f"{top}/memory", f"{top}/c:d", top]


def test_a_group_of_version_1_has_other_files(tmp_path):
    (tmp_path / "memory.limit_in_bytes").write_text("1000\n")
    (tmp_path / "memory.usage_in_bytes").write_text("900\n")
    assert list(system._left(tmp_path)) == [100]


@needs_posix
def test_where_linux_does_not_say_what_is_available_it_is_all_memory(files):
    assert not files
    assert list(system._limits_of_memory()) == [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]


def test_of_windows_nothing_is_known(files, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert not files
    assert free_memory() is None


def test_each_limit_of_the_shell_leaves_what_it_counts_less(files, monkeypatch):
    """That of addresses counts libraries, too, that of data does not."""
    files["/proc/meminfo"] = "MemAvailable:  5 kB\n"
    files["/proc/self/status"] = "VmPeak:  9 kB\nVmSize:  3 kB\nVmData:  1 kB\n"
    monkeypatch.setattr(system, "limit", {"RLIMIT_AS": 10_000, "RLIMIT_DATA": 20_000}.get)
    assert list(system._limits_of_memory()) == [5 * 1024, 10_000 - 3 * 1024, 20_000 - 1024]
    del files["/proc/self/status"]
    assert list(system._limits_of_memory()) == [5 * 1024, 10_000, 20_000]


@needs_posix
def test_the_figure_is_true_in_real_runs():
    """Some of the table of ``python -m tests.figures``, which has them all."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.figures", "1500", "48"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("figure") == 2


def test_a_dry_run_of_a_file_prints_its_figure_and_writes_nothing(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((60, 80), np.uint16))
    words = [sys.executable, "-m", "fftfilter", "highpass", "-n", "a.tif", "b.tif"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60)
    assert done.stdout == "a.tif -> b.tif: 80 x 60 gray, 16 bits; 120.6 MB of memory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.tif"]


def test_missing_pixels_count_in_the_figure_of_a_file(tmp_path):
    figures = []
    for value in (0, np.nan):
        picture = np.zeros((1000, 1000), np.float32)
        picture[:9, :9] = value
        tifffile.imwrite(tmp_path / "a.tif", picture)
        words = [sys.executable, "-m", "fftfilter", "highpass", "-n", "a.tif", "b.tif"]
        said = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60).stdout
        figures.append(float(said.split()[-4]))
    assert figures[1] > figures[0] + 4


@needs_posix
@pytest.mark.parametrize("more", [[], ["-n"]])
def test_a_picture_beyond_the_limit_is_refused_by_its_name(tmp_path, more):
    with (tmp_path / "a.pgm").open("wb") as file:
        file.write(b"P5 20000 20000 255 ")
        file.truncate(file.tell() + 20000 * 20000)
    words = f"ulimit -d 2000000; {sys.executable} -m fftfilter highpass {' '.join(more)} a.pgm b.png"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("fftfilter: a.pgm: 20000 x 20000 pixels take ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.pgm"]
