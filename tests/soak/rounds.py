"""Rounds of cases in processes, and the summary of what became of them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import time
from collections import defaultdict
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from tests.soak.cases import ROUND, make
from tests.soak.check import Result, attempt

if TYPE_CHECKING:
    from collections.abc import Iterator


def soak(end: float, first: int, processes: int, threads: bool) -> Iterator[Result]:
    """Do cases from a seed on until the end, and yield what became of each."""
    context = multiprocessing.get_context("spawn")
    rounds = itertools.chain([first], itertools.count((first // ROUND + 1) * ROUND, ROUND))
    running: dict[Connection, tuple[multiprocessing.process.BaseProcess, int]] = {}

    def start(seed: int) -> None:
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(seed, end, threads, writer), daemon=True)
        process.start()
        writer.close()
        running[reader] = process, seed

    try:
        while True:
            while len(running) < processes and time.monotonic() < end:
                start(next(rounds))
            if not running:
                return
            for reader in wait(list(running)):
                process, seed = running.pop(reader)
                try:
                    result = reader.recv()
                    running[reader] = process, result.seed + 1
                except EOFError:
                    process.join()
                    if not process.exitcode:
                        continue
                    case = make(seed)
                    result = Result(
                        seed, case.about, case.kinds, f"the process died ({process.exitcode})", is_right=False
                    )
                    if (seed + 1) % ROUND and time.monotonic() < end:
                        start(seed + 1)
                yield result
    finally:
        for process, _ in running.values():
            process.kill()


def work(seed: int, end: float, threads: bool, results: Connection) -> None:
    """Do the rest of a seed's round, as long as there is time."""
    # PoCL has one thread or two, the same in all cases of a round.
    os.environ["POCL_MAX_PTHREAD_COUNT"] = str(1 + seed // ROUND % 2)
    for each in range(seed, (seed // ROUND + 1) * ROUND):
        results.send(attempt(each, threads=threads))
        if time.monotonic() > end:
            break


def summary(results: list[Result], seconds: float) -> list[str]:
    """Return how many cases of each kind were done, how many were wrong, and how near the others came to it."""
    wrong = [result for result in results if not result.is_right]
    rate = len(results) / max(seconds, 1e-9) * 60
    lines = [f"{len(results)} cases in {seconds / 60:.1f} min ({rate:.0f}/min), {len(wrong)} wrong"]
    of_kind = defaultdict(list)
    for result in results:
        for kind in result.kinds:
            of_kind[kind].append(result)
    for kind, found in sorted(of_kind.items()):
        bad = sum(not result.is_right for result in found)
        most = max((result.used for result in found if result.is_right), default=0)
        lines.append(
            f"{kind:20} {len(found):6} cases {bad:5} wrong; the largest right one {most:4.0%} of what is right"
        )
    return lines
