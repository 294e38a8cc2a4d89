"""``explore``: what is printed, how it ends, and what it refuses. The page itself is tested in tests/explore."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, unquote

import click
import numpy as np
import pytest
from PIL import Image

from fftfilter.cli import cli
from fftfilter.commands.explore import Commands, Redirect, explore, forwarding
from fftfilter.commands.kinds import KINDS
from fftfilter.errors import ParameterError, pip_install
from tests.helpers import SAMPLES, Started, needs_posix

UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

# Seconds for what takes less than two on a machine that does nothing else.
PATIENCE = 60


@contextmanager
def exploring(folder, side=64, *, options=("--no-browser",), command=None, **more):
    """Start the program on a picture of a folder."""
    pixels = np.random.default_rng(3).integers(0, 256, (side, side), np.uint8)
    Image.fromarray(pixels).save(folder / "in.png", compress_level=1)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    command = command or [sys.executable, "-m", "fftfilter", "explore", *options, "in.png"]
    with Started(command, cwd=folder, text=True, **streams) as program:
        yield program


def connected(url, path, upgrade=None):
    """Return a socket on which a page was asked for, and nothing was read."""
    host, _, token = url.removeprefix("http://").partition("/")
    page = socket.create_connection(tuple(host.split(":")))
    head = upgrade or "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"
    page.sendall(head.format(path=f"/{token}{path}").encode())
    return page


def ended(program, number=signal.SIGTERM, last=1):
    """End the program; return its exit code and what it said last, in so many lines."""
    program.send_signal(number)
    return program.wait(timeout=PATIENCE), program.stderr and program.stderr.read().splitlines()[-last:]


@needs_posix
def test_without_a_picture_it_opens_samples_and_saves_into_the_current_folder(tmp_path):
    command = [sys.executable, "-m", "fftfilter", "explore", "--no-browser"]
    with exploring(tmp_path, command=command) as program:
        url = program.stdout.readline().strip()
        said = program.stderr.readline()
        assert said == "fftfilter: no picture is given: the page has samples; drop a picture on it to open that\n"
        with urllib.request.urlopen(url + "files", timeout=PATIENCE) as answer:  # noqa: S310  it is http
            assert {"hum.png", "print.jpg", "stripes.png"} <= {*json.load(answer)["files"]}
        body = json.dumps({"request": {"command": "lowpass"}, "out": "out.png"}).encode()
        with urllib.request.urlopen(url + "save", body, timeout=PATIENCE) as answer:  # noqa: S310  likewise
            assert json.load(answer)["written"] == "out.png"
        assert Image.open(tmp_path / "out.png").size == Image.open(SAMPLES / "print.jpg").size
        assert ended(program)[0] == 143


@needs_posix
def test_the_address_is_printed_and_ctrl_c_ends(tmp_path):
    env = os.environ | {"SSH_CONNECTION": "198.51.100.4 51234 192.0.2.7 22", "FFTFILTER_DEVICE": "pthread"}
    with exploring(tmp_path, env=env) as program:
        url = program.stdout.readline().strip()
        port = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/[\w-]{22}/", url)[1]
        with urllib.request.urlopen(url + "picture", timeout=PATIENCE) as answer:  # noqa: S310  it is http
            assert answer.status == 200
        body = json.dumps({"request": {"command": "lowpass"}, "out": "out.png"}).encode()
        with urllib.request.urlopen(url + "save", body, timeout=PATIENCE) as answer:  # noqa: S310  likewise
            assert json.load(answer)["command"] == "fftfilter lowpass in.png out.png"  # the device stands elsewhere
        # Also while a page is open.
        with connected(url, "live", UPGRADE) as page:
            assert page.recv(12) == b"HTTP/1.1 101"
            forwarded = f"fftfilter: on your own machine: ssh -L {port}:127.0.0.1:{port} 192.0.2.7"
            assert ended(program, signal.SIGINT, last=9) == (130, [forwarded, "fftfilter: interrupted"])


def test_a_device_that_was_chosen_stands_in_the_command(tmp_path):
    with exploring(tmp_path, options=("--no-browser", "--device", "pthread")) as program:
        url = program.stdout.readline().strip()
        body = json.dumps({"request": {"command": "lowpass"}, "out": "out.png"}).encode()
        with urllib.request.urlopen(url + "save", body, timeout=PATIENCE) as answer:  # noqa: S310  likewise
            assert json.load(answer)["command"] == "fftfilter lowpass --device pthread in.png out.png"


ENDLESS = """
import sys, threading
from fftfilter.explore import answers, session
answers.Answers.answer = session.Session.waves = lambda *_: threading.Event().wait()
from fftfilter.__main__ import main
sys.argv = ["fftfilter", "explore", "--no-browser", "in.png"]
main()
"""


@needs_posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_ends_although_its_threads_never_do(tmp_path, number, code):
    with exploring(tmp_path, command=[sys.executable, "-c", ENDLESS]) as program:
        url = program.stdout.readline().strip()
        with connected(url, "peaks"), connected(url, "live", UPGRADE) as page:
            assert page.recv(12) == b"HTTP/1.1 101"
            assert ended(program, number)[0] == code


@needs_posix
def test_it_ends_while_a_kernel_is_compiled(tmp_path):
    with exploring(tmp_path, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "empty")}) as program:
        url = program.stdout.readline().strip()
        with connected(url, "live", UPGRADE):
            assert ended(program) == (143, ["fftfilter: terminated"])


@needs_posix
def test_it_ends_after_its_steps_and_while_it_looks_for_peaks_for_who_does_not_read(tmp_path):
    with exploring(tmp_path, 512) as program:
        url = program.stdout.readline().strip()
        request = quote(json.dumps({"command": "lowpass"}))
        with urllib.request.urlopen(f"{url}steps?request={request}", timeout=PATIENCE) as answer:  # noqa: S310  likewise
            assert answer.status == 200
        with connected(url, "input"), connected(url, "peaks"), connected(url, "spectrum"):
            assert ended(program) == (143, ["fftfilter: terminated"])


@needs_posix
def test_what_is_being_saved_when_it_ends_is_whole_or_not_there(tmp_path):
    with exploring(tmp_path, 1024) as program:
        url = program.stdout.readline().strip()
        body = json.dumps({"request": {"command": "lowpass"}, "out": "out.png"})
        save = f"POST {{path}} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: {len(body)}\r\n\r\n"
        with connected(url, "save", save) as page:
            page.sendall(body.encode())
            while not (names := {path.name for path in tmp_path.iterdir()} - {"in.png"}):
                time.sleep(0.001)
            assert names
            assert ended(program)[0] == 143
    left = [path.name for path in tmp_path.iterdir() if path.name != "in.png"]
    assert left in ([], ["out.png"])
    for name in left:
        Image.open(tmp_path / name).load()


@needs_posix
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_it_ends_while_nobody_reads_what_it_says(tmp_path, stream):
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while os.write(write, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(write, True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ("--no-browser", "--port", str(port))
    with exploring(tmp_path, options=options, **{stream: write}) as program:
        # It says its address once the page can be asked for: it waits from then on, or is about to.
        while program.poll() is None:
            with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        assert ended(program, signal.SIGINT)[0] == 130
    os.close(read)
    os.close(write)


BROWSER = """#!/bin/sh
tr '\\0' ' ' < /proc/$$/cmdline > cmdline
file="${1#file://}"
stat -c %a "$file" > mode
cp "$file" copy
mv copy page.html
while [ -e "$0" ]; do sleep 0.05; done
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the arguments of all processes are looked at in /proc")
@pytest.mark.parametrize("comes", [True, False])
def test_the_browser_gets_the_address_by_a_file_that_nobody_else_can_read(tmp_path, comes):
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    (tmp_path / "temporary").mkdir()
    env = os.environ | {"BROWSER": str(browser), "TMPDIR": str(tmp_path / "temporary")}
    with exploring(tmp_path, options=(), env=env) as program:
        url = re.search(r"http://\S+/", program.stderr.readline())[0]
        while not (tmp_path / "page.html").exists():
            time.sleep(0.01)
        assert f"url={url}" in (tmp_path / "page.html").read_text()
        assert (tmp_path / "mode").read_text() == "600\n"
        arguments = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                arguments.append(process.read_bytes())
            except OSError:
                continue
        file = Path(unquote((tmp_path / "cmdline").read_text().split("file://")[1]).strip())
        assert any(str(file).encode() in each for each in arguments)
        assert not any(url.split("/")[3].encode() in each for each in arguments)
        assert file.exists()
        browser.unlink()  # which ends it
        if comes:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310  likewise
                assert answer.status == 200
            assert list((tmp_path / "temporary").glob("fftfilter-*")) == []
        assert ended(program, signal.SIGHUP)[0] == 143  # its terminal is closed
        assert list((tmp_path / "temporary").glob("fftfilter-*")) == []


def test_without_its_package_a_line_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    code, out, err = run("explore", SAMPLES / "camera.pgm")
    assert (code, out) == (2, b"")
    assert err.startswith(f"fftfilter: explore needs aiohttp: {pip_install(extra='explore')}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-"], "explore takes a picture among this machine's files, and '-' is not one"),
        (["."], "explore takes a picture among this machine's files, and '.' is not one"),
        (["a.png", "."], "explore takes a picture among this machine's files, and '.' is not one"),
        (["a.png", "-"], "explore takes a picture among this machine's files, and '-' is not one"),
        (["http://localhost/a.png"], "explore takes a picture among this machine's files"),
        (["missing.png"], "missing.png: cannot be read"),
        (["--with", "bench", "a.png"], "--with: 'bench' is not a filter: give one such as 'lowpass --radius 8px'. See"),
        (["--with", "imagej", "a.png"], "--with 'imagej' is invalid: choose lowpass, highpass"),
        (["--with", "lowpass --radius 8qx", "a.png"], "unknown unit 'qx'"),
        (["--with", "lowpass --mask gains.png", "a.png"], "--with: --mask is not for a page to set. See"),
        (["--with", "lowpass a.png", "b.png"], "give options only, as IN and OUT stand at the end. See"),
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


# What a page starts with, and what it is told of its commands


@pytest.fixture
def commands():
    return Commands(click.Context(explore, parent=click.Context(cli, info_name="fftfilter")), ())


@pytest.mark.parametrize(
    ("text", "command", "options", "area"),
    [
        ("lowpass", "lowpass", {}, None),
        ("lowpass --radius 8px --edges mirror", "lowpass", {"radius": "8px", "edges": "mirror"}, None),
        (
            "notch --at 0.1,0.2 --at 0.2,0.1,9px --harmonics 2",
            "notch",
            {"at": ["0.1,0.2", "0.2,0.1,9px"], "harmonics": "2"},
            None,
        ),
        ("notch --auto --strength 20", "notch", {"auto": True, "strength": "20.0"}, None),
        ("stripes --angle 33", "stripes", {"angle": "33"}, None),
        ("highpass --stripes auto --wiener 8", "highpass", {"stripes": "auto", "wiener": ["8"]}, None),
        (
            "lowpass --output keep --region 1,2,30,40 --feather 3",
            "lowpass",
            {"output": "keep"},
            {"shapes": [["rectangle", 1, 2, 30, 40]], "outside": False, "feather": 3.0},
        ),
        (
            "lowpass --output keep --protect 1,2,30,40",
            "lowpass",
            {"output": "keep"},
            {"shapes": [["rectangle", 1, 2, 30, 40]], "outside": True},
        ),
    ],
)
def test_a_page_starts_with_the_filter_of_with(commands, text, command, options, area):
    wanted = {"id": 0, "page": 0, "level": 1, "show": "result", "command": command, "options": options, "area": area}
    assert commands.start(text, "in.png") == wanted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["descreen", "--strength=much"], "strength: 'much' is not a number."),
        (["notch", "--at=0.1,0.1", "--harmonics=many"], "harmonics: 'many' is not a valid integer."),
        (["lowpass", "--sharpen"], "No such option"),
        (["lowpass", "--radius=wide"], "radius 'wide' is not a number"),
        (["lowpass", "--processes=2"], "--processes is for folders"),
    ],
)
def test_a_page_is_told_of_its_fields_what_is_wrong(commands, words, said):
    with pytest.raises(ParameterError) as error:
        commands.describe(words, "in.png")
    assert str(error.value).startswith(said)


def test_options_of_a_page_have_the_defaults_of_the_commands(commands):
    usual = {"pixel_size": None, "output": "magnitude", "edges": "wrap", "scale": "each"}
    others = {"notch": None, "stripes": None, "wiener": None}
    assert (
        commands.options["lowpass"] == {"radius": None, "shape": "ideal", "order": None, "width": None} | usual | others
    )
    waves = {"at": None, "harmonics": 1, "shape": "gaussian", "auto": None, "strength": None, "keep": None}
    assert commands.options["notch"] == waves | usual | {"output": "keep", "stripes": None, "wiener": None}
    assert {*commands.options} == {*KINDS} - {"mask", "imagej"}


@pytest.mark.parametrize("server", ["192.0.2.7", None])
def test_an_address_is_forwarded_from_the_machine_that_is_logged_in_to(monkeypatch, server):
    monkeypatch.setenv("SSH_CONNECTION", f"198.51.100.4 51234 {server} 22" if server else "")
    line = f"ssh -L 8123:127.0.0.1:8123 {server or socket.gethostname()}"
    assert forwarding("http://127.0.0.1:8123/token/") == line


def test_without_a_folder_for_its_file_the_browser_is_not_opened(monkeypatch):
    redirect = Redirect()
    monkeypatch.setattr("tempfile.mkstemp", lambda *_: os.open("/no/such/folder", os.O_RDONLY))
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("opened"))
    redirect.open("http://127.0.0.1:8123/token/")
    redirect.remove()


def test_the_file_that_leads_the_browser_to_the_page_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    redirect = Redirect()
    redirect.remove()  # there is none yet
    redirect.open("http://127.0.0.1:8123/token/")
    (file,) = tmp_path.iterdir()
    assert file.match("fftfilter-*.html")
    assert 'content="0; url=http://127.0.0.1:8123/token/"' in file.read_text()
    while not opened:
        time.sleep(0.001)
    assert opened == [file.as_uri()]
    for _ in range(2):
        redirect.remove()
        assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("is_remote", [True, False])
@pytest.mark.parametrize("has_browser", [True, False])
def test_the_address_is_said_or_opened(run, monkeypatch, is_remote, has_browser):
    done, url = [], "http://127.0.0.1:8123/token/"

    class Served:
        folder = "."

        def __init__(self, session, commands, start, _):
            done.append((session, commands.always, start.get("command")))

        def run(self, port, opened):
            done.append(port)
            opened(url)

    monkeypatch.setattr("fftfilter.explore.server.Server", Served)
    monkeypatch.setattr("fftfilter.explore.session.Session", lambda *given: given)
    monkeypatch.setattr("fftfilter.device_choice.cpu_alone", lambda: done.append("alone") or {})
    monkeypatch.setattr("asyncio.run", lambda _: None)
    monkeypatch.setattr(Redirect, "open", lambda _, url: done.append(url))
    monkeypatch.setattr(Redirect, "remove", lambda _: done.append("removed"))
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    if is_remote:
        monkeypatch.setenv("SSH_CONNECTION", "198.51.100.4 51234 192.0.2.7 22")
    given, options = str(SAMPLES / "camera.pgm"), [] if has_browser else ["--no-browser"]
    code, out, err = run("explore", *options, "--port", "5", "--device", "cpu", "--with", "lowpass", given, "out.png")
    lines = [f"fftfilter: {given} is open in the browser at {url} (Ctrl-C ends)"] if has_browser else []
    lines += ["fftfilter: on your own machine: ssh -L 8123:127.0.0.1:8123 192.0.2.7"] if is_remote else []
    assert (code, out.decode(), err.splitlines()) == (0, "" if has_browser else f"{url}\n", lines)
    served = ((given, "out.png", "cpu", None), ("--device", "cpu"), "lowpass")
    assert done == ["alone", served, 5, *([url] if has_browser else []), "removed"]
