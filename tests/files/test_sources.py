"""All bytes of an input: files, pipes, standard input."""

from __future__ import annotations

import os
import subprocess
import threading

import pytest

from fftfilter.errors import ParameterError, ReadError, TooLargeError
from fftfilter.files import sources
from fftfilter.files.sources import (
    Slices,
    as_file,
    checked_digest,
    content,
    digest_of,
    is_drawn_mask,
    large_file,
    times,
)
from tests.files.helpers import message, python
from tests.helpers import needs_links, needs_posix

PRINT = "import sys; from fftfilter.files.sources import content; sys.stdout.buffer.write(content('-'))"


@pytest.mark.parametrize("name", ["a.png", "Grüße 猫", "two\nlines", " ", b"\xff"])
def test_a_file_is_read_whole(tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name) if isinstance(name, bytes) else tmp_path / name  # noqa: PTH118
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(b"\0\r\n" * 100_000)
    assert content(path) == b"\0\r\n" * 100_000
    assert content(os.fsdecode(path)) == b"\0\r\n" * 100_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_to_its_end(tmp_path):
    """Its size is 0, and it gives at most 64 kB at a time."""
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"abc" * 100_000,))
    writer.start()
    assert content(tmp_path / "pipe", limit=300_000) == b"abc" * 100_000
    writer.join()


def test_a_dash_is_standard_input():
    assert python(PRINT, input=b"abc" * 100_000).stdout == b"abc" * 100_000


def test_a_closed_standard_input_is_an_error():
    done = python("import os, sys; os.close(0); sys.stdin = None\n" + PRINT)
    words = b"ReadError: standard input: cannot be read: bad file descriptor; it is closed; give a file's name\n"
    assert done.stderr.endswith(words), done.stderr


def test_an_empty_input_is_an_error(tmp_path):
    (tmp_path / "x.png").touch()
    with pytest.raises(ReadError, match=r"x\.png: empty \(0 bytes\); give an image file"):
        content(tmp_path / "x.png")
    done = python(PRINT, stdin=subprocess.DEVNULL)
    assert done.stderr.endswith(b"ReadError: standard input: empty (0 bytes); give an image file\n")


def test_missing_files_and_folders_are_errors(tmp_path):
    for action in content, times:
        with pytest.raises(ReadError, match=r"missing\.png: cannot be read: no such file or directory; check the name"):
            action(tmp_path / "missing.png")
    with pytest.raises(ReadError, match="is a directory; give a file's name"):
        content(tmp_path)


@needs_links
def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a.png").symlink_to("a.png")
    for action in content, times:
        with pytest.raises(ReadError, match="too many levels of symbolic links"):
            action(tmp_path / "a.png")


@pytest.mark.usefixtures("ordinary_user")
def test_a_file_without_permission_is_an_error(open_folder):
    path = open_folder / "x.pgm"
    path.write_bytes(b"P5 1 1 255\n7")
    path.chmod(0)
    with pytest.raises(ReadError, match="permission denied; check its permissions"):
        content(path)


def test_a_file_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    size = 1 << 46
    with (tmp_path / "x.png").open("wb") as file:
        try:
            file.truncate(size)  # holes, which take no room on the disk
        except OSError:
            pytest.skip("the file system has no files of this size")
    with pytest.raises(TooLargeError, match=rf"{size:,} bytes, more than the [\d,]+ of memory that are free"):
        content(tmp_path / "x.png")


@needs_posix
def test_a_stream_has_a_limit(tmp_path):
    with pytest.raises(TooLargeError, match="/dev/zero: has more than 3,000,000 bytes; --input-limit"):
        content("/dev/zero", limit=3_000_000)
    (tmp_path / "x").write_bytes(bytes(2_000_000))  # a file has an end
    assert len(content(tmp_path / "x", limit=1_000_000)) == 2_000_000
    done = python("from fftfilter.files.sources import content; content('-', limit=9)", input=bytes(10))
    assert b"TooLargeError: standard input: has more than 9 bytes" in done.stderr


def test_a_stream_takes_half_of_the_free_memory_by_default(monkeypatch):
    monkeypatch.setattr(sources, "free_memory", lambda: 6_000_001)
    with pytest.raises(TooLargeError, match="/dev/zero: has more than 3,000,000 bytes"):
        content("/dev/zero")
    monkeypatch.setattr(sources, "free_memory", lambda: None)
    out, into = os.pipe()
    os.write(into, b"abc")
    os.close(into)
    assert content(f"/dev/fd/{out}") == b"abc"
    os.close(out)


def test_a_url_has_the_limit_of_a_stream():
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/limited", b"abcdef")
    assert content("memory://limited", limit=6) == b"abcdef"
    with pytest.raises(TooLargeError, match="memory://limited: has more than 5 bytes"):
        content("memory://limited", limit=5)
    memory.rm_file("/limited")


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path):
    with pytest.raises(ReadError) as caught:
        content(tmp_path / "two\nlines.png")
    assert r"two\nlines.png" in message(caught)


def test_times_are_in_nanoseconds(tmp_path):
    (tmp_path / "x").touch()
    os.utime(tmp_path / "x", ns=(1_000_000_000_123_456_789, 1_200_000_000_987_654_321))
    assert times(tmp_path / "x") == (1_000_000_000_123_456_789, 1_200_000_000_987_654_321)


# Files that are read in parts


def test_parts_of_a_file_are_those_of_its_bytes(tmp_path):
    (tmp_path / "x").write_bytes(b"abcdef")
    slices = Slices((tmp_path / "x").open("rb"))
    assert len(slices) == 6
    for part in slice(1, 3), slice(0, 6), slice(4, 99), slice(3, 2), slice(-2, None):
        assert slices[part] == b"abcdef"[part]
    assert as_file(slices).read() == as_file(b"abcdef").read() == b"abcdef"
    assert as_file(slices).read() == b"abcdef"  # from its start again
    slices.close()
    assert slices.file.closed


def test_a_large_file_is_read_in_parts_if_it_begins_in_one_of_some_ways(tmp_path, monkeypatch):
    opened = []

    def noted(*given):
        opened.append(open(*given))  # noqa: PTH123, SIM115
        return opened[-1]

    monkeypatch.setattr(sources, "open", noted, raising=False)
    for data, size, is_large in ((b"abc", 1 << 24, True), (b"abc", (1 << 24) - 1, False), (b"bcd", 1 << 24, False)):
        (tmp_path / "x").write_bytes(data)
        os.truncate(tmp_path / "x", size)
        found = large_file(tmp_path / "x", (b"zz", b"ab"))
        assert (found is not None) == is_large
        if found:
            assert (len(found), found[:4]) == (size, data + b"\0")
            found.close()
    assert [file.closed for file in opened] == [True, True]
    assert large_file(tmp_path / "missing", (b"ab",)) is None


def test_a_digest_is_that_of_the_bytes_however_they_are_read(tmp_path):
    data = bytes(3 << 20) + b"end"
    (tmp_path / "x").write_bytes(data)
    slices = Slices((tmp_path / "x").open("rb"))
    assert digest_of(slices) == digest_of(data) != digest_of(data[:-1])
    for at in 0, (1 << 20) - 1, 1 << 20:
        assert digest_of(data[:at] + b"x" + data[at + 1 :]) != digest_of(data)
    slices.close()
    assert checked_digest("x", data, None) == checked_digest("x", data, digest_of(data)) == digest_of(data)
    with pytest.raises(
        ParameterError,
        match=r"^standard input: has changed since the recipe was saved: restore it, or save the recipe again$",
    ):
        checked_digest("-", data, digest_of(b""))


@pytest.mark.parametrize(
    ("name", "is_drawn"),
    [
        *(("a-region-0123abcd.png", True), ("-region-0123abcd.png", True), ("a-region-0123ABCD.png", False)),
        *(("a-region-0123abcd.jpg", False), ("a-region-123abcd.png", False), ("-region-a-0123abcd.png", False)),
    ],
)
def test_a_drawn_mask_is_known_by_its_name(name, is_drawn):
    assert is_drawn_mask(name) == is_drawn
