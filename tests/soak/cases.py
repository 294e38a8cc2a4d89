"""Random cases: a filter, its pictures and how they are given, all from a seed.

A thousand seeds in a row are a round. They share some dozens of setups, which are what kernels are compiled for: a new
one takes a second, a case with a known one some milliseconds.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from fftfilter import transfer as H
from fftfilter.arrays import largest_of, type_of_output
from fftfilter.output.modes import MODES
from fftfilter.staged import algorithms
from fftfilter.transfer.shapes import SHAPES
from tests.variants import variants

ROUND, SETUPS = 1000, 36
PASSES = ("lowpass", "highpass", "bandpass", "bandstop", "table", "notch", "stripes", "product", "channels")
PRIMES = [n for n in range(2, 200) if all(n % k for k in range(2, n))]
FLOATS, INTEGERS = ("float32", "float64"), ("uint8", "uint16", "int16", "int32", "uint32", "int64", "bool")
CONTENTS = (
    "noise",
    "smooth",
    "constant",
    "nearly constant",
    "weak",
    "ground",
    "impulse",
    "checkerboard",
    "ramp",
    "few values",
    "wave",
)
LAYOUTS = ("plain", "strided", "Fortran", "byte-swapped", "read-only")
# Larger floats have no scale in their gray levels here.
FAR = 1e25
# Channels of one picture have one scale: numbers that are smaller by this leave single precision.
APART = 1e-30
FUSED, FUSED_FOR_GPUS, NUMPY = "fused", "fused for GPUs", "numpy"
# What is done beside a second call, and how often.
FURTHER = {"": 5, "stream": 2, "threads": 1, "used again": 2}
# The longest sides of large pictures and of thin ones, for fused and for staged engines, which are slower.
LONGEST, LONGEST_STAGED = (400, 3000), (200, 700)


class Setup(NamedTuple):
    """What kernels are compiled for."""

    size: tuple[int, int]
    engine: str
    variant: dict[str, Any]
    precision: str
    passes: str
    shape: str
    dtype: str
    out: str | None
    output: str
    edges: str

    @property
    def is_fused(self) -> bool:
        return self.engine in (FUSED, FUSED_FOR_GPUS)


class Case(NamedTuple):
    """A filter and its pictures."""

    seed: int
    setup: Setup
    transfer: H.Transfer
    planes: np.ndarray
    """(count, height, width)"""
    image: np.ndarray
    """The same as the filter gets it."""
    channel_axis: int | None
    levels: int | None
    input_white: float | None
    scale: Any
    channels: str | None
    further: str
    """One of FURTHER."""
    holes: np.ndarray | None
    """Which of the planes' samples are missing, if some are."""
    about: str
    kinds: tuple[str, ...]

    @property
    def out(self) -> np.dtype:
        """The type of the picture that comes out."""
        return type_of_output(self.setup.out, np.dtype(self.setup.dtype))

    @property
    def white(self) -> int:
        return self.levels or largest_of(self.out)

    @property
    def rows(self) -> int:
        """The axis of rows."""
        return {None: -2, 0: 1, 1: 0, -1: 0}[self.channel_axis]


@lru_cache(maxsize=1)
def setups(number: int) -> list[Setup]:
    """Return the setups of a round."""
    r = random.Random(number)
    return [setup(r) for _ in range(SETUPS)]


def setup(r: random.Random) -> Setup:
    names = (FUSED, FUSED_FOR_GPUS, "book", r.choice(algorithms.names()), NUMPY)
    (engine,) = r.choices(names, (4, 2, 1, 3, 2))
    is_staged = engine in algorithms.names()
    return Setup(
        size=size(r, *(LONGEST_STAGED if is_staged else LONGEST)),
        engine=engine,
        variant=dict(r.choice(variants(engine))) if is_staged else {},
        precision=r.choice(("single", "double")) if is_staged or engine == NUMPY else "single",
        passes=r.choice(PASSES),
        shape=r.choice(list(SHAPES)),
        dtype=r.choice((*INTEGERS[:2] * 3, *INTEGERS, *FLOATS)),
        out=r.choice((None, None, None, "uint8", "uint16", "float32")),
        output=r.choice(("magnitude", "magnitude", "magnitude", "keep", "signed", "real")),
        edges=r.choice(("wrap", "wrap", "mirror")),
    )


def size(r: random.Random, large: int, long: int) -> tuple[int, int]:
    kind = r.random()
    if kind < 0.1:
        thin = r.randint(1, 3), r.randint(160, long)
        return r.choice((thin, thin[::-1]))
    if kind < 0.15:
        return r.randint(160, large), r.randint(160, large)

    def side() -> int:
        smooth = [2**a * 3**b * 5**c for a in range(8) for b in range(4) for c in range(3)]
        return r.choice(
            (r.randint(1, 8), r.choice([n for n in smooth if n <= 160]), r.choice(PRIMES), r.randint(9, 160))
        )

    return side(), side()


def make(seed: int) -> Case:
    """Return the case of a seed."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    chosen = r.choice(setups(seed // ROUND))
    arrangement = r.choice(("image", "image", "stack", "channels"))
    layout, content = r.choice(LAYOUTS), r.choice(CONTENTS)
    count = 1 if arrangement == "image" else r.randint(2, 3)
    planes = np.stack([pixels(r, rng, chosen, content) for _ in range(count)])
    axis = r.choice((0, 1, -1)) if arrangement == "channels" else None
    if axis is not None:
        planes[np.abs(planes) < APART * np.abs(planes).max()] = 0
    image = planes[0] if arrangement == "image" else planes if axis is None else np.moveaxis(planes, 0, axis)
    levels = r.choice((None, None, 255, 1000, 4095)) if (chosen.out or chosen.dtype) == "uint16" else None
    made = transfer(r, rng, chosen)
    largest = float(np.abs(planes.astype(float)).max()) or 1.0
    white = r.choice((None, largest, largest / 3)) if largest < FAR else None
    made, scale = scaled(r, chosen, made, largest, by_channel=made.is_by_channel and axis is not None)
    is_rgb = axis is not None and count == 3 and chosen.output in ("keep", "real") and not made.is_by_channel
    channels = r.choice((None, "luminance", "chroma")) if is_rgb else None
    made = made.with_depth(r.choice((0.1, 6, 60))) if r.random() < 0.1 else made
    given = {**chosen.variant, "levels": levels, "white": white, "scale": scale, "channels": channels}
    options = " ".join(f"{name}={value}" for name, value in given.items() if value)
    arranged = arrangement if axis is None else f"channels along axis {axis}"
    about = (
        f"{chosen.engine}, {chosen.precision} precision, {made} of {content}, {planes.shape}, {chosen.dtype}, "
        f"{layout}, {arranged}, edges {chosen.edges}, to {chosen.output} {chosen.out or ''} {options}".rstrip()
    )
    kinds = (chosen.engine, chosen.passes, chosen.dtype, content, layout, chosen.output, chosen.edges)
    kinds += ("scale auto" if "auto" in scale else "scale LO:HI",) if scale else ()
    (further,) = r.choices(list(FURTHER), list(FURTHER.values()))
    kinds += tuple(filter(None, (further, channels, "" if made.depth is None else "depth")))
    holes = missing(seed, planes) if further in ("", "used again") and made.is_even else None
    if holes is not None:
        about, kinds = f"{about}, {holes.mean():.0%} missing", (*kinds, "missing")
    image = laid_out(image, layout)
    return Case(seed, chosen, made, planes, image, axis, levels, white, scale, channels, further, holes, about, kinds)


def missing(seed: int, planes: np.ndarray) -> np.ndarray | None:
    """Return holes for one picture of ten: some samples, a block, or whole lines."""
    r, rng = random.Random(f"{seed} missing"), np.random.default_rng([seed, 1])
    if r.random() > 0.1:
        return None
    holes = rng.random(planes.shape) < r.choice((0.01, 0.1, 0.5, 0.99))
    if r.random() < 0.5:
        holes[:] = False
        (top, bottom), (left, right) = (sorted(r.randint(0, n) for _ in range(2)) for n in planes.shape[1:])
        holes[:, top:bottom, left:right] = True
    return holes


def scaled(
    r: random.Random, of: Setup, made: H.Transfer, largest: float, *, by_channel: bool
) -> tuple[H.Transfer, Any]:
    """Return a scale that the output may have, and the transfer function, for all channels if there is none."""
    ranges = [(-largest / 2, largest / 2), (0.0, largest / 3), (-largest / 3, largest)] if largest < FAR else []
    others = [] if by_channel else [None, None, "auto", ("auto", r.choice((0.0, 5.0, 60.0)))]
    if not MODES[of.output].is_scaled or (MODES[of.output].is_absolute and not made.is_even and not by_channel):
        return made, None
    if ranges or others:
        return made, r.choice(ranges + others)
    return H.Transfer(tuple(replace(each, channels=None) if each.channels else each for each in made.parts)), None


def pixels(r: random.Random, rng: np.random.Generator, of: Setup, content: str) -> np.ndarray:
    """Return a picture (height, width) of a content over the range of its type, or over some of it."""
    height, width = of.size
    y, x = np.mgrid[:height, :width]
    most = 65535 if of.dtype in FLOATS else 1 if of.dtype == "bool" else min(int(np.iinfo(of.dtype).max), 2**33)
    white = r.choice((most, r.randint(1, most)))
    unit = {
        "noise": lambda: rng.random(of.size),
        "smooth": lambda: (np.sin(x * r.random() / 4) + np.cos(y * r.random() / 4) + rng.random(of.size) / 8 + 2) / 4.2,
        "constant": lambda: np.full(of.size, r.random()),
        "nearly constant": lambda: np.minimum(1, r.random() + (rng.random(of.size) > 0.99) / min(white, 65535)),
        # A wave that most filters take out, under what they leave.
        "weak": lambda: (1.1 + np.cos(x * np.pi / 2) + 10 ** r.uniform(-5, -3) * np.cos(y * r.uniform(0, 3))) / 2.2,
        "ground": lambda: np.minimum(1, 0.9 + rng.integers(0, 2, of.size) / min(white, 65535)),
        "impulse": lambda: ((y == height // 3) & (x == width // 2)).astype(float),
        "checkerboard": lambda: (y + x) % 2,
        "ramp": lambda: (y + x) / (height + width),
        "few values": lambda: rng.integers(0, 3, of.size) / 2,
        # Of which a notch elsewhere leaves nearly everything
        "wave": lambda: 0.5 + 0.5 * np.cos(2 * np.pi * (r.randrange(4) * x / width + r.randrange(4) * y / height)),
    }[content]()
    if of.dtype in FLOATS:
        power = 30 if of.dtype == "float32" or not MODES[of.output].is_scaled else 280
        return ((unit - r.choice((0, 0.5))) * 10.0 ** r.choice((0, r.uniform(-power, power)))).astype(of.dtype)
    if of.dtype == "bool":
        return unit > 0.5
    whole = np.floor(unit * white).astype(np.int64)
    return (whole if of.dtype.startswith("u") else whole - white // 2).astype(of.dtype)


def laid_out(image: np.ndarray, layout: str) -> np.ndarray:
    if layout == "strided":
        wide = np.zeros((*image.shape[:-2], 2 * image.shape[-2], 3 * image.shape[-1]), image.dtype)
        image, view = wide[..., ::-2, 1::3], image
        image[...] = view
    if layout == "Fortran":
        return np.asfortranarray(image)
    if layout == "byte-swapped":
        return image.astype(image.dtype.newbyteorder())
    image.flags.writeable = layout != "read-only"
    return image


def peak(r: random.Random) -> tuple[float, float]:
    """Return a frequency, some of them special."""
    return r.choice((0.5, 0.25, r.uniform(-0.5, 0.5))), r.choice((0, 0.5, r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5)))


def transfer(r: random.Random, rng: np.random.Generator, of: Setup) -> H.Transfer:  # noqa: C901  one paragraph a kind
    n = min(of.size)

    def another() -> H.Transfer:
        """Gains of another size, above 1 for some; and what else there is."""
        gains = rng.uniform(-1, r.choice((1, 3)), (r.randint(1, 40), r.randint(1, 40)))
        even = H.mask((gains + np.roll(gains[::-1, ::-1], (1, 1), (0, 1))) / 2, any_size=True)
        return r.choice((even, H.notch(peak(r)), H.stripes(r.uniform(-180, 180)), H.imagej(r.uniform(5, 40), 3)))

    def radial(passes: str) -> H.Transfer:
        order = r.choice((None, 1, 2, 3, 10, 100)) if SHAPES[of.shape].has_order else None
        unit, most = r.choice((("", 0.8 * n), ("px", 2.0 * n), ("cyc", 0.8), ("%", 150.0)))
        short, long = sorted(max(most * r.choice((r.random(), r.random(), 1e-4)), 1e-6) for _ in range(2))
        low, high = f"{short!r}{unit}", f"{1.001 * long!r}{unit}"
        if passes.startswith("band"):
            cutoffs = (high, low) if unit == "px" else (low, high)
        else:
            cutoffs = (r.choice((None, high, high, high)),)
        width = None
        if SHAPES[of.shape].widest and cutoffs == (high,):
            part = SHAPES[of.shape].widest * r.choice((0.05, 0.3, 0.99))
            width = f"{1.001 * long * part ** (-1 if unit == 'px' else 1)!r}{unit}"
        return getattr(H, passes)(*cutoffs, shape=of.shape, order=order, width=width)

    if of.passes == "channels":
        pair = [H.notch(peak(r), width=f"{r.uniform(0.01, 0.1)!r}cyc", channels=each) for each in ((0,), (0, 1))]
        return r.choice(pair) * r.choice((H.Transfer(()), pair[1], radial("highpass")))
    if of.passes == "product":
        several = [r.choice((*(partial(radial, each) for each in PASSES[:4]), another)) for _ in range(r.randint(2, 4))]
        return math.prod((each() for each in several), start=H.Transfer(()))
    if of.passes == "notch":
        at = peak(r)
        harmonics = r.choice((1, 1, 3))
        made = H.notch(at, width=f"{r.uniform(0.001, 0.1)!r}cyc", shape=of.shape, harmonics=harmonics)
        return made * radial("lowpass") if r.random() < 0.3 else made
    if of.passes == "stripes":
        return H.stripes(r.uniform(-180, 180), width=f"{r.uniform(0.001, 0.1)!r}cyc", spare=r.choice((None, "20px")))
    if of.passes != "table":
        return radial(of.passes)
    sides = of.size if of.edges == "wrap" else [2 * side for side in of.size]
    gains = rng.uniform(-1, r.choice((1, 3)), sides)
    if of.is_fused or r.random() < 0.5:
        gains = (gains + np.roll(gains[::-1, ::-1], (1, 1), (0, 1))) / 2
    return r.choice((H.mask(gains), radial("highpass") * radial("bandstop"), radial("lowpass") * H.mask(gains)))
