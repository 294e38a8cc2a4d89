"""The memory that this process can still take, with limits of real control groups and shells."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from fftfilter import system
from fftfilter.system import free_memory, lacking
from tests.helpers import needs_posix

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
