"""``spectrum``: write the spectrum of an image, as a picture, as numbers, or as a table of power; and invert one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .. import images
from ..errors import ReadError, WriteError
from ..files import sources
from ..files.atomic import Spare, remove_leftovers_beside, store
from ..files.messages import as_error, shown
from ..images.formats import extension_of
from ..text import Angle
from ..transfer.units import parse_pixel_size
from . import options as shared
from .filters import holds_floats, options_of, parsed
from .folder import refuse_options_of_folders
from .kinds import pixel_size_option
from .one_file import draw_effect, only_picture
from .peaks import spectrum_of_sources

if TYPE_CHECKING:
    from ..analysis.power import By, Spectrum

UNEQUAL = 0.01  # the part by which the sides of a pixel may differ in frequencies per pixel
# The part of the values that rounding leaves of the imaginary part of the inverse.
PART_OF_HALVES = 1e-4
# The largest value of a changed spectrum's picture whose white is 1, and of one of 8 bits.
MOST_OF_FLOATS, MOST_OF_8_BITS = 2.0, 511.5


@click.command(cls=shared.GroupedCommand)
@click.argument("source", metavar="IN", shell_complete=shared.file_names)
@click.argument("target", metavar="[OUT]", required=False, shell_complete=shared.file_names)
@shared.engine_option
@shared.result_option(
    "--table FILE.csv",
    kept=False,
    everyday=True,
    help="Write the power by frequency as a table: frequency and period, mean power without the picture's mean, and "
    "number of frequencies and pictures; if the size of a pixel is known, in meters, too. The power is in the square "
    "of the file's values: that of noise is its variance. Without OUT, IN may be a folder or have several pages, and "
    "the power is the mean of all.",
)
@shared.result_option(
    "--complex",
    kept=False,
    is_flag=True,
    help="Write F itself, complex numbers, into an .npy, which --invert takes; with --precision double in double.",
)
@shared.result_option(
    "--invert",
    kept=False,
    is_flag=True,
    help="Write the picture of a spectrum that --complex has written, changed or not. Where OUT has no floats, "
    "values are rounded and clipped.",
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
@shared.several(*shared.missing_options)
@shared.folder_option("-r", "--recursive", is_flag=True, help="Take the pictures in folders in IN, too.")
@shared.folder_option("--pattern GLOB", multiple=True, help="Only files whose name matches.")
@shared.device_option
@shared.precision_option
@shared.several(*shared.file_options)
@click.pass_context
def spectrum(
    context: click.Context, /, *, source: str, target: str | None, filter_: str | None, in_place: bool, **given: Any
) -> int:
    """Write the spectrum of an image, or a table of its power.

    DC is in the middle. Brightness is log(1 + |F|) in 8 bits, with the largest value as white. Each channel of a
    color image has its own spectrum, and all share one scale. A .tif, .npy, .pfm or .fits has |F| as floats, as
    numpy.fft.fft2 has it; with --complex, an .npy has F.

    \b
    Example: fftfilter spectrum in.png spectrum.png
             fftfilter spectrum --with "lowpass --radius 40" in.png look.png
             fftfilter spectrum --table power.csv --window hann in.tif
             fftfilter spectrum --complex in.tif f.npy
             fftfilter spectrum --invert f.npy out.tif
    """
    from ..device_choice import wanted

    _check(source, target, filter_, given)
    if target is None:
        return _write_table(source, given)
    if filter_ is not None:
        made = parsed(context, filter_, source, target)
        made.params |= {name: value for name, value in shared.typed(context).items() if name in made.params}
        draw_effect(source, target, options_of(made))
        return 0
    images.check_output(source, target, in_place=in_place)
    images.refuse_coding(target, shared.coding_of(given))
    remove_leftovers_beside(target)
    spare: Spare = () if in_place else (sources.identity(source),)
    (write_inverse if given["invert"] else write_spectrum)(source, target, given, spare, wanted(given))
    return 0


def _check(source: str, target: str | None, filter_: str | None, given: dict[str, Any]) -> None:
    """Raise UsageError for what does not go together."""
    table, name = given["table"], "complex" if given["complex"] else "invert"
    if target is None and table is None:
        raise click.UsageError("Missing argument 'OUT': give a picture's name, or --table FILE.csv.")
    if filter_ is not None and (table is not None or target is None):
        raise click.UsageError("--with writes a page: give OUT, and leave --table out.")
    others = table, filter_, given["window"] != "none", given["complex"] and given["invert"], target is None
    if given[name] and any(others):
        raise click.UsageError(f"--{name} writes OUT alone: leave --table, --window, --with and its opposite out.")
    if given["complex"] and extension_of(str(target)).lower() != ".npy":
        raise click.UsageError(f"--complex writes complex numbers, for which OUT is an .npy: {target!r}.")
    if target is not None:
        refuse_options_of_folders([source], recursive=given["recursive"], pattern=given["pattern"])
        if os.path.isdir(source) and not images.is_zarr(source):  # noqa: PTH112  Path's may raise
            raise click.UsageError(f"IN is a folder, and only --table without OUT takes one: {source!r}.")


def write_spectrum(source: str, target: str, given: dict[str, Any], spare: Spare, device: str | int | None) -> None:
    """Write the spectrum of a picture, and the table of its power, if there is to be one."""
    import numpy as np

    from .. import memory
    from ..analysis.power import spectrum as power_of
    from ..analysis.power import window
    from ..device_choice import NUMPY, are_few, is_open
    from ..folders.mean_spectrum import pixel_of
    from ..images.plain_formats import encode_npy
    from ..preview.panels import log_magnitude
    from ..preview.report import within_single
    from ..transforms import fft2
    from ..work.opened import filled
    from ..work.output_file import too_large
    from ..work.recipe import Missing

    def working(size: images.Size) -> int:
        return memory.of_spectrum(memory.Pixels.of_size(size), {name: given[name] for name in ("engine", "precision")})

    name, is_windowed = shown(source, "standard input"), given["window"] == "hann"
    found = images.opened(images.raw(source, given["input_limit"]), source, shared.pages_of(given), working=working)
    picture = only_picture(found, name)
    if is_open(given) and are_few(picture.planes.size):
        device = NUMPY
    planes = filled(picture, Missing.of(given["nodata"], given["missing"]).holes(picture, name), device)
    if given["table"] is not None:
        made = power_of(planes, 1.0, device, is_windowed=is_windowed)
        _store_table(source, made, pixel_of(found), given)
    # A spectrum has no transparency, color profile or other metadata of a picture.
    picture = images.Picture(planes, None, picture.maxval, picture.format)
    images.check_fits(picture, target)
    planes, unit = within_single(planes)
    if is_windowed:
        planes = planes * (window(planes.shape[1])[:, None] * window(planes.shape[2]))
    with too_large(target):
        transformed = fft2(planes, algorithm=given["engine"], device=device, precision=given["precision"])
    what = "magnitude"
    if given["complex"]:
        what, whole = "complex", np.fft.fftshift(transformed, axes=(1, 2)) * transformed.real.dtype.type(unit)
        with as_error(WriteError, f"{shown(target, 'standard output')}: cannot be written"):
            store(target, encode_npy(whole.transpose(1, 2, 0)), spare=spare)
    else:
        if holds_floats(target, None):
            picture.planes = np.fft.fftshift(np.abs(transformed) * np.float32(unit), axes=(1, 2)).astype(np.float32)
            picture.maxval = 1
        else:
            what, picture.planes, picture.maxval = "log-magnitude", log_magnitude(transformed, unit=unit), 255
        images.write(picture, target, coding=shared.coding_of(given), spare=spare)
    if given["verbose"]:
        _, height, width = planes.shape
        click.echo(f"{width} x {height}: {what} spectrum, one bin a pixel", err=True)


def write_inverse(source: str, target: str, given: dict[str, Any], spare: Spare, device: str | int | None) -> None:
    """Write the picture of a spectrum in an .npy; raises ReadError for one that no picture has."""
    import numpy as np

    from ..images.plain_formats import spectrum_of
    from ..transforms import ifft2
    from ..work.output_file import too_large

    name = shown(source, "standard input")
    transformed = np.fft.ifftshift(spectrum_of(images.raw(source, given["input_limit"]), name), axes=(1, 2))
    if not np.isfinite(transformed).all():
        raise ReadError(f"{name}: has numbers that are not finite, each a wave in the whole picture: replace them")
    precision: Any = "double" if transformed.dtype == np.complex128 else given["precision"]
    with too_large(name):
        made = ifft2(transformed, algorithm=given["engine"], device=device, precision=precision)
    values, most = made.real, float(np.abs(made.real).max())
    if float(np.abs(made.imag).max()) > PART_OF_HALVES * most:
        why = "is the spectrum of no picture: F(-fx, -fy) is not the conjugate of F(fx, fy); change both alike"
        raise ReadError(f"{name}: {why}")
    whole = np.rint(values)
    is_whole = whole.min() >= 0 and whole.max() < 65536 and np.abs(values - whole).max() <= max(1e-3, 1e-6 * most)
    if not is_whole and (most <= MOST_OF_FLOATS or holds_floats(target, None)):
        picture = images.Picture(values.astype(np.float32), None, 1, "NPY")
    else:
        dtype = np.uint8 if most < (255.5 if is_whole else MOST_OF_8_BITS) else np.uint16
        white = np.iinfo(dtype).max
        clipped = float(np.mean((whole < 0) | (whole > white)))
        shared.remark(*[f"{clipped:.2%} of the samples are clipped: write .tif or .npy to keep them"] * (clipped > 0))
        picture = images.Picture(whole.clip(0, white).astype(dtype), None, white, "NPY")
    images.write(picture, target, coding=shared.coding_of(given), spare=spare)


def _write_table(source: str, given: dict[str, Any]) -> int:
    """Write the table of one file, of its pages, or of a folder; return the exit code."""
    from ..device_choice import wanted

    given |= {"ignore": None, "quiet": False}
    how: dict[str, Any] = {"white": 1.0, "is_windowed": given["window"] == "hann"}
    made, pixel, is_whole = spectrum_of_sources([source], given, wanted(given), **how)
    _store_table(source, made, pixel, given)
    return 0 if is_whole else 1


def _store_table(source: str, made: Spectrum, pixel: tuple[float, float] | None, given: dict[str, Any]) -> None:
    sides = parse_pixel_size(given["pixel_size"]) if given["pixel_size"] else pixel
    with as_error(WriteError, f"{shown(given['table'], 'standard output')}: cannot be written"):
        text = table_of(made, None if sides and isinstance(sides[0], Angle) else sides, given["by"])
        store(given["table"], [text.encode()], spare=(sources.identity(source),))


def table_of(made: Spectrum, sides: tuple[float, float] | None, by: By) -> str:
    """Return the text of a table of power; ``sides`` are those of a pixel in meters, if they are known."""
    import numpy as np

    from ..analysis.power import in_rings

    is_square = sides is None or abs(sides[0] / sides[1] - 1) <= UNEQUAL
    rings = in_rings(made, by, (1.0, 1.0) if is_square or sides is None else sides)
    periods = np.divide(1, rings.place, where=rings.place > 0, out=np.full_like(rings.place, np.inf))
    if by == "angle":
        columns = {"angle_deg": rings.place}
    else:
        columns = {"cycles_per_pixel": rings.place, "period_px": periods} if is_square else {}
        if sides:
            per_meter = rings.place / sides[0] if is_square else rings.place
            columns |= {"cycles_per_m": per_meter, "period_m": periods * (sides[0] if is_square else 1)}
    columns |= {"power": rings.power, "frequencies": rings.frequencies}
    columns["pictures"] = np.full(len(rings.place), float(made.pictures))
    rows = zip(*(each.tolist() for each in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(f"{each:.9g}" for each in row) for row in rows)]) + "\n"
