"""The words of errors about files."""

from __future__ import annotations

import errno

import pytest

from fftfilter.files.messages import first_line, quoted_if_odd, reason, shown


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("photo 1.png", "photo 1.png"),
        ("Grüße 猫.png", "Grüße 猫.png"),
        ("two\nlines.png", r"'two\nlines.png'"),
        ("a\x1b[31m.png", r"'a\x1b[31m.png'"),
        (" ", "' '"),
        ("", "''"),
    ],
)
def test_a_name_stays_on_one_readable_line(name, wanted):
    assert quoted_if_odd(name) == wanted


def test_a_name_that_is_no_text_is_quoted():
    assert shown(b"\xff.png", "standard input") == r"'\udcff.png'"


def test_a_dash_is_a_stream(tmp_path):
    assert shown("-", "standard input") == "standard input"
    assert shown(tmp_path / "-", "standard input") == f"{tmp_path}/-"


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (OSError(errno.ENOENT, "x"), "no such file or directory; check the name"),
        (OSError(errno.EACCES, "x"), "permission denied; check its permissions and its folder's"),
        (OSError(errno.ENOSPC, "x"), "no space left on device; free some space or choose another folder"),
        (OSError(errno.ENAMETOOLONG, "x"), "file name too long; choose a shorter name"),
        (OSError(errno.EPERM, "x"), "operation not permitted; check its permissions and its folder's"),
        (OSError(errno.EBADF, "x"), "bad file descriptor; it is closed; give a file's name"),
        (OSError(errno.EROFS, "x"), "read-only file system; choose another folder"),
        (OSError(errno.ENOTDIR, "x"), "not a directory; check the name"),
        (OSError(errno.EISDIR, "x"), "is a directory; give a file's name"),
        (OSError(errno.EDQUOT, "x"), "disk quota exceeded; free some space or choose another folder"),
        (OSError(errno.EIO, "x"), "input/output error"),
        (OSError("a driver's words\nand more"), "a driver's words"),
        (ValueError("embedded null byte"), "embedded null byte"),
    ],
    ids=str,
)
def test_a_reason_is_a_cause_and_a_way_out(error, wanted):
    assert reason(error) == wanted


def test_an_error_without_words_is_its_type():
    assert first_line(MemoryError()) == "MemoryError"


def test_of_a_long_message_its_beginning_is_told():
    assert first_line(ValueError("x" * 200)) == "x" * 200
    assert first_line(ValueError("x" * 201)) == "x" * 200 + " ..."
    assert first_line(ValueError("Got " + "'0.1', " * 5000)) == ("Got " + "'0.1', " * 28) + " ..."
