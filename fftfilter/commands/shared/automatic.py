"""Periodic structures: the spectrum that is searched for them, and ``--auto``, notches for those found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from posixpath import join
from typing import TYPE_CHECKING, Any

import click

from ...device_choice import devices_named
from ...errors import ParameterError, ReadError
from ...files.urls import without_file_scheme
from ...images.formats import is_zarr
from ...output.modes import EACH, FOLDER
from .folder import inputs_of, is_folder, refuse_options_of_folders
from .options import filter_option, pages_of, remark

if TYPE_CHECKING:
    from ...analysis.found import Peak
    from ...analysis.power import Spectrum
    from ...analysis.search import AutoNotches
    from ...transfer import Transfer
    from ...transfer.shapes import ShapeName
    from ...work.opened import Opened

AUTO = "--auto"
# Waves that are named without -v.
SAID = 4

automatic_option = partial(filter_option, group="Automatic")
auto_options = [
    automatic_option(
        f"{AUTO} [each|folder]",
        type=click.Choice([EACH, FOLDER]),
        short="Find the waves and remove them: each picture's own, or those of a folder.",
        help="Find the waves, as 'fftfilter peaks' does, and remove each from the color channels that have it (for "
        "--output magnitude and signed from all channels). In a folder, with each, every picture loses its own waves; "
        "with folder, those of the folder's mean spectrum.  [default: each]",
    ),
    automatic_option(
        "--strength DB",
        type=float,
        help="How far a wave has to stand out from the frequencies around it for --auto to remove it; 10 or more. A "
        "wave of fewer than 16 periods needs 6 dB more.  [default: 18]",
    ),
    automatic_option(
        "--insist",
        is_flag=True,
        help="With --auto, also remove waves that look like a part of the picture: lines of text, ruled paper, "
        "windows, bricks, fabric.",
    ),
    automatic_option(
        "--keep FX,FY",
        multiple=True,
        help="With --auto, leave this wave and its harmonics in the picture; given as for notch --at. May be repeated.",
    ),
    automatic_option(
        "--longest PX",
        type=float,
        help="With --auto, leave waves of longer periods in the picture, with their harmonics.  [default: no limit]",
    ),
    automatic_option(
        "--largest LEVELS",
        type=float,
        help="With --auto, leave waves of larger amplitudes, of 255; likewise.  [default: no limit]",
    ),
]

ignore_option = automatic_option(
    "--ignore MASK|X,Y,W,H",
    help="Stars, particles or text, by a mask that is not 0 there, or a rectangle. Waves, stripes, noise and the "
    "background of a high-pass are found in the other pixels, and taken from all.",
)
# Their names, without which a recipe has the notches that were found.
NAMES = [option.name for option in auto_options]


def take_options(given: dict[str, Any], name: str) -> tuple[str | None, AutoNotches | None]:
    """Take --auto and what is for it from the options of a command, and check them with --at; raises FftfilterError."""
    if "auto" not in given:
        return None, None
    asked = {option: given.pop(option) for option in NAMES}
    mode = asked.pop("auto")
    if name == "stripes" and not given["angle"]:
        if mode is None:
            raise click.UsageError(f"no stripes are given: give --angle, or {AUTO} to have them found.")
        if mode == FOLDER:
            raise click.UsageError(f"{AUTO} {FOLDER} is for waves: leave {FOLDER} out, or give --angle.")
        given["angle"], mode = ("auto",), None
    if mode is None:
        if others := [option for option, value in asked.items() if value or type(value) is float]:
            raise click.UsageError(f"--{others[0]} is for the waves that {AUTO} finds: give {AUTO} as well.")
        if not (given.get("at", True) or given["times"]):
            raise click.UsageError(f"no peak is given: give --at, or {AUTO} to have them found.")
        return None, None
    from ...analysis.search import AutoNotches
    from ...transfer.fitted import USUAL_STRENGTH

    strength, insists = asked.pop("strength"), asked.pop("insist")
    shape: ShapeName = given["shape"] if name == "notch" else "gaussian"
    wanted = AutoNotches(USUAL_STRENGTH if strength is None else strength, shape, insists=insists, **asked)
    return mode, AutoNotches.of(wanted, given["output"], given.get("channels"))


def of_sources(
    sources: Sequence[str], given: Mapping[str, Any], device: str | None = None, *, failures: bool = True
) -> tuple[Spectrum, tuple[float, float] | None, bool]:
    """Return the spectrum of a picture, or the mean of a folder's, of several, or of the pages of a file.

    Behind it, return the sides of a pixel in meters, if they are known, and whether all files were read. ``given`` are
    the values of options. Prints a line on each file that failed, if ``failures``, and on cropped pictures; raises
    FftfilterError.
    """
    from ...folders.jobs import Files
    from ...folders.mean_spectrum import mean_spectrum, opened, pixel_of
    from ...folders.progress import Progress
    from ...region import area_of
    from ...work.missing import unmeasured
    from ...work.opened import spectrum_of

    sources = [without_file_scheme(each) for each in sources]
    pages, quiet = pages_of(given), given["quiet"]
    of_folders = {"recursive": given["recursive"], "pattern": given["pattern"]}
    ignore = None if given["ignore"] is None else area_of(given["ignore"], "ignore")
    if len(sources) == 1 and (is_zarr(sources[0]) or not is_folder(sources[0])):
        refuse_options_of_folders(sources, **of_folders)
        found = opened(sources[0], pages, given["input_limit"])
        holes = partial(unmeasured, name=sources[0], ignore=ignore)
        return spectrum_of(found, device=device, holes=holes), pixel_of(found), True
    tree = inputs_of(sources, **of_folders, says_so=failures)
    try:
        names = [branch.file(name) for branch in tree.walk() for name in branch.names]
    except OSError as error:
        raise ReadError(f"{sources[0]}: cannot be listed: {error.strerror}; check its name and permissions") from error
    progress = Progress(len(names), quiet=quiet)
    made = mean_spectrum(names, progress.advance, pages, device, ignore)
    progress.clear()
    made.failed += [f"{join(str(tree), path)}: {why}" for path, why in tree.failed.items()]
    remark(*made.failed, quiet=not failures)
    if made.spectrum is None:
        raise (ReadError if made.failed else ParameterError)(f"{sources[0]}: no picture to search for peaks")
    remark(*made.notes(), quiet=quiet)
    left_out = isinstance(tree, Files) and tree.folders
    return made.spectrum, made.pixel, not (made.failed or left_out)


def of_folder(auto: AutoNotches, sources: Sequence[str], given: dict[str, Any]) -> Transfer:
    """Return the notches for all pictures of a folder, and say which; raises FftfilterError."""
    from ...analysis.search import notches

    if len(sources) == 1 and not is_folder(sources[0]):
        raise click.UsageError(f"{AUTO} {FOLDER} is for folders, and IN is a file: leave {FOLDER} out.")
    mean, *_ = of_sources(sources, given, devices_named(given["device"])[0], failures=False)
    found, content = auto.peaks(mean)
    if not given["quiet"]:
        _say(found, content, auto, f"{mean.pictures} pictures", verbose=given["verbose"])
    return notches(found, auto.shape, given["edges"], given["depth"], given["channels"])


def say_of(opened: Opened, *, quiet: bool, verbose: int) -> None:
    """Say which waves are taken out of a file; raises ParameterError for a picture that is too small."""
    if opened.too_few:
        from ...analysis.search import SMALLEST

        raise ParameterError(f"{opened.too_few}: give at least {SMALLEST} a side")
    if opened.recipe.auto and not quiet:
        what = "found" if opened.transfer.is_complement else "removed"
        _say(opened.peaks or [], opened.content, opened.recipe.auto, opened.name, verbose=verbose, what=what)


def _say(
    found: Sequence[Peak], content: int, auto: AutoNotches, name: str, *, verbose: int, what: str = "removed"
) -> None:
    from ...analysis.search import peaks_text

    if content:
        remark(f"{name}: {auto.left(content)}")
    if found:
        click.echo(f"{name}: {what} {peaks_text(found, None if verbose else SAID)}", err=True)
    elif not content:
        remark(f"{name}: {auto.nothing}")
