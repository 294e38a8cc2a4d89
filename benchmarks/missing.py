"""``python -m benchmarks.missing``: errors of filters over pictures with holes beside the complete picture, and times.

Scenes are a terrain, a random surface with the slope of real ones, and the samples' photographs, with round holes and
with a turned frame around. Errors are of the valid pixels.

A second table has what bounds the errors around a turned terrain: beside those of the fill stand those of the mean of
all surfaces with these valid pixels, for which the spectrum must be known. No other fill is better on average.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from fftfilter import Filter, images, missing, transfer
from fftfilter.commands.options import device_option
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import open_opencl
from fftfilter.missing import fill
from fftfilter.text import text_table
from fftfilter.transfer.product import grid_with
from fftfilter.transfer.reference import filtered

from .command import main
from .environment import CLONE
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Callable

    from fftfilter.transfer.product import Edges
    from fftfilter.transfer.shapes import ShapeName

    Fill = Callable[[Any, Any, transfer.Transfer], NDArray[np.float64]]

Values = NDArray[np.float64]
Holes = NDArray[np.bool_]

SIDE, LARGE, RUNS = 512, 2048, 15
TERRAINS = (3, 11, 12, 13)
FILTERS = {
    "low-pass 12px": transfer.lowpass("12px"),
    "high-pass 60px": transfer.highpass("60px"),
    "band-pass 96px 7px": transfer.bandpass("96px", "7px"),
    "notch": transfer.notch((0.123, 0.047)),
    "stripes": transfer.stripes(90),
}


def amplitude(side: int) -> Values:
    """Return the amplitudes of a terrain on a grid of twice each side: frequency^-2."""
    frequency = np.hypot(np.fft.fftfreq(2 * side)[:, None], np.fft.fftfreq(2 * side))
    frequency[0, 0] = np.inf
    return np.asarray(frequency**-2)


def terrain(seed: int, side: int = SIDE) -> Values:
    """Return a random surface ``(side, side)``, not periodic."""
    noise = np.random.default_rng(seed).normal(size=(2 * side, 2 * side))
    made = np.fft.ifft2(np.fft.fft2(noise) * amplitude(side)).real[:side, :side]
    return np.asarray(250 * made / made.std())


def best(picture: Values, holes: Holes, _: transfer.Transfer) -> Values:
    """Fill holes of a terrain with the mean of all terrains through its valid pixels (kriging).

    Of the valid pixels those near the holes count most: of farther ones fewer are taken.
    """
    from scipy.linalg import cho_factor, cho_solve
    from scipy.ndimage import distance_transform_edt

    side = len(picture)
    covariance = np.fft.ifft2(amplitude(side) ** 2).real
    covariance /= covariance[0, 0]
    away, (y, x) = distance_transform_edt(~holes), np.indices(picture.shape)
    steps = [(3, 2), (12, 4), (60, 10), (np.inf, 20)]
    taken = np.any([(away < far) & (y % step == 0) & (x % step == 0) for far, step in steps], axis=0) & ~holes
    rows, columns = np.nonzero(taken)

    def with_taken(y: Any, x: Any) -> Values:
        return np.asarray(covariance[y[:, None] - rows, x[:, None] - columns])

    weights = cho_solve(cho_factor(with_taken(rows, columns) + 1e-9 * np.eye(len(rows))), picture[taken])
    filled = picture.copy()
    for line in np.flatnonzero(holes.any(axis=1)):
        (own,) = np.nonzero(holes[line])
        filled[line, own] = with_taken(np.full_like(own, line), own) @ weights
    return filled


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
    "fftfilter": lambda picture, holes, h: missing.complete(picture[None], holes[None], h, "wrap")[0],
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


def error(picture: Values, holes: Holes, h: transfer.Transfer, whole: Values, edges: Edges = "wrap") -> float:
    """Return the root mean square error of the valid pixels of a filled picture, in percent of its deviation."""
    off = filtered(whole - picture, grid_with(edges, h, *picture.shape).gain(), edges).real
    return float(100 * np.sqrt(np.mean(off[~holes] ** 2)) / picture.std())


def bounds() -> list[tuple[str, ...]]:
    """Return the errors around turned terrains: edges, shape, filter; with fftfilter's fill, and with the best."""
    holes, pictures = turned(), [terrain(seed) for seed in TERRAINS]
    ways: list[Fill] = [WAYS["fftfilter"], best]
    filled = [[way(each, holes, transfer.lowpass()) for each in pictures] for way in ways]
    all_edges: tuple[Edges, ...] = ("wrap", "mirror")
    shapes: tuple[ShapeName, ...] = ("ideal", "gaussian")
    rows = []
    for edges in all_edges:
        for shape in shapes:
            made = (
                ("low-pass 12px", transfer.lowpass("12px", shape=shape)),
                ("high-pass 60px", transfer.highpass("60px", shape=shape)),
                ("band-pass 96px 7px", transfer.bandpass("96px", "7px", shape=shape)),
            )
            for name, h in made:
                pairs = [zip(pictures, whole, strict=True) for whole in filled]
                of_ways = [np.mean([error(picture, holes, h, each, edges) for picture, each in pair]) for pair in pairs]
                rows.append((edges, shape, name, *(f"{each:.2f}" for each in of_ways)))
    return rows


@click.command(params=[device_option])
def command(device: str | None) -> None:
    """Print the errors of filters over pictures with holes, and the time of filling beside that of a filter."""
    rows = [
        (scene, name, *(f"{error(picture, holes, h, way(picture, holes, h)):.2f}" for way in WAYS.values()))
        for scene, (picture, holes) in scenes().items()
        for name, h in FILTERS.items()
    ]
    click.echo("rms error of the valid pixels, percent of the picture's deviation")
    click.echo(text_table(("scene", "filter", *WAYS), rows, right="..rrr"))
    click.echo(f"\nthe same around {len(TERRAINS)} turned terrains, mean")
    click.echo(text_table(("edges", "shape", "filter", "fftfilter", "best"), bounds(), right="...rr"))
    launcher, picture = Launcher(open_opencl(device)), photograph(0, LARGE)
    times: dict[str, list[float]] = {}
    with Filter(transfer.highpass("100%"), device=device, output="magnitude", edges="wrap") as f:
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
