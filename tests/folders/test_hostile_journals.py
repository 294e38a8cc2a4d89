"""Journals that somebody else has put into an output folder: they are no reason to skip, to stop or to take memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fftfilter.folders.journal import LONGEST_LINE, Entry, Stamp, journal_of
from tests.folders.helpers import JOURNAL, digest, here, names, pgm, process


def lines(*given):
    return b"\n".join(json.dumps(each).encode() for each in given)


HOSTILE = {
    "deep": b"[" * 300_000,
    "deep in a line": b'["a.pgm", "x", "y", ' + b"[" * 5000 + b"]" * 5000 + b", 1]",
    "deep as a name": b"[" + b"[" * 5000 + b"]" * 5000 + b', "x", "y", 1, 2]',
    "deep objects": b'{"a":' * 100_000,
    "no texts": lines(["a.pgm", [], {}, 1, 2], ["a.pgm", {"a": 1}, [1], [], []], [["a.pgm"], None, None, None, None]),
    "numbers": b'["a.pgm", "x", "y", 1e999, ' + b"9" * 9000 + b"]",
    "names": lines(*([name, "x", "y", 1, 2] for name in ("../a.pgm", "/etc/passwd", "a\0.pgm", "\ud800", ""))),
    "bytes": bytes(range(256)) * 100,
    "one name": lines(["a.pgm", "x", "y", 1, 2]) + b"\n" + lines(["a.pgm", "x", "y", 1, 2]) * 20_000,
    "many lines of a name": (lines(["a.pgm", "x", "y", 1, 2]) + b"\n") * 100_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_journal_costs_nothing(tmp_path, kind):
    given, out = pgm(tmp_path / "in/a.pgm").parent, tmp_path / "out"
    out.mkdir()
    pgm(out / "a.pgm", 1)
    (out / JOURNAL).write_bytes(HOSTILE[kind])
    done = process("--skip-existing", given, out)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert here("-q", given, tmp_path / "alone") == 0
    assert (out / "a.pgm").read_bytes() == (tmp_path / "alone/a.pgm").read_bytes()
    assert names(tmp_path) == ["alone/a.pgm", "in/a.pgm", "out/a.pgm"]
    assert process("--skip-existing", given, out).stderr.startswith("0 of 1 files filtered")  # its own line is found


def test_a_line_without_end_is_not_read_into_memory(tmp_path):
    (tmp_path / JOURNAL).write_bytes(b"")
    with (tmp_path / JOURNAL).open("r+b") as file:
        file.truncate(1 << 29)  # of zeros, which take no space
        file.seek(0, 2)
        file.write(b'\n["a.pgm", "digest", "settings", 1, 2]\n')
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_DATA, (1 << 27, 1 << 27))
from pathlib import Path
from fftfilter.folders.journal import journal_of
journal = journal_of(Path({str(tmp_path)!r}))
print(journal.entry("a.pgm", "settings"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr


def test_the_lines_of_the_last_runs_are_kept(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"x")
    found = (tmp_path / "a.pgm").stat()
    now = Stamp(found.st_size, found.st_mtime_ns)
    journal = journal_of(tmp_path)
    for i in range(900):
        journal.add("a.pgm", Entry(f"digest {i}" + "." * 50 * (i < 890), f"settings {i}", now))
    journal.close()
    assert (tmp_path / JOURNAL).stat().st_size > 4 * LONGEST_LINE
    again = journal_of(tmp_path)
    assert [digest(again, "a.pgm", f"settings {i}") for i in (0, 898, 899)] == [None, "digest 898", "digest 899"]
