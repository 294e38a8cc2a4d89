"""Names that come from outside, and what is shown of URLs."""

from __future__ import annotations

import traceback

import pytest

from fftfilter.errors import FftfilterError, ReadError, WriteError, without_secrets
from fftfilter.files.messages import as_error, shown
from fftfilter.files.urls import Url, is_name

NAMES = [
    "a 2.pgm",
    "50% #1.pgm",
    "Grüße 猫.pgm",
    "what?.pgm",
    "+.pgm",
    "..png",
    "...",
    "a..b.png",
    "Screenshot 9\u202fPM.png",
]
NO_NAMES = [
    *(
        "",
        " ",
        ".",
        "..",
        " .. ",
        "/",
        "a/b.png",
        "/etc/passwd.png",
        "../a.png",
        "a\\b.png",
        "..\\a.png",
        "\\\\host\\a.png",
    ),
    *("a\0.png", "a\n.png", "\x1b[2J.png", "\x7f.png", "\x9b.png", "\ud800.png", "x" * 1001),
    *("%2e%2e", "x%2F..%2Fy.png", "x%252F..%252Fy.png", "x%25252Fy.png", "a%5Cb.png", "a%00.png", "%2Fetc%2Fa.png"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_file_is_a_name(name):
    assert is_name(name, windows=False)


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_leads_elsewhere_is_no_name_however_often_it_was_coded(name):
    assert not is_name(name, windows=False)


def test_names_that_windows_takes_for_others_are_none_there():
    for name in ("con", "NUL.png", "com1.tar.png", "a:b.png", "C:a.png", "a?.png", "out.png.", "out.png ", "lpt9 .png"):
        assert not is_name(name, windows=True), name
        assert is_name(name, windows=False), name
    assert not is_name("a%3Ab.png", windows=True)
    assert is_name("console.png", windows=True)


def test_the_name_of_a_file_on_the_web_has_no_query():
    assert Url("https://host/in/a%20b.png?X-Amz-Signature=a/b").name == "a b.png"
    assert Url("s3://bucket/what?.png").name == "what?.png"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://me:word@host/a.png", "https://***@host/a.png"),
        ("https://token@host/a.png", "https://***@host/a.png"),
        ("sftp://me:w@rd@host/a.png: cannot be read", "sftp://***@host/a.png: cannot be read"),
        ("https://h/a.png?X-Amz-Signature=ab/c&x=1: cannot be read", "https://h/a.png?***: cannot be read"),
        ("https://h/a.png?token=abc -> out/a.png", "https://h/a.png?*** -> out/a.png"),
        ("url='https://h/a.png?sig=abc', x='1'", "url='https://h/a.png?***', x='1'"),
        ("zip://a.png::https://me:word@h/x.zip?sig=abc; check", "zip://a.png::https://***@h/x.zip?***; check"),
        ("s3://bucket/what?.png and me@host", "s3://bucket/what?.png and me@host"),
        ("a?b=c.png: cannot be read", "a?b=c.png: cannot be read"),
        ("?" * 100_000 + "://", "?" * 100_000 + "://"),
    ],
)
def test_what_is_secret_in_a_url_is_not_shown(text, wanted):
    assert without_secrets(text) == without_secrets(wanted) == wanted


def test_no_error_has_a_secret():
    url = "https://me:word@host/a.png?sig=abc"
    for kind in FftfilterError, ReadError, WriteError:
        assert str(kind(f"{url}: cannot be read")) == "https://***@host/a.png?***: cannot be read"
    with pytest.raises(ReadError) as caught, as_error(ReadError, shown(url, "-")):
        raise OSError(None, f"401, url='{url}'")
    assert "word" not in str(caught.value)
    assert "abc" not in str(caught.value)
    assert traceback.format_exception_only(caught.value)
