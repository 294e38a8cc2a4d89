"""``spectrum``: write the spectrum of an image, as a picture, as floats, or as a table of power."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .. import images
from ..errors import WriteError
from ..files import sources
from ..files.atomic import remove_leftovers_beside, store
from ..files.messages import as_error, shown
from ..text import Angle
from ..transfer.units import parse_pixel_size
from . import options as shared
from .filters import holds_floats, options_of, parsed
from .kinds import pixel_size_option
from .one_file import draw_effect, only_picture

if TYPE_CHECKING:
    from ..files.atomic import Spare

UNEQUAL = 0.01  # the part by which the sides of a pixel may differ in frequencies per pixel


@click.command(cls=shared.GroupedCommand)
@click.argument("source", metavar="IN", shell_complete=shared.file_names)
@click.argument("target", metavar="[OUT]", required=False, shell_complete=shared.file_names)
@shared.engine_option
@shared.result_option(
    "--table FILE.csv",
    kept=False,
    everyday=True,
    help="Write the power by frequency as a table: frequency and period, mean power without the picture's mean, and "
    "number of frequencies; with the size of a pixel in cycles per meter, too. The power is in the square of the gray "
    "levels: that of noise is its variance.",
)
@shared.result_option(
    "--by", type=click.Choice(["frequency", "angle"]), default="frequency", help="The rows of the table."
)
@shared.result_option(
    "--window",
    type=click.Choice(["none", "hann"]),
    default="none",
    help="hann fades the borders out, which otherwise leave a cross in the spectrum.",
)
@pixel_size_option
@shared.GroupedOption(
    '--with "FILTER OPTIONS"',
    "filter_",
    group="Filter",
    everyday=True,
    help="Write a page instead: IN, its spectrum with this filter over it, the result and the removed part. Below are "
    "curves of gain and power by frequency. OUT is a .png, .jpg or .webp.",
)
@shared.input_option(
    "--pages N", help="The page of a TIFF, FITS or OME-Zarr, or frame of a GIF, PNG or WebP, counted from 1."
)
@shared.several(*shared.reading_options)
@shared.device_option
@shared.precision_option
@shared.several(*shared.file_options)
@click.pass_context
def spectrum(
    context: click.Context, /, *, source: str, target: str | None, filter_: str | None, in_place: bool, **given: Any
) -> None:
    """Write the spectrum of an image, or a table of its power.

    DC is in the middle. Brightness is log(1 + |F|) in 8 bits, with the largest value as white. Each channel of a
    color image has its own spectrum, and all share one scale. A .tif, .npy, .pfm or .fits has |F| as floats, as
    numpy.fft.fft2 has it.

    \b
    Example: fftfilter spectrum in.png spectrum.png
             fftfilter spectrum --with "lowpass --radius 40" in.png look.png
             fftfilter spectrum --table power.csv --window hann in.tif
    """
    from .. import memory
    from ..device_choice import wanted
    from ..work.missing import USUAL
    from ..work.opened import filled

    table, name = given["table"], shown(source, "standard input")
    if target is None and table is None:
        raise click.UsageError("Missing argument 'OUT': give a picture's name, or --table FILE.csv.")
    if filter_ is not None and (table is not None or target is None):
        raise click.UsageError("--with writes a page: give OUT, and leave --table out.")
    if os.path.isdir(source) and not images.is_zarr(source):  # noqa: PTH112  Path's may raise
        raise click.UsageError(f"IN is a folder, and spectrum takes one picture: {source!r}.")
    if filter_ is not None and target:
        made = parsed(context, filter_, source, target)
        made.params |= {name: value for name, value in shared.typed(context).items() if name in made.params}
        draw_effect(source, target, options_of(made))
        return
    device = wanted(given)
    if target is not None:
        images.check_output(source, target, in_place=in_place)
        images.refuse_coding(target, shared.coding_of(given))
        remove_leftovers_beside(target)

    def working(size: images.Size) -> int:
        return memory.of_spectrum(memory.Pixels.of_size(size), {name: given[name] for name in ("engine", "precision")})

    spare: Spare = () if in_place else (sources.identity(source),)
    found = images.opened(images.raw(source, given["input_limit"]), source, shared.pages_of(given), working=working)
    picture = only_picture(found, name)
    holes = USUAL.holes(picture, name)
    planes = filled(picture, holes, device)
    if table is not None:
        with as_error(WriteError, f"{shown(table, 'standard output')}: cannot be written"):
            text = table_of(planes, sides_of(picture, given["pixel_size"]), given, device)
            store(table, [text.encode()], spare=(sources.identity(source),))
    if target is None:
        return
    picture.planes = planes
    write_spectrum(picture, target, given, spare, device)
    if given["verbose"]:
        (_, height, width), what = picture.planes.shape, "" if picture.planes.dtype.kind == "f" else "log-"
        click.echo(f"{width} x {height}: {what}magnitude spectrum, one bin a pixel", err=True)


def write_spectrum(
    picture: images.Picture, target: str, given: dict[str, Any], spare: Spare, device: str | int | None
) -> None:
    """Write the spectrum of a picture's planes, whose place it takes."""
    import numpy as np

    from ..analysis.power import window
    from ..preview.panels import log_magnitude
    from ..preview.report import within_single
    from ..transforms import fft2
    from ..work.output_file import too_large

    # A spectrum has no transparency, color profile or other metadata of a picture.
    picture.alpha = picture.metadata = picture.table = picture.valid = picture.integers = None
    images.check_fits(picture, target)
    planes, unit = within_single(picture.planes)
    if given["window"] == "hann":
        planes = planes * (window(planes.shape[1])[:, None] * window(planes.shape[2]))
    with too_large(target):
        transformed = fft2(planes, algorithm=given["engine"], device=device, precision=given["precision"])
    if holds_floats(target, None):
        picture.planes = np.fft.fftshift(np.abs(transformed) * np.float32(unit), axes=(1, 2)).astype(np.float32)
        picture.maxval = 1
    else:
        picture.planes, picture.maxval = log_magnitude(transformed, unit=unit), 255
    images.write(picture, target, coding=shared.coding_of(given), spare=spare)


def sides_of(picture: images.Picture, given: str | None) -> tuple[float, float] | None:
    """Return the sides of a pixel in meters, given or said by the file, None if unknown; raises ParameterError."""
    size = picture.metadata.pixel_size if picture.metadata else None
    sides = (parse_pixel_size(given),) * 2 if given else size and size[:2]
    return None if sides is None or isinstance(sides[0], Angle) else sides


def table_of(planes: Any, sides: tuple[float, float] | None, given: dict[str, Any], device: str | int | None) -> str:
    """Return the text of a table of power; ``sides`` are those of a pixel in meters, if they are known."""
    import numpy as np

    from ..analysis.power import power_spectrum

    by = given["by"]
    is_square = sides is None or abs(sides[0] / sides[1] - 1) <= UNEQUAL
    pixel_size = (1.0, 1.0) if is_square or sides is None else sides
    how: dict[str, Any] = {"by": by, "window": given["window"], "pixel_size": pixel_size, "device": device}
    made = power_spectrum(planes, channel_axis=0, **how)
    periods = np.divide(1, made.place, where=made.place > 0, out=np.full_like(made.place, np.inf))
    if by == "angle":
        columns = {"angle_deg": made.place}
    else:
        columns = {"cycles_per_pixel": made.place, "period_px": periods} if is_square else {}
        if sides:
            per_meter = made.place / sides[0] if is_square else made.place
            columns |= {"cycles_per_m": per_meter, "period_m": periods * (sides[0] if is_square else 1)}
    columns |= {"power": made.power, "frequencies": made.frequencies}
    rows = zip(*(each.tolist() for each in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(f"{each:.9g}" for each in row) for row in rows)]) + "\n"
