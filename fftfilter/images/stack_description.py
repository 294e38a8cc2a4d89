"""What the description of a TIFF says of all its pages, ImageJ's or OME's, put right for those that are kept."""

from __future__ import annotations

import re

_IMAGEJ_AXES = ("channels", "slices", "frames")
_DISPLAY_RANGE = ("min", "max")
_OME_TYPE = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?)\bType="[^"]*"')
_OME_BITS = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?) SignificantBits="[^"]*"')


def kept_description(text: str, chosen: range, count: int, *, keeps_levels: bool, are_floats: bool) -> str:
    """Return a first page's description for the chosen ones of ``count`` pages, "" if it no longer holds.

    The range that ImageJ shows is left out unless the output ``keeps_levels``; OME says the type of samples, which may
    have become floats.
    """
    if text.startswith("ImageJ="):
        return _imagej(text, chosen, count, keeps_levels=keeps_levels)
    is_part = len(chosen) < count
    if "<OME" in text[:1000]:
        return "" if is_part else _ome(text, are_floats=are_floats)
    # tifffile's own says the shape of all.
    return "" if is_part and text.startswith('{"shape"') else text


def _imagej(text: str, chosen: range, count: int, *, keeps_levels: bool) -> str:
    lines = text.splitlines()
    if not keeps_levels:
        lines = [line for line in lines if line.partition("=")[0] not in _DISPLAY_RANGE]
    if len(chosen) < count:
        axes = [line.partition("=")[0] for line in lines if line.startswith(_IMAGEJ_AXES)]
        axis = axes[0] if len(axes) == 1 else "slices"  # of several axes no part is a box
        gone = ("images", "hyperstack", *_IMAGEJ_AXES)
        lines = [line for line in lines if line.partition("=")[0] not in gone]
        if len(chosen) > 1:
            lines[1:1] = [f"images={len(chosen)}", f"{axis}={len(chosen)}"]
    return "\n".join(lines) + "\n"


def _ome(text: str, *, are_floats: bool) -> str:
    if not are_floats:
        return text
    return _OME_BITS.sub(r"\1", _OME_TYPE.sub(r'\1Type="float"', text))
