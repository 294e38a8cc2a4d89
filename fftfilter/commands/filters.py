"""``highpass``, ``lowpass``, ``bandpass`` and ``bandstop``: one image filtered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .shared.folder import ONE_FILE, folder_options, refuse_for_one_file, run_folder
from .shared.options import (
    GroupedCommand,
    choice_of_device,
    engine_option,
    file_options,
    option,
    precision_option,
    together,
)

if TYPE_CHECKING:
    from ..filters import Filter
    from ..images import Picture

RADIUS = (
    "Cutoff: cycles across the shorter side (40), or with a unit: 8px (period), 0.125cyc (cycles per pixel), "
    "25% (of Nyquist)."
)

TRANSFORM = ("radius", "inner", "outer", "shape", "order")
OF_ONE_FILE = ("scale", "format_", "save_stages", "verbose")

filter_options = together(
    option(
        "--shape",
        group="Filter",
        type=click.Choice(["ideal", "gaussian", "butterworth"]),
        default="ideal",
        show_default=True,
        help="How the filter falls off; the smooth shapes have gain 1/2 at the cutoff.",
    ),
    option("--order", group="Filter", type=int, metavar="N", help="Steepness of butterworth, 1 to 100.  [default: 2]"),
    option(
        "--scale",
        group="Filter",
        default="each",
        show_default=True,
        metavar="RANGE",
        help="Which values become black and white. each: 0 and the picture's largest; folder: 0 and the largest of the "
        "whole folder; LO:HI: two grey levels of the input, such as 0:40.",
    ),
    engine_option,
    choice_of_device("; for a folder also all, or several, such as 0,2"),
    precision_option,
    option("--work-group-size", group="Device", type=int, metavar="N", help="Work-items a work-group.  [default: 64]"),
    option(
        "--transpose",
        group="Device",
        type=click.Choice(["tiled", "plain", "float4"]),
        help="Through tiles in local memory, straight, or two numbers at a time.  [default: the engine's own]",
    ),
    option("--profile", group="Device", is_flag=True, help="Print the time of every step on the device."),
    option(
        "--save-stages",
        group="Output",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Save every intermediate result as a picture.",
    ),
    file_options,
    option("--strip", group="Output", is_flag=True, help="Leave out color profile, EXIF, resolution and text."),
    option("--preserve-times", group="Output", is_flag=True, help="Give OUT the times of IN."),
    folder_options,
)

one_cutoff = option("--radius", group="Filter", metavar="R", help=f"{RADIUS}  [default: n/8, n being the shorter side]")
two_cutoffs = together(
    option("--inner", group="Filter", metavar="R", required=True, help="Lower cutoff, as --outer."),
    option("--outer", group="Filter", metavar="R", required=True, help=RADIUS),
)
files = together(click.argument("source", metavar="IN"), click.argument("target", metavar="OUT"))


@click.command(cls=GroupedCommand)
@files
@one_cutoff
@filter_options
def highpass(**given: Any) -> int:
    """Keep what is finer than the cutoff: edges, texture.

    IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/).

    \b
    Example: fftfilter highpass in.pgm out.pgm
             fftfilter highpass --radius 8px photo.png edges.png
             fftfilter highpass --recursive photos/ edges/
    """
    return run("highpass", **given)


@click.command(cls=GroupedCommand)
@files
@one_cutoff
@filter_options
def lowpass(**given: Any) -> int:
    """Keep what is coarser than the cutoff: blur.

    IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/).

    \b
    Example: fftfilter lowpass --radius 40 in.png out.png
             fftfilter lowpass --shape gaussian --radius 10% in.png out.png
    """
    return run("lowpass", **given)


@click.command(cls=GroupedCommand)
@files
@two_cutoffs
@filter_options
def bandpass(**given: Any) -> int:
    """Keep what lies between two cutoffs.

    IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/).

    \b
    Example: fftfilter bandpass --inner 8 --outer 64 in.png out.png
    """
    return run("bandpass", **given)


@click.command(cls=GroupedCommand)
@files
@two_cutoffs
@filter_options
def bandstop(**given: Any) -> int:
    """Remove what lies between two cutoffs.

    IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/).

    \b
    Example: fftfilter bandstop --inner 20 --outer 40 in.png out.png
    """
    return run("bandstop", **given)


def run(kind: str, *, source: str, target: str, **given: Any) -> int:
    """Filter a picture or a folder; return the exit code."""
    from ..transfer.parameters import check
    from ..files.urls import is_folder, place, without_file_scheme

    transform = {name: given[name] for name in TRANSFORM if name in given}
    check(kind, **transform)  # wrong values fail before any work
    settings = {name: given[name] for name in ("png_level", "strip", "preserve_times", "in_place")}
    device_options = {name: given[name] for name in ("engine", "precision", "work_group_size", "transpose")}
    if not source or not target:
        raise click.UsageError(f"{'OUT' if source else 'IN'} is an empty name; for this folder give a dot.")
    source, target = without_file_scheme(source), without_file_scheme(target)
    where = place(source)
    if os.path.isdir(where) if isinstance(where, Path) else is_folder(where):  # noqa: PTH112  Path's may raise
        for name in ONE_FILE:
            if given[name]:
                raise click.UsageError(f"--{name.replace('_', '-')} is for one picture, and IN is a folder.")
        folder = ("recursive", "pattern", "format_", "skip_existing", "fail_fast", "report", "cluster")
        return run_folder(
            kind,
            where,
            target,
            settings=settings,
            folder={name: given[name] for name in folder},
            options=transform | device_options,
            **{name: given[name] for name in ("scale", "device", "quiet", "verbose", "dry_run", "processes")},
        )
    if os.path.isfile(source):  # noqa: PTH113  Path's may raise
        from ..device.choice import load_ahead

        load_ahead()  # not while standard input is waited for: PoCL's compiler takes Ctrl-C
    elif source != "-" and isinstance(where, Path):
        from .. import images

        images.times(source)  # a folder that is missing should not be told to be none
    refuse_for_one_file(given, to_stream=target == "-")
    options = transform | device_options | {"device": given["device"], "profile": given["profile"]}
    run_file(kind, source, target, **settings, options=options, **{name: given[name] for name in OF_ONE_FILE})
    return 0


def run_file(
    kind: str,
    source: str,
    target: str,
    *,
    options: dict[str, Any],
    scale: str,
    format_: str | None,
    save_stages: Path | None,
    in_place: bool,
    png_level: int,
    strip: bool,
    preserve_times: bool,
    verbose: int,
) -> None:
    """Read, filter, write; then print what was asked for."""
    from .. import images
    from ..filters import Filter
    from ..output.quantize import magnitude, quantize
    from ..output.scale import parse
    from ..files.urls import is_url

    if preserve_times and "-" in (source, target):
        raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
    if preserve_times and (is_url(source) or is_url(target)):
        raise click.UsageError("--preserve-times needs two files of a file system: a URL has no times.")
    given_range = parse(scale)
    images.check_output(source, target, in_place=in_place, format=format_)
    times = images.times(source) if preserve_times else None
    picture = images.read(source)
    if strip:
        picture.metadata = None
    images.check_fits(picture, target, format=format_)
    depth = images.plan_output(picture, target, format=format_)
    if save_stages is not None:
        options["engine"] = options["engine"] or "book"  # the fused engine has no stages
    observe = _album(save_stages)
    with Filter(kind, output="magnitude" if given_range is None else "real", **options) as filter_:
        if given_range is None:
            planes = filter_(picture.planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, observe=observe)
        else:
            values = filter_(picture.planes, channel_axis=0, observe=observe)
            planes = quantize(magnitude(values, picture.planes), given_range, picture.maxval, depth)
        picture.planes, picture.maxval = planes, depth.maxval
        images.write(picture, target, format=format_, png_level=png_level, times=times)
        if verbose:
            click.echo(_summary(filter_, picture), err=True)
        if options["profile"]:
            click.echo(_times(filter_), err=target == "-")


def _album(folder: Path | None) -> Any:
    if folder is None:
        return None
    from .shared.stage_pictures import StagePictures

    return StagePictures(folder)


def _summary(filter_: Filter, picture: Picture) -> str:
    _, height, width = picture.planes.shape
    return f"{width} x {height}: {filter_.transfer}; {filter_.engine} on {filter_.launcher.device.name}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    from ..bench.tables import text_table

    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
