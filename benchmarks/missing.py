"""``python -m benchmarks.missing``: errors of filters over pictures with holes beside the complete picture, and times.

Scenes are a terrain, a random surface with the slope of real ones, and the samples' photographs, with round holes and
with a turned frame around. Errors are of the valid pixels.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from fftfilter import Filter, images, transfer
from fftfilter.commands.shared.options import device_option
from fftfilter.device.choice import open_device
from fftfilter.device.launcher import Launcher
from fftfilter.fused import fused
from fftfilter.missing import reference
from fftfilter.missing.fill import fill
from fftfilter.text import text_table
from fftfilter.transfer.reference import filtered

from .command import main
from .environment import CLONE
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Callable

    Fill = Callable[[Any, Any, transfer.Transfer], NDArray[np.float64]]

Values = NDArray[np.float64]
Holes = NDArray[np.bool_]

SIDE, LARGE, RUNS = 512, 2048, 15
FILTERS = {
    "low-pass 12px": transfer.lowpass("12px"),
    "high-pass 60px": transfer.highpass("60px"),
    "band-pass 96px 7px": transfer.bandpass("96px", "7px"),
    "notch": transfer.notch((0.123, 0.047)),
    "stripes": transfer.stripes(90),
}


def terrain(seed: int, slope: float = 2.0, side: int = SIDE) -> Values:
    """Return a random surface ``(side, side)`` whose amplitude falls as frequency^-slope, not periodic."""
    rng = np.random.default_rng(seed)
    frequency = np.hypot(np.fft.fftfreq(2 * side)[:, None], np.fft.fftfreq(2 * side))
    frequency[0, 0] = np.inf
    made = np.fft.ifft2(np.fft.fft2(rng.normal(size=(2 * side, 2 * side))) * frequency**-slope).real[:side, :side]
    return np.asarray(250 * made / made.std())


def round_holes(part: float, seed: int, side: int = SIDE) -> Holes:
    """Return round holes that are a part of a picture."""
    rng = np.random.default_rng(seed)
    holes, (y, x) = np.zeros((side, side), bool), np.indices((side, side))
    while holes.mean() < part:
        (row, column), radius = rng.integers(0, side, 2), rng.integers(2, side // 16)
        holes |= (y - row) ** 2 + (x - column) ** 2 < radius**2
    return holes


def turned(side: int = SIDE) -> Holes:
    """Return the frame around a scene that is turned by 20 degrees: a third of the picture."""
    y, x = np.indices((side, side)) - (side - 1) / 2
    turn = np.exp(1j * np.radians(20))
    along = (x + 1j * y) * turn
    return np.asarray(np.maximum(np.abs(along.real), np.abs(along.imag)) > 0.41 * side)


def nearest(picture: Values, holes: Holes, _: transfer.Transfer) -> Values:
    """Fill each hole with the nearest valid pixel."""
    from scipy.ndimage import distance_transform_edt

    _, (rows, columns) = distance_transform_edt(holes, return_indices=True)
    return np.asarray(picture[rows, columns])


WAYS: dict[str, Fill] = {
    "fftfilter": lambda picture, holes, h: reference.complete(picture[None], holes[None], h, "wrap")[0],
    "mean": lambda picture, holes, _: np.where(holes, picture[~holes].mean(), picture),
    "nearest": nearest,
}


def scenes() -> dict[str, tuple[Values, Holes]]:
    """Return pictures and their holes."""
    camera = images.read(CLONE / "samples" / "camera.pgm").planes[0].astype(float)
    return {
        "terrain, holes 1%": (terrain(1), round_holes(0.01, 1)),
        "terrain, holes 10%": (terrain(2), round_holes(0.1, 2)),
        "terrain, turned": (terrain(3), turned()),
        "camera, holes 5%": (camera, round_holes(0.05, 4)),
        "camera, turned": (camera, turned()),
    }


def error(picture: Values, holes: Holes, h: transfer.Transfer, way: Fill) -> float:
    """Return the root mean square error of the valid pixels, in percent of the picture's deviation."""
    gain = h.gain(*picture.shape)
    off = filtered(way(picture, holes, h), gain).real - filtered(picture, gain).real
    return float(100 * np.sqrt(np.mean(off[~holes] ** 2)) / picture.std())


@click.command()
@device_option
def command(device: str | None) -> None:
    """Print the errors of filters over pictures with holes, and the time of filling beside that of a filter."""
    rows = [
        (scene, name, *(f"{error(picture, holes, h, way):.2f}" for way in WAYS.values()))
        for scene, (picture, holes) in scenes().items()
        for name, h in FILTERS.items()
    ]
    click.echo("rms error of the valid pixels, percent of the picture's deviation")
    click.echo(text_table(("scene", "filter", *WAYS), rows, right="..rrr"))
    launcher, picture = Launcher(open_device(device, fused)), photograph(0, LARGE)
    times: dict[str, list[float]] = {}
    with Filter(transfer.highpass("100%"), device=device) as f:
        for holes in (round_holes(0.1, 1, LARGE), turned(LARGE)):
            f(picture)
            fill(launcher, picture[None], holes[None])
            for _ in range(RUNS):
                began = perf_counter()
                fill(launcher, picture[None], holes[None])
                filled = perf_counter()
                f(picture)
                done = perf_counter()
                f(picture, missing=holes)
                whole = perf_counter()
                key = f"{holes.mean():.0%}"
                times.setdefault(f"fill, {key} missing", []).append(filled - began)
                times.setdefault("filter", []).append(done - filled)
                times.setdefault(f"filter, {key} missing", []).append(whole - done)
    lines = [(name, f"{1e3 * float(np.median(each)):.1f}") for name, each in times.items()]
    click.echo(f"\n{launcher.device.name}, {LARGE} x {LARGE}, medians of {RUNS} in turn")
    click.echo(text_table(("", "ms"), lines, right=".r"))


if __name__ == "__main__":
    main(command)
