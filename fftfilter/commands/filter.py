"""``highpass``, ``lowpass``, ``bandpass`` and ``bandstop``: one image filtered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import file_options, together, transform_options

if TYPE_CHECKING:
    from ..filters import Filter
    from ..images import Picture

RADIUS = (
    "Cutoff: cycles across the shorter side (40), or with a unit: 8px (period), 0.125cyc (cycles per pixel), "
    "25% (of Nyquist)."
)

filter_options = together(
    click.option(
        "--shape",
        type=click.Choice(["ideal", "gaussian", "butterworth"]),
        default="ideal",
        show_default=True,
        help="How the filter falls off; the smooth shapes have gain 1/2 at the cutoff.",
    ),
    click.option("--order", type=int, metavar="N", help="Steepness of butterworth.  [default: 2]"),
    transform_options,
    click.option(
        "--work-group-size",
        type=int,
        metavar="N",
        help="Work-items a work-group.  [default: 64]",
    ),
    click.option(
        "--transpose",
        type=click.Choice(["tiled", "plain"]),
        default="tiled",
        show_default=True,
        help="Through tiles in local memory, or straight.",
    ),
    click.option("--profile", is_flag=True, help="Print the time of every step on the device."),
    click.option(
        "--save-stages",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Save every intermediate result as a picture.",
    ),
    file_options,
    click.option("--strip", is_flag=True, help="Leave out color profile, EXIF, resolution and text."),
    click.option("--preserve-times", is_flag=True, help="Give OUT the times of IN."),
)

one_cutoff = click.option("--radius", metavar="R", help=f"{RADIUS}  [default: n/8, n being the shorter side]")
two_cutoffs = together(
    click.option("--inner", metavar="R", required=True, help="Lower cutoff, as --outer."),
    click.option("--outer", metavar="R", required=True, help=RADIUS),
)
files = together(click.argument("source", metavar="IN"), click.argument("target", metavar="OUT"))


@click.command()
@files
@one_cutoff
@filter_options
def highpass(**given: Any) -> None:
    """Keep what is finer than the cutoff: edges, texture.

    IN and OUT are image files, or - for standard input and output.

    \b
    Example: fftfilter highpass in.pgm out.pgm
             fftfilter highpass --radius 8px photo.png edges.png
    """
    run("highpass", **given)


@click.command()
@files
@one_cutoff
@filter_options
def lowpass(**given: Any) -> None:
    """Keep what is coarser than the cutoff: blur.

    IN and OUT are image files, or - for standard input and output.

    \b
    Example: fftfilter lowpass --radius 40 in.png out.png
             fftfilter lowpass --shape gaussian --radius 10% in.png out.png
    """
    run("lowpass", **given)


@click.command()
@files
@two_cutoffs
@filter_options
def bandpass(**given: Any) -> None:
    """Keep what lies between two cutoffs.

    IN and OUT are image files, or - for standard input and output.

    \b
    Example: fftfilter bandpass --inner 8 --outer 64 in.png out.png
    """
    run("bandpass", **given)


@click.command()
@files
@two_cutoffs
@filter_options
def bandstop(**given: Any) -> None:
    """Remove what lies between two cutoffs.

    IN and OUT are image files, or - for standard input and output.

    \b
    Example: fftfilter bandstop --inner 20 --outer 40 in.png out.png
    """
    run("bandstop", **given)


def run(
    kind: str,
    *,
    source: str,
    target: str,
    save_stages: Path | None,
    profile: bool,
    in_place: bool,
    png_level: int,
    strip: bool,
    preserve_times: bool,
    verbose: int,
    **options: Any,
) -> None:
    """Read, filter, write; then print what was asked for."""
    from .. import images
    from ..filters import Filter
    from ..transfer import transfer

    cutoffs = {name: options[name] for name in ("radius", "inner", "outer") if name in options}
    transfer(kind, shape=options["shape"], order=options["order"], **cutoffs)  # wrong values fail before any work
    if preserve_times and "-" in (source, target):
        raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
    images.check_output(source, target, in_place=in_place)
    times = images.times(source) if preserve_times else None
    picture = images.read(source)
    if strip:
        picture.metadata = None
    images.check_fits(picture, target)
    depth = images.plan_output(picture, target)
    with Filter(kind, profile=profile, **options) as filter_:
        observe = _album(save_stages)
        picture.planes = filter_(
            picture.planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, observe=observe
        )
        picture.maxval = depth.maxval
        images.write(picture, target, png_level=png_level, times=times)
        if verbose:
            click.echo(_summary(filter_, picture), err=True)
        if profile:
            click.echo(_times(filter_), err=target == "-")


def _album(folder: Path | None) -> Any:
    if folder is None:
        return None
    from ..stage_pictures import StagePictures

    return StagePictures(folder)


def _summary(filter_: Filter, picture: Picture) -> str:
    _, height, width = picture.planes.shape
    return f"{width} x {height}: {filter_.transfer}; on {filter_.launcher.device.name}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    from ..tables import text_table

    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
