"""Options of calls and filters in signatures and docstrings, where help, Tab and the reference find them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from textwrap import fill
from typing import Any, TypeVar

from ..region import OF_REGIONS
from .description import DEFAULTS, Options

Of = TypeVar("Of", bound=Callable[..., Any])

# What each parameter means, unless a docstring says it.
HELP: dict[str, str] = {
    "image": "Real numbers (height, width), or a stack (count, height, width); also of xarray, Dask, PyTorch or JAX.",
    "radius": 'The cutoff in cycles across the shorter side, by default an eighth of its pixels; or with a unit: "8px" '
    '(a period), "0.125cyc" (cycles per pixel), "25%" (of 0.5 cycles per pixel), or "2.6um" with a ``pixel_size``.',
    "inner": "The lower cutoff, in units as for `lowpass`.",
    "outer": "The upper cutoff.",
    "shape": 'How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".',
    "order": 'The order of "butterworth", by default 2.',
    "width": 'The width of the edge of "cosine" and "fermi", in units as a radius.',
    "channel_axis": "The axis of a picture's channels, -1 for (height, width, 3), which have one scale; None for none.",
    "output": '"keep", the input\'s values with their mean, as if H(0) were 1; "magnitude", from 0, black, to the '
    'largest magnitude, white, as the command; "signed", 0 in the middle; "real", the filtered values, floats.',
    "scale": 'Of "magnitude" and "signed": "each", every picture its own; "auto" or ("auto", P), its own but for P '
    "percent of the samples, by default 0.35; or (LO, HI), two values of the input that become black and white.",
    "edges": 'What lies beyond the borders: "mirror", the mirror image, or "wrap", the image again.',
    "channels": '"all"; or, for "keep" and "real", "luminance" or "chroma" of a color picture: the other part stays.',
    "depth": "Decibels by which what the filter removes is attenuated at most; 6 leaves a half, None nothing.",
    "pixel_size": 'The side of a pixel for physical radii: "65nm", "300dpi", or a number of meters; with ``axes`` also '
    "one for each of them.",
    "axes": "One to three axes that are filtered together, in an array of any dimensions: how many of the last ones, "
    'their numbers, as (0,), or names, "zyx", "tyx", "t" and those of xarray; for radial filters. A radius counts '
    "cycles across the shortest of them.",
    "ignore": "Pixels that nothing is found in, given as a ``region``: waves, stripes, noise and background are those "
    "of the others, and are subtracted from all.",
    "auto": "Whether the waves of each picture are found and removed, too: True, or an AutoNotches.",
    **OF_REGIONS,
    "device": '"auto", "gpu", "cpu", an index, a part of a name, or "numpy"; FFTFILTER_DEVICE is the default.',
    "engine": '"fused", the fast one and the default; "numpy", without OpenCL; or an algorithm, such as "book".',
    "engine_options": 'Options of the algorithm, such as {"radix": 8} for "stockham".',
    "precision": '"single" or "double"; by default double for float64 and integers of 32 bits and more, else single.',
    "work_group_size": "Work-items of a group, for algorithms.",
    "transpose": 'How algorithms transpose: "tiled", "plain" or "float4"; by default each its own way.',
    "dtype": "The result's type, by default the image's; uint8 for bool.",
    "levels": "The result's white, by default its type's largest value, 1 for floats.",
    "white": 'The image\'s white, by default as ``levels``; "keep" maps it to ``levels``.',
    "missing": "True for missing pixels: bool of the image's shape or (height, width). So are NaN and masked ones.",
}

RETURNS = "An array of the image's shape, type and library."
RAISES = """ParameterError: For an invalid value, or an array that is not an image.
    DeviceError: Without a usable device.
    TooLargeError: For an image that the device or the machine cannot hold."""


def spelled_out(*without: str, **usual: object) -> Callable[[Of], Of]:
    """Return what names all options of a function or class, but some, in its signature and docstring.

    Type checkers have them from the type of ``**options``. ``usual`` are defaults that differ from those of a filter.
    """

    def named(made: Of) -> Of:
        signature = inspect.signature(made)
        own = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
        names = [name for name in HELP if name in Options.__annotations__ and name not in without]
        defaults = {**DEFAULTS, **usual}
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=Options.__annotations__[name].__forward_arg__,
            )
            for name in names
            if name not in signature.parameters
        ]
        made.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        head, _, examples = inspect.cleandoc(made.__doc__ or "").partition("\n\nExamples:\n")
        summary, _, given = head.partition("\n\nArgs:\n")
        said = HELP | {
            name: " ".join(text.split()) for name, text in re.findall(r"(?ms)^    (\w+): (.*?)(?=^    \w|\Z)", given)
        }
        lines = [
            fill(f"{each.name}: {said[each.name]}", 110, initial_indent=4 * " ", subsequent_indent=8 * " ")
            for each in (*own, *further)
            if each.name != "self"
        ]
        returns = f"\n\nReturns:\n    {RETURNS}" if inspect.isfunction(made) else ""
        sections = [summary, "Args:\n" + "\n".join(lines) + returns, f"Raises:\n    {RAISES}"]
        made.__doc__ = "\n\n".join([*sections, *([f"Examples:\n{examples}"] if examples else [])])
        return made

    return named
