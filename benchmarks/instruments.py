"""Pictures with the stripes that instruments draw, and the same without: sinograms, light sheets, scans.

All are gray, ``(1, height, width)`` of 0 to 255, with upright stripes, and the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .faults import Case, gray_of, levels_of, sample

Plane = NDArray[np.float64]

HEIGHT, WIDTH = 400, 448
Y, X = np.mgrid[:HEIGHT, :WIDTH].astype(float)


# Sinograms


def sinogram(rng: np.random.Generator) -> Plane:
    """Return the projections of a body of ellipses over half a turn, one angle a row: chords times densities."""
    turn, place = np.pi * Y / HEIGHT, 2 * X / WIDTH - 1
    whole = np.zeros_like(X)
    lowest, highest = np.array([(-0.5, -0.4, 0.02, 0.02, 0, -0.6), (0.5, 0.4, 0.25, 0.25, np.pi, 1)])
    for x, y, a, b, angle, density in [(0.0, 0.0, 0.9, 0.75, 0.3, 1.0), *rng.uniform(lowest, highest, (14, 6))]:
        square = (a * np.cos(turn - angle)) ** 2 + (b * np.sin(turn - angle)) ** 2
        from_center = place - x * np.cos(turn) - y * np.sin(turn)
        whole += density * 2 * a * b * np.sqrt(np.maximum(square - from_center**2, 0)) / square
    return np.asarray(15 + 200 * whole / whole.max())


def _full(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return pixels with an offset of their own: all small ones, each tenth a large one."""
    large = rng.normal(0, 10, WIDTH) * (rng.random(WIDTH) < 0.1)
    return truth + rng.normal(0, 1.5, WIDTH) + large


def _partial(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return stripes that begin and end at any angle."""
    along = Y / HEIGHT - rng.uniform(-0.3, 0.8, WIDTH)
    is_inside = (along >= 0) & (along < rng.uniform(0.2, 0.7, WIDTH))
    return np.asarray(truth + is_inside * rng.normal(0, 10, WIDTH) * (rng.random(WIDTH) < 0.2))


def _fluctuating(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return columns of noise."""
    return truth + rng.normal(0, 20, truth.shape) * (rng.random(WIDTH) < 0.03)


def _large(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return a few wide stripes."""
    offset = np.zeros(WIDTH)
    for middle in rng.uniform(40, WIDTH - 40, 6):
        offset += rng.choice((-1, 1)) * rng.uniform(8, 25) * (np.abs(X[0] - middle) < rng.uniform(3, 10))
    return truth + offset


def _unresponsive(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return columns of one level."""
    made = truth.copy()
    for left in rng.integers(20, WIDTH - 20, 8):
        made[:, left : left + rng.integers(1, 4)] = rng.uniform(0, 120)
    return made


def _all(truth: Plane, rng: np.random.Generator) -> Plane:
    """Return all of these at once."""
    for each in (_full, _partial, _large, _fluctuating, _unresponsive):
        truth = each(truth, rng)
    return truth


OF_DETECTORS: dict[str, Callable[[Plane, np.random.Generator], Plane]] = {
    "full": _full,
    "partial": _partial,
    "fluctuating": _fluctuating,
    "large": _large,
    "unresponsive": _unresponsive,
    "all of these": _all,
}
"""The types of N. T. Vo, R. C. Atwood, M. Drakopoulos, Superior techniques for eliminating ring artifacts (Optics
Express 26, 2018)."""


def sinograms(seed: int = 300) -> Iterator[Case]:
    """Yield noisy sinograms with each type of stripes, and with all of them."""
    for number, (name, striped) in enumerate(OF_DETECTORS.items()):
        rng = np.random.default_rng(seed + number)
        truth = levels_of(sinogram(rng) + rng.normal(0, 1, (HEIGHT, WIDTH)))
        yield Case(name, truth[None], levels_of(striped(truth, rng))[None])


# Light sheets, scans


def cells(rng: np.random.Generator) -> Plane:
    """Return bright round cells with a dark nucleus in haze."""
    picture = 12 + 10 * np.cos((X - WIDTH / 2) / 150) * np.cos((Y - HEIGHT / 2) / 140)
    for _ in range(130):
        x, y, radius, level = rng.uniform((0, 0, 4, 20), (WIDTH, HEIGHT, 16, 110))
        away = np.hypot(X - x, Y - y)
        picture += level * (0.2 - np.tanh((away - radius) / 2) / 2 + 0.3 * np.tanh(away - radius / 2))
    return np.asarray(picture)


def shadowed(truth: Plane, deepest: float, rng: np.random.Generator) -> Plane:
    """Return a picture lit from above: absorbing points in it throw shadows, which fade and widen slowly."""
    light = np.ones_like(truth)
    height, width = truth.shape
    y, x = np.mgrid[:height, :width]
    for _ in range(70):
        at, top, thick = rng.uniform(0, width), rng.uniform(-0.3, 0.7) * height, rng.uniform(0.6, 3)
        down = np.maximum(y - top, 0)
        wide = thick * (1 + down / height)
        depth = deepest * rng.uniform(0.2, 1) * np.exp(-down / (2 * height)) * (y >= top)
        light *= 1 - depth * np.exp(-(((x - at) / wide) ** 2) / 2)
    return truth * light


def scanned(truth: Plane, lines: int, uneven: float, rng: np.random.Generator) -> Plane:
    """Return the scan of a picture: pixels of uneven gain, and lines where dust lies."""
    width = truth.shape[1]
    offset = np.zeros(width)
    offset[rng.integers(5, width - 5, lines)] = rng.uniform(10, 40, lines)
    return truth * (1 + uneven * rng.normal(0, 1, width)) + offset


SCANS = ((4, 0.02, "astronaut.png"), (0, 0.05, "chelsea.png"), (12, 0.03, "camera.pgm"), (3, 0.0, "chelsea.png"))
"""The lines of dust, the standard deviation of the gains, and the picture."""


def light_sheets_and_scans(seed: int = 400) -> Iterator[Case]:
    """Yield light sheets and scans."""
    rng = np.random.default_rng(seed)
    for deepest in (0.2, 0.5):
        truth = levels_of(cells(rng))
        faulty = shadowed(truth, deepest, rng) + rng.normal(0, 1, truth.shape)
        yield Case(f"light sheet, shadows to {deepest:.0%}", truth[None], levels_of(faulty)[None])
    for lines, uneven, name in SCANS:
        truth = gray_of(sample(name))[0]
        faulty = scanned(truth, lines, uneven, rng) + rng.normal(0, 1, truth.shape)
        yield Case(f"scan, gains of {uneven:.0%}, {lines} lines", truth[None], levels_of(faulty)[None])
