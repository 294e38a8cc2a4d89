"""The outputs by name: what filtered values become.

A mode is a row of ``MODES``; everything that depends on the output asks the row. NumPy is not imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import ParameterError
from .scale import Range, Scale

Output = Literal["magnitude", "keep", "signed", "real"]


@dataclass(frozen=True)
class Mode:
    """What filtered values become. The formulas are in ``docs/numbers.md``, the numbers of each in ``ramp.py``."""

    name: Output
    brief: str
    """For the short help, such as "0 black"."""
    help: str
    is_scaled: bool = False
    """Whether black and white are chosen, for all channels in common; the others keep the input's grey levels."""
    is_absolute: bool = False
    """Whether values lose their sign."""
    is_symmetric: bool = False
    """Whether 0 lies in the middle, and black and white are equally far from it."""
    keeps_mean: bool = False
    """Whether H(0) is taken as 1."""
    keeps_levels: bool = False
    """Whether a grey level of the input becomes the same one of the output."""
    is_values: bool = False
    """Whether the filtered values stay as they are, which takes floats."""
    is_default: bool = False
    """Whether filters give it if no output is asked for."""

    def range_up_to(self, largest: float) -> Range:
        """Return which values are black and white if ``largest`` is the largest magnitude; 0 is rounding noise.

        Both are parts of the input's white, or whatever ``largest`` is a part of.
        """
        high = largest or 1.0
        return Range(-high if self.is_symmetric else 0.0, high, of_white=True)

    def needs_ramps(self, scale: Scale | None) -> bool:
        """Return whether pipelines have to be given ramps (``ramp.py``).

        They do without for values as they are, and for the default output with each picture's own range: of complex
        values these are the real part and the magnitude.
        """
        return not (self.is_values or (self.is_default and scale is None))


MODES: dict[Output, Mode] = {
    mode.name: mode
    for mode in (
        Mode("magnitude", "0 black", "0 black, the largest white", is_scaled=True, is_absolute=True, is_default=True),
        Mode("keep", "IN's grey levels", "the grey levels of IN with their mean", keeps_mean=True, keeps_levels=True),
        Mode("signed", "0 in the middle", "0 in the middle, both signs", is_scaled=True, is_symmetric=True),
        Mode("real", "floats", "the filtered values as they are, into .tif, .pfm or .npy", is_values=True),
    )
}
SCALED = tuple(name for name, mode in MODES.items() if mode.is_scaled)


def check_scale(output: Output, scale: object) -> None:
    """Raise ParameterError for a scale, such as 0:40, that means nothing to an output; None is no scale."""
    if scale is not None and not MODES[output].is_scaled:
        raise ParameterError(
            f"output {output} keeps the input's grey levels and has no scale: leave the scale out, or choose "
            f"output {' or '.join(SCALED)}"
        )
