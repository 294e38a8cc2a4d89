"""Lines and bands on photographs: ``python -m benchmarks.bands`` prints the rms error that ``stripes`` leaves.

Eight photographs of scikit-image get an offset of 5 levels (standard deviation) for each band of rows, and noise of 1
level. Then the same lines are repaired in 8 bits, in a part of 16 bits and in small floats. Their middles get bands
that all of them have, and are repaired each by itself and together. At last the photographs get hum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np
from skimage import data

from fftfilter import Filter
from fftfilter import transfer as H  # noqa: N812  as in formulas
from fftfilter.text import text_table

from .command import main

if TYPE_CHECKING:
    from typing import Any, Literal

    from numpy.typing import NDArray

    Plane = NDArray[np.float64]

NAMES = ("camera", "chelsea", "astronaut", "coffee", "moon", "rocket", "grass", "retina")
ROWS = (0, 1, 2, 4, 8, 16, 32)
# The side of the middles that have bands in common.
SIDE = 300


def photograph(name: str) -> Plane:
    """Return a gray photograph from 20 to 224."""
    picture = np.asarray(getattr(data, name)(), np.float64)
    gray = picture if picture.ndim == 2 else picture[..., :3] @ [0.299, 0.587, 0.114]
    return np.asarray(20 + 0.8 * (gray[300:1100, 300:1100] if name == "retina" else gray), np.float64)


def banded(truth: Plane, rows: int, seed: int, levels: float = 5) -> Plane:
    """Return a picture, or pictures alike, with an offset for each band of so many rows, and noise."""
    rng, height = np.random.default_rng(seed), truth.shape[-2]
    offsets = np.repeat(rng.normal(0, levels if rows else 0, height), max(rows, 1))[:height]
    return np.asarray(
        np.clip(np.rint(truth + (offsets - offsets.mean())[:, None] + rng.normal(0, 1, truth.shape)), 0, 255)
    )


def repaired(picture: NDArray[Any], angle: float | Literal["auto"]) -> tuple[Plane, str]:
    """Return what ``stripes`` makes of a picture, and what it says."""
    with Filter(H.stripes(angle), output="keep", edges="mirror") as f:
        return np.asarray(f(picture, white=1) if picture.dtype.kind == "f" else f(picture), np.float64), f.notes()[0]


def in_common(seed: int) -> list[list[str]]:
    """Return rows of a table: what is left of bands that eight pictures have in common, in each and in all together."""
    photographs = [photograph(name) for name in NAMES]
    truth, table = np.stack([each[len(each) // 2 - SIDE // 2 :][:SIDE, :SIDE] for each in photographs]), []
    for rows in (1, 4, 16):
        for levels in (0.5, 1, 2, 5):
            faulty = banded(truth, rows, seed, levels).astype(np.uint8)
            each = [repaired(picture, "auto")[0] for picture in faulty]
            together = Filter(H.stripes("auto", fixed_pattern="pages"), output="keep", edges="mirror")(faulty)
            left = (np.asarray(made - truth).mean(axis=2) for made in (faulty, np.stack(each), together))
            cells = [f"{np.std(rows_of, axis=1).mean():.2f}" for rows_of in left]
            table.append([f"{rows} rows, {levels:g} levels", *cells])
    return table


def with_hum(seed: int) -> list[list[str]]:
    """Return rows of a table: how many upright, level and slanted hums of each period and amplitude are found."""
    rng, table = np.random.default_rng(seed), []
    for period in (15, 20, 30, 40, 50, 60):
        cells = []
        for amplitude in (6, 12, 25):
            found = {"along an axis": 0, "slanted": 0}
            for name in NAMES:
                truth = photograph(name)
                y, x = np.indices(truth.shape)
                for kind, angle in (("along an axis", rng.choice((0.0, 90.0))), ("slanted", rng.uniform(5, 85))):
                    across, phase = x * np.sin(np.radians(angle)) + y * np.cos(np.radians(angle)), rng.uniform(0, 6)
                    faulty = truth + amplitude * np.sin(2 * np.pi * across / period + phase) + rng.normal(0, 1, y.shape)
                    made, _ = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), "auto")
                    found[kind] += rms(made, truth) < 0.7 * rms(faulty, truth)
            cells += [f"{count} of {len(NAMES)}" for count in found.values()]
        table.append([f"{period} px", *cells[::2], *cells[1::2]])
    return table


def rms(picture: NDArray[Any], truth: Plane) -> float:
    """Return the root mean square error."""
    return float(np.sqrt(np.mean((picture - truth) ** 2)))


@click.command()
@click.option("--seed", default=1, help="Another seed of the offsets and the noise.")
def bands(*, seed: int) -> None:
    """Repair photographs with bands, and print the rms error in levels: the mean of eight, and the worst."""
    truths = [photograph(name) for name in NAMES]
    table = []
    for rows in ROWS:
        errors: dict[str, list[float]] = {"faulty": [], "--auto": [], "--angle 0": []}
        found = 0
        for number, truth in enumerate(truths):
            faulty = banded(truth, rows, 100 * seed + number).astype(np.uint8)
            by_auto, said = repaired(faulty, "auto")
            found += " at 0 degrees, " in said
            errors["faulty"].append(rms(faulty, truth))
            errors["--auto"].append(rms(by_auto, truth))
            errors["--angle 0"].append(rms(repaired(faulty, 0)[0], truth))
        cells = (f"{np.mean(each):.2f} ({max(each):.2f})" for each in errors.values())
        table.append([f"bands of {rows} rows" if rows else "none", *cells, f"{found} of {len(truths)}"])
    click.echo(text_table(["", "faulty", "--auto", "--angle 0", "found"], table, right=".rrrr"))
    lines = truths[0] + np.random.default_rng(seed).normal(0, 4, len(truths[0]))[:, None]
    for name, picture, unit, zero in (
        ("8 bits", np.rint(lines).clip(0, 255).astype(np.uint8), 1.0, 0.0),
        ("16 bits, 100 + 2 counts a level", np.rint(100 + 2 * lines).astype(np.uint16), 2.0, 100.0),
        ("floats of 1e-6", (lines * 1e-6).astype(np.float32), 1e-6, 0.0),
    ):
        made, said = repaired(picture, "auto")
        left = (made - zero) / unit - truths[0]
        of_rows = np.std(left.mean(axis=1))  # in which the rounding of pixels, before and after, has no part
        click.echo(f"{name}: {np.sqrt(np.square(left).mean()):.2f} left, {of_rows:.2f} of rows' means; {said}")
    click.echo("\nBands in common: standard deviation of the error of rows' means")
    click.echo(text_table(["", "faulty", "--auto", "--fixed-pattern pages"], in_common(seed), right=".rrr"))
    click.echo("\nHum found: of 6, 12 and 25 levels along rows or columns, then slanted")
    click.echo(text_table(["", *("6", "12", "25") * 2], with_hum(seed), right=".rrrrrr"))


if __name__ == "__main__":
    main(bands)
