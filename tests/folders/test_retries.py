"""Runs whose other side fails: servers for a while or for good, workers, a bucket that is missing; inputs not read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from click.testing import CliRunner

from fftfilter.cli import cli
from fftfilter.files import urls
from tests.folders.helpers import command, names, pgm, process
from tests.helpers import Started, needs_posix

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402


class Shaky(MemoryFileSystem):
    """A store that fails as often as it is told to."""

    protocol, failures, store, pseudo_dirs = "shaky", 0, {}, [""]

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("shaky://", "memory://"))

    def cat_file(self, *given, **options):
        if Shaky.failures:
            Shaky.failures -= 1
            raise ConnectionError("nobody answers")
        return super().cat_file(*given, **options)

    def pipe_file(self, path, value, **options):
        if path.startswith("/none/"):
            raise FileNotFoundError(path)
        super().pipe_file(path, value, **options)

    def ls(self, path, **options):
        if Shaky.failures:
            Shaky.failures -= 1
            raise ConnectionError("nobody answers")
        return super().ls(path, **options)

    def open(self, path, mode="rb", **options):
        if Shaky.failures and "r" in mode:
            Shaky.failures -= 1
            raise ConnectionError("nobody answers")
        return super().open(path, mode, **options)


@pytest.fixture
def store(monkeypatch):
    fsspec.register_implementation("shaky", Shaky, clobber=True)
    monkeypatch.setattr(urls, "SECONDS_TO_RETRY", 0.001)
    yield Shaky()
    Shaky.store.clear()
    Shaky.failures = urls.retries = 0


def run(*arguments):
    result = CliRunner().invoke(cli, ["highpass", *map(str, arguments)])
    return result.exit_code, result.stderr


def test_what_fails_for_a_while_is_tried_again_if_that_is_wanted(store, tmp_path, monkeypatch):
    for i in range(3):
        store.pipe_file(f"/in/{i}.pgm", pgm(tmp_path / "a.pgm", i).read_bytes())
    Shaky.failures = 2
    code, said = run("--retries", 3, "shaky://in/", tmp_path / "out")
    assert (code, names(tmp_path / "out")) == (0, ["0.pgm", "1.pgm", "2.pgm"]), said
    Shaky.failures = 1
    monkeypatch.setattr(Shaky, "ls", MemoryFileSystem.ls)
    code, said = run("shaky://in/", tmp_path / "other")
    assert (code, said.count("nobody answers"), "; 1 failed" in said) == (1, 1, True), said


def test_a_store_that_is_down_ends_the_run_after_fifty_files(store, tmp_path, monkeypatch):
    for i in range(300):
        store.pipe_file(f"/in/{i}.pgm", b"P5")
    Shaky.failures = 10**9
    monkeypatch.setattr(Shaky, "ls", MemoryFileSystem.ls)
    code, said = run("shaky://in/", tmp_path / "out")
    assert (code, said.count("nobody answers")) == (1, 50), said
    assert re.search(r"\d+ files in a row failed for reasons outside of them; the same command with --skip", said)


@pytest.mark.usefixtures("store")
def test_a_server_that_is_silent_for_a_while_is_not_asked_for_each_file(monkeypatch):
    """Drivers of object stores take seconds until they give up, files that wait to be written hundreds of times."""
    asked = []
    monkeypatch.setattr(Shaky, "cat_file", lambda _, path, **__: asked.append(path) or time.sleep(0.05) or 1 / 0)
    monkeypatch.setattr(Shaky, "async_impl", True)
    monkeypatch.setattr(urls, "LONGEST_WAIT", 0.2)
    for number in range(50):
        with pytest.raises(OSError, match=r"division by zero|shaky://silent fails at all"):
            urls.content(f"shaky://silent/{number}.pgm")
    assert 4 <= len(asked) <= 10
    time.sleep(0.5)
    monkeypatch.setattr(Shaky, "cat_file", lambda *_, **__: b"back")
    assert urls.content("shaky://silent/0.pgm") == b"back"


@pytest.mark.usefixtures("store")
def test_a_run_that_is_interrupted_tries_nothing_again(monkeypatch):
    Shaky.failures = 9
    monkeypatch.setattr(urls, "retries", 5)
    urls.interrupted.set()
    for _ in range(3):
        with pytest.raises(OSError, match=r"nobody answers|shaky://ended fails at all"):
            urls.content("shaky://ended/a.pgm")
    urls.interrupted.clear()
    assert Shaky.failures == 8


def test_a_web_server_that_fails_now_and_then_and_says_what_is_gone(tmp_path, monkeypatch):
    pytest.importorskip("aiohttp")
    whole, asked, waits = pgm(tmp_path / "a.pgm", 3).read_bytes(), Counter(), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.strip("/")
            asked[name] += 1
            fails = asked[name] == 1 or name == "410.pgm"
            status = int(name[:3]) if fails and name[0].isdecimal() else 200
            self.send_response(status)
            self.send_header("Retry-After", "9" * 5000 if name == "503.pgm" else "7")
            self.send_header("Content-Length", str(len(whole) if status == 200 else 0))
            self.end_headers()
            if status == 200:
                self.wfile.write(whole[: 9 if fails and name == "cut.pgm" else None])

        def log_message(self, *_):
            pass

    monkeypatch.setattr(urls.interrupted, "wait", waits.append)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        files = ["410.pgm", "429.pgm", "503.pgm", "cut.pgm", "whole.pgm"]
        given = [f"http://127.0.0.1:{server.server_port}/{name}" for name in files]
        code, said = run("--retries", 4, "--report", tmp_path / "r.jsonl", *given, f"{tmp_path}/out/")
        server.shutdown()
    urls.retries = 0
    assert (code, said.count("410 Gone; check the URL"), names(tmp_path / "out")) == (1, 1, files[1:]), said
    assert [asked[name] for name in files] == [1, 2, 2, 2, 1]
    assert len(waits) == 3
    assert sorted(waits)[1:] == [7, urls.LONGEST_WAIT]
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert sorted(line["input"] for line in lines) == given


@pytest.fixture
def bad_server():
    """The address of a web server whose files are behind a failure, /500/, or never come, /never/; and who asked."""
    pytest.importorskip("aiohttp")
    asked = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            links = b"".join(b'<a href="%d.pgm">' % i for i in range(12)) if self.path.endswith("/") else b""
            asked[self.path] += 1
            if self.path.startswith("/never/") and not links:
                time.sleep(60)
            self.send_response(200 if links else 500, "Overloaded")
            self.send_header("Content-Length", str(len(links)))
            self.end_headers()
            self.wfile.write(links)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@needs_posix
def test_processes_that_wait_for_a_server_hear_ctrl_c(tmp_path, bad_server):
    """Twenty tries with longer and longer waits would take a quarter of an hour."""
    place, asked = bad_server
    words = command("--retries", 20, "--processes", 2, f"{place}/500/", tmp_path / "out")
    with Started(words, stderr=subprocess.PIPE, text=True) as running:
        while max(asked.values(), default=0) < 2:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=60)[1]
    assert (running.returncode, "0 of 12 files filtered" in said) == (130, True), said


@needs_posix
def test_a_second_signal_does_not_wait_for_a_server(tmp_path, bad_server):
    place, asked = bad_server
    script = "from fftfilter import __main__, signals; signals.SECONDS_TO_END = 0.1; __main__.main()"
    words = [sys.executable, "-c", script, "highpass", "--log", "json", f"{place}/never/", str(tmp_path / "out")]
    with Started(words, stderr=subprocess.PIPE, text=True) as running:
        while len(asked) < 2:
            time.sleep(0.01)
        for _ in range(2):
            running.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        said = [json.loads(line) for line in running.communicate(timeout=50)[1].splitlines()]
    assert (running.returncode, said[-1]["event"], said[-1]["exit_code"]) == (143, "error", 143), said


def test_files_that_are_damaged_do_not_end_a_run(tmp_path):
    for i in range(60):
        pgm(tmp_path / f"in/{i:02}.pgm").write_bytes(b"P5 ")
    pgm(tmp_path / "in/z.pgm")
    code, said = run("--processes", 1, tmp_path / "in", tmp_path / "out")
    assert (code, names(tmp_path / "out"), "60 failed" in said) == (1, ["z.pgm"], True)


@pytest.mark.usefixtures("store")
def test_a_bucket_that_is_missing_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setattr(Shaky, "async_impl", True)
    monkeypatch.setattr(Shaky, "makedirs", lambda *_, **__: pytest.fail("made"))
    code, said = run(pgm(tmp_path / "a.pgm"), "shaky://none/a.pgm")
    assert (code, said.count("\n"), "shaky://none/a.pgm: cannot be written: no such file" in said) == (1, 1, True), said


@pytest.mark.parametrize("where", ["files", "a store"])
def test_a_fast_resume_reads_no_input_that_has_its_size_and_time(store, tmp_path, monkeypatch, where):
    for i in range(3):
        store.pipe_file(f"/in/{i}.pgm", pgm(tmp_path / f"in/{i}.pgm", i).read_bytes())
    given = tmp_path / "in" if where == "files" else "shaky://in/"
    words = ("--processes", 1, "--report", tmp_path / "r.jsonl", given, tmp_path / "out")
    assert run(*words)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("fftfilter.images.raw", lambda *_: pytest.fail("read"))
        code, said = run("--skip-existing=fast", *words)
    assert (code, "3 skipped, done before" in said) == (0, True), said
    statuses = [json.loads(line)["status"] for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert statuses == ["done"] * 3 + ["skipped"] * 3
    # Another size, another time, other settings, and an output that is gone
    if where == "files":
        os.utime(tmp_path / "in/0.pgm", ns=(5, 5))
        pgm(tmp_path / "in/1.pgm", 1, 9, 9)
    else:
        store.pipe_file("/in/1.pgm", pgm(tmp_path / "b.pgm", 1, 9, 9).read_bytes())
    (tmp_path / "out/2.pgm").unlink()
    code, said = run("--skip-existing=fast", *words)
    assert (code, "2 of 3 files filtered" in said, "1 skipped" in said) == (0, True, True), said
    assert run("--skip-existing=fast", "--radius", 2, *words)[1].count("3 of 3 files filtered") == 1


def test_skip_existing_needs_no_word(tmp_path):
    pgm(tmp_path / "in/a.pgm")
    for _ in range(2):
        done = process("--skip-existing", tmp_path / "in", tmp_path / "out")
        assert done.returncode == 0, done.stderr
    assert "1 skipped, done before" in done.stderr


@pytest.mark.parametrize("how", ["--skip-existing=fast", "--skip-existing"])
def test_a_changed_file_beside_a_picture_is_noticed(tmp_path, how):
    pgm(tmp_path / "in/a.pgm", 1, 9, 9)
    words = (how, tmp_path / "in", tmp_path / "out")

    def skipped():
        done = process(*words)
        assert done.returncode == 0, done.stderr
        return "1 skipped" in done.stderr

    assert [skipped(), skipped()] == [False, True]
    for name, content in (("a.pgm.msk", b"P5 9 9 255\n" + bytes(40) + b"x" * 41), ("a.pmw", b"9 0 0 9 1000 1000")):
        (tmp_path / "in" / name).write_bytes(content)
        assert [skipped(), skipped()] == [False, True], name
    (tmp_path / "in/a.pgm.msk").unlink()
    assert not skipped()
