"""``imagej``: the FFT Bandpass Filter of ImageJ, by the words of its dialog."""

from __future__ import annotations

import click

from ..transfer.imagej_band import SUPPRESSED, USUAL_TOLERANCE
from .filters import filter_command
from .shared.options import combined, option

imagej_options = combined(
    option(
        "--large",
        group="Filter",
        metavar="P",
        default="40",
        show_default=True,
        short="Filter large structures down to: 40 (pixels) or 2.6um.",
        help="Filter large structures down to: a period in pixels, or with a unit, such as 2.6um.",
    ),
    option(
        "--small",
        group="Filter",
        metavar="P",
        default="3",
        show_default=True,
        short="Filter small structures up to: 3 (pixels) or 0.2um.",
        help="Filter small structures up to, as --large; 0 keeps the finest.",
    ),
    option(
        "--suppress",
        group="Filter",
        type=click.Choice(SUPPRESSED),
        default="none",
        show_default=True,
        short="Suppress stripes: horizontal or vertical.",
        help="Suppress stripes of this direction.",
    ),
    option(
        "--tolerance",
        group="Filter",
        type=float,
        metavar="PERCENT",
        default=USUAL_TOLERANCE,
        show_default=True,
        help="Tolerance of that direction.",
    ),
)
autoscale_options = combined(
    option(
        "--autoscale/--no-autoscale",
        group="Filter",
        default=True,
        show_default=True,
        short="Stretch to the whole range, the default; --no-autoscale keeps the levels.",
        help="Stretch a gray picture of 8 or 16 bits to its whole range, as ImageJ does; it leaves others alone.",
    ),
    option(
        "--saturate/--no-saturate",
        group="Filter",
        default=True,
        show_default=True,
        help="Clip 1 percent of the pixels when autoscaling.",
    ),
)

imagej = filter_command(
    "imagej",
    imagej_options,
    "Filter as ImageJ's FFT Bandpass Filter does, with its defaults: structures from small to large stay, and so does "
    "the mean. Of a color picture the brightness is filtered.",
    "in.tif out.tif",
    "--large 40 --small 3 --suppress horizontal --no-autoscale in.tif out.tif",
    outputs=autoscale_options,
)
