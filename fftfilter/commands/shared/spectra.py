"""The power spectrum of what a command is given: of one picture, or the mean of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from ...errors import ParameterError, ReadError
from .inputs import files_of, is_folder, refuse_options_of_folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...analysis.power import Spectrum
    from ...images import Asked


class Searched(NamedTuple):
    """What peaks are looked for in."""

    spectrum: Spectrum
    pixel: tuple[float, float] | None
    """The sides of a pixel in meters, if they are known."""
    is_whole: bool
    """Whether all files were read."""


def of_sources(
    sources: Sequence[str],
    strength: float,
    *,
    recursive: bool = False,
    pattern: Sequence[str] = (),
    quiet: bool = False,
    limit: int | None = None,
    failures: bool = True,
    pages: Asked | None = None,
    device: str | None = None,
) -> Searched:
    """Return the spectrum of a picture, or the mean of a folder's, of several, or of the pages of a file.

    Files that were not are told, unless ``failures`` is False, and pictures that were cropped. Raises FftfilterError.
    """
    from ...analysis.search import check_strength
    from ...files.urls import place, without_file_scheme
    from ...folders.mean_spectrum import mean_spectrum, opened, pixel_of
    from ...folders.progress import Progress
    from ...folders.tree import Files, Tree
    from ...images import extensions
    from ...work.opened import spectrum_of

    check_strength(strength)
    sources = [without_file_scheme(each) for each in sources]
    of_folder = len(sources) == 1 and is_folder(sources[0])
    if not of_folder:
        refuse_options_of_folders(sources, recursive=recursive, pattern=pattern)
    if len(sources) == 1 and not of_folder:
        found = opened(sources[0], pages, limit)
        return Searched(spectrum_of(found, device=device), pixel_of(found), is_whole=True)
    tree: Tree | Files = (
        Tree(place(sources[0]), extensions(read_only=True), recursive, pattern) if of_folder else files_of(sources)
    )
    try:
        names = [branch.file(name) for branch in tree.walk() for name in branch.names]
    except OSError as error:
        raise ReadError(f"{sources[0]}: cannot be listed: {error.strerror}; check its name and permissions") from error
    progress = Progress(len(names), quiet=quiet)
    made = mean_spectrum(names, progress.advance, pages, device)
    progress.clear()
    for line in made.failed if failures else ():
        click.echo(f"fftfilter: {line}", err=True)
    if made.spectrum is None:
        raise (ReadError if made.failed else ParameterError)(f"{sources[0]}: no picture to look for peaks in")
    for line in () if quiet else made.notes():
        click.echo(f"fftfilter: {line}", err=True)
    return Searched(made.spectrum, made.pixel, is_whole=not made.failed)
