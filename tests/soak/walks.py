"""Random walks of one filter, each picture of which is compared with that of a filter made anew.

A walk is made from its seed. Few sizes, few engines: what is compiled for one walk serves the others.
"""

from __future__ import annotations

import copy
import pickle
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from fftfilter import transfer as H
from fftfilter.errors import FftfilterError
from fftfilter.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = (12, 10), (12, 10), (10, 12)
# What each option may be, the usual first.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "engine": (None, "fused", "book", "stockham"),
    "engine_options": (None, {"radix": 4}),
    "precision": ("single", "double"),
    "work_group_size": (None, 32),
    "transpose": (None, "plain"),
    "output": ("magnitude", "keep", "signed", "real"),
    "scale": (None, (-20, 90), "auto", ("auto", 5)),
    "edges": ("wrap", "mirror"),
    "pixel_size": (None, "65nm", "0.1um"),
    "region": (None, (1, 2, 5, 6)),
    "profile": (False, True),
    "device": (None, "cpu", "no such device"),
}
OF_IMAGEJ = ("engine", "precision", "pixel_size", "device")
TYPES = ("uint8", "uint8", "uint16", "float32", "float64", "int64", "bool")


def mask(
    r: random.Random, low: float, high: float, *, times: int = 1, even: bool = True, any_size: bool = False
) -> Any:
    rng = np.random.default_rng(r.randrange(1 << 30))
    gains = rng.uniform(low, high, [times * side for side in r.choice(SIZES)])
    return H.mask((gains + np.roll(gains[::-1, ::-1], (1, 1), (0, 1))) / 2 if even else gains, any_size=any_size)


def peak(r: random.Random) -> tuple[float, float]:
    return r.uniform(-0.5, 0.5), r.choice((0, 0.5, r.uniform(-0.5, 0.5)))


KINDS: tuple[Callable[[random.Random], H.Transfer], ...] = (
    lambda r: H.lowpass(r.choice((None, r.uniform(1, 6), "4px", "40%"))),
    lambda r: H.lowpass(f"{r.uniform(0.15, 0.5)!r}um", shape="gaussian"),
    lambda r: H.highpass(r.uniform(1, 6), shape=r.choice(("gaussian", "butterworth", "fermi", "cosine"))),
    lambda r: H.bandpass(2, r.uniform(2.5, 5), shape=r.choice(("ideal", "butterworth"))),
    lambda r: H.bandstop("9px", "3px", shape=r.choice(("ideal", "gaussian"))),
    lambda r: H.lowpass(r.uniform(2, 4), shape="cosine", width=f"{r.uniform(2, 9)!r}px"),  # for some sizes alone
    lambda r: H.bandpass("5px", r.choice((2, 2.4)), shape="gaussian"),  # likewise
    lambda r: H.highpass(f"{r.choice((900, 1000))}%", shape="gaussian"),
    lambda r: H.notch(peak(r), width=f"{r.uniform(0.01, 0.2)!r}cyc", harmonics=r.choice((1, 3))),
    lambda r: H.notch(peak(r), shape="ideal", width="0.1cyc", channels=r.choice(((0,), (1, 2)))),
    lambda r: H.stripes(r.choice((0, 90, r.uniform(-90, 90))), width="0.05cyc", spare="8px"),
    lambda r: H.imagej(r.uniform(5, 20), r.choice((0, 2)), suppress=r.choice(("none", "vertical"))),
    lambda r: mask(r, -1, 1),
    lambda r: mask(r, 0, 3, times=2),
    lambda r: mask(r, -1, 1, times=r.choice((1, 2)), even=False),
    lambda r: mask(r, 0, 1, any_size=True),
    lambda r: mask(r, 0, 3) * mask(r, -1, 1, any_size=True) * H.lowpass(3),
    lambda _: H.Transfer(()),
)


def transfer(r: random.Random) -> H.Transfer:
    """Return a transfer function of any kind, or a product."""
    made = r.choice(KINDS)(r)
    while r.random() < 0.3:
        made *= r.choice(KINDS)(r)
    return made


def picture(r: random.Random) -> tuple[np.ndarray, dict[str, Any]]:
    """Return an image, a stack or a picture with channels, and the options of its call."""
    rng = np.random.default_rng(r.randrange(1 << 30))
    size, dtype = r.choice(SIZES), r.choice(TYPES)
    axis = r.choice((None, None, 0, -1))
    shape = size if axis is None and r.random() < 0.7 else (3, *size)
    unit = rng.random(shape) if r.random() < 0.8 else np.full(shape, rng.random()) + (rng.random(shape) > 0.9) * 1e-3
    most = {"uint8": 255, "uint16": 65535, "int64": 2**31}.get(dtype, r.choice((1, 1e-20, 1e20)))
    image = (unit * most).astype(dtype)
    if axis == -1:
        image = np.moveaxis(image, 0, -1)
    options = {"dtype": r.choice((None, None, "uint8", "float32")), "white": r.choice((None, None, 100))}
    if r.random() < 0.1:
        image = np.ones(3)  # which is none
    return image, {"channel_axis": axis if image.ndim == 3 else None, **options}


def of(work: Callable[[], Any]) -> Any:
    """Return what work gives, or its error."""
    try:
        return work()
    except FftfilterError as error:
        return type(error), str(error)


def outcome(filter_: Filter, image: np.ndarray, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return all that is said of a picture: its pixels, and what the filter knows of it; or the error."""
    return of(lambda: (*known(filter_, filter_(image, **options)), filter_.engine))


def known(filter_: Filter, got: np.ndarray) -> tuple[Any, ...]:
    return got.dtype, got.shape, got.tobytes(), filter_.extremes(), filter_.clipped(), filter_.weak()


def chosen(r: random.Random, names: list[str], count: int) -> dict[str, Any]:
    """Return some options, each with one of its values."""
    return {name: r.choice((OPTIONS[name][0], *OPTIONS[name])) for name in r.sample(names, count)}


def walk(seed: int, steps: int, kind: type[Filter] = Filter) -> Iterator[str]:
    """Walk, and yield what was done at each step; raises AssertionError where the filter is not as a new one."""
    r = random.Random(seed)
    names = list(OPTIONS if kind is Filter else OF_IMAGEJ)
    walking: Any = None
    while not isinstance(walking, Filter):
        made, options = transfer(r), chosen(r, names, len(names))
        walking = of(lambda: kind(made, **options))  # noqa: B023  called at once
    for _ in range(steps):
        done = r.choice(("", "", "retune", "retune", "with_options", "copied", "close", "stream"))
        where = f"seed {seed}: {walking} after {done or 'a call'}"
        if done in ("retune", "with_options"):
            new = transfer(r) if done == "retune" else r.choice((walking.transfer, transfer(r)))
            changed = {} if done == "retune" else chosen(r, names, r.choice((0, 1, 1, 3)))
            wanted = of(lambda: kind(new, **{**options, **changed}))  # noqa: B023
            got = of(lambda: getattr(walking, done)(new, **changed))  # noqa: B023
            if isinstance(wanted, Filter):
                walking = got or walking
                made, options = new, {**options, **changed}
            else:
                assert got == wanted, where
        elif done == "copied":
            walking = r.choice((copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))))(walking)  # noqa: S301
        elif done == "close":
            walking.close()
        fresh = kind(made, **options)
        assert repr(walking) == repr(fresh), where
        if done == "stream":
            streamed(r, walking, fresh, where)
        given = picture(r)
        assert outcome(walking, *given) == outcome(fresh, *given), where
        yield where


def streamed(r: random.Random, walking: Filter, fresh: Filter, where: str) -> None:
    """Stream pictures of one kind of channels, up to one that is refused."""
    image, options = picture(r)
    images = [image, image[::-1], *(each for each, of_it in (picture(r), picture(r)) if of_it == options)]
    wanted = [outcome(fresh, each, options)[:-1] for each in images]
    got = []
    error = of(lambda: got.extend(known(walking, each) for each in walking.stream(images, **options)))
    assert (got if error is None else [*got, error[:-1]]) == wanted[: len(got) + (error is not None)], where
