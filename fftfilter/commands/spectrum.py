"""``spectrum``: write the log-magnitude spectrum of an image."""

from __future__ import annotations

import os
from typing import Any

import click

from .. import images
from ..files import sources
from ..files.atomic import remove_leftovers_beside
from ..files.messages import shown
from .shared import options as shared


@click.command(cls=shared.GroupedCommand)
@click.argument("source", metavar="IN", shell_complete=shared.file_names)
@click.argument("target", metavar="OUT", shell_complete=shared.file_names)
@shared.engine_option
@shared.GroupedOption(
    '--with "FILTER OPTIONS"',
    "filter_",
    group="Filter",
    short="Write a page instead: IN, its spectrum with this filter over it, the result and the removed part.",
    help="Write a page instead: IN, its spectrum with this filter over it, the result, the removed part, and "
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
    context: click.Context, /, *, source: str, target: str, filter_: str | None, in_place: bool, **given: Any
) -> None:
    """Write the log-magnitude spectrum of an image, DC in the middle.

    Brightness is log(1 + |F|) in 8 bits, with the largest value as white. Each channel of a color image has its own
    spectrum, and all share one scale.

    \b
    Example: fftfilter spectrum in.png spectrum.png
             fftfilter spectrum --with "lowpass --radius 40" in.png look.png
    """
    from .. import memory
    from ..device_choice import wanted
    from ..preview.panels import log_magnitude
    from ..preview.report import within_single
    from ..transforms import fft2
    from ..work.missing import USUAL
    from ..work.opened import filled
    from ..work.output_file import too_large
    from .filters import options_of, parsed
    from .shared.one_file import draw_effect, only

    if os.path.isdir(source) and not images.is_zarr(source):  # noqa: PTH112  Path's may raise
        raise click.UsageError(f"IN is a folder, and spectrum takes one picture: {source!r}.")
    if filter_ is not None:
        made = parsed(context, filter_, source, target)
        made.params |= shared.typed(context)
        draw_effect(source, target, options_of(made))
        return
    engine, precision, device = given["engine"], given["precision"], wanted(given)
    how = images.Coding(given["png_level"], given["quality"], given["compression"])
    images.check_output(source, target, in_place=in_place)
    images.refuse_coding(target, how)
    remove_leftovers_beside(target)
    options = {"engine": engine, "precision": precision}

    def working(size: images.Size) -> int:
        return memory.of_spectrum(memory.Pixels.of_size(size), options)

    spare = () if in_place else (sources.identity(source),)
    found = images.opened(images.raw(source, given["input_limit"]), source, shared.pages_of(given), working=working)
    picture = only(found, shown(source, "standard input"))
    holes = USUAL.holes(picture, shown(source, "standard input"))
    # A spectrum has no transparency, color profile or other metadata of a picture.
    picture.alpha = picture.metadata = picture.table = picture.valid = None
    images.check_fits(picture, target)
    planes, unit = within_single(filled(picture, holes, device))
    with too_large(shown(source, "standard input")):
        transformed = fft2(planes, algorithm=engine, device=device, precision=precision)
    picture.planes, picture.maxval = log_magnitude(transformed, unit=unit), 255
    images.write(picture, target, coding=how, spare=spare)
    if given["verbose"]:
        _, height, width = picture.planes.shape
        click.echo(f"{width} x {height}: log-magnitude spectrum, one bin a pixel", err=True)
