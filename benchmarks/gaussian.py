"""``python -m benchmarks.gaussian``: a Gaussian blur of any width, beside SciPy's and OpenCV's.

SciPy and OpenCV add up the picture under a window of 4 deviations to each side; the frequency domain has one product,
so that its time does not grow with the width. The last column is the largest difference from SciPy, in parts of the
picture's deviation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click
import numpy as np
from scipy import ndimage

import fftfilter
from fftfilter import transfer
from fftfilter.text import text_table

SIDE, SIGMAS, RUNS = 2048, (3, 6, 12, 24, 48, 96), 3


@click.command()
def command() -> None:
    """Measure a mirrored Gaussian of floats for several sigmas: processor time, the median of some runs in turn.

    \b
    Example: python -m benchmarks.gaussian
    """
    image = np.random.default_rng(0).normal(100, 20, (SIDE, SIDE)).astype(np.float32)
    others: dict[str, Callable[[float], Any]] = {"SciPy": lambda sigma: ndimage.gaussian_filter(image, sigma)}
    with suppress(ImportError):
        import cv2

        others["OpenCV"] = lambda sigma: cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_REFLECT)
    rows = []
    for sigma in SIGMAS:
        low = transfer.lowpass(f"{2 * np.pi * sigma / np.sqrt(2 * np.log(2)):.17g}px", shape="gaussian")
        with fftfilter.Filter(low, output="real", edges="mirror") as filter_:
            ways: dict[str, Callable[[float], Any]] = {"": lambda _, own=filter_: own(image), **others}  # type: ignore[misc]
            made = [way(sigma) for way in ways.values()]
            times: dict[str, list[float]] = {name: [] for name in ways}
            for name in [*ways] * RUNS:
                began = time.process_time()
                ways[name](sigma)
                times[name].append(time.process_time() - began)
        away = np.abs(made[0] - made[1]).max() / image.std()
        rows.append((str(sigma), *(f"{1e3 * np.median(each):.0f}" for each in times.values()), f"{away:.0e}"))
    click.echo(f"Gaussian of {SIDE} x {SIDE} floats, mirrored: ms of processor time")
    click.echo(text_table(("sigma", "fftfilter", *others, "away"), rows, right="r" * len(rows[0])))


if __name__ == "__main__":
    command()
