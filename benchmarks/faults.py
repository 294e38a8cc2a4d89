"""Pictures with known faults, and the same pictures without: prints, stripes, waves; and layouts that are no faults.

All are arrays ``(channels, height, width)`` of 0 to 255, and the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageFilter

from .environment import CLONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Planes = NDArray[np.float64]
    Plane = NDArray[np.float64]

SAMPLES = ("astronaut.png", "chelsea.png", "camera.pgm", "brick.png")
SAMPLING = 4
"""Points of a screen for each pixel along each axis."""


@dataclass(frozen=True, eq=False)
class Case:
    """A picture with a fault; the fault alone makes the difference from the truth."""

    name: str
    truth: Planes
    faulty: Planes
    angle: float = 90.0
    """The direction of stripes in degrees."""
    screens: tuple[tuple[float, float], ...] = ()
    """The frequencies ``(fx, fy)`` of a print's dots, in cycles per pixel."""


def planes_of(picture: Image.Image) -> Planes:
    """Return the channels of a picture."""
    array = np.asarray(picture, np.float64)
    return np.ascontiguousarray(array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0))


def image_of(planes: Planes) -> Image.Image:
    """Return channels, rounded and clipped, as a picture."""
    levels = levels_of(planes).astype(np.uint8)
    return Image.fromarray(levels[0] if len(levels) == 1 else np.ascontiguousarray(np.moveaxis(levels, 0, -1)))


def levels_of(planes: Planes) -> Planes:
    """Return gray levels: whole numbers from 0 to 255."""
    return np.asarray(np.clip(np.rint(planes), 0, 255))


@cache
def sample(name: str) -> Planes:
    """Return one of the samples."""
    return planes_of(Image.open(CLONE / "samples" / name))


def gray_of(planes: Planes) -> Planes:
    """Return the brightness of a picture, as one channel of whole levels."""
    return planes if len(planes) == 1 else levels_of(np.tensordot((0.299, 0.587, 0.114), planes, 1)[None])


# Prints


@dataclass(frozen=True)
class Print:
    """How a picture is printed and scanned."""

    name: str
    sample: str
    period: float
    """Pixels of the scan from dot to dot."""
    color: bool = True
    turned: float = 0.0
    """Degrees by which the page lies askew."""
    blur: float = 0.5
    """Standard deviation of the scanner's blur in pixels."""
    noise: float = 2.0
    """Standard deviation in gray levels."""
    bent: float = 0.0
    """Pixels by which the paper is displaced, smoothly, at most."""
    quality: int | None = None
    """Of a JPEG between the scanner and the file."""


PRINTS = (
    Print("rosettes of 4 px", "astronaut.png", 4.3),
    Print("rosettes of 5 px, JPEG", "chelsea.png", 5.1, quality=85),
    Print("rosettes of 6 px", "chelsea.png", 6.2, blur=0.8),
    Print("rosettes of 6 px, noise", "astronaut.png", 6.0, noise=8),
    Print("rosettes of 8 px, turned", "astronaut.png", 7.8, turned=7),
    Print("newspaper of 5 px", "camera.pgm", 5.3, color=False),
    Print("newspaper of 6 px, bent", "camera.pgm", 6.1, color=False, bent=5),
    Print("newspaper of 7 px, JPEG", "camera.pgm", 7.2, color=False, turned=3, quality=75),
    Print("newspaper of 8 px, noise", "astronaut.png", 8.0, color=False, noise=8, bent=3),
    Print("newspaper of 4 px, brick", "brick.png", 4.2, color=False, blur=0.8),
    Print("newspaper of 6 px, brick", "brick.png", 6.4, color=False, turned=-4),
)
ANGLES = (15.0, 75.0, 0.0, 45.0)
"""Of the screens of cyan, magenta, yellow and black."""


def screens_of(how: Print) -> tuple[tuple[float, float], ...]:
    """Return the frequencies of all inks' dots."""
    angles = [angle + right for angle in (ANGLES if how.color else (45.0,)) for right in (0, 90)]
    turns = np.radians(np.add(angles, how.turned))
    return tuple(zip(np.cos(turns) / how.period, np.sin(turns) / how.period, strict=True))


def printed(how: Print, truth: Planes, seed: int) -> Planes:
    """Return the scan of a print."""
    rng = np.random.default_rng(seed)
    if how.color:
        dark = 1 - truth / 255
        black = dark.min(axis=0) * 0.7
        inks = [*(dark - black) / (1 - black), black]
        covered = [_screen(ink, how, angle, rng) for ink, angle in zip(inks, ANGLES, strict=True)]
        scan = np.stack([(1 - ink) * (1 - covered[-1]) for ink in covered[:-1]]) * 255
    else:
        scan = 255 * (1 - _screen(1 - truth[0] / 255, how, 45.0, rng))[None]
    size = truth.shape[2], truth.shape[1]
    blurred = [
        Image.fromarray(plane.astype(np.uint8)).filter(ImageFilter.GaussianBlur(how.blur * SAMPLING)) for plane in scan
    ]
    small = np.stack([np.asarray(each.resize(size, Image.Resampling.BOX), np.float64) for each in blurred])
    noisy = levels_of(small + rng.normal(0, how.noise, small.shape))
    if how.quality is None:
        return noisy
    file = BytesIO()
    image_of(noisy).save(file, "JPEG", quality=how.quality)
    return planes_of(Image.open(file))


def _screen(ink: Plane, how: Print, angle: float, rng: np.random.Generator) -> Plane:
    """Return where there is ink, 0 or 1, at :data:`SAMPLING` points a pixel along each axis."""
    height, width = (SAMPLING * n for n in ink.shape)
    large = np.asarray(
        Image.fromarray(ink.astype(np.float32)).resize((width, height), Image.Resampling.BICUBIC), np.float64
    )
    y, x = np.mgrid[:height, :width] / SAMPLING
    if how.bent:
        y, x = (
            each
            + how.bent
            * np.sin(2 * np.pi * (rng.uniform(0.5, 1) * y / ink.shape[0] + rng.uniform(0.5, 1) * x / ink.shape[1]))
            for each in (y, x)
        )
    direction = np.radians(angle + how.turned)
    u, v = np.cos(direction) / how.period, np.sin(direction) / how.period
    spot = 2 + np.cos(2 * np.pi * (u * x + v * y)) + np.cos(2 * np.pi * (u * y - v * x))
    # The part of the area whose spot function is lower, so that dots cover as much as there is ink.
    grid = np.sort((2 + np.add.outer(*(np.cos(2 * np.pi * np.arange(64) / 64),) * 2)).ravel())
    return np.asarray(np.interp(spot, grid, np.linspace(0, 1, grid.size)) < large, np.float64)


def prints() -> Iterator[Case]:
    """Yield scans of prints."""
    for seed, how in enumerate(PRINTS):
        truth = sample(how.sample) if how.color else gray_of(sample(how.sample))
        yield Case(how.name, truth, printed(how, truth, seed), screens=screens_of(how))


# Stripes

LONG = ("full", "partial", "none", "slanted")


def striped(truth: Planes, extent: str, strength: float, angle: float, seed: int) -> Planes:
    """Return a picture with stripes of all periods along an angle; ``partial`` ones begin and end anywhere."""
    rng = np.random.default_rng(seed)
    _, height, width = truth.shape
    y, x = np.mgrid[:height, :width].astype(float)
    turn = np.radians(angle)
    across, along = x * np.sin(turn) + y * np.cos(turn), x * np.cos(turn) - y * np.sin(turn)
    across, along = across - across.min(), along - along.min()
    values = rng.normal(0, strength, (int(across.max()) + 2,))
    stripes = np.interp(across, np.arange(len(values)), values)
    if extent == "partial":
        begin = rng.uniform(-0.3, 0.6, len(values)) * along.max()
        end = begin + rng.uniform(0.3, 1, len(values)) * along.max()
        nearest = np.rint(across).astype(np.int64)
        stripes = np.where((along >= begin[nearest]) & (along < end[nearest]), values[nearest], 0)
    if extent == "none":
        stripes = stripes * 0
    return levels_of(truth + stripes + rng.normal(0, 1, truth.shape) * (extent != "none"))


def stripes() -> Iterator[Case]:
    """Yield pictures with stripes: along the whole picture, along a part of it, none, and slanted ones."""
    for extent in LONG:
        for number, name in enumerate(SAMPLES):
            truth, strength = gray_of(sample(name)), (4.0, 8.0, 12.0, 8.0)[number]
            angle = (90 + (7, -12, 33, -25)[number]) if extent == "slanted" else 90
            faulty = striped(truth, "full" if extent == "slanted" else extent, strength, angle, 50 + number)
            yield Case(f"{extent}, {name.partition('.')[0]}", truth, faulty, angle)


# Waves

WAVES = (
    # Amplitude, frequencies, whether it goes through half of the picture only.
    (50.0, (0.123, 0.047), False),
    (20.0, (0.031, 0.0), False),
    (6.0, (0.21, -0.17), False),
    (3.0, (0.0, 0.045), False),
    (25.0, (0.11, 0.06), True),
)


def waves() -> Iterator[Case]:
    """Yield pictures with a wave."""
    for number, (amplitude, (fx, fy), half) in enumerate(WAVES):
        truth = gray_of(sample(SAMPLES[number % 3]))
        y, x = np.mgrid[: truth.shape[1], : truth.shape[2]]
        wave = amplitude * np.cos(2 * np.pi * (fx * x + fy * y) + number)
        wave = wave * (x < truth.shape[2] / 2) if half else wave
        part = ", half of it" if half else ""
        yield Case(f"{amplitude:g} levels, {1 / np.hypot(fx, fy):.1f} px{part}", truth, levels_of(truth + wave))
