"""Kills folder runs again and again, and holds what is left to an undisturbed run.

    python -m tests.folders.kills --count 200 --seed 1

Each time a signal hits a run at a random moment, or SIGKILL one of its processes. It has to end with the right exit
code and without a traceback; every file that is there has to be whole; no process may be left. The same command with
--skip-existing then has to complete the folder, to the same bytes, without leftovers. A fault is told with the line
that repeats it.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.folders.helpers import command, pgm, same, session, workers

FILES, SIDE = 600, 128
KINDS = ("SIGTERM", "SIGTERM to all", "SIGINT", "SIGINT to all", "SIGKILL", "SIGKILL of a worker")
CODES = {"SIGTERM": 143, "SIGINT": 130, "SIGKILL": -signal.SIGKILL}
SECONDS_TO_GO = 10


def main():
    """Do all kills, and print what they hit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="kills that have to hit a run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    hits: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fftfilter-kills-") as made:
        folder = Path(made)
        for i in range(FILES):
            pgm(folder / f"in/{i % 3}/{i}.pgm", i, SIDE, SIDE)
        began = time.monotonic()
        subprocess.run(command("-q", "-r", folder / "in", folder / "whole"), check=True)
        seconds = time.monotonic() - began
        seed = options.seed
        while hits.total() < options.count:
            try:
                hit, took = kill_one(folder, seed, seconds)
            except AssertionError:
                sys.stderr.write(f"repeat it with: python -m tests.folders.kills --count 1 --seed {seed}\n")
                raise
            if hit:
                hits[hit] += 1
            else:
                seconds = took  # a machine is not always as busy
            seed += 1
    for kind, count in sorted(hits.items()):
        sys.stdout.write(f"{count:4} {kind}\n")
    sys.stdout.write(f"{hits.total():4} kills that hit a run (seeds {options.seed} to {seed - 1}), all resumed\n")


def kill_one(folder, seed, seconds):
    """Kill a run and resume it; return what was hit, None if the run was over before, and the seconds that it took."""
    chance = random.Random(seed)
    kind = chance.choice(KINDS)
    processes = 2 if kind.endswith("worker") else chance.choice((1, 2))
    out = folder / f"out{seed}"
    began = time.monotonic()
    again = command("-r", "--skip-existing", "--processes", processes, folder / "in", out)
    with subprocess.Popen(again, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        time.sleep(chance.uniform(0.05, seconds))
        hit = run.poll() is None and send(run.pid, kind, chance)
        said = run.communicate(timeout=60)[1]
    took = time.monotonic() - began
    name = f"{kind}, {processes} processes, seed {seed}: exit code {run.returncode}\n{said}"
    assert "Traceback" not in said, name
    # It may have come to its end before the signal came to it.
    codes = {0, CODES[kind.split()[0]]} if not kind.endswith("worker") else {0}
    assert run.returncode in codes | {-signal.SIGTERM, -signal.SIGINT} if hit else run.returncode == 0, name
    deadline = time.monotonic() + SECONDS_TO_GO
    while left := session(run.pid):
        assert time.monotonic() < deadline, f"{name}{left} are left"
        time.sleep(0.02)
    for path in out.rglob("*.pgm"):
        if not path.name.startswith("."):
            assert path.read_bytes() == (folder / "whole" / path.relative_to(out)).read_bytes(), f"{name}{path}"
    resumed = subprocess.run(again, capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    same(folder / "whole", out)
    subprocess.run(["rm", "-r", out], check=True)
    ended_early = run.returncode == 0 and not kind.endswith("worker")
    return f"{kind}, {processes} processes" if hit and not ended_early else None, took


def send(pid, kind, chance):
    """Send a signal; return whether it had somebody to hit."""
    number = getattr(signal, kind.split()[0])
    if kind.endswith("to all"):
        os.killpg(pid, number)
    elif kind.endswith("worker"):
        deadline = time.monotonic() + 1
        while not (found := workers(pid)):
            if time.monotonic() > deadline:
                return False
        os.kill(chance.choice(found), number)
    else:
        os.kill(pid, number)
    return True


if __name__ == "__main__":
    main()
