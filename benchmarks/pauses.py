"""``python -m benchmarks.pauses [SIDE]``: what a call takes behind pauses, in which PoCL's workers fall asleep.

``taskset -c 0-3`` before it shows the cores that the process may use, ``POCL_MAX_PTHREAD_COUNT=16`` too many workers.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np

from fftfilter import Filter
from fftfilter import transfer as H  # noqa: N812  as in formulas

PAUSES_MS = (0.0, 0.3, 1.0, 5.0, 20.0)
WARM, CALLS = 100, 100


def pauses(side: int, warm: int = WARM, calls: int = CALLS) -> list[float]:
    """Return the median seconds of a call behind each pause, in turn."""
    image = np.random.default_rng(1).integers(0, 256, (side, side), dtype=np.uint8)
    seconds: list[list[float]] = [[] for _ in PAUSES_MS]
    with Filter(H.lowpass("8px"), device="cpu", output="magnitude", edges="wrap") as filter_:
        for _ in range(warm):
            filter_(image)
        for _ in range(calls):
            for pause, found in zip(PAUSES_MS, seconds, strict=True):
                time.sleep(pause / 1000)
                began = time.perf_counter()
                filter_(image)
                found.append(time.perf_counter() - began)
    return [median(found) for found in seconds]


if __name__ == "__main__":
    for pause, found in zip(PAUSES_MS, pauses(int(sys.argv[1]) if sys.argv[1:] else 512), strict=True):
        sys.stdout.write(f"behind {pause:4.1f} ms: {1000 * found:.3f} ms\n")
