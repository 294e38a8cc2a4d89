"""Options of calls and filters in signatures and docstrings, where help, Tab and the reference find them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from .. import transfer
from ..region import OF_REGIONS
from .description import DEFAULTS, Options

Of = TypeVar("Of", bound=Callable[..., Any])


def _entries(text: str) -> dict[str, str]:
    """Return the lines of each parameter in a section of a docstring."""
    return {name: lines for lines, name in re.findall(r"(?m)^(    (\w+): .*(?:\n        .*)*)", text)}


# What each parameter means, unless a docstring says it.
HELP = _entries(
    """\
    image: Real numbers (height, width), or a stack (count, height, width); also of xarray, Dask, PyTorch or
        JAX.
    transfer: One of the functions of ``fftfilter.transfer``, or a product of them.
    channel_axis: The axis of a picture's channels, -1 for (height, width, 3), which have one scale; None for
        none.
    output: "keep", the input's values with their mean, as if H(0) were 1; "magnitude", from 0, black, to the
        largest magnitude, white, as the command; "signed", 0 in the middle; "real", the filtered values,
        floats.
    scale: Of "magnitude" and "signed": "each", every picture its own; "auto" or ("auto", P), its own but for
        P percent of the samples, by default 0.35; or (LO, HI), two values of the input that become black and
        white.
    edges: What lies beyond the borders: "mirror", the mirror image, or "wrap", the image again.
    channels: "all"; or, for "keep" and "real", "luminance" or "chroma" of a color picture: the other part
        stays.
    depth: Decibels by which what the filter removes is attenuated at most; 6 leaves a half, None nothing.
    pixel_size: The side of a pixel for physical radii: "65nm", "300dpi", or a number of meters; or two, its width and
        height: "7um,10um"; with ``axes`` also one for each of them.
    axes: One to three axes that are filtered together, in an array of any dimensions: how many of the last
        ones, their numbers, as (0,), or names, "zyx", "tyx", "t" and those of xarray; for radial filters. A
        radius counts cycles across the shortest of them.
    ignore: Pixels that nothing is found in, given as a ``region``: waves, stripes, noise and background are
        those of the others, and are subtracted from all.
    ratio: Whether the logarithm is filtered, so that what is removed divides the image, as uneven light and
        gains; for "keep", which keeps the mean of the logarithms, and "real". Values of 0 or less stay as they
        are.
    auto: Whether the waves of each picture are found and removed, too: True, or an AutoNotches.
    device: "auto", "gpu", "cpu", an index, a part of a name, or "numpy"; FFTFILTER_DEVICE is the default.
    engine: "fused", the fast one and the default; "numpy", without OpenCL; or an algorithm, such as "book".
    engine_options: Options of the algorithm, such as {"radix": 8} for "stockham".
    precision: "single" or "double"; by default double for float64 and integers of 32 bits and more, else
        single.
    work_group_size: Work-items of a group, for algorithms.
    transpose: How algorithms transpose: "tiled", "plain" or "float4"; by default each its own way.
    dtype: The result's type, by default the image's; uint8 for bool.
    levels: The result's white, by default its type's largest value, 1 for floats.
    white: The image's white, by default as ``levels``; "keep" maps it to ``levels``.
    missing: True for missing pixels: bool of the image's shape or (height, width). So are NaN and masked
        ones.
"""
    + OF_REGIONS
)
USUAL = {
    "Returns": "    An array of the image's shape, type and library.",
    "Raises": """\
    ParameterError: For an invalid value, or an array that is not an image.
    DeviceError: Without a usable device.
    TooLargeError: For an image that the device or the machine cannot hold.""",
}


def spelled_out(*without: str, **usual: object) -> Callable[[Of], Of]:
    """Return what names all options of a function or class, but some, in its signature and docstring.

    Type checkers have them from the type of ``**options``. ``usual`` are defaults that differ from those of a filter.
    Parameters that the docstring does not describe are those of the transfer function of the same name, or in HELP.
    """

    def sections_of(documented: object) -> dict[str, str]:
        parts = re.split(r"\n\n(?=(?:Args|Returns|Raises|Examples):\n)", inspect.getdoc(documented) or "")
        return {"": parts[0]} | dict(part.split(":\n", 1) for part in parts[1:])

    def named(made: Of) -> Of:
        signature, defaults = inspect.signature(made), {**DEFAULTS, **usual}
        own = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=Options.__annotations__[name].__forward_arg__,
            )
            for name in HELP
            if name in Options.__annotations__ and name not in {*without, *signature.parameters}
        ]
        made.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        sections = sections_of(made)
        of_transfer = sections_of(getattr(transfer, made.__name__, None)).get("Args", "")
        said = {**HELP, **_entries(of_transfer), **_entries(sections.get("Args", ""))}
        said |= {each.name: HELP[each.name] for each in further}
        sections["Args"] = "\n".join(said[each.name] for each in (*own, *further) if each.name != "self")
        sections = (USUAL if inspect.isfunction(made) else {"Raises": USUAL["Raises"]}) | sections
        order = ("Args", "Returns", "Raises", "Examples")
        texts = [f"{name}:\n{sections[name]}" for name in order if name in sections]
        made.__doc__ = "\n\n".join([sections[""], *texts])
        return made

    return named
