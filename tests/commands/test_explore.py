"""``explore``: what is printed, how it ends, and what it refuses. The page itself is tested in tests/explore."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import click
import pytest

from fftfilter.cli import cli
from fftfilter.commands.explore import Commands, explore, forwarding
from fftfilter.commands.shared.command_text import parsed
from tests.helpers import SAMPLES, Started, needs_posix

UPGRADE = (
    "GET {path}live HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@needs_posix
def test_the_address_is_printed_and_ctrl_c_ends():
    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser", SAMPLES / "camera.pgm"]
    with Started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        url = program.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{22}/", url)
        with urllib.request.urlopen(url + "picture", timeout=60) as answer:  # noqa: S310  it is http
            assert answer.status == 200
        # Also while a page is open.
        with socket.create_connection(("127.0.0.1", int(url.split(":")[2].partition("/")[0]))) as page:
            page.sendall(UPGRADE.format(path="/" + url.split("/", 3)[3]).encode())
            assert page.recv(12) == b"HTTP/1.1 101"
            program.send_signal(signal.SIGINT)
            assert program.wait(timeout=60) == 130
        assert program.stderr.read().splitlines()[-1] == "fftfilter: interrupted"


@pytest.mark.parametrize(
    "text",
    [
        "highpass",
        "bandpass --inner 40 --outer 9px --shape butterworth --order 3 --notch 0.1,0.2 --stripes 5 --edges mirror",
        "notch --at 0.1,0.2 --at 0.2,0.1,8px --harmonics 2",
        "stripes --angle 30 --output signed --scale 0:40 --device pthread",
    ],
)
def test_what_a_page_asks_for_is_what_the_whole_command_describes(text):
    context = click.Context(explore, parent=click.Context(cli, info_name="fftfilter"))
    commands, words = Commands(context, str(SAMPLES / "camera.pgm"), ()), text.split()
    whole = parsed(context, words, commands.source, "OUT", "")
    assert commands.describe(words) == commands._described(words[0], whole)


def test_over_ssh_the_line_that_forwards_the_port_is_printed(monkeypatch):
    monkeypatch.setenv("SSH_CONNECTION", "198.51.100.4 51234 192.0.2.7 22")
    assert forwarding("http://127.0.0.1:41719/token/") == "ssh -L 41719:127.0.0.1:41719 192.0.2.7"


def test_without_its_package_a_line_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    code, out, err = run("explore", SAMPLES / "camera.pgm")
    assert (code, out) == (2, b"")
    assert "pip install" in err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-"], "explore takes a picture among this machine's files, and '-' is not one"),
        (["."], "explore takes a picture among this machine's files, and '.' is not one"),
        (["http://localhost/a.png"], "explore takes a picture among this machine's files"),
        (["missing.png"], "missing.png: cannot be read"),
        (["--with", "bench", "a.png"], "--with: 'bench' is not a filter"),
        (["--with", "imagej", "a.png"], "--with 'imagej' is invalid: choose lowpass, highpass"),
        (["--with", "lowpass --radius 8qx", "a.png"], "unknown unit 'qx'"),
        (["--with", "lowpass --mask gains.png", "a.png"], "--with: --mask is not for a page to set"),
        (["--with", "lowpass a.png", "b.png"], "give options only"),
        (
            ["--with", "stripes --angle 0 --angle 90", "a.png"],
            "--with: a page has one angle of stripes: give --angle once",
        ),
    ],
)
def test_what_is_refused_is_refused_with_one_line(run, arguments, line):
    code, out, err = run("explore", "--no-browser", *arguments)
    assert code in (1, 2)
    assert out == b""
    assert line in err
    assert len(err.splitlines()) == 1
