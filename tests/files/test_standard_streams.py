"""Standard streams that are closed or full, made so by a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.helpers import environment, python
from tests.helpers import needs_posix

# The command ends as the program does, with one line for what was raised on purpose.
COMMAND = """
import sys
from fftfilter.errors import FftfilterError
from fftfilter.files.messages import guarded
code = 0
with guarded():
    try:
        {}
    except FftfilterError as error:
        print(error, file=sys.stderr)
        code = 1
    except BrokenPipeError:
        code = 141
sys.exit(code)
"""
needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def shell(redirection, statement, tmp_path):
    """Run a statement under guard, its streams redirected as a shell does it; returns code, output and errors."""
    (tmp_path / "command.py").write_text(COMMAND.format(statement))
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} command.py {redirection}"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@needs_posix
def test_what_is_printed_arrives(tmp_path):
    statement = "print('result'); print('message', file=sys.stderr); sys.stdout.buffer.write(b'bytes')"
    code, out, said = shell("", statement, tmp_path)
    assert (code, sorted(out), said) == (0, sorted("result\nbytes"), "message\n")


@needs_dev_full
@pytest.mark.parametrize(
    ("redirection", "cause"), [(">/dev/full", "no space left on device"), (">&-", "bad file descriptor")]
)
@pytest.mark.parametrize("statement", ["print('x', flush=True)", "print('x' * 100_000)"], ids=["flushed", "long"])
def test_what_standard_output_cannot_take_is_one_error(tmp_path, redirection, cause, statement):
    words = f"standard output: cannot be written: {cause}; redirect it to another file\n"
    assert shell(redirection, statement, tmp_path) == (1, "", words)


@needs_dev_full
@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_what_standard_error_cannot_take_is_dropped(tmp_path, redirection):
    statement = "print('x' * 100_000, file=sys.stderr, flush=True); print('result')"
    assert shell(redirection, statement, tmp_path) == (0, "result\n", "")


@needs_dev_full
def test_what_is_left_in_a_buffer_brings_no_complaint_at_the_end(tmp_path):
    assert shell(">/dev/full", "print('x')", tmp_path) == (0, "", "")


@needs_posix
def test_a_reader_that_is_gone_is_a_broken_pipe(tmp_path):
    (tmp_path / "command.py").write_text(COMMAND.format("print('x' * 1_000_000)"))
    given, taken = os.pipe()
    os.close(given)
    with subprocess.Popen(
        [sys.executable, "command.py"], cwd=tmp_path, env=environment(), stdout=taken, stderr=subprocess.PIPE
    ) as writing:
        os.close(taken)
        assert (writing.stderr.read(), writing.wait(60)) == (b"", 141)


@needs_posix
def test_no_file_gets_the_number_of_a_stream_that_is_closed(tmp_path):
    """Else what is printed would go into the file, as it would for a process started with it."""
    statement = "file = open('log', 'w'); file.write(str(file.fileno())); print('x', file=sys.stderr, flush=True)"
    assert shell("<&- >&- 2>&-", statement, tmp_path) == (0, "", "")
    assert int((tmp_path / "log").read_text()) > 2


@needs_posix
def test_a_process_that_is_started_has_streams_too(tmp_path):
    child = "import os; [os.fstat(number) for number in range(3)]"
    statement = f"import subprocess; subprocess.run([sys.executable, '-c', '{child}'], check=True)"
    assert shell("<&- >&- 2>&-", statement, tmp_path) == (0, "", "")


@needs_posix
def test_a_closed_standard_input_fails_when_it_is_read(tmp_path):
    code, _, said = shell("<&-", "sys.stdin.buffer.read()", tmp_path)
    assert (code, "Bad file descriptor" in said) == (1, True)


def test_the_streams_come_back():
    code = (
        "import sys; from fftfilter.files.messages import guarded\n"
        "before = sys.stdin, sys.stdout, sys.stderr\n"
        "with guarded(): print(sys.stdout is before[1], sys.stderr is before[2])\n"
        "print((sys.stdin, sys.stdout, sys.stderr) == before)"
    )
    assert python(code).stdout.split() == [b"False", b"False", b"True"]
