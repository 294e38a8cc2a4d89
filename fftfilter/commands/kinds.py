"""The kinds of filters on the command line: a :class:`Kind` for each makes a command, and an option of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .. import transfer
from ..transfer.shapes import SHAPES
from ..transfer.units import Radius
from .shared.options import filter_option, words_of

if TYPE_CHECKING:
    from ..output.modes import Output
    from ..transfer import Transfer
    from ..transfer.edges import Edges
    from ..transfer.part import Part
    from ..work.recipe import MethodName

    Options = Sequence[click.Parameter]


@dataclass(eq=False, repr=False)  # to generate more methods takes time
class Kind:
    """A kind of filter: its command and its options."""

    name: str
    what: str
    examples: tuple[str, ...]
    """Options, IN and OUT."""
    options: Options
    made_by: Callable[..., Transfer] | None = None
    """Makes the transfer function, by default the function of the kind's name in ``fftfilter.transfer``. Its parameters
    have the names of the command's own options."""
    factor: click.Option | None = None
    """The option of the other filters that multiplies this one in. It has the kind's name, may be repeated, and takes
    what the first parameter of :attr:`of` does; so may the option of that name in the kind's own command."""
    values_of: Callable[[dict[str, Any]], dict[str, Any]] = dict
    """The values of the command's own options for the arguments of a part, by default the same."""
    output: Output = "magnitude"
    """The default of --output: keep for filters that repair a picture, as it leaves the brightness alone."""
    edges: Edges = "wrap"
    """The default of --edges."""
    method: MethodName = "plain"
    outputs: Options | None = None
    """Options in place of --output, --edges and --scale."""
    takes_others: bool = True
    """Whether other kinds can be multiplied in."""
    is_on_page: bool = True
    """Whether the page of ``explore`` may set its options: none of them names a file."""
    off_page: tuple[str, ...] = ()
    """The names of those that it may not set all the same."""
    searches: tuple[str, ...] = ()
    """The names of the options that have waves searched for."""

    @property
    def of(self) -> Callable[..., Transfer]:
        """What makes the transfer function; that of the library is imported when a command asks for it."""
        made_by: Callable[..., Transfer] = self.made_by or getattr(transfer, self.name)
        return made_by

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the command's own options, which :attr:`of` takes."""
        return tuple(str(option.name) for option in self.options)

    def made(self, given: dict[str, Any]) -> list[Transfer]:
        """Return the transfer functions that the command's own options describe, and take these away."""
        own = {name: given.pop(name) for name in self.parameters}
        if self.factor is None:
            return [self.of(**own)]
        return [self.of(value, **own) for value in own.pop(self.parameters[0])]

    def words(self, part: Part) -> list[str]:
        """Return the command that makes a part, with its own options; raises ParameterError for a mask in no file."""
        size = transfer.Transfer((part,)).pixel_size
        pixel = {} if size is None else {"pixel_size": f"{size!r}m" if type(size) is float else repr(size)}
        return [self.name, *words_of([*self.options, pixel_size_option], self.values_of(part.arguments()) | pixel)]


pixel_size_option = filter_option(
    "--pixel-size LENGTH",
    help="The size of a pixel, for physical cutoffs: 65nm, 0.1mm, 300dpi, 0.2arcsec.  [default: what the file says]",
)


def factor(name: str, text: str) -> click.Option:
    """Return the option of the other filters that multiplies a kind in."""
    return filter_option(name, group="Further filters", multiple=True, help=text)


RADIUS = (
    "Cutoff: 40 (cycles across the shorter side), or with a unit: 8px (period), 0.125cyc (cycles per pixel), "
    "25% (of Nyquist); with the size of a pixel also 2.6um (period; nm to m, in), 5arcsec, 150lpi, 12lp/mm."
)
one_cutoff = filter_option(
    "--radius R",
    short="Cutoff: 40 (cycles across the shorter side), 8px, 0.125cyc or 25%.",
    help=f"{RADIUS}  [default: n/8, n being the shorter side]",
)
two_cutoffs = [
    filter_option("--inner R", help="The other cutoff, in the units of --outer. The order does not matter."),
    filter_option("--outer R", help=RADIUS),
    filter_option(
        "--large P",
        short="The largest structures, such as 40px.",
        help="Instead of --inner: the size of the largest structures; 40 means 40px.",
    ),
    filter_option(
        "--small P",
        short="The smallest structures, such as 3px.",
        help="Instead of --outer: the size of the smallest structures.",
    ),
]
shape_options = [
    filter_option(
        "--shape",
        group="Shape",
        type=click.Choice(list(SHAPES)),
        default="ideal",
        short="ideal (sharp, rings), gaussian (smooth), butterworth, cosine or fermi.",
        help="How the filter falls off; the smooth shapes have gain 1/2 at the cutoff.",
    ),
    filter_option("--order N", group="Shape", type=int, help="Steepness of butterworth, 1 to 100.  [default: 2]"),
    filter_option(
        "--width W",
        group="Shape",
        help="Width of the edge of cosine and fermi, in the units of a cutoff.  [default: 1/2 and 1/10 of the cutoff]",
    ),
]


def band(name: str) -> Callable[..., Transfer]:
    """Return a function that makes a band of options; its cutoffs may be periods."""

    def of(*, inner: str | None, outer: str | None, large: str | None, small: str | None, **fall: Any) -> Transfer:
        make: Callable[..., Transfer] = getattr(transfer, name)
        cutoffs, periods = (inner, outer), (large, small)
        if any(periods) == any(cutoffs) or None in (cutoffs if any(cutoffs) else periods):
            raise click.UsageError("a band has two cutoffs: give --inner and --outer, or --large and --small.")
        if any(cutoffs):
            return make(inner, outer, **fall)
        coarse, fine = Radius.parse(large, "large", bare="px"), Radius.parse(small, "small", bare="px")
        return make(coarse, fine, **fall)

    return of


PEAK = "FX,FY[,WIDTH]"
peak_options = [
    filter_option(
        f"--at {PEAK}",
        multiple=True,
        short="Remove this wave: 0.123,0.047 are its cycles per pixel. May be repeated.",
        help="Remove this wave, given by its cycles per pixel to the right and down, as 'fftfilter peaks' prints them. "
        "At the distance WIDTH, in the units of a cutoff, half of the amplitude is left; the default is 0.006cyc. May "
        "be repeated.",
    ),
    filter_option(
        "--harmonics N", type=int, default=1, help="Also remove multiples of each --at, up to N times its frequency."
    ),
    filter_option(
        "--shape",
        type=click.Choice(list(SHAPES)),
        default="gaussian",
        help="How the gain rises with the distance from the wave's frequency.",
    ),
    filter_option(
        "--in-channels N[,N]...",
        help="Remove each --at from these color channels alone, counted from 0.  [default: all]",
    ),
    filter_option("--mirrored", is_flag=True, help="Also remove the mirror image of each --at, FX,-FY."),
    filter_option(
        "--is-wave", is_flag=True, help="Subtract the wave of each --at, its exact frequency, before the notch."
    ),
]


def notch_of(at: str, *, in_channels: str | None = None, **further: Any) -> Transfer:
    """Return the notch of a peak, ``FX,FY[,WIDTH]``; raises UsageError."""
    parts = at.split(",", 2)
    try:
        peak = float(parts[0]), float(parts[1])
    except (ValueError, IndexError):
        raise click.UsageError(f"{at!r} is not a peak: give {PEAK}, such as 0.123,0.047 or 0.123,0.047,8px.") from None
    channels = None
    if in_channels is not None:
        if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", in_channels):
            raise click.UsageError(f"--in-channels {in_channels!r} are no channels: give numbers from 0, such as 0,2.")
        channels = map(int, in_channels.split(","))
    return transfer.notch(peak, width=parts[2] if len(parts) > 2 else None, channels=channels, **further)


def values_of_notch(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the options for the arguments of a notch."""
    (fx, fy), channels = given["at"], given.get("channels")
    only = {"in_channels": ",".join(map(str, channels))} if channels else {}
    return {**given, "at": f"{fx!r},{fy!r},{given['width']}", **only}


stripe_options = [
    filter_option(
        "--angle DEG",
        multiple=True,
        short="The direction of the stripes in degrees, counterclockwise. Without it, --auto finds the stripes.",
        help="The direction of the stripes in degrees, counterclockwise; 0 is horizontal. auto, or --auto without an "
        "angle, finds the stripes of each picture, and leaves one that has none as it is. May be repeated.",
    ),
    filter_option(
        "--width W",
        help="The distance from the stripes' line in the spectrum at which the gain is 1/2, in the units of a cutoff, "
        "for all pictures alike.  [default: by the picture; 0.003cyc with --spare]",
    ),
    filter_option(
        "--spare R",
        short="Keep frequencies below this radius, such as 40px.",
        help="Keep frequencies below this radius, for all pictures alike.  [default: by the picture; 40px with "
        "--width]",
    ),
]
wiener_option = filter_option(
    "--noise NOISE",
    multiple=True,
    default=("auto",),
    short="The noise in gray levels, white being 255, or auto.",
    help="The standard deviation of the noise in gray levels, white being 255; auto measures it where the spectrum is "
    "lowest.",
)
descreen_options = [
    filter_option(
        "--strength DB",
        type=float,
        help="How far a screen's waves have to stand out from the frequencies around them.  [default: 18]",
    ),
    filter_option(
        "--keep-detail PERCENT",
        type=float,
        default=0.0,
        short="Keep a part of the detail that is smoothed away: 0, the default, to 100.",
        help="The part that stays of the detail that is smoothed behind the screen: 0 gives the cleanest picture, 100 "
        "removes the screen's waves alone.",
    ),
]


mask_option = filter_option(
    "--mask FILE",
    multiple=True,
    required=True,
    short="A picture of gains, DC in the middle, white is 1; or .npy. May be repeated.",
    help="A picture of gains, DC in the middle, white is 1; or .npy, with the gains as they are. Gains are a function "
    "of frequency, so images may have any size, and are made even. May be repeated.",
)


imagej_options = [
    filter_option(
        "--large P",
        default="40",
        short="Filter large structures down to: 40 (pixels) or 2.6um.",
        help="Filter large structures down to: a period in pixels, or with a unit, such as 2.6um.",
    ),
    filter_option(
        "--small P",
        default="3",
        short="Filter small structures up to: 3 (pixels) or 0.2um.",
        help="Filter small structures up to: likewise; 0 keeps the finest.",
    ),
    filter_option(
        "--suppress",
        type=click.Choice(["none", "horizontal", "vertical"]),
        default="none",
        short="Suppress stripes: horizontal or vertical.",
        help="Suppress stripes in this direction.",
    ),
    filter_option("--tolerance PERCENT", type=float, default=5, help="The tolerance of that direction."),
]
autoscale_options = [
    filter_option(
        "--autoscale/--no-autoscale",
        default=True,
        short="Stretch to the whole range, the default; --no-autoscale keeps the levels.",
        help="Stretch a gray picture of 8 or 16 bits to its whole range, as ImageJ does; others keep their levels.",
    ),
    filter_option("--saturate/--no-saturate", default=True, help="Clip 1 percent of the pixels when stretching."),
]

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "lowpass",
            "Keep what is coarser than the cutoff: blur.",
            ("--radius 40 in.png out.png", "--shape gaussian --radius 10% in.png out.png"),
            [one_cutoff, *shape_options],
        ),
        Kind(
            "highpass",
            "Keep what is finer than the cutoff: edges, texture.",
            ("in.pgm out.pgm", "--radius 8px photo.png edges.png", "--recursive photos/ edges/"),
            [one_cutoff, *shape_options],
        ),
        Kind(
            "bandpass",
            "Keep what lies between two cutoffs.",
            (
                "--inner 8 --outer 64 in.png out.png",
                "--large 40 --small 3 in.png out.png",
                "--large 2.6um --small 0.2um cells.tif out.tif",
            ),
            [*two_cutoffs, *shape_options],
            band("bandpass"),
        ),
        Kind(
            "bandstop",
            "Remove what lies between two cutoffs.",
            ("--inner 20 --outer 40 in.png out.png",),
            [*two_cutoffs, *shape_options],
            band("bandstop"),
        ),
        Kind(
            "notch",
            "Remove waves, such as a printer's screen. Give them with --at, or let --auto find them.",
            (
                "--at 0.123,0.047 --harmonics 3 in.png out.png",
                "--at 0.123,0.047,0.01cyc --at 0.2,-0.1 in.png out.png",
                "--auto scan.png clean.png",
                "--auto folder scans/ clean/",
            ),
            peak_options,
            notch_of,
            factor=factor(f"--notch {PEAK}", "Also remove this wave; see 'notch'."),
            values_of=values_of_notch,
            output="keep",
            searches=("auto", "strength", "keep"),
            off_page=("in_channels", "mirrored", "is_wave"),
        ),
        Kind(
            "stripes",
            "Remove parallel stripes of all periods, such as those of a scan. They are removed as far as the picture "
            "has them, so that one without any hardly changes.",
            ("--auto in.png out.png", "--angle 33 --spare 20px in.png out.png"),
            stripe_options,
            factor=factor("--stripes DEG", "Also remove stripes at this angle, or auto; see 'stripes'."),
            output="keep",
            edges="mirror",
        ),
        Kind(
            "wiener",
            "Smooth as far as the picture's own spectrum is noise. Grain and sensor noise go, detail above it stays.",
            ("noisy.png clean.png", "--noise 8 noisy.png clean.png"),
            [wiener_option],
            factor=factor("--wiener NOISE", "Also smooth noise, as measured with auto; see 'wiener'."),
            output="keep",
            edges="mirror",
        ),
        Kind(
            "descreen",
            "Take the dots out of a scanned print. Finds the printer's screens, removes them with their harmonics and "
            "moire, and smooths what they leave. A picture without a screen stays as it is.",
            ("print.png clean.png", "--keep-detail 30 print.png clean.png", "scans/ clean/"),
            descreen_options,
            output="keep",
            method="descreen",
            outputs=[],
            takes_others=False,
        ),
        Kind(
            "mask",
            "Multiply the spectrum by gains from a file.",
            ("--mask gains.png in.png out.png",),
            [mask_option],
            lambda mask: transfer.mask_file(mask),  # noqa: PLW0108  which imports NumPy when it is called
            factor=factor("--mask FILE", "Also multiply by the gains of a file; see 'mask'."),
            values_of=lambda given: {"mask": given["file"]},
            output="keep",
            is_on_page=False,
        ),
        Kind(
            "imagej",
            "Filter as ImageJ's FFT Bandpass Filter does, with its defaults. Structures from small to large stay, and "
            "the mean. Color pictures are filtered by their brightness.",
            ("in.tif out.tif", "--suppress horizontal --no-autoscale in.tif out.tif"),
            imagej_options,
            method="imagej",
            outputs=autoscale_options,
            is_on_page=False,
        ),
    )
}
