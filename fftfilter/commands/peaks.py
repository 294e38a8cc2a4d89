"""``peaks``: find the periodic structures of a picture, or of the pictures of a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from posixpath import join
from typing import TYPE_CHECKING, Any

import click

from ..errors import ImageError, ParameterError, ReadError, without_secrets
from ..files.messages import Progress
from ..files.urls import without_file_scheme
from ..images.formats import is_zarr
from ..text import INCH, Angle, length_text, text_table
from . import options as shared
from .folder import files_in, inputs_of, is_folder, refuse_options_of_folders

if TYPE_CHECKING:
    from ..analysis.found import Peak
    from ..analysis.power import Spectrum

# Meters; smaller pixels are those of microscopes.
PIXEL_OF_PRINTS = 5e-6

search_option = partial(shared.GroupedOption, group="Search")


@click.command(cls=shared.GroupedCommand)
@click.argument("sources", metavar="IN...", nargs=-1, required=True, shell_complete=shared.file_names)
@search_option(
    "--strength DB",
    type=float,
    everyday=True,
    help="The least strength of a wave; 10 or more. One of fewer than 16 periods needs 6 dB more.  [default: 18]",
)
@search_option(
    "--pixel-size LENGTH",
    everyday=True,
    help="The size of a pixel, for periods in physical units: 65nm, 300dpi.  [default: what the file says]",
)
@shared.ignore_option
@shared.several(*shared.missing_options)
@shared.folder_option("-r", "--recursive", is_flag=True, everyday=True, help="Search folders in IN, too.")
@shared.folder_option("--pattern GLOB", multiple=True, help="Only files whose name matches.")
@shared.GroupedOption("-q", "--quiet", is_flag=True, help="Print no progress and no notes, only errors.")
@shared.GroupedOption("--json", "as_json", is_flag=True, everyday=True, help="Print all properties as JSON.")
@shared.pages_option
@shared.several(*shared.reading_options)
@shared.input_limit_option
@shared.verbose_option
def peaks(
    *, sources: tuple[str, ...], strength: float | None, pixel_size: str | None, as_json: bool, **given: Any
) -> int:
    """Find the waves in a picture: screens of prints, moire, hum.

    Prints a line for each wave, the strongest first, and the command that removes them all.

    \b
    period     from crest to crest; also in mm and lines per inch if the
               size of a pixel is known
    angle      of the stripes, counterclockwise; 0 is horizontal
    fx, fy     cycles per pixel to the right and down, for 'notch --at'
    strength   in dB above the frequencies around it
    amplitude  of the wave, in the values of the file
    channels   that have the wave, in a color picture
    harmonics  multiples of the wave that were found, too

    For a folder, several IN or a file with pages, it searches the mean of all spectra.

    \b
    Example: fftfilter peaks scan.png
             fftfilter peaks --json --strength 25 scans/
    """
    from ..analysis.search import SMALLEST, nothing_of, peaks_of, too_few
    from ..transfer.fitted import USUAL_STRENGTH, WEAKEST, checked_strength
    from ..transfer.units import parse_pixel_size

    wanted = USUAL_STRENGTH if strength is None else strength
    checked_strength(wanted)
    size = parse_pixel_size(pixel_size) if pixel_size else None
    if size and isinstance(size[0], Angle):
        raise click.UsageError(f"--pixel-size {pixel_size} is an angle, and periods are lengths: give one, or none.")
    mean, pixel, is_whole = spectrum_of_sources(sources, given)
    pixel = size or pixel
    name = without_secrets(sources[0]) if len(sources) == 1 else "IN"
    if few := too_few(mean):
        raise ImageError(f"{name}: {few}: give at least {SMALLEST} a side")
    found = peaks_of(mean, wanted)
    if as_json:
        import json

        described = [each.described() | (_in_meters(each, pixel) if pixel else {}) for each in found]
        about = {"width": mean.width, "height": mean.height, "pictures": mean.pictures, "pixel_size_m": pixel}
        click.echo(json.dumps({"peaks": described, **about, "strength_db": wanted}, indent=2))
    elif found:
        click.echo(table(found, pixel))
        at = " ".join(f"--at {each.at}" for peak in found for each in peak.all())
        click.echo(f"\nfftfilter notch {at} {shlex.quote(name)} OUT")
        if not all(each.is_in_all for peak in found for each in peak.all()):
            auto = "--auto folder" if len(sources) > 1 or is_folder(sources[0]) else "--auto"
            auto += "" if strength is None else f" --strength {strength:g}"
            click.echo(f"fftfilter notch {auto} {shlex.quote(name)} OUT  # each from its own channels only")
    else:
        searched_in = name if len(sources) == 1 else f"{mean.pictures} picture{'s' if mean.pictures > 1 else ''}"
        click.echo(f"{searched_in}: {nothing_of(wanted)}" + ": try --strength 10 for weaker ones" * (wanted > WEAKEST))
    return 0 if is_whole else 1


def spectrum_of_sources(
    sources: Sequence[str],
    given: Mapping[str, Any],
    device: str | int | None = None,
    *,
    failures: bool = True,
    **how: Any,
) -> tuple[Spectrum, tuple[float, float] | None, bool]:
    """Return the spectrum of a picture, or the mean of a folder's, of several, or of the pages of a file.

    Behind it, return the sides of a pixel in meters, if they are known, and whether all files were read. ``given`` are
    the values of options, ``how`` those of :func:`~fftfilter.analysis.power.spectrum`. Prints a line on each file that
    failed, if ``failures``, and on cropped pictures; raises FftfilterError.
    """
    from ..folders.jobs import Files
    from ..folders.mean_spectrum import mean_spectrum, opened, pixel_of
    from ..region import area_of
    from ..work.opened import spectrum_of
    from ..work.recipe import Missing, unmeasured

    sources = [without_file_scheme(each) for each in sources]
    pages, quiet = shared.pages_of(given), given["quiet"]
    of_folders = {"recursive": given["recursive"], "pattern": given["pattern"]}
    ignore = None if given["ignore"] is None else area_of(given["ignore"], "ignore")
    holes = partial(unmeasured, ignore=ignore, missing=Missing.of(given["nodata"], given["missing"]))
    if len(sources) == 1 and (is_zarr(sources[0]) or not is_folder(sources[0])):
        refuse_options_of_folders(sources, **of_folders)
        found = opened(sources[0], pages, given["input_limit"])
        return spectrum_of(found, device=device, holes=partial(holes, name=sources[0]), **how), pixel_of(found), True
    tree = inputs_of(sources, **of_folders, says_so=failures)
    names = files_in(tree, sources[0])
    progress = Progress(len(names), quiet=quiet)
    made = mean_spectrum(names, progress.advance, pages, device=device, holes=holes, how=how)
    progress.clear()
    made.failed += [f"{join(str(tree), path)}: {why}" for path, why in tree.failed.items()]
    shared.remark(*made.failed, quiet=not failures)
    if made.spectrum is None:
        raise (ReadError if made.failed else ParameterError)(f"{sources[0]}: no picture to search for peaks")
    shared.remark(*made.notes(), quiet=quiet)
    left_out = isinstance(tree, Files) and tree.folders
    return made.spectrum, made.pixel, not (made.failed or left_out)


def _in_meters(peak: Peak, pixel: tuple[float, float]) -> dict[str, float]:
    return {"period_m": peak.length(pixel), "cycles_per_m": 1 / peak.length(pixel)}


def table(found: list[Peak], pixel: tuple[float, float] | None) -> str:
    """Return peaks as a table; ``pixel`` has the width and the height of a pixel in meters, if known."""
    columns: dict[str, list[str]] = {"period": [f"{each.period_px:.2f} px" for each in found]}
    if pixel:
        columns["length"] = [length_text(each.length(pixel)) for each in found]
        if max(pixel) >= PIXEL_OF_PRINTS:
            columns["lpi"] = [f"{INCH / each.length(pixel):.1f}" for each in found]
    columns |= {
        "angle": [f"{each.angle_deg:.1f}" for each in found],
        "fx": [f"{each.fx:.5f}" for each in found],
        "fy": [f"{each.fy:.5f}" for each in found],
        "strength": [f"{each.strength_db:.1f} dB" for each in found],
        "amplitude": [each.amount.removesuffix(" levels") for each in found],
    }
    numbers = len(columns)
    if found[0].searched > 1:
        columns["channels"] = [each.colors for each in found]
    columns["harmonics"] = [" ".join(one.name for one in each.harmonics) for each in found]
    return text_table(list(columns), list(zip(*columns.values(), strict=True)), right="r" * numbers)
