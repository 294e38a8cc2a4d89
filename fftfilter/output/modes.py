"""The outputs by name, and the range of each: what filtered values become, which are black and which are white.

A mode is a row of ``MODES``; everything that depends on the output asks the row. NumPy is not imported here.

The range of a scaled output is each picture's own: 0 to its largest value, found on the device. ``folder`` is 0 to the
largest value of a whole folder, so that a series stays comparable, ``stack`` that of all pages of a file. ``auto`` is
each picture's own without some extreme values, which a histogram finds (``histogram.py``). LO:HI is given, in gray
levels of the input: 0 to 255 for 8 bits, 0 to its maxval for a PGM.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, Final, Literal, NamedTuple, get_args

from ..errors import ParameterError, check_option

Output = Literal["magnitude", "keep", "signed", "real"]
EACH: Final = "each"
FOLDER: Final = "folder"
STACK: Final = "stack"
AUTO: Final = "auto"
Span = Literal["each", "folder", "stack"]
"""What has one range: each picture, all pages of a file, or all files of a folder."""


class Range(NamedTuple):
    """The values that become black and white."""

    low: float
    high: float
    of_white: bool = False  # whether they are parts of the input's white rather than gray levels

    def in_levels(self, white: float) -> Range:
        """Return the range in gray levels of an input with this white."""
        return Range(self.low * white, self.high * white) if self.of_white else self


class Auto(NamedTuple):
    """Each picture's own range without its extreme values."""

    # How many percent of the samples become black or white; by default as many as in ImageJ's Enhance Contrast.
    saturated: float = 0.35


Scale = Range | Auto

ALL: Final = "all"
Channels = Literal["all", "luminance", "chroma"]
"""What is filtered of a color picture: all of its channels, or only one of the two parts of ``region.py``."""
CHANNELS: tuple[Channels, ...] = get_args(Channels)


class Mode(NamedTuple):
    """A row. The formulas are in ``docs/numbers.md``, the numbers of each in ``ramp.py``."""

    name: Output
    brief: str  # for the help, such as "0 black"
    # Whether black and white are chosen, for all channels in common; the others keep the input's gray levels.
    is_scaled: bool = False
    is_absolute: bool = False  # whether values lose their sign
    is_symmetric: bool = False  # whether 0 lies in the middle, and black and white are equally far from it
    keeps_mean: bool = False  # whether H(0) is taken as 1
    keeps_levels: bool = False  # whether a gray level of the input becomes the same one of the output
    is_values: bool = False  # whether the filtered values stay as they are, which takes floats
    is_default: bool = False  # whether it is the default

    def range_up_to(self, largest: float) -> Range:
        """Return which values are black and white if ``largest`` is the largest magnitude.

        ``largest`` is 0 if the picture holds only rounding noise. Both are parts of the input's white, or of what
        ``largest`` is a part of.
        """
        high = largest or 1.0
        return Range(-high if self.is_symmetric else 0.0, high, of_white=True)

    def needs_ramps(self, scale: Scale | None) -> bool:
        """Return whether pipelines have to be given ramps (``ramp.py``).

        Not for raw values, nor for the default output with its own range: pipelines compute those directly (for complex
        results the real part, or the magnitude).
        """
        return not (self.is_values or (self.is_default and scale is None))

    def cautions(self, scale: Scale | None) -> list[str]:
        """Return a line if black lies where no magnitude is."""
        if not self.is_absolute or not isinstance(scale, Range) or scale.low >= 0:
            return []
        return [f"scale {scale.low:g}:{scale.high:g} begins below 0, where no magnitude is: nothing becomes black"]


MODES: dict[Output, Mode] = {
    mode.name: mode
    for mode in (
        Mode("magnitude", "0 black", is_scaled=True, is_absolute=True, is_default=True),
        Mode("keep", "IN's gray levels", keeps_mean=True, keeps_levels=True),
        Mode("signed", "0 in the middle", is_scaled=True, is_symmetric=True),
        Mode("real", "floats", is_values=True),
    )
}
SCALED = tuple(name for name, mode in MODES.items() if mode.is_scaled)


def check_scale(output: Output, scale: object) -> None:
    """Raise ParameterError for a scale, such as 0:40, that means nothing to an output; None is no scale."""
    if scale is not None and not MODES[output].is_scaled:
        raise ParameterError(
            f"output {output} keeps the input's gray levels and has no scale: leave the scale out, or choose "
            f"output {' or '.join(SCALED)}"
        )


def refuse_missing(output: Output) -> None:
    """Raise ParameterError for an output of a volume that takes no missing samples."""
    if not (MODES[output].keeps_levels or MODES[output].is_values):
        raise ParameterError(f"output {output} of a volume takes no missing samples: take keep or real, or fill them")


def check_channels(output: Output, channels: object) -> None:
    """Raise ParameterError for channels that are unknown, or that mean nothing to an output; None are all."""
    check_option("channels", ALL if channels is None else channels, CHANNELS)  # type: ignore[arg-type]
    mode = MODES[output]
    if channels not in (None, ALL) and not (mode.keeps_levels or mode.is_values):
        others = " or ".join(name for name, each in MODES.items() if each.keeps_levels or each.is_values)
        raise ParameterError(
            f"channels {channels} keeps the rest of the colors, and output {output} has other gray levels: choose "
            f"output {others}"
        )


def check_colors(channels: Channels | None, count: int, what: str) -> None:
    """Raise ParameterError for ``what``, a picture of ``count`` channels, that is neither gray nor RGB."""
    if channels not in (None, ALL) and count not in (1, 3):
        raise ParameterError(
            f"{what} has {count} channels, and channels {channels} is for gray and RGB: leave 1 or 3, or choose {ALL}"
        )


def scale_of(given: Any) -> Scale | None:
    """Return the range that Python gives as (LO, HI), "auto" or ("auto", P), None for each; raises ParameterError."""
    given = given.tolist() if hasattr(given, "tolist") else given  # two percentiles by NumPy
    if given is None or given == EACH:
        return None
    if given == AUTO or isinstance(given, Range | Auto):
        return Auto() if isinstance(given, str) else given
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(
            f"scale {given!r} is unknown: give 'each', 'auto', ('auto', P), or two gray levels such as (0, 40)"
        )
    return parse_scale(f"{given[0]}:{given[1]}")


def parse_scale(text: str) -> Scale | None:
    """Return what auto, auto:P or LO:HI gives, None for the words each, folder and stack; raises ParameterError."""
    if text in (EACH, FOLDER, STACK):
        return None
    low, _, high = text.partition(":")
    if text == AUTO:
        return Auto()
    if low == AUTO:
        with suppress(ValueError):
            if 0 <= float(high) < 100:
                return Auto(float(high))
        raise ParameterError(f"scale {text!r} is invalid: give percent of the samples below 100, such as auto:0.35")
    try:
        given = Range(float(low), float(high))
    except ValueError:
        raise ParameterError(
            f"scale {text!r} is unknown: give each, folder, stack, auto, auto:P, or LO:HI such as 0:40"
        ) from None
    if not (math.isfinite(given.low) and math.isfinite(given.high) and given.low < given.high):
        raise ParameterError(f"scale {text!r} is not a range: give two numbers, the smaller first, such as 0:40")
    return given
