"""``highpass``, ``lowpass`` and the other filters: a picture or a folder filtered."""

from __future__ import annotations

from functools import reduce
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..output.modes import MODES, SCALED
from ..transfer.edges import EDGES
from ..transfer.shapes import SHAPES
from .shared import automatic
from .shared.automatic import auto_options
from .shared.command_options import CommandOptions
from .shared.folder import folder_options, run_folder
from .shared.inputs import files_of, is_folder
from .shared.one_file import run_file
from .shared.options import (
    GroupedCommand,
    choice_of_device,
    combined,
    engine_option,
    file_options,
    option,
    pages_option,
    precision_option,
)
from .shared.preview import preview_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..transfer import Transfer

RADIUS = (
    "Cutoff: cycles across the shorter side (40), or with a unit: 8px (period), 0.125cyc (cycles per pixel), "
    "25% (of Nyquist), and by the size of a pixel 2.6um (period; nm to m, in), 150lpi, 12lp/mm."
)

# Outputs of what has no options for them.
KEPT = {"output": "keep", "scale": "each", "masks": ()}

VERIFY = "--verify"
# Files of a folder that --verify compares if it is given no number.
VERIFIED = 10

one_cutoff = option(
    "--radius",
    group="Filter",
    metavar="R",
    short="Cutoff: 40 (cycles across the shorter side), 8px, 0.125cyc or 25%.",
    help=f"{RADIUS}  [default: n/8, n being the shorter side]",
)
two_cutoffs = combined(
    option("--inner", group="Filter", metavar="R", help="The other cutoff, in the units of --outer; in either order."),
    option("--outer", group="Filter", metavar="R", help=RADIUS),
    option(
        "--large",
        group="Filter",
        metavar="P",
        short="The largest structures, such as 40px.",
        help="In place of --inner: the largest structures, 40 being 40px.",
    ),
    option(
        "--small",
        group="Filter",
        metavar="P",
        short="The smallest structures, such as 3px.",
        help="In place of --outer: the smallest structures, as --large.",
    ),
)
shape_options = combined(
    option(
        "--shape",
        group="Filter",
        type=click.Choice(list(SHAPES)),
        default="ideal",
        show_default=True,
        short="ideal (sharp, rings), gaussian (smooth), butterworth, cosine or fermi.",
        help="How the filter falls off; the smooth shapes have gain 1/2 at the cutoff.",
    ),
    option("--order", group="Filter", type=int, metavar="N", help="Steepness of butterworth, 1 to 100.  [default: 2]"),
    option(
        "--width",
        group="Filter",
        metavar="W",
        help="Width of the edge of cosine and fermi, in the units of a cutoff.  [default: 1/2 and 1/10 of the cutoff]",
    ),
)
PEAK = "FX,FY[,WIDTH]"
MASK = (
    "A picture of gains, DC in the middle, white 1; or .npy, with gains as they are. It is a function of frequency, "
    "for images of any size, and made even. May be repeated."
)

peak_options = combined(
    option(
        "--at",
        group="Filter",
        metavar=PEAK,
        multiple=True,
        short="A wave to remove: 0.123,0.047 are its cycles per pixel. May be repeated.",
        help="A wave to remove: its cycles per pixel to the right and down, as 'fftfilter peaks' prints them. At the "
        "distance WIDTH, in the units of a cutoff, half of the amplitude is left; 0.006cyc if left out. May be "
        "repeated.",
    ),
    option(
        "--harmonics",
        group="Filter",
        type=int,
        default=1,
        show_default=True,
        metavar="N",
        help="Remove multiples of each --at, too, up to N times its frequency.",
    ),
    option(
        "--shape",
        group="Filter",
        type=click.Choice(list(SHAPES)),
        default="gaussian",
        show_default=True,
        help="How the gain rises with the distance from the wave's frequency.",
    ),
    auto_options,
)
stripe_options = combined(
    option(
        "--angle",
        group="Filter",
        type=float,
        metavar="DEG",
        multiple=True,
        required=True,
        short="Along the stripes, counterclockwise; 0 for horizontal ones. May be repeated.",
        help="Along the stripes, counterclockwise; 0 for horizontal ones. May be repeated.",
    ),
    option(
        "--width",
        group="Filter",
        metavar="W",
        help="Where the gain is 1/2 beside their ridge in the spectrum, in the units of a cutoff.  [default: 0.003cyc]",
    ),
    option(
        "--spare",
        group="Filter",
        metavar="R",
        short="Frequencies below this radius stay, such as 40px.",
        help="Frequencies below this radius stay.  [default: 40px]",
    ),
)
mask_options = option(
    "--mask",
    "mask",
    group="Filter",
    metavar="FILE",
    multiple=True,
    required=True,
    short="A picture of gains, DC in the middle, white 1; or .npy. May be repeated.",
    help=MASK,
)
pixel_size_option = option(
    "--pixel-size",
    group="Filter",
    metavar="LENGTH",
    help="The size of a pixel, for cutoffs in physical units: 65nm, 0.1mm, 300dpi.  [default: what the file says]",
)
# Filters that every other one takes as options; each may be repeated, as transfer functions multiply.
FACTORS = {
    "notch": option("--notch", metavar=PEAK, multiple=True, group="Filter", help="Take out a peak, too; see 'notch'."),
    "stripes": option(
        "--stripes",
        metavar="DEG",
        type=float,
        multiple=True,
        group="Filter",
        help="Take out stripes along an angle, too; see 'stripes'.",
    ),
    "mask": option(
        "--mask",
        metavar="FILE",
        multiple=True,
        group="Filter",
        help="Multiply by the gains of a file, too; see 'mask'.",
    ),
}


def output_option(default: str) -> Callable[[Any], Any]:
    """Return the option that says what is written."""
    each = [f"{name} ({mode.brief})" for name, mode in MODES.items()]
    return option(
        "--output",
        group="Filter",
        type=click.Choice(list(MODES)),
        default=default,
        show_default=True,
        short=f"{', '.join(each[:-1])} or {each[-1]}.",
        help=f"What is written. {'; '.join(f'{name}: {mode.help}' for name, mode in MODES.items())}.",
    )


edges_option = option(
    "--edges",
    group="Filter",
    type=click.Choice(EDGES),
    default="wrap",
    show_default=True,
    short="wrap, or mirror: no border shows on the one across.",
    help="What lies beyond the borders. wrap: the picture again; mirror: its mirror image, so that no border shows "
    "on the one across.",
)
scale_option = option(
    "--scale",
    group="Filter",
    default="each",
    show_default=True,
    metavar="RANGE",
    help=f"Which values become black and white, for {' and '.join(SCALED)}. each: 0 (signed: minus the largest) and "
    "the picture's largest; folder, stack: the same of the whole folder, of all pages of a file; auto: of each picture "
    "but for 0.35% of the samples, half at each end, or auto:P for P%; LO:HI: two grey levels of IN, such as 0:40.",
)
verify_option = option(
    VERIFY,
    group="Output",
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Read OUT back, compare it with the filter computed in float64, and print how far it is off; of a folder "
    f"N files, spread evenly.  [default of N: {VERIFIED}]",
)
other_options = combined(
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
    pages_option,
    preview_option,
    file_options,
    option("--strip", group="Output", is_flag=True, help="Leave out color profile, EXIF, resolution and text."),
    option("--preserve-times", group="Output", is_flag=True, help="Give OUT the times of IN."),
    folder_options,
)

HELP = """{what}

IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/). Several IN are
files, and go into the folder OUT.

\b
Example: {examples}
"""


class FilterCommand(GroupedCommand):
    """A command whose --verify may go without a number, and whose --auto without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give them their values, for which click would take the IN that follows."""
        for i, (arg, following) in enumerate(zip(args, [*args, ""][1:], strict=True)):
            if arg == "--":
                break
            if arg == VERIFY and not following.isdecimal():
                args[i] = f"{VERIFY}={VERIFIED}"
            if arg == automatic.AUTO and following not in (automatic.EACH, automatic.FOLDER):
                args[i] = f"{automatic.AUTO}={automatic.EACH}"
        return super().parse_args(ctx, args)


def output_options(default: str) -> Callable[[Any], Any]:
    """Return the options that say what filtered values become."""
    return combined(output_option(default), edges_option, scale_option)


def filter_command(
    name: str, own_options: Callable[[Any], Any], what: str, *examples: str, outputs: Callable[[Any], Any] | None = None
) -> click.Command:
    """Return the command of a filter, whose own options are those of ``transfer``'s function of its name.

    ``outputs`` stand in the place of :func:`output_options`.
    """
    factors = [factor for key, factor in FACTORS.items() if key != name]

    def command(*, sources: tuple[str, ...], target: str, **given: Any) -> int:
        return run(transfer_of(name, sources, given), sources, target, KEPT | given)

    decorated = combined(
        click.argument("sources", metavar="IN...", nargs=-1),
        click.argument("target", metavar="OUT"),
        own_options,
        pixel_size_option,
        *factors,
        # What repairs a picture leaves its brightness alone.
        outputs or output_options("keep" if name in FACTORS else "magnitude"),
        other_options,
        verify_option,
    )(command)
    text = HELP.format(what=what, examples="\n         ".join(f"fftfilter {name} {each}" for each in examples))
    return click.command(name, cls=FilterCommand, help=text)(decorated)


def transfer_of(name: str, sources: Sequence[str], given: dict[str, Any]) -> Transfer:
    """Return the transfer function that the options of a filter's command say, and take them away.

    ``auto`` stays: how peaks are to be found in each picture, if they are; and ``masks``, the names of their files.
    """
    from .. import transfer

    notches, stripes, masks = (given.pop(key, None) or () for key in FACTORS)
    pixel_size = given.pop("pixel_size")
    if "inner" in given:
        _take_large_and_small(given)
    mode, given["auto"] = automatic.take_options(given)
    given["masks"] = masks
    own = {each: given.pop(each) for each in getattr(transfer, name).__annotations__ if each in given}
    made = [] if name == "mask" else _own(name, own)
    made += _own("notch", {"at": notches}) + _own("stripes", {"angle": stripes})
    if masks:
        from .shared.mask_file import mask_of

        made += map(mask_of, masks)
    if mode == automatic.FOLDER:
        made.append(automatic.of_folder(given["auto"], sources, given))
        given["auto"] = None
    product = reduce(mul, made) if made else transfer.Transfer(())
    return product.with_pixel_size(pixel_size) if pixel_size else product


def _take_large_and_small(given: dict[str, Any]) -> None:
    """Put the periods of --large and --small in the place of --inner and --outer; raises UsageError."""
    from ..transfer.units import Radius

    periods = {name: given.pop(name) for name in ("large", "small")}
    cutoffs = [given["inner"], given["outer"]]
    if any(periods.values()) == any(cutoffs) or None in (cutoffs if any(cutoffs) else periods.values()):
        raise click.UsageError("a band has two cutoffs: give --inner and --outer, or --large and --small.")
    if not any(cutoffs):
        given["inner"], given["outer"] = (Radius.parse(text, name, bare="px") for name, text in periods.items())


def _own(name: str, given: dict[str, Any]) -> list[Transfer]:
    """Return the factors that a filter's own options say: a notch for each peak, a ridge for each angle, else one."""
    from .. import transfer

    if name == "stripes":
        return [transfer.stripes(angle, **given) for angle in given.pop("angle")]
    if name != "notch":
        return [getattr(transfer, name)(**given)]
    made = []
    for text in given.pop("at"):
        parts = text.split(",", 2)
        try:
            at = float(parts[0]), float(parts[1])
        except (ValueError, IndexError):
            raise click.UsageError(
                f"{text!r} is not a peak: give {PEAK}, such as 0.123,0.047 or 0.123,0.047,8px."
            ) from None
        made.append(transfer.notch(at, width=parts[2] if len(parts) > 2 else None, **given))
    return made


highpass = filter_command(
    "highpass",
    combined(one_cutoff, shape_options),
    "Keep what is finer than the cutoff: edges, texture.",
    "in.pgm out.pgm",
    "--radius 8px photo.png edges.png",
    "--recursive photos/ edges/",
)
lowpass = filter_command(
    "lowpass",
    combined(one_cutoff, shape_options),
    "Keep what is coarser than the cutoff: blur.",
    "--radius 40 in.png out.png",
    "--shape gaussian --radius 10% in.png out.png",
)
bandpass = filter_command(
    "bandpass",
    combined(two_cutoffs, shape_options),
    "Keep what lies between two cutoffs.",
    "--inner 8 --outer 64 in.png out.png",
    "--large 40 --small 3 in.png out.png",
    "--large 2.6um --small 0.2um --output keep cells.tif out.tif",
)
bandstop = filter_command(
    "bandstop",
    combined(two_cutoffs, shape_options),
    "Remove what lies between two cutoffs.",
    "--inner 20 --outer 40 in.png out.png",
)
notch = filter_command(
    "notch",
    peak_options,
    "Remove waves, such as a printer's screen: those that you give with --at, or those that --auto finds.",
    "--at 0.123,0.047 --harmonics 3 in.png out.png",
    "--at 0.123,0.047,0.01cyc --at 0.2,-0.1 in.png out.png",
    "--auto scan.png clean.png",
    "--auto folder scans/ clean/",
)
stripes = filter_command(
    "stripes",
    stripe_options,
    "Take out parallel stripes of all periods, such as those of a scan.",
    "--angle 0 in.png out.png",
    "--angle 33 --width 0.003cyc --spare 20px in.png out.png",
)
mask = filter_command(
    "mask", mask_options, "Multiply the spectrum by gains from a file.", "--mask gains.png in.png out.png"
)


def run(transfer: Transfer, sources: Sequence[str], target: str, given: dict[str, Any]) -> int:
    """Filter a picture, a folder, or files into a folder, by the rules of ``cp``; return the exit code."""
    from ..files.urls import place, without_file_scheme

    if not sources:
        raise click.UsageError("Missing argument 'OUT'.")
    if not all(sources) or not target:
        raise click.UsageError(f"{'IN' if target else 'OUT'} is an empty name; for this folder give a dot.")
    sources, target = [without_file_scheme(each) for each in sources], without_file_scheme(target)
    if len(sources) == 1 and is_folder(sources[0]):
        return run_folder(transfer, place(sources[0]), target, CommandOptions.of(given))
    if target.endswith("/") or (target != "-" and is_folder(target)):
        return run_folder(transfer, files_of(sources), target, CommandOptions.of(given))
    if len(sources) > 1:
        raise click.UsageError(f"of several IN, OUT must be a folder, and {target!r} is not one.")
    run_file(transfer, sources[0], target, CommandOptions.of(given))
    return 0
