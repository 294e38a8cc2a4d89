"""Restoration beside other ways: ``python -m benchmarks.restoration`` repairs pictures with known faults.

The table has the PSNR in dB, the structural similarity, what a method does to the picture without the fault, and the
processor's seconds. ``--sheet FILE`` draws crops to look at, ``--layouts`` tries pictures that have no fault.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from fftfilter import Filter
from fftfilter import transfer as H  # noqa: N812  as in formulas
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.text import text_table

from .by_others import restoration as others
from .command import main
from .faults import Case, gray_of, image_of, levels_of, prints, stripes, waves
from .instruments import light_sheets_and_scans, sinograms
from .layouts import layouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Planes = NDArray[np.float64]
    Repair = Callable[[Planes], Planes]

OURS, AUTO, BLUR = "fftfilter", "--auto", "best blur"
UPRIGHT = 90.0
# Crops of the sheet: the case, and the left and top corner; a side in pixels, and how much it is enlarged.
CROPS = (
    ("rosettes of 6 px", 150, 40),
    ("newspaper of 5 px", 180, 60),
    ("full, camera", 180, 60),
    ("partial, chelsea", 150, 60),
    ("50 levels, 7.6 px", 180, 60),
)
SIDE, ENLARGED, SHOWN = 90, 2, 5
# The side in pixels of parts in which dots are looked for, and the least brightness of such parts.
PART, DARKEST = 64, 40


@dataclass(eq=False)
class Result:
    """What a method made of a picture."""

    picture: Planes
    psnr: float
    ssim: float
    clean: float | None
    """The PSNR of what it makes of the true picture; None if it needs the truth."""
    seconds: float
    dots: tuple[float, float]
    """What is left of a print's dots in flat parts: in dB above what is around it, and in gray levels."""


@dataclass(eq=False)
class Group:
    """The cases of a kind of fault, with the results of each method."""

    name: str
    cases: list[Case] = field(default_factory=list)
    results: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))

    def add(self, case: Case, repairs: dict[str, Repair]) -> None:
        """Repair a picture by each method."""
        self.cases.append(case)
        for name, repair in repairs.items():
            began = time.process_time()
            made = levels_of(repair(case.faulty))
            seconds = time.process_time() - began
            clean = None if name == BLUR else psnr(levels_of(repair(case.truth)), case.truth)
            dots = dots_left(made, case)
            result = Result(made, psnr(made, case.truth), ssim(made, case.truth), clean, seconds, dots)
            self.results[name].append(result)


def psnr(picture: Planes, truth: Planes) -> float:
    """Return the peak signal-to-noise ratio in dB, at most 99."""
    return min(99.0, float(10 * np.log10(255**2 / max(float(np.mean((picture - truth) ** 2)), 1e-9))))


def ssim(picture: Planes, truth: Planes) -> float:
    """Return the structural similarity of the brightness, under a Gaussian window of 1.5 pixels.

    Source: Z. Wang and others, Image quality assessment: from error visibility to structural similarity (2004).
    """
    x, y = gray_of(picture)[0], gray_of(truth)[0]

    def mean(plane: NDArray[np.float64]) -> NDArray[np.float64]:
        return others.smoothed(plane, 1.5)

    mx, my = mean(x), mean(y)
    vx, vy, covariance = mean(x * x) - mx**2, mean(y * y) - my**2, mean(x * y) - mx * my
    low, high = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    similar = (2 * mx * my + low) * (2 * covariance + high) / ((mx**2 + my**2 + low) * (vx + vy + high))
    return float(similar.mean())


def dots_left(picture: Planes, case: Case) -> tuple[float, float]:
    """Return what is left of a print's dots in the flattest tenth of its parts: the strongest screen's.

    The first number is the power of the error at a screen's frequency, in dB above that around it; the second the
    amplitude in gray levels.
    """
    error, truth = (gray_of(picture) - gray_of(case.truth))[0], gray_of(case.truth)[0]
    corners = np.mgrid[: truth.shape[0] - PART + 1 : PART // 2, : truth.shape[1] - PART + 1 : PART // 2]
    parts = [np.s_[y : y + PART, x : x + PART] for y, x in corners.reshape(2, -1).T]
    parts = [part for part in parts if DARKEST < truth[part].mean() < 255 - DARKEST]  # where there are dots
    flat = sorted(parts, key=lambda part: float(truth[part].std()))[: max(4, len(parts) // 10)]
    window = np.outer(np.hanning(PART), np.hanning(PART))
    power = np.mean([np.abs(np.fft.fft2((error[part] - error[part].mean()) * window)) ** 2 for part in flat], axis=0)
    ky, kx = (np.fft.fftfreq(PART, 1 / PART).reshape(shape) for shape in ((-1, 1), (1, -1)))
    found = [(-99.0, 0.0)]
    for fx, fy in case.screens:
        away = np.minimum(*(np.hypot(kx - sign * fx * PART, ky - sign * fy * PART) for sign in (1, -1)))
        at, around = power[away < 1.2], power[(away > 3.5) & (away < 8)].mean()
        found.append((float(10 * np.log10(at.mean() / around)), float(2 * np.sqrt(at.max()) / window.sum())))
    return max(found)


def by_planes(method: others.Method) -> Repair:
    """Return a method of planes for pictures with channels."""
    return lambda planes: np.stack([method(plane) for plane in planes])


def of_prints(case: Case) -> dict[str, Repair]:
    """Return the methods for prints."""

    def ours(planes: Planes) -> Planes:
        with DescreenFilter(H.descreen()) as made:
            return np.asarray(made(planes.astype(np.uint8), channel_axis=0), np.float64)

    repairs = {name: by_planes(method) for name, method in others.of_waves().items()}
    return {OURS: ours, BLUR: lambda faulty: others.best_blur(faulty, case.truth), **repairs}


def of_stripes(case: Case) -> dict[str, Repair]:
    """Return the methods for stripes; those for upright ones take slanted ones from the turned picture."""

    def at(angle: float | Literal["auto"]) -> Repair:
        def repair(planes: Planes) -> Planes:
            with Filter(H.stripes(angle), output="keep", edges="mirror") as made:
                return np.asarray(made(planes.astype(np.uint8), channel_axis=0), np.float64)

        return repair

    def turned(method: others.Method) -> others.Method:
        if case.angle == UPRIGHT:
            return method

        def repair(plane: NDArray[np.float64]) -> NDArray[np.float64]:
            height, width = plane.shape
            margin = max(height, width) // 2
            whole = Image.fromarray(np.pad(plane, margin, "symmetric").astype(np.float32))
            upright = np.asarray(whole.rotate(UPRIGHT - case.angle, Image.Resampling.BICUBIC), np.float64)
            removed = Image.fromarray((upright - method(upright)).astype(np.float32))
            back = np.asarray(removed.rotate(case.angle - UPRIGHT, Image.Resampling.BICUBIC), np.float64)
            return plane - back[margin : margin + height, margin : margin + width]

        return repair

    repairs = {name: by_planes(turned(method)) for name, method in others.of_stripes().items()}
    return {OURS: at(case.angle), AUTO: at("auto"), **repairs}


def of_waves(case: Case) -> dict[str, Repair]:
    """Return the methods for waves."""

    def ours(planes: Planes) -> Planes:
        with Filter(H.Transfer(()), output="keep", edges="mirror", auto=True) as made:
            return np.asarray(made(planes.astype(np.uint8), channel_axis=0), np.float64)

    repairs = {name: by_planes(method) for name, method in others.of_waves().items()}
    return {OURS: ours, BLUR: lambda faulty: others.best_blur(faulty, case.truth), **repairs}


KINDS: dict[str, tuple[Callable[[], Iterator[Case]], Callable[[Case], dict[str, Repair]]]] = {
    "prints": (prints, of_prints),
    "stripes": (stripes, of_stripes),
    "sinograms": (sinograms, of_stripes),
    "light sheets, scans": (light_sheets_and_scans, of_stripes),
    "waves": (waves, of_waves),
}


def table(group: Group, *, markdown: bool) -> str:
    """Return a group's results: the PSNR and SSIM of each case, then means."""
    names = list(group.results)
    results = [group.results[name] for name in names]
    before = [psnr(case.faulty, case.truth) for case in group.cases]
    rows = []
    for i, case in enumerate(group.cases):
        rows.append([case.name, f"{before[i]:.1f}", *(f"{each[i].psnr:.1f} {each[i].ssim:.3f}" for each in results)])
    means = (f"{np.mean([one.psnr for one in each]):.1f} {np.mean([one.ssim for one in each]):.3f}" for each in results)
    rows.append(["mean", f"{np.mean(before):.1f}", *means])
    ours = [one.psnr for one in results[0]]
    gains = [
        np.subtract(ours, [one.psnr for one in each]) if name != AUTO else None for name, each in group.results.items()
    ]
    ahead = (f"{each.mean():+.1f} {each.min():+.1f}" if each is not None else "" for each in gains[1:])
    rows.append(["ahead: mean, least", "", "", *ahead])
    cleans = [[one.clean for one in each if one.clean is not None] for each in results]
    rows.append(["pictures without it", "", *(f"{np.mean(each):.1f}" if each else "" for each in cleans)])
    if group.cases[0].screens:
        dots = [np.array([one.dots for one in each]) for each in results]
        rows.append(
            ["dots left in dB: mean, most", "", *(f"{each[:, 0].mean():.1f} {each[:, 0].max():.1f}" for each in dots)]
        )
        rows.append(
            ["in levels: mean, most", "", *(f"{each[:, 1].mean():.1f} {each[:, 1].max():.1f}" for each in dots)]
        )
    rows.append(["seconds", "", *(f"{np.mean([one.seconds for one in each]):.2f}" for each in results)])
    header = [group.name, "faulty", *names]
    if not markdown:
        return text_table(header, rows, right="." + "r" * (len(header) - 1))
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sheet(groups: list[Group]) -> Image.Image:
    """Return crops side by side, enlarged: the truth, the faulty picture, and what each method made of it."""
    side, font = SIDE * ENLARGED, ImageFont.load_default(13)
    page = Image.new("RGB", (SHOWN * (side + 6) - 6, len(CROPS) * (side + 22)), "white")
    draw = ImageDraw.Draw(page)
    for row, (name, left, top) in enumerate(CROPS):
        group, i = next((group, i) for group in groups for i, case in enumerate(group.cases) if case.name == name)
        case = group.cases[i]
        made = [(f"{name}: {each[i].psnr:.1f} dB", each[i].picture) for name, each in group.results.items()]
        panels = [("truth", case.truth), (f"{name}: {psnr(case.faulty, case.truth):.1f} dB", case.faulty), *made]
        for column, (label, planes) in enumerate(panels[:SHOWN]):
            crop = image_of(planes).convert("RGB").crop((left, top, left + SIDE, top + SIDE))
            x, y = column * (side + 6), row * (side + 22)
            page.paste(crop.resize((side, side), Image.Resampling.NEAREST), (x, y))
            draw.text((x + 2, y + side + 3), label.replace("ü", "ue"), "black", font)  # which the font lacks
    return page


def unharmed() -> str:
    """Return what ours make of layouts that are no faults: the PSNR beside the picture as it was."""
    rows = []
    for name, planes in layouts():
        case = Case(name, planes, planes)
        of_both = of_stripes(case)
        repairs = [of_prints(case)[OURS], of_waves(case)[OURS], of_both[OURS], of_both[AUTO]]
        rows.append([name, *(f"{psnr(levels_of(repair(planes)), planes):.1f}" for repair in repairs)])
    return text_table(["no fault", "descreen", "notch --auto", "stripes", "stripes --auto"], rows, right=".rrrr")


@click.command()
@click.option("--markdown", is_flag=True, help="Print the tables for a document.")
@click.option("--sheet", "to", type=click.Path(path_type=Path), help="Draw crops into this picture.")
@click.option(
    "--layouts", "with_layouts", is_flag=True, help="Try pictures with regular layouts that are no faults, too."
)
@click.option("--only", type=click.Choice(list(KINDS)), help="Only this kind of fault.")
def restoration(*, markdown: bool, to: Path | None, with_layouts: bool, only: str | None) -> None:
    """Repair pictures with known faults, and print how near each method comes to the truth: PSNR in dB, and SSIM."""
    groups = []
    for name, (cases, repairs) in KINDS.items():
        if only in (None, name):
            groups.append(Group(name))
            for case in cases():
                groups[-1].add(case, repairs(case))
            click.echo(f"{table(groups[-1], markdown=markdown)}\n")
    if with_layouts:
        click.echo(unharmed())
    if to and only is None:
        sheet(groups).save(to, quality=60)


if __name__ == "__main__":
    main(restoration)
