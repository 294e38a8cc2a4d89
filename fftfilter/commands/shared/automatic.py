"""``notch --auto``: the notches that a picture needs, or all pictures of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...errors import ParameterError
from ...output.modes import MODES
from .options import combined, filter_option, pages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...analysis.automatic import AutoNotches
    from ...analysis.found import Peak
    from ...transfer import Transfer
    from ...work.opened import Opened

AUTO = "--auto"
EACH, FOLDER = "each", "folder"

auto_options = combined(
    filter_option(
        AUTO,
        type=click.Choice([EACH, FOLDER]),
        metavar="[each|folder]",
        short="Find the waves and remove them: those of each picture, or of a folder.",
        help="Find the waves, as 'fftfilter peaks' does, and remove each from the color channels that have it (from "
        "all of them for --output magnitude and signed). In a folder: from each picture its own waves, or from all "
        "those of the folder's mean spectrum.  [default: each]",
    ),
    filter_option(
        "--strength",
        type=float,
        metavar="DB",
        help="The least strength of a wave for --auto: how far it stands out from the frequencies around it; 10 or "
        "more. One of fewer than 16 periods needs 6 dB more.  [default: 18]",
    ),
)


def take_options(given: dict[str, Any]) -> tuple[str | None, AutoNotches | None]:
    """Take --auto and --strength from the options of a command, and check them with --at; raises FftfilterError."""
    mode, strength = given.pop("auto", None), given.pop("strength", None)
    if mode is None:
        if strength is not None:
            raise click.UsageError(f"--strength is that of what {AUTO} finds: give {AUTO}, too.")
        if "at" in given and not given["at"]:
            raise click.UsageError(f"no peak is given: give --at, or {AUTO} to have them found.")
        return None, None
    from ...analysis.automatic import AutoNotches
    from ...analysis.search import USUAL_STRENGTH, check_strength

    wanted = USUAL_STRENGTH if strength is None else strength
    check_strength(wanted)
    # Magnitudes and signed values have one scale for all channels.
    return mode, AutoNotches(wanted, given["shape"], by_channel=not MODES[given["output"]].is_scaled)


def of_folder(auto: AutoNotches, sources: Sequence[str], given: dict[str, Any]) -> Transfer:
    """Return the notches for all pictures of a folder, and say which; raises FftfilterError."""
    from ...analysis.automatic import notches
    from .folder import devices_of
    from .inputs import is_folder
    from .spectra import of_sources

    if len(sources) == 1 and not is_folder(sources[0]):
        raise click.UsageError(f"{AUTO} {FOLDER} is for folders, and IN is a file: leave {FOLDER} out.")
    only = {name: given[name] for name in ("recursive", "pattern", "quiet")}
    device = next(iter(devices_of(given["device"])), None)
    mean = of_sources(sources, auto.strength, **only, failures=False, pages=pages_of(given), device=device).spectrum
    found = auto.peaks(mean)
    if not given["quiet"]:
        _say(found, auto, f"{mean.pictures} pictures", given["verbose"])
    return notches(found, auto.shape)


def say_of(opened: Opened, *, quiet: bool, verbose: int) -> None:
    """Say which waves are taken out of a file; raises ParameterError for a picture that is too small."""
    if opened.too_few:
        from ...analysis.search import SMALLEST

        raise ParameterError(f"{opened.too_few}: give at least {SMALLEST} a side")
    if opened.recipe.auto and not quiet:
        _say(opened.peaks or [], opened.recipe.auto, opened.name, verbose)


def _say(found: Sequence[Peak], auto: AutoNotches, name: str, verbose: int) -> None:
    from ...analysis.automatic import peaks_text

    if not found:
        click.echo(f"fftfilter: {name}: {auto.nothing}", err=True)
    elif verbose:
        click.echo(f"{name}: removed {peaks_text(found)}", err=True)
