"""The formats, and what their files can hold."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError, WriteError

from ..files.atomic import is_special
from ..files.messages import STANDARD_STREAM, quoted_if_odd, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .picture import Picture


# Types of samples, as NumPy calls them; it is not loaded for this table.
U8, U16, F32 = "u1", "u2", "f4"


class Format(NamedTuple):
    """What the files of one extension can hold."""

    name: str
    """Pillow's name."""
    gray: str = U8
    """Deepest type of a gray image without alpha."""
    color: str | None = U8
    """Deepest type of any other image; None if it cannot hold color."""
    alpha: bool = False
    longest: int = 2**31 - 1
    """Largest width and height."""
    options: Mapping[str, Any] = MappingProxyType({})
    """Passed to Pillow: the least lossy setting that the format's users would still call normal."""


_JPEG = Format("JPEG", longest=65500, options={"quality": 95})
_TIFF = Format("TIFF", gray=F32, color=U16, alpha=True)
_JPEG2000 = Format("JPEG2000", gray=U16, alpha=True)
# For a format with several extensions, the first one stands for it on standard output.
FORMATS = {
    ".pnm": Format("PPM", gray=U16, color=U16),
    ".pgm": Format("PPM", gray=U16, color=None),
    ".ppm": Format("PPM", gray=U16, color=U16),
    ".pfm": Format("PPM", gray=F32, color=None),
    ".png": Format("PNG", gray=U16, color=U16, alpha=True),
    ".tif": _TIFF,
    ".tiff": _TIFF,
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".jp2": _JPEG2000,
    ".j2k": _JPEG2000,
    ".webp": Format("WEBP", alpha=True, longest=16383, options={"lossless": True, "exact": True}),
    ".avif": Format("AVIF", alpha=True, longest=65536, options={"quality": 95}),
    ".bmp": Format("BMP"),
    ".gif": Format("GIF", longest=65535),
    ".tga": Format("TGA", alpha=True, longest=65535),
    ".sgi": Format("SGI", longest=65535),
    ".pcx": Format("PCX", longest=65535),
}
SUFFIX_OF_FORMAT = {format_.name: suffix for suffix, format_ in reversed(FORMATS.items())}
# Read, but never written.
_READ_ONLY = {".pbm", ".jpe", ".jfif", ".mpo", ".jpf", ".jpx", ".dib", ".psd", ".ico", ".qoi", ".icb", ".vda", ".rgb"}
_GOOD_EXTENSIONS = ".png, .tif, .pgm, .ppm or .jpg"


def extensions(*, read_only: bool) -> frozenset[str]:
    """Return the extensions of images that are read and written, or only read, too; in lower case."""
    return frozenset(FORMATS) | _READ_ONLY if read_only else frozenset(FORMATS)


def extension_of(format: str) -> str:  # noqa: A002  as `write` has it
    """Return the extension for a format: Pillow's name, or an extension without its dot; raises ParameterError."""
    return suffix_of("output", format)


def check_fits(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Raise WriteError if the target's format cannot hold the picture's color, alpha or size."""
    if problem := misfit(picture, suffix_of(target, format, picture)):
        raise WriteError(f"{shown(target, 'standard output')}: {problem}")


def suffix_of(target: str | os.PathLike[str], format_: str | None = None, picture: Picture | None = None) -> str:
    """Return the key of FORMATS that says how `target` is written.

    A pipe or device has no extension to say it: it gets the picture's own format, or PNG where that fails.
    Raises ParameterError for what cannot be written.
    """
    if format_ is not None:
        suffix = SUFFIX_OF_FORMAT.get(format_.upper(), f".{format_.lower()}")
        if suffix not in FORMATS:
            name = shown(target, "standard output")
            raise ParameterError(f"{name}: cannot be written as {format_!r}; choose {_GOOD_EXTENSIONS}")
        return suffix
    given = os.fsdecode(target)
    if known := _suffix(given):
        return known
    if given == STANDARD_STREAM or is_special(Path(given)):
        own = SUFFIX_OF_FORMAT.get(picture.format, ".png") if picture else ".png"
        return ".png" if picture and misfit(picture, own) else own
    extension = PurePath(given).suffix
    odd = f"extension {quoted_if_odd(extension)}" if extension else "a name without extension"
    raise ParameterError(f"{shown(given, 'standard output')}: cannot write {odd}; choose {_GOOD_EXTENSIONS}")


@lru_cache(64)
def _suffix(path: str) -> str | None:
    """Return the key of FORMATS for a path, None if there is none; each step of a file's way asks for it."""
    suffix = PurePath(path).suffix.lower()
    return suffix if suffix in FORMATS else None


def misfit(picture: Picture, suffix: str) -> str | None:
    """Return what hinders a picture from being written with this extension, None if nothing does."""
    kind = FORMATS[suffix]
    height, width = picture.planes.shape[1:]
    if picture.alpha is not None and not kind.alpha:
        return f"{suffix} has no alpha channel; write .png"
    if len(picture.planes) > 1 and kind.color is None:
        return f"{suffix} has no color; write .ppm or .png"
    if max(width, height) > kind.longest:
        return f"{suffix} holds at most {kind.longest} pixels a side, not {width} x {height}; write .png"
    return None
