"""The options of missing pixels: ``--missing`` and ``--nodata``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from .options import combined, option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...missing.rule import Missing

# The words of missing/rule.py, which are no name of a mask.
RULES = (None, "alpha", "none")


class Nodata(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A value of samples, NaN included."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number: give the value of a missing sample, such as -9999.", param, ctx)


missing_options: Callable[[Any], Any] = combined(
    option(
        "--missing",
        group="Input",
        metavar="WHERE",
        help="Which pixels are no picture, and stay as they are: alpha, the fully transparent ones; none; or a mask, a "
        "picture that is black where IN is valid. NaN always is.  [default: alpha, and the file's own nodata value]",
    ),
    option(
        "--nodata",
        group="Input",
        type=Nodata(),
        metavar="VALUE",
        help="The value of samples that are missing, such as -9999.  [default: what a GeoTIFF says]",
    ),
)


def missing_of(given: Mapping[str, Any]) -> Missing:
    """Return the rule that a command's options describe; raises ReadError for a mask that cannot be read."""
    from ...missing.rule import Missing

    by, nodata = given["missing"], given["nodata"]
    if nodata is not None and math.isnan(nodata):
        nodata = None  # as always
    return Missing(nodata, by) if by in RULES else Missing.from_json(nodata, file=by)
