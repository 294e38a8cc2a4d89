"""The kinds of filters on the command line: functions whose options, help and examples make commands.

Each makes a command of its name, and, with a ``factor``, an option of the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .. import transfer
from ..output.modes import FOLDER, Output
from ..transfer.radial import HIGHEST_ORDER
from ..transfer.shapes import SHAPES, USUAL_ORDER
from ..transfer.units import Radius
from .options import GroupedOption, filter_option, several

if TYPE_CHECKING:
    from ..transfer import Transfer
    from ..transfer.product import Edges
    from ..work.recipe import MethodName

    Make = Callable[..., Transfer]


@dataclass(eq=False, repr=False)  # to generate more methods takes time
class Kind:
    """A kind of filter: its command and its options."""

    make: Make  # makes the transfer function of its own options' values; its docstring is the command's help
    examples: tuple[str, ...]  # options, IN and OUT
    options: Sequence[GroupedOption]  # its own
    # The option of the other filters that multiplies this one in. It has the kind's name, may be repeated, and takes
    # what the first option of the kind's own command does, which may be repeated, too.
    factor: GroupedOption | None = None
    output: Output = "magnitude"  # the default; keep for filters that repair a picture, whose brightness stays
    edges: Edges = "wrap"  # the default
    method: MethodName = "plain"
    outputs: Sequence[GroupedOption] | None = None  # in place of --output, --edges and --scale
    takes_others: bool = True  # whether other kinds can be multiplied in
    # What the page of explore may set: the kind, unless an option names a file; all of its own options but off_page;
    # and of the others those that have waves searched for.
    is_on_page: bool = True
    off_page: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()

    def made(self, given: dict[str, Any]) -> list[Transfer]:
        """Return the transfer functions that the command's own options describe, and take these away."""
        own = {str(option.name): given.pop(str(option.name)) for option in self.options}
        if self.factor is None:
            return [self.make(**own)]
        first = str(self.options[0].name)
        return [self.make(**{**own, first: value}) for value in own[first]]


KINDS: dict[str, Kind] = {}


def kind(*examples: str, **about: Any) -> Callable[[Make], Make]:
    """Return a decorator that takes a function with options among the kinds; ``about`` are further fields of it."""

    def add(make: Make) -> Make:
        KINDS[make.__name__] = Kind(make, examples, tuple(reversed(vars(make)["__click_params__"])), **about)
        return make

    return add


pixel_size_option = filter_option(
    "--pixel-size LENGTH",
    help="The size of a pixel, for physical cutoffs: 65nm, 0.1mm, 300dpi, 0.2arcsec, or its width and height: "
    "7um,10um; with --axes also one for each axis: 0.3um,0.1um,0.1um.  [default: what the file says]",
)

factor = partial(filter_option, group="Further filters", multiple=True)
RADIUS = (
    "Cutoff: 40 (cycles across the shorter side), 8px, 0.125cyc or 25%. px are periods, cyc cycles per pixel, and % is "
    "of Nyquist; with the size of a pixel also 2.6um (period; nm to m, in), 5arcsec, 150lpi, 12lp/mm."
)
one_cutoff = filter_option("--radius R", everyday=True, help=f"{RADIUS}  [default: n/8, n being the shorter side]")
two_cutoffs = several(
    filter_option("--inner R", help="The other cutoff, in the units of --outer. The order does not matter."),
    filter_option("--outer R", help=RADIUS),
    filter_option(
        "--large P",
        everyday=True,
        help="The largest structures, such as 40px. This is instead of --inner; 40 means 40px.",
    ),
    filter_option(
        "--small P",
        everyday=True,
        help="The smallest structures, such as 3px. This is instead of --outer.",
    ),
)
shape_options = several(
    filter_option(
        "--shape",
        group="Shape",
        type=click.Choice(list(SHAPES)),
        default="ideal",
        everyday=True,
        help="ideal (sharp, rings), gaussian (smooth), butterworth, cosine or fermi. The smooth shapes have gain 1/2 "
        "at the cutoff.",
    ),
    filter_option(
        "--order N",
        group="Shape",
        type=int,
        help=f"Steepness of butterworth, 1 to {HIGHEST_ORDER}.  [default: {USUAL_ORDER}]",
    ),
    filter_option(
        "--width W",
        group="Shape",
        help="Width of the edge of cosine and fermi, in the units of a cutoff.  [default: 1/2 and 1/10 of the cutoff]",
    ),
)


@kind("--radius 40 in.png out.png", "--shape gaussian --radius 10% in.png out.png")
@one_cutoff
@shape_options
def lowpass(**given: Any) -> Transfer:
    """Keep what is coarser than the cutoff: blur."""
    return transfer.lowpass(**given)


@kind("in.pgm out.pgm", "--radius 8px photo.png edges.png", "--recursive photos/ edges/")
@one_cutoff
@shape_options
def highpass(**given: Any) -> Transfer:
    """Keep what is finer than the cutoff: edges, texture."""
    return transfer.highpass(**given)


@kind(
    "--inner 8 --outer 64 in.png out.png",
    "--large 40 --small 3 in.png out.png",
    "--large 2.6um --small 0.2um cells.tif out.tif",
)
@two_cutoffs
@shape_options
def bandpass(**given: Any) -> Transfer:
    """Keep what lies between two cutoffs."""
    return transfer.bandpass(*_cutoffs(given), **given)


@kind("--inner 20 --outer 40 in.png out.png")
@two_cutoffs
@shape_options
def bandstop(**given: Any) -> Transfer:
    """Remove what lies between two cutoffs."""
    return transfer.bandstop(*_cutoffs(given), **given)


def _cutoffs(given: dict[str, Any]) -> list[Any]:
    """Take the two cutoffs of a band, which may be periods, from the values of its options; raises UsageError."""
    cutoffs, periods = ([given.pop(name) for name in pair] for pair in (("inner", "outer"), ("large", "small")))
    if any(periods) == any(cutoffs) or None in (cutoffs if any(cutoffs) else periods):
        raise click.UsageError("a band has two cutoffs: give --inner and --outer, or --large and --small.")
    if any(cutoffs):
        return cutoffs
    return [Radius.parse(each, name, bare="px") for each, name in zip(periods, ("large", "small"), strict=True)]


PEAK = "FX,FY[,WIDTH]"


@kind(
    "--at 0.123,0.047 --harmonics 3 in.png out.png",
    "--at 0.123,0.047,0.01cyc --at 0.2,-0.1 in.png out.png",
    "--auto scan.png clean.png",
    "--auto folder scans/ clean/",
    factor=factor(f"--notch {PEAK}", help="Also remove this wave; see 'notch'."),
    output="keep",
    searches=("auto", "strength", "keep"),
    off_page=("in_channels", "mirrored", "is_wave"),
)
@filter_option(
    f"--at {PEAK}",
    multiple=True,
    everyday=True,
    help="Remove this wave: its cycles per pixel, 0.123,0.047. They count to the right and down, as 'fftfilter peaks' "
    "prints them. At the distance WIDTH, in the units of a cutoff, half of the amplitude is left; the default is "
    "0.006cyc. May be repeated.",
)
@filter_option(
    "--harmonics N",
    type=int,
    default=1,
    help="Also remove multiples of each --at, up to N times its frequency, at most 1000.",
)
@filter_option(
    "--shape",
    type=click.Choice(list(SHAPES)),
    default="gaussian",
    help="How the gain rises with the distance from the wave's frequency.",
)
@filter_option(
    "--in-channels N[,N]...", help="Remove each --at from these color channels alone, counted from 0.  [default: all]"
)
@filter_option("--mirrored", is_flag=True, help="Also remove the mirror image of each --at, FX,-FY.")
@filter_option("--is-wave", is_flag=True, help="First subtract the wave of exactly the frequency of --at.")
def notch(at: str, *, in_channels: str | None = None, **further: Any) -> Transfer:
    """Remove waves, such as a printer's screen. Give them with --at, or let --auto find them."""
    parts, channels = at.split(",", 2), None
    try:
        peak = float(parts[0]), float(parts[1])
    except (ValueError, IndexError):
        raise click.UsageError(f"{at!r} is not a peak: give {PEAK}, such as 0.123,0.047 or 0.123,0.047,8px.") from None
    if in_channels is not None:
        if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", in_channels):
            raise click.UsageError(f"--in-channels {in_channels!r} are no channels: give numbers from 0, such as 0,2.")
        channels = map(int, in_channels.split(","))
    return transfer.notch(peak, width=parts[2] if len(parts) > 2 else None, channels=channels, **further)


@kind(
    "--auto in.png out.png",
    "--angle 33 --spare 20px in.png out.png",
    factor=factor("--stripes DEG", help="Also remove stripes at this angle, or auto; see 'stripes'."),
    output="keep",
    edges="mirror",
    off_page=("fixed_pattern",),
)
@filter_option(
    "--angle DEG",
    multiple=True,
    everyday=True,
    help="The direction of the stripes in degrees, counterclockwise; 0 is horizontal. auto, or --auto without an "
    "angle, finds the stripes of each picture; one without any stays as it is. May be repeated.",
)
@filter_option(
    "--width W",
    help="The distance from the stripes' line in the spectrum at which the gain is 1/2, in the units of a cutoff, "
    "for all pictures alike.  [default: by the picture; 0.003cyc with --spare]",
)
@filter_option(
    "--spare R",
    everyday=True,
    help="Keep frequencies below this radius, such as 40px. It is the same for all pictures.  [default: by the "
    "picture; 40px with --width]",
)
@filter_option(
    "--waves",
    group="Lines",
    is_flag=True,
    help="Take out waves alone: hum, and flicker of two periods or more. With an --angle, also faint ones.",
)
@filter_option(
    "--blocks N",
    group="Lines",
    type=int,
    help="Look for lines in each of N equal parts of their length, as each amplifier of a sensor has its own.",
)
@filter_option(
    "--fixed-pattern",
    group="Lines",
    type=click.Choice(["pages", FOLDER]),
    help="Take out the lines that all pages of a file, or all pictures of a folder, have in common, as those of one "
    "sensor have.  [default: those of each picture]",
)
def stripes(angle: str, *, fixed_pattern: str | None = None, **given: Any) -> Transfer:
    """Remove parallel lines, stripes and bands of any width.

    They are removed as far as the picture has them; one without any stays as it is.
    """
    given["fixed_pattern"] = fixed_pattern and "pages"  # a folder's is found before
    return transfer.stripes(angle, **given)  # type: ignore[arg-type]


@kind(
    "noisy.png clean.png",
    "--noise 8 noisy.png clean.png",
    factor=factor("--wiener NOISE", help="Also smooth noise, as measured with auto; see 'wiener'."),
    output="keep",
    edges="mirror",
)
@filter_option(
    "--noise NOISE",
    multiple=True,
    default=("auto",),
    everyday=True,
    help="The standard deviation of the noise in the values of the file, levels of 255 for 8 bits, or auto. auto "
    "measures it where the spectrum is lowest.",
)
def wiener(noise: str) -> Transfer:
    """Smooth as far as the picture's own spectrum is noise. Grain and sensor noise go, detail above it stays."""
    return transfer.wiener(noise)


@kind(
    "print.png clean.png",
    "--keep-detail 30 print.png clean.png",
    "scans/ clean/",
    output="keep",
    method="descreen",
    outputs=(),
    takes_others=False,
)
@filter_option(
    "--strength DB",
    type=float,
    help="How far a screen's waves have to stand out from the frequencies around them.  [default: 18]",
)
@filter_option(
    "--keep-detail PERCENT",
    type=float,
    default=0,
    everyday=True,
    help="The detail that stays of what is smoothed away, -50 to 100. 100 removes only the waves of the screen; below "
    "0 the picture is smoother.",
)
def descreen(**given: Any) -> Transfer:
    """Take the dots out of a scanned print.

    Finds the printer's screens, removes them with their harmonics and moire, and smooths what they leave. A picture
    without a screen stays as it is.
    """
    return transfer.descreen(**given)


@kind(
    "--mask gains.png in.png out.png",
    factor=factor("--mask FILE", help="Also multiply by the gains of a file; see 'mask'."),
    output="keep",
    is_on_page=False,
)
@filter_option(
    "--mask FILE",
    multiple=True,
    required=True,
    everyday=True,
    help="A picture of gains, DC in the middle, white is 1; or .npy, with the gains as they are. Gains are a function "
    "of frequency, so images may have any size, and are made even. May be repeated.",
)
def mask(mask: str) -> Transfer:
    """Multiply the spectrum by gains from a file."""
    return transfer.mask_file(mask)


@kind(
    "in.tif out.tif",
    "--suppress horizontal --no-autoscale in.tif out.tif",
    method="imagej",
    outputs=(
        filter_option(
            "--autoscale/--no-autoscale",
            default=True,
            everyday=True,
            help="Stretch a gray picture of 8 or 16 bits to its whole range. Others keep their levels, as in ImageJ.",
        ),
        filter_option("--saturate/--no-saturate", default=True, help="Clip 1 percent of the pixels when stretching."),
    ),
    is_on_page=False,
)
@filter_option(
    "--large P",
    default="40",
    everyday=True,
    help="Filter large structures down to this period: 40 (pixels) or 2.6um.",
)
@filter_option(
    "--small P",
    default="3",
    everyday=True,
    help="Filter small structures up to this period: 3 (pixels) or 0.2um. 0 keeps the finest.",
)
@filter_option(
    "--suppress",
    type=click.Choice(["none", "horizontal", "vertical"]),
    default="none",
    everyday=True,
    help="Suppress horizontal or vertical stripes.",
)
@filter_option("--tolerance PERCENT", type=float, default=5, help="The tolerance of --suppress, 0 to 100.")
def imagej(**given: Any) -> Transfer:
    """Filter as ImageJ's FFT Bandpass Filter does, with its defaults.

    Structures from small to large stay, and the mean. Color pictures are filtered by their brightness.
    """
    return transfer.imagej(**given)
