"""``--preview``: a page on one picture, a contact sheet of a folder; ``--save-stages``: a pipeline's results."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import WriteError
from .options import check_option

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from ...files.sources import Identity
    from ...files.urls import Url
    from ...folders.jobs import Files, Outcome
    from ...folders.run import FolderRun
    from ...transfer import Transfer
    from ...work.opened import Frame, Opened
    from ...work.recipe import Recipe

# Up to this many parts of a kind are described one by one.
TOLD = 3
# Formats that hold colors and that every browser shows.
KINDS = (".png", ".jpg", ".webp")

preview_option = check_option(
    "--preview",
    metavar="FILE",
    short="Draw IN, the spectrum, OUT and what is removed on one page.",
    help="Draw IN, its spectrum with the filter over it, OUT and what is removed, side by side, as .png, .jpg or "
    ".webp; for a folder one row per file, at most 60, those that stand out among them.",
)


def check(preview: str, source: str, target: str) -> None:
    """Refuse, before any work, a preview that could not be written; raises FftfilterError."""
    from ... import images
    from ...files.urls import is_url

    if Path(preview).suffix.lower() not in KINDS:
        raise click.UsageError(f"--preview {preview}: give a name that ends in {', '.join(KINDS)}.")
    if not is_url(preview) and target != "-" and os.path.realpath(preview) == os.path.realpath(target):
        raise click.UsageError(f"--preview {preview} is OUT itself: give another name.")
    images.check_output(source, preview)


def check_of_folder(preview: str, source: Path | Url | Files, target: Path | Url) -> None:
    """Refuse, before any work, a contact sheet that could not be written, or among the files of a run."""
    from ...files.sources import identity
    from ...folders.jobs import Files, is_inside

    check(preview, "-", "-")
    own = Path(os.path.realpath(preview))
    folders = [folder for folder in (source, target) if isinstance(folder, Path)]
    names = source.names if isinstance(source, Files) else []
    is_input = identity(own) in map(identity, names) if own.exists() else False
    if is_input or any(is_inside(own.parent, folder) for folder in folders):
        raise click.UsageError(f"--preview {preview} lies among the pictures of IN or OUT: give another folder.")


def collected(outcomes: Iterator[Outcome], preview: str | None, run: FolderRun, files: int) -> Iterator[Outcome]:
    """Return outcomes as they are; at their end write the contact sheet, if one is wanted. Raises WriteError."""
    if preview is None:
        yield from outcomes
        return
    from ...preview.sheet import Sheet

    sheet = Sheet(files)
    for outcome in outcomes:
        if outcome.row:
            sheet.add(outcome.row)
        yield replace(outcome, row=None)
    transfer = run.recipe.transfer
    about = _about(transfer, run.recipe, nothing="the peaks of each taken out")
    _write(preview, sheet.picture(f"{run.source}   {about}"))


def write_page(
    preview: str, opened: Opened, frame: Frame, device: str | None, spare: Collection[Identity | None]
) -> None:
    """Write what a filter made of a picture; raises WriteError. ``spare`` are the inputs, which it must not replace."""
    from ...preview.page import page
    from ...preview.report import FilterReport
    from ...work.opened import filled

    given, made = frame.given, frame.picture
    assert given  # noqa: S101  it was kept for this
    _, height, width = given.planes.shape
    title = f"{Path(opened.name).name}{opened.middle_page}   {width} x {height}"
    about = _about(opened.transfer, opened.recipe).replace("n/8", f"n/8 = {min(height, width) / 8:g}")
    recipe, planes = opened.recipe, filled(given, frame.holes, device)
    weight = recipe.weight(height, width)
    report = FilterReport(planes, given.maxval, opened.transfer, recipe.edges, device, weight, recipe.channels)
    _write(preview, page(report, frame.shown(), made.maxval, title, about), spare)


def _about(transfer: Transfer, recipe: Recipe, nothing: str = "everything passes") -> str:
    """Return a filter in one line, with the number of parts of a kind that has many."""
    counts = Counter(part.plural for part in transfer.parts if part.plural)
    many = {plural: f"{count} {plural}" for plural, count in counts.items() if count > TOLD}
    others = [str(part) for part in transfer.parts if part.plural not in many]
    depth = "" if recipe.depth is None else f", depth {recipe.depth:g} dB"
    about = " * ".join([*others, *many.values()]) or nothing
    return about + depth + (f", {recipe.channels} alone" if recipe.channels else "")


def _write(preview: str, pixels: NDArray[Any], spare: Collection[Identity | None] = ()) -> None:
    from ... import images

    picture = images.Picture(pixels.transpose(2, 0, 1), None, 255, "PNG")
    images.write(picture, preview, coding=images.Coding(6), spare=spare)


class SavedSteps:
    """Writes each result that a pipeline shows it as a numbered PNG in a folder; none replaces one of ``spare``."""

    def __init__(self, folder: Path, spare: Collection[Identity | None]) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"{folder}: cannot be made ({error.strerror}): give another folder") from error
        from ...preview.steps import StepPictures

        self._folder, self._pictures, self._spare = folder, StepPictures(), spare
        self._count = 0

    def __call__(self, name: str, planes: NDArray[Any]) -> None:
        """Save planes ``(channels, height, width)`` as ``NN-name.png``."""
        from ... import images

        self._count += 1
        picture = images.Picture(self._pictures.pixels(name, planes), None, 255, "PNG")
        images.write(picture, self._folder / f"{self._count:02}-{name}.png", spare=self._spare)
