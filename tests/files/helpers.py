"""What the tests of files and of images share."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]


def message(caught):
    """Return the message of a caught error, which must be one printable line."""
    text = str(caught.value)
    assert text.isprintable(), text
    return text


def environment():
    """Return the environment of a process that finds this checkout, whatever its folder is."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def python(code, **options):
    """Run Python code in a process of its own; warnings are errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(),
        capture_output="stdout" not in options,
        check=False,
        timeout=60,
        **options,
    )


@contextmanager
def serve(folder, requests=None):
    """Serve a folder to this machine; returns its URL. Paths asked for are added to ``requests``."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            if requests is not None:
                requests.append(self.path)

    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def web(answer):
    """Serve what a function of the path gives, a dict of headers and parts of bytes; returns its URL without a slash.

    A file has a length only if ``answer`` says so. Bytes that were sent are counted in the list behind the URL.
    """
    sent = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            headers, parts = answer(self.path)
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):
                for part in parts:
                    self.wfile.write(part)
                    sent.append(len(part))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", sent
        server.shutdown()


def links(*names):
    """Return a page of links, for ``web``."""
    return {"Content-Type": "text/html"}, ["".join(f'<a href="{name}">x</a>' for name in names).encode()]
