"""Clusters: a real scheduler and real workers over loopback TCP, and workers that die for real."""

from __future__ import annotations

import gc
import importlib
import json
import logging
import multiprocessing
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter import __version__, device_choice, signals, transfer
from fftfilter.cli import cli
from fftfilter.errors import DeviceError, ParameterError, pip_install
from fftfilter.folders import cluster, pool
from fftfilter.folders.cluster import ClusterWorkers
from fftfilter.folders.jobs import DeviceLostError, Settings, Tree
from fftfilter.folders.pool import Pool, Result, Workers
from fftfilter.folders.report import dry_run
from fftfilter.folders.run import FolderRun
from fftfilter.work.large import LargeFile
from fftfilter.work.recipe import Recipe
from tests.files.helpers import serve
from tests.folders.helpers import JOURNAL, names, pgm, same
from tests.helpers import COMMAND, needs

pytestmark = [
    needs("distributed"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as groups"),
]


@contextmanager
def process(*command, stderr=subprocess.DEVNULL, environment=None):
    """Start a module as a program, with a process group of its own that is gone at the end whatever happens."""
    with subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
        # Dask's profiler would look at each thread a hundred times a second.
        env=os.environ | {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"} | (environment or {}),
        start_new_session=True,
    ) as started:
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)


@contextmanager
def scheduler(folder, **environment):
    """Start a scheduler on a port that the system chooses; returns its address."""
    file = folder / "scheduler.json"
    command = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with process(*command, "--scheduler-file", file, environment=environment):
        yield json.loads(wait_for(lambda: file.exists() and file.read_text()))["address"]


@contextmanager
def worker(address, folder, *options, preload="", **environment):
    """Start a worker; ``preload`` is Python that it runs first. Returns its process."""
    command = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    if preload:
        file = folder / "preload.py"
        file.write_text(preload)
        options += ("--preload", file)
    from distributed import Client

    before = len(workers(address))
    with process(*command, "--local-directory", folder, *options, environment=environment) as started:
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(before + 1, timeout=120)
        yield started


def workers(address):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return client.nthreads()


def replaced(function, before):
    """Return Python that puts something before a function with which files are read or written."""
    return (
        "import os, pathlib, signal, time\n"
        "from fftfilter.files import sources\n"
        # Dask may load it twice.
        f"if {function}.__name__ != 'changed':\n"
        f"    original = {function}\n"
        "    def changed(*arguments, **options):\n"
        f"        {before}\n"
        "        return original(*arguments, **options)\n"
        f"    {function} = changed\n"
    )


def wait_for(what, seconds=120):
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A cluster of two workers."""
    folder = tmp_path_factory.mktemp("cluster")
    with (
        scheduler(folder) as address,
        worker(address, folder, "--no-nanny"),
        # What a user should not do, and may.
        worker(address, folder, "--no-nanny", "--nthreads", "3"),
    ):
        yield address


@pytest.fixture
def given(tmp_path):
    for i in range(60):
        pgm(tmp_path / f"in/{i % 2}/{i}.pgm", i, 64, 64)
    return tmp_path / "in"


@pytest.fixture
def run():
    def run(*arguments):
        result = CliRunner().invoke(cli, ["highpass", *(str(a) for a in arguments)])
        # A busy machine may take so long that lines tell of the progress.
        return result.exit_code, re.sub(r"fftfilter: \d+/\d+ .* left\n", "", result.stderr)

    return run


def test_a_cluster_does_what_one_process_does(run, tmp_path, given, address):
    """Bytes, summary, report, journal, exit codes; resumed, with one scale for all, up to the first failure."""
    (given / "bad.pgm").write_bytes(b"P5 ")
    told = {}
    for name, options in {"alone": (), "cluster": ("--cluster", address)}.items():
        report = tmp_path / f"{name}.jsonl"
        out = tmp_path / name
        code, said = run("-r", "--report", report, *options, given, out)
        assert (code, said.count("\n")) == (1, 2), said
        assert "bad.pgm: damaged" in said or "bad.pgm: " in said
        assert "60 of 61 files filtered" in said
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        varying = ("output", "milliseconds", "seconds", "time", "run")
        told[name] = sorted(
            json.dumps({key: line[key] for key in line if key not in varying}, sort_keys=True) for line in lines
        )
        assert run("-r", "--skip-existing", *options, given, out)[1].count("60 skipped, done before") == 1
    assert told["cluster"] == told["alone"]
    same(tmp_path / "cluster", tmp_path / "alone")
    for out, options in (("all of one", ()), ("all of cluster", ("--cluster", address))):
        assert run("-r", "-q", "--scale", "folder", *options, given, tmp_path / out)[0] == 1
    same(tmp_path / "all of one", tmp_path / "all of cluster")
    assert run("-q", "--engine", "none such", "--cluster", address, given / "0", tmp_path / "none")[0] == 2


def test_what_would_be_done_is_told_without_a_device_here(tmp_path, given, address, monkeypatch):
    def listed(*options):
        result = CliRunner().invoke(cli, ["highpass", "-n", *options, str(given / "0"), str(tmp_path / "none")])
        return result.exit_code, result.stdout.splitlines(), result.stderr

    _, here, _ = listed()
    monkeypatch.setattr(device_choice, "choose", None)
    code, lines, said = listed("--cluster", address)
    assert (code, said) == (0, "")
    assert lines[:-2] == here[:-2]
    # What PoCL takes for the device's memory is a part of what was free when it was opened.
    own, its = (re.sub(r"of [\d,.]+ MB", "of all MB", line) for line in (here[-2], lines[-2]))
    assert "of all MB" in own
    assert its == own.replace("on ", f"on a worker of cluster {address}, with ", 1)
    code, lines, said = listed("--cluster", address, "--device", "warp drive")
    assert (code, "no OpenCL device 'warp drive'" in said) == (3, True)
    assert [line.split("; ") for line in lines[:-2]] == [line.split("; ")[:2] for line in here[:-2]]


def test_a_scheduler_remembers_no_names(run, given, tmp_path, address):
    """It keeps its last messages for who looks for faults, 1000 to a worker: with a million files the names of all."""
    from distributed import Client

    def remembered():
        return sum(type(each).__name__ == "Job" for each in gc.get_objects())

    assert run("-r", "-q", "--cluster", address, given, tmp_path / "out")[0] == 0
    with Client(address, set_as_default=False) as client:
        assert client.run_on_scheduler(remembered) == 0
    with cluster.connect(address, [None]) as client:
        assert client.scheduler_comm.recent_message_log.maxlen < 100


def test_the_first_failure_ends_a_run_that_shall_end(run, tmp_path, address):
    for i in range(300):
        pgm(tmp_path / f"in/{i}.pgm", i % 5)
    for i in range(0, 100, 4):  # Whichever batch ends first has some.
        (tmp_path / f"in/{i}.pgm").write_bytes(b"P5 ")
    code, said = run("--fail-fast", "--cluster", address, tmp_path / "in", tmp_path / "out")
    assert (code, " failed" in said) == (1, True)
    assert 0 < len(names(tmp_path / "out")) < 200


def test_a_worker_killed_in_the_middle_loses_nothing(tmp_path, given, address):
    """The slow one is killed with a batch in hand; each file is there once, in the report once, in the journal once."""
    started, out, report = (tmp_path / name for name in ("started", "out", "report.jsonl"))
    # Before the temporary file becomes the output.
    waiting = f"if '.fftfilter-' in str(arguments[0]): pathlib.Path({str(started)!r}).touch(); time.sleep(60)"
    slow = replaced("os.replace", waiting)
    command = ("fftfilter", "highpass", "-r", "--cluster", address, "--report", report, given, out)
    with worker(address, tmp_path, "--no-nanny", preload=slow) as victim:
        with process(*command, stderr=subprocess.PIPE) as running:
            wait_for(started.exists)
            assert running.poll() is None
            assert any(".tmp" in name for name in names(out))
            victim.kill()
            # Left a zombie, whose temporary file is removed all the same.
            said = running.communicate(timeout=120)[1]
        assert running.returncode == 0, said
    assert "60 of 60 files filtered" in said
    assert names(out) == names(given)
    inputs = [json.loads(line)["input"] for line in report.read_text().splitlines()]
    assert sorted(inputs) == sorted(str(given / name) for name in names(given))
    for folder in ("0", "1"):
        noted = [json.loads(line)[0] for line in (out / folder / JOURNAL).read_text().splitlines() if line]
        assert sorted(noted) == names(given / folder)


def test_a_file_that_kills_its_workers_is_given_up_and_the_rest_done(run, tmp_path, given):
    (given / "0/0.pgm").rename(given / "0/poison.pgm")
    poisonous = replaced("sources.content", "if 'poison' in arguments[0]: os.kill(os.getpid(), signal.SIGKILL)")
    out = tmp_path / "out"
    # One worker, which its nanny starts anew: what is done file by file never waits behind the one that kills.
    with (
        scheduler(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as address,
        worker(address, tmp_path, preload=poisonous),
    ):
        code, said = run("-r", "--cluster", address, given, out)
    assert (code, said.count("\n")) == (1, 2), said
    assert "poison.pgm: given up: worker tcp://127.0.0.1:" in said
    assert "59 of 60 files filtered" in said
    assert set(names(given)) - set(names(out)) == {"0/poison.pgm"}


def test_strips_of_a_picture_are_filtered_by_a_cluster_one_of_whose_workers_dies(run, tmp_path):
    """The bytes are those of one machine, also with a range of the picture's own; a worker dies at its second strip."""
    y, x = np.mgrid[:2400:1.0, :3600:1.0]
    np.save(
        tmp_path / "in.npy", np.stack([128 + 60 * np.sin(x / 17 + y / 50), 90 + 40 * np.cos(y / 31)]).astype(np.uint8)
    )
    recipe = Recipe(transfer.highpass("40px", shape="gaussian"), options={"edges": "mirror"}, output="magnitude")
    LargeFile(tmp_path / "in.npy", tmp_path / "alone.npy", recipe).write(lambda: None)
    died = tmp_path / "died"
    deadly = (
        "import os, signal\nfrom fftfilter.work import large\noriginal, calls = large.do_strip, []\n"
        "def do_strip(*arguments):\n"
        "    calls.append(0)\n"
        "    if len(calls) > 1:\n"
        f"        open({str(died)!r}, 'w').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return original(*arguments)\n"
        "large.do_strip = do_strip\n"
    )
    with (
        scheduler(tmp_path) as address,
        worker(address, tmp_path, "--no-nanny"),
        worker(address, tmp_path, "--no-nanny", preload=deadly),
    ):
        options = ("--radius", "40px", "--shape", "gaussian", "--edges", "mirror", "--cluster", address)
        code, said = run(*options, tmp_path / "in.npy", tmp_path / "out.npy")
        assert (code, "by 2 workers: filtered 2 pages, each in 3 strips" in said, died.exists()) == (0, True, True), (
            said
        )
        assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "alone.npy").read_bytes()
        given = np.zeros((9, 9), np.float32)
        given[8] = np.nan  # which only a worker reads
        np.save(tmp_path / "nan.npy", given)
        code, said = run("--output=keep", "--cluster", address, tmp_path / "nan.npy", tmp_path / "out.npy")
        assert (code, "nan.npy: a cluster fills no missing pixels: leave --cluster out" in said) == (1, True), said


def test_what_a_cluster_cannot_filter_is_refused_in_a_line(run, tmp_path):
    picture = pgm(tmp_path / "in.pgm")
    for words, said in {
        (
            "--auto",
        ): "a cluster filters strips of a picture; and strip by strip it cannot be filtered: waves are looked",
        ("--verify",): "--verify takes all of it: leave it out.",
        ("--axes=zyx",): "--cluster filters folders, and strips of a picture in a file: leave it out.",
    }.items():
        code, printed = run(*words, "-n", "--cluster=tcp://127.0.0.1:1", picture, tmp_path / "out.pgm")
        assert (code > 0, said in " ".join(printed.split())) == (True, True), printed


SLOW = """
import threading, time

loading = threading.Event()

class Slow:
    def __reduce__(self):
        return load, (bytes(1 << 24),)

def load(payload):
    loading.set()
    time.sleep(2)
    return ["a", "whole", "result", "!"]
"""


def test_a_result_counts_if_its_worker_dies_while_it_is_fetched(tmp_path, monkeypatch):
    from distributed import Client

    (tmp_path / "slow.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    slow = importlib.import_module("slow")
    with (
        scheduler(tmp_path, PYTHONPATH=str(tmp_path)) as address,
        worker(address, tmp_path, "--no-nanny", PYTHONPATH=str(tmp_path)) as first,
        Client(address, set_as_default=False) as client,
    ):
        workers = ClusterWorkers(client, None)
        workers.look()
        future = workers.submit(slow.Slow)
        assert slow.loading.wait(60)
        first.kill()
        assert future.result(60) == ["a", "whole", "result", "!"]


def test_a_worker_without_a_device_leaves_its_files_to_the_others(run, tmp_path, given, address):
    with worker(address, tmp_path, "--no-nanny", FFTFILTER_DEVICE="warp drive"):
        code, said = run("-r", "--cluster", address, given, tmp_path / "out")
    assert (code, said.count("\n")) == (0, 2), said
    assert "fftfilter: worker tcp://127.0.0.1:" in said
    assert "no OpenCL device 'warp drive'" in said
    assert names(tmp_path / "out") == names(given)
    code, said = run("-r", "--cluster", address, "--device", "warp drive", given, tmp_path / "none")
    assert (code, "no OpenCL device 'warp drive'" in said) == (3, True)


def test_a_worker_of_another_version_is_not_used(run, tmp_path, given, address, monkeypatch):
    monkeypatch.setattr(pool, "__version__", "9.9")
    code, said = run("-r", "--cluster", address, given, tmp_path / "out")
    assert (code, "and this is 9.9" in said) == (3, True)


def test_a_signal_finishes_the_batches_under_way(tmp_path, address):
    first = pgm(tmp_path / "in/0.pgm", 0, 64, 64)
    for i in range(1, 3000):
        (tmp_path / f"in/{i}.pgm").hardlink_to(first)
    out = tmp_path / "out"
    command = ("fftfilter", "highpass", "--cluster", address, tmp_path / "in", out)
    with process(*command, stderr=subprocess.PIPE) as running:
        wait_for(lambda: list(out.glob("*.pgm")))
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=120)[1]
    assert running.returncode == 143, said
    assert "terminated; the same command with --skip-existing goes on from here" in said
    assert "Traceback" not in said
    done = names(out)
    assert f"{len(done)} of 3000 files filtered" in said
    assert 0 < len(done) < 3000


def test_a_cluster_of_ones_own_has_a_worker_a_device(tmp_path, given):
    command = ("fftfilter", "highpass", "-r", "--cluster", "local", "--device", "all", given, tmp_path / "out")
    with process(*command, stderr=subprocess.PIPE, environment={"POCL_DEVICES": "pthread pthread"}) as running:
        said = running.communicate(timeout=120)[1]
    assert (running.returncode, said.count("\n")) == (0, 1), said
    assert "60 of 60 files filtered" in said
    assert names(tmp_path / "out") == names(given)


def test_a_cluster_of_ones_own_takes_nothing_from_others():
    """Whoever has no key of the run is refused, by the scheduler as by the worker and by what watches over it."""
    from distributed import Client

    with cluster.connect(cluster.LOCAL, [None]) as client:
        client.wait_for_workers(1, timeout=60)
        info = client.scheduler_info()
        (worker_address,) = info["workers"]
        for address in (info["address"], worker_address, info["workers"][worker_address]["nanny"]):
            assert address.startswith("tls://127.0.0.1:")
            with pytest.raises(OSError, match="closed"):
                Client(address.replace("tls:", "tcp:"), timeout=5)
            host, port = address.removeprefix("tls://").split(":")
            anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
            with (
                socket.create_connection((host, int(port))) as plain,
                pytest.raises(ssl.SSLError),
                anybody.wrap_socket(plain) as connection,
            ):
                connection.recv(1)
        assert client.submit(sum, [1, 2]).result() == 3


def test_workers_of_ones_own_do_not_hear_a_signal_from_their_first_moment():
    spawned = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(0.1,))
    with signals.blocked(), ThreadPoolExecutor(1) as dask:
        dask.submit(spawned.start).result()
    os.kill(spawned.pid, signal.SIGINT)
    os.kill(spawned.pid, signal.SIGTERM)
    spawned.join(120)
    assert spawned.exitcode == 0


def test_workers_read_the_web_themselves(run, tmp_path, given, address):
    with serve(given) as url:
        assert run("-r", "-q", "--cluster", address, url, tmp_path / "out") == (0, "")
    assert run("-r", "-q", given, tmp_path / "alone") == (0, "")
    same(tmp_path / "out", tmp_path / "alone")


def test_outputs_behind_urls_are_written_by_the_workers_and_resumed(run, tmp_path, given, address):
    """local:// goes through fsspec as s3:// does, and all processes see the same."""
    out = f"local://{tmp_path}/out/"
    assert run("-r", "-q", "--cluster", address, given, out) == (0, "")
    assert run("-r", "-q", given, tmp_path / "alone") == (0, "")
    assert [name for name in names(tmp_path / "out") if "/." not in name] == names(tmp_path / "alone")
    (tmp_path / "out/0/0.pgm").unlink()
    assert "59 skipped" in run("-r", "--skip-existing", "--cluster", address, given, out)[1]


def test_arrays_are_filtered_by_the_workers(address, rng):
    import dask.array
    from distributed import Client

    import fftfilter.dask

    stack = rng.integers(0, 256, (5, 16, 24), dtype="uint8")
    with Client(address, set_as_default=False) as client:
        lazy = fftfilter.dask.highpass(dask.array.from_array(stack, chunks=(2, -1, -1)), 4, **COMMAND)
        got = client.compute(lazy).result(timeout=60)
    assert (got == [fftfilter.highpass(image, 4, **COMMAND) for image in stack]).all()


@pytest.mark.parametrize("address", ["tcp://no.host.invalid:8786", "tcp://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_is_one_line_also_at_the_end_of_the_process(tmp_path, given, address):
    script = (
        "from fftfilter import __main__; from fftfilter.folders import cluster\n"
        "cluster._SECONDS_TO_CONNECT = 0.2; __main__.main()"
    )
    words = [sys.executable, "-c", script, "highpass", "-r", "--cluster", address, str(given), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n"), "no Dask scheduler answers" in done.stderr) == (3, 1, True)


def test_what_cannot_be_meant_is_one_line(run, tmp_path, given, address, monkeypatch):
    out = tmp_path / "out"
    for options in (["--cluster", "here"], ["--cluster", "tcp://"], ["--cluster", address, "--device", "0,1"]):
        code, said = run("-r", *options, given, out)
        assert (code, said.count("\n")) == (2, 1), options
    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 0.2)
    code, said = run("-r", "--cluster", "tcp://127.0.0.1:1", given, out)
    assert (code, said.count("\n"), "no Dask scheduler answers" in said) == (3, 1, True)
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, said = run("-r", "--cluster", address, given, out)
    assert (code, said.count("\n"), pip_install(extra="cluster") in said) == (
        2,
        1,
        True,
    )
    assert not out.exists()


def test_a_cluster_to_which_no_worker_comes_is_given_up_and_one_whose_scheduler_goes(run, tmp_path, given, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with ExitStack() as stack:
        with scheduler(tmp_path) as address:
            code, said = run("-r", "--cluster", address, given, tmp_path / "out")
            assert (code, "no worker came" in said) == (3, True)
            code, said = run("-n", "--cluster", address, given, tmp_path / "out")
            assert (code, "no worker is there" in said) == (3, True)
            client = stack.enter_context(cluster.connect(address, [None]))
        workers = ClusterWorkers(client, None)
        with pytest.raises(DeviceLostError, match=f"{address}: the scheduler is gone"):
            list(Pool([workers], 0, 0.0, []).run(iter(()), Settings(Recipe(transfer.highpass()))))


@pytest.mark.parametrize(
    ("words", "variables", "connected", "workers"),
    [
        (["--cluster", "tcp://a:1"], {}, ("tcp://a:1", [None]), (None, 0)),
        (["--cluster", "tcp://a:1", "--device", "cpu"], {}, ("tcp://a:1", ["cpu"]), ("cpu", 0)),
        # What this machine's environment says is not meant for others.
        (["--cluster", "tcp://a:1"], {"FFTFILTER_DEVICE": "cpu"}, ("tcp://a:1", [None]), (None, 0)),
        (["--cluster", "local", "--device", "cpu"], {}, ("local", ["cpu"]), (None, 7)),
        (["--cluster", "local", "--processes", "3"], {}, ("local", [None] * 3), (None, 2)),
        (["--cluster", "local", "--processes", "9"], {}, ("local", [None] * 9), (None, 1)),
        (["--cluster", "tcp://a:1", "to a URL"], {}, ("tcp://a:1", [None]), (None, 16)),
    ],
    ids=str,
)
def test_workers_get_their_device_their_threads_and_absolute_names(
    run, tmp_path, monkeypatch, words, variables, connected, workers
):
    """The workers of a cluster have other current folders. Here this process stands for them."""
    told, outputs = [], []

    @contextmanager
    def connect(address, devices):
        told.append((address, devices))
        yield "a client"

    def in_this_process(client, device, threads):
        assert client == "a client"
        told.append((device, threads))
        return stack.enter_context(closing(Workers(None, 1)))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "connect", connect)
    monkeypatch.setattr(cluster, "ClusterWorkers", in_this_process)
    monkeypatch.setattr("fftfilter.commands.folder.cores", lambda: 7)
    monkeypatch.delenv("FFTFILTER_DEVICE", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for i in range(2):
        pgm(tmp_path / f"in/{i}.pgm", i)
    is_url = words[-1] == "to a URL"
    target = f"local://{tmp_path}/out" if is_url else "out"
    for given in (["in"], ["in/0.pgm", "in/1.pgm"]):
        with ExitStack() as stack:
            code, said = run("--report", "r.jsonl", *words[: 2 if is_url else 4], *given, f"{target}/")
        assert (code, f"by cluster {words[1]} on " in said) == (0, True), said
        assert told == [connected, workers]
        told.clear()
        lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
        assert [line["input"] for line in lines] == [f"{tmp_path}/in/{i}.pgm" for i in range(2)]
        outputs += [line["output"] for line in lines]
    assert outputs == [f"{'local://' if is_url else ''}{tmp_path}/out/{i}.pgm" for i in range(2)] * 2


def test_dask_logs_nothing_while_its_cluster_is_used_and_then_as_before(monkeypatch):
    monkeypatch.setattr(cluster, "_client", lambda address, _: nullcontext(address))
    before = logging.root.manager.disable
    with cluster.connect("tcp://a:1", [None]) as client:
        assert client == "tcp://a:1"
        assert logging.root.manager.disable == logging.CRITICAL
    assert logging.root.manager.disable == before


def fake_client(*looks):
    """Return a client whose cluster has these workers, the last forever, and the options of what it was given."""
    addresses, chosen = iter(looks), []

    def submit(*_, **options):
        chosen.append(options)
        return SimpleNamespace(add_done_callback=lambda _: None)

    client = SimpleNamespace(
        scheduler=SimpleNamespace(address="tcp://s"),
        nthreads=lambda **_: next(addresses, looks[-1]),
        submit=submit,
        status="running",
    )
    return client, chosen


def test_when_all_workers_went_nobody_says_that_none_came(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0)
    client, _ = fake_client({"tcp://a": 1, "tcp://b": 1}, {"tcp://a": 1}, {})
    workers = ClusterWorkers(client, None)
    workers.seconds_between_looks = 0
    workers.look()
    assert (workers.count, workers.most) == (2, 4)
    workers.look()
    assert (workers.count, workers.most) == (1, 2)
    with pytest.raises(DeviceLostError, match="tcp://s: no worker is left"):
        workers.look()


def test_work_goes_to_the_workers_that_are_of_use_while_there_are_any():
    client, chosen = fake_client({"tcp://a": 1, "tcp://b": 1})
    workers = ClusterWorkers(client, None)
    workers.look()
    workers.submit(abs, 1)
    assert chosen[-1] == {"pure": False}
    for _ in range(2):  # it may have had two chunks
        assert workers.lose(Result([], 0, "no device", "tcp://a")) is None
    workers.submit(abs, 1)
    assert chosen[-1] == {"pure": False, "workers": ["tcp://b"], "allow_other_workers": True}
    assert workers.notes == ["worker tcp://a: no device; the other workers do its files"]
    assert workers.lose(Result([], 0, "no device", "tcp://b")) == "worker tcp://b: no device"


def test_what_a_cluster_cannot_do_is_told_by_what_is_to_be_done():
    client, _ = fake_client({"tcp://a": 1})
    imports = "the cluster cannot load this program (no module x): install the same version on all its machines"
    for error in (ImportError("no module x"), RuntimeError("of Dask")):
        if isinstance(error, RuntimeError):
            error.__cause__ = ImportError("no module x")
        told = cluster.explain(error, client)
        assert (type(told), str(told)) == (DeviceError, imports)
    own = ValueError("another one")
    assert cluster.explain(own, client) is own
    client.status = "closed"
    told = cluster.explain(own, client)
    assert (type(told), str(told)) == (DeviceLostError, "tcp://s: the scheduler is gone")


def test_only_the_end_of_a_worker_is_a_death():
    from distributed import KilledWorker

    client, _ = fake_client({"tcp://a": 1})
    workers = ClusterWorkers(client, None)
    killed = KilledWorker("task", SimpleNamespace(address="tcp://a"), 1)
    assert workers.died(killed) == "worker tcp://a died"
    for error in (CancelledError(), TimeoutError()):
        assert workers.died(error) == "a worker died"
    with pytest.raises(ParameterError, match="no such engine"):
        workers.died(ParameterError("no such engine"))
    client.status = "closed"
    with pytest.raises(DeviceLostError, match="the scheduler is gone"):
        workers.died(CancelledError())


def test_a_schedulers_address_is_one_of_dask():
    for address in ("local", "tcp://a:8786", "tls://a:8786", "ws://a:1", "wss://a:1", "ucx://a:1"):
        cluster.check_address(address)
    for address in ("Local", "http://a:8786", "tcp://", "tcp:a", "a:8786", ""):
        with pytest.raises(ParameterError, match=f"--cluster '{address}' is not a scheduler: give tcp://HOST:8786"):
            cluster.check_address(address)


def test_a_dry_run_asks_a_worker_and_says_if_none_answers(tmp_path, monkeypatch):
    asked, answers = [], iter([("a GPU", 9 * 10**9, 0), ("a GPU", 9 * 10**9, 5 * 10**6), TimeoutError()])

    def submit(*given, pure):
        asked.append((*given, pure))
        return SimpleNamespace(result=answer)

    def answer(timeout):
        assert timeout == 60
        if isinstance(found := next(answers), Exception):
            raise found
        return found

    monkeypatch.setattr(
        cluster, "connect", lambda *_: nullcontext(SimpleNamespace(nthreads=lambda: {"a": 1}, submit=submit))
    )
    for i in range(2):
        pgm(tmp_path / f"in/{i}.pgm", i, 8, 12 + i)
    run = FolderRun(Tree(tmp_path / "in", (".pgm",)), tmp_path / "out", Settings(Recipe(transfer.highpass())))
    steps = dry_run(run, ["gpu"], "tcp://a:1")
    assert next(steps).endswith("12 x 8 gray, 8 bits; 120.6 MB of memory; 5.0 MB on the device")
    with pytest.raises(DeviceError, match=r"^tcp://a:1: no worker answers, all are busy; try again$"):
        next(steps)
    shapes = [(1, 1, 1), (1, 8, 12), (1, 8, 13)]
    assert asked == [(pool.device_bytes, shape, run.settings, "gpu", __version__, False) for shape in shapes]
