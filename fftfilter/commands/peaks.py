"""``peaks``: the periodic structures of a picture, or of all pictures of a folder."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from .shared.options import GroupedCommand, combined, input_limit_option, option, verbose_option

if TYPE_CHECKING:
    from ..analysis.found import Peak
    from ..analysis.power import Spectrum

CHANNELS = ("red", "green", "blue")


@click.command(cls=GroupedCommand)
@click.argument("sources", metavar="IN...", nargs=-1, required=True)
@combined(
    option(
        "--strength",
        group="Search",
        type=float,
        metavar="DB",
        help="How far a peak has to stand out of the frequencies around it; 10 at least.  [default: 18]",
    ),
    option("-r", "--recursive", group="Folders", is_flag=True, help="Folders in IN, too."),
    option("--pattern", group="Folders", multiple=True, metavar="GLOB", help="Only files whose name fits."),
    option("-q", "--quiet", group="Options", is_flag=True, help="No progress, no notes; errors only."),
    option("--json", "as_json", group="Options", is_flag=True, help="Print all that is known as JSON."),
    input_limit_option,
    verbose_option,
)
def peaks(
    *,
    sources: tuple[str, ...],
    strength: float | None,
    recursive: bool,
    pattern: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    input_limit: int | None,
    verbose: int,  # noqa: ARG001  -v acts by itself
) -> int:
    """Find the periodic structures of a picture: screens of prints, moire, hum, patterns of a sensor.

    Prints a line for each, the strongest first: its period in pixels, its angle (along the stripes, counterclockwise,
    0 for horizontal ones), its frequency, how far it stands out of the frequencies around it, its amplitude (white
    being 255) and its harmonics; then the command that removes them. Of a folder, or of several IN, it is the mean
    spectrum that is searched.

    \b
    Example: fftfilter peaks scan.png
             fftfilter peaks --json --strength 25 scans/
    """
    from ..analysis.search import USUAL_STRENGTH, peaks_of
    from .shared.spectra import of_sources

    wanted = USUAL_STRENGTH if strength is None else strength
    mean, is_all = of_sources(sources, wanted, recursive=recursive, pattern=pattern, quiet=quiet, limit=input_limit)
    found = peaks_of(mean, wanted)
    name = sources[0] if len(sources) == 1 else "IN"
    if as_json:
        import json

        about = {"width": mean.width, "height": mean.height, "pictures": mean.pictures, "strength_db": wanted}
        click.echo(json.dumps({"peaks": [_described(each) for each in found], **about}, indent=2))
    elif found:
        click.echo(table(found, mean))
        click.echo(f"\nfftfilter notch {at_options(found)} {shlex.quote(name)} OUT")
    else:
        click.echo(f"{name}: no periodic structure of {wanted:g} dB or more")
    return 0 if is_all else 1


def table(found: list[Peak], mean: Spectrum) -> str:
    """Return peaks as lines under a header."""
    from ..bench.tables import text_table

    header = ["period", "angle", "fx", "fy", "strength", "amplitude", "harmonics"]
    rows = [
        [
            f"{each.period_px:.2f} px",
            f"{each.angle_deg:.1f}",
            f"{each.fx:.5f}",
            f"{each.fy:.5f}",
            f"{each.strength_db:.1f} dB",
            f"{each.amplitude:.1f}",
            " ".join("+".join(map(str, one.multiples)).replace("+-", "-") for one in each.harmonics),
        ]
        for each in found
    ]
    if len(mean.power) > 1:
        header.insert(6, "channels")
        for row, each in zip(rows, found, strict=True):
            row.insert(
                6, "all" if len(each.channels) == len(CHANNELS) else " ".join(CHANNELS[i] for i in each.channels)
            )
    return text_table(header, rows, right="rrrrrr")


def at_options(found: list[Peak]) -> str:
    """Return the options of ``notch`` that remove peaks and their harmonics."""
    return " ".join(f"--at {each.at}" for peak in found for each in peak.all())


def _described(peak: Peak) -> dict[str, Any]:
    return {
        "fx": peak.fx,
        "fy": peak.fy,
        "period_px": peak.period_px,
        "angle_deg": peak.angle_deg,
        "strength_db": peak.strength_db,
        "amplitude": peak.amplitude,
        "channels": list(peak.channels),
        "notch": peak.at,
        "harmonics": [
            {
                "multiples": list(each.multiples),
                "fx": each.peak.fx,
                "fy": each.peak.fy,
                "strength_db": each.peak.strength_db,
                "amplitude": each.peak.amplitude,
                "notch": each.peak.at,
            }
            for each in peak.harmonics
        ],
    }
