"""The outputs by name: what filtered values become. NumPy is not imported here."""

from __future__ import annotations

from typing import Literal, get_args

from ..errors import ParameterError

Output = Literal["magnitude", "keep", "signed", "real"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
SCALED: tuple[Output, ...] = ("magnitude", "signed")
"""Outputs whose black and white are chosen; the others keep the input's grey levels."""


def check_scale(output: Output, scale: object) -> None:
    """Raise ParameterError for a scale, such as 0:40, that means nothing to an output; None is no scale."""
    if scale is not None and output not in SCALED:
        raise ParameterError(
            f"output {output} keeps the input's grey levels and has no scale: leave the scale out, or choose "
            f"output {' or '.join(SCALED)}"
        )
