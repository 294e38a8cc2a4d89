"""What the tests of files and of images share."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
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
