"""The table of formats, with the kinds of picture that each extension can hold, and of what is not read.

A new format is a line in the first. NumPy is not imported here: the command line asks for the extensions before
anything else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError, WriteError
from ..files.atomic import is_special
from ..files.messages import STANDARD_STREAM, FileName, quoted_if_odd, shown

if TYPE_CHECKING:
    from .picture import Picture


class Format(NamedTuple):
    """The capabilities of one extension."""

    name: str  # Pillow's name
    gray: int = 8  # most bits a sample of a gray image without alpha; 32 are floating point
    color: int | None = 8  # most bits a sample of any other image; None if it cannot hold color
    alpha: bool = False
    shades_of_alpha: bool = True  # whether alpha has more than two values: 0, and that of opaque pixels
    longest: int = 2**31 - 1  # largest width and height
    lossy: bool = False  # whether samples may come back changed
    options: Mapping[str, Any] = MappingProxyType({})  # for Pillow's writer: the least lossy setting that is usual
    has_quality: bool = False
    pages: bool = False  # whether it can hold several pages or frames
    has_recipe: bool = False  # whether its metadata have a place for a recipe
    is_shown: bool = False  # whether pages are frames of an animation, each shown for some time
    has_tables: bool = False  # whether it can hold a palette
    has_integers: bool = False  # whether it can hold integers that are signed, or of more than 16 bits
    is_by_library: bool = False  # whether library_formats.py writes it
    # Bytes that its encoder takes beside the samples: a pixel, a pixel for each channel, and for its library; if these
    # are fewer than the samples have, it is a copy of these.
    encoder: tuple[float, float, int] = (0, 0, 0)


class Coding(NamedTuple):
    """How pixels are coded in a file, as far as its format leaves a choice."""

    png_level: int = 1  # 0 for no compression to 9 for the most
    quality: int | None = None  # of JPEG, AVIF and lossy WebP, 1 to 100; None is 95, and lossless WebP
    compression: str | None = None  # of TIFF, a key of COMPRESSIONS; None is the input's


AS_USUAL = Coding()
COMPRESSIONS = {"none": 1, "lzw": 5, "deflate": 8, "packbits": 32773, "lzma": 34925, "zstd": 50000}
"""TIFF's numbers of lossless compressions."""

_JPEG = Format("JPEG", longest=65500, lossy=True, options={"quality": 95}, has_quality=True, encoder=(0, 3, 0))
_TIFF = Format("TIFF", gray=32, color=32, alpha=True, pages=True, has_tables=True, has_integers=True, has_recipe=True)
_FITS = Format("FITS", gray=32, color=None, pages=True, has_integers=True, has_recipe=True, encoder=(8, 0, 20_000_000))
_WEBP = Format("WEBP", alpha=True, longest=16383, has_quality=True, pages=True, is_shown=True, encoder=(33, 1, 0))
_GIF = Format("GIF", alpha=True, shades_of_alpha=False, longest=65535, lossy=True, pages=True, encoder=(0, 6, 0))
_GIF = _GIF._replace(is_shown=True, has_tables=True)
_OF_FIELDS = _FITS._replace(has_recipe=False, is_by_library=True)
_JPEG2000 = Format("JPEG2000", gray=16, color=16, alpha=True, encoder=(0, 15, 0))
# Standard output gets the first extension of a format.
FORMATS = {
    ".pnm": Format("PPM", gray=16, color=16),
    ".pgm": Format("PPM", gray=16, color=None),
    ".ppm": Format("PPM", gray=16, color=16),
    ".pfm": Format("PPM", gray=32, color=32),
    ".png": Format("PNG", gray=16, color=16, alpha=True, pages=True, is_shown=True, has_tables=True, has_recipe=True),
    ".tif": _TIFF,
    ".tiff": _TIFF,
    ".npy": Format("NPY", gray=32, color=32, has_integers=True, pages=True),
    **dict.fromkeys((".fits", ".fit", ".fts", ".fz", ".fits.gz", ".fit.gz", ".fts.gz"), _FITS),
    **dict.fromkeys((".mrc", ".mrcs"), _OF_FIELDS._replace(name="MRC")),
    **dict.fromkeys((".nc", ".grd"), _OF_FIELDS._replace(name="NETCDF")),
    ".emd": _OF_FIELDS._replace(name="EMD"),
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".jp2": _JPEG2000,
    ".j2k": _JPEG2000,
    ".webp": _WEBP._replace(options={"lossless": True, "exact": True}),
    ".avif": _JPEG._replace(name="AVIF", alpha=True, longest=65536, encoder=(17, 5, 0)),
    ".bmp": Format("BMP"),
    ".gif": _GIF,
    ".tga": Format("TGA", alpha=True, longest=65535, encoder=(0, 4, 0)),
    ".sgi": Format("SGI", longest=65535),
    ".pcx": Format("PCX", longest=65535),
}
SUFFIX_OF_FORMAT = {format_.name: suffix for suffix, format_ in reversed(FORMATS.items())}
# Read, but never written.
_PILLOW_ALONE = ".pbm .jpe .jfif .mpo .jpf .jpx .j2c .jpc .dib .psd .ico .qoi .icb .vda .rgb"
_READ_ONLY = {*_PILLOW_ALONE.split(), ".jxl", ".dm3", ".dm4", ".npz"}
# Pillow's names of the formats that it may open, each with its module. All store pixels as such; formats that start a
# program (PostScript), draw (WMF), need plug-ins (HDF5, GRIB) or open an inner file (IPTC) are left out. The last two
# have no signature, and are tried when all others have refused a file.
RASTERS = {
    name: {"DIB": "Bmp", "JPEG2000": "Jpeg2K", "WEBP": "WebP"}.get(name, name.capitalize())
    for name in (
        *("PNG", "JPEG", "GIF", "BMP", "DIB", "PPM", "TIFF", "JPEG2000", "WEBP", "AVIF", "SGI", "PCX", "PSD", "ICO"),
        *("ICNS", "QOI", "DDS", "SUN", "TGA", "SPIDER"),
    )
}
JPEG2000_STARTS = b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51"
JPEG_XL_STARTS = b"\0\0\0\x0cJXL \r\n\x87\n", b"\xff\x0a"
# The first bytes of HDF5 (EMD, netCDF), netCDF, grids of Surfer, DM3 and DM4, and MRC.
BY_LIBRARY = re.compile(
    rb"\x89HDF\r\n|CDF[\1\2\5]|DS(AA|BB|RB)|\0\0\0[\3\4].{4,8}\0\0\0[\0\1]|.{208}MAP[ \0](D[DA]|\x11\x11)", re.DOTALL
)
PNG_START, JPEG_START = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
ZARR, _OF_ZARR = ".zarr", ("zarr.json", ".zgroup", ".zattrs", ".zarray")
_GOOD_EXTENSIONS = ".png, .tif, .pgm, .ppm or .jpg"


def is_zarr(source: FileName, target: FileName = ZARR) -> bool:
    """Whether a folder has the name or the metadata of a Zarr, and a target the name of one."""
    name = os.fsdecode(source).rstrip("/")
    if not (os.fsdecode(target).rstrip("/").endswith(ZARR) and os.path.isdir(name)):  # noqa: PTH112  Path's may raise
        return False
    return name.endswith(ZARR) or any(Path(name, each).is_file() for each in _OF_ZARR)


def unfinished_zarr(target: FileName) -> Path:
    """Return the folder that an OME-Zarr is until it is whole."""
    return Path(f"{os.fsdecode(target)}.partial")


def extensions(*, read_only: bool) -> frozenset[str]:
    """Return the extensions that are written, in lower case; with ``read_only`` also those that are only read."""
    return frozenset(FORMATS) | _READ_ONLY if read_only else frozenset(FORMATS)


def suffix_of(target: FileName, format_: str | None = None, picture: Picture | None = None) -> str:
    """Return the key of FORMATS for a target: that of ``format_`` if given, else the target's extension.

    A pipe or device has no extension: it gets the picture's own format, or PNG if that cannot hold the picture.
    Raises ParameterError if there is none.
    """
    if format_ is not None:
        suffix = SUFFIX_OF_FORMAT.get(format_.upper(), f".{format_.lower().removeprefix('.')}")
        if suffix not in FORMATS:
            name = shown(target, "standard output")
            raise ParameterError(f"{name}: cannot be written as {format_!r}; choose {_GOOD_EXTENSIONS}")
        return suffix
    given = os.fsdecode(target)
    extension = extension_of(given)
    if extension.lower() in FORMATS:
        return extension.lower()
    if _gets_own_format(given):
        own = SUFFIX_OF_FORMAT.get(picture.format, ".png") if picture else ".png"
        return ".png" if picture and misfit(picture, own) else own
    problem = f"cannot write {quoted_if_odd(extension)} files" if len(extension) > 1 else "a name without extension"
    raise ParameterError(f"{shown(given, 'standard output')}: {problem}; choose {_GOOD_EXTENSIONS}")


def extension_of(name: str) -> str:
    """Return the extension of a name, .fits.gz and its kin as a whole."""
    # Asked several times a file: a path would take ten times as long. For splitext, "..png" would have none.
    stem, dot, rest = os.path.basename(name.rstrip("/")).rpartition(".")  # noqa: PTH119
    whole = extension_of(stem) + dot + rest if rest.lower() == "gz" else ""
    return whole if whole.lower() in FORMATS else dot + rest if stem else ""


def is_lossy(target: FileName, *, format: str | None = None, coding: Coding = AS_USUAL) -> bool:
    """Tell whether a target's samples may come back changed; raises ParameterError as :func:`suffix_of`."""
    kind = FORMATS[suffix_of(target, format)]
    return kind.lossy or (kind.has_quality and coding.quality is not None)


def refuse_coding(target: FileName, coding: Coding, *, format: str | None = None) -> None:
    """Raise ParameterError for a coding that the target's format does not have, or that none has."""
    for what, given, least, most in (("PNG level", coding.png_level, 0, 9), ("quality", coding.quality, 1, 100)):
        if given is not None and not (isinstance(given, int) and least <= given <= most):
            raise ParameterError(f"{what} {given!r} is invalid: give a whole number from {least} to {most}")
    if format is None and _gets_own_format(os.fsdecode(target)):
        return  # which the input says
    suffix = suffix_of(target, format)
    name = shown(target, "standard output")
    if coding.quality is not None and not FORMATS[suffix].has_quality:
        raise ParameterError(f"{name}: {suffix} has no quality; leave it out, or write .jpg, .webp or .avif")
    if coding.compression is not None and FORMATS[suffix].name != "TIFF":
        raise ParameterError(f"{name}: {suffix} has no choice of compression; leave it out, or write .tif")


def refuse_whole_numbers(target: FileName, *, format: str | None = None) -> None:
    """Raise ParameterError for a target whose format has no floats, which filtered values as they are need."""
    suffix = suffix_of(target, format)
    if FORMATS[suffix].gray < 32:
        name = shown(target, "standard output")
        way_out = "give --format tif or npy" if os.fsdecode(target) == STANDARD_STREAM else "write .tif, .npy or .pfm"
        raise ParameterError(f"{name}: {suffix} holds whole numbers, and output real gives floats; {way_out}")


def _gets_own_format(target: str) -> bool:
    is_known = extension_of(target).lower() in FORMATS
    return target == STANDARD_STREAM or (not is_known and is_special(Path(target)))


def check_fits(picture: Picture, target: FileName, *, format: str | None = None) -> str:
    """Return :func:`suffix_of` a target; raises WriteError if it cannot hold the picture's color, alpha or size."""
    suffix = suffix_of(target, format, picture)
    if problem := misfit(picture, suffix):
        raise WriteError(f"{shown(target, 'standard output')}: {problem}")
    return suffix


def misfit(picture: Picture, suffix: str) -> str | None:
    """Return why a file with this extension cannot hold a picture, None if it can."""
    kind = FORMATS[suffix]
    height, width = picture.planes.shape[1:]
    if picture.alpha is not None and not kind.alpha:
        return f"{suffix} has no alpha channel; write {'.tif' if kind.gray == 32 else '.png'}"
    if picture.alpha is not None and not kind.shades_of_alpha:
        from .picture import MAXVAL_OF

        if ((picture.alpha != 0) & (picture.alpha != MAXVAL_OF[picture.alpha.dtype])).any():
            return f"{suffix} holds no pixels that are partly transparent; write .png"
    if picture.extra and kind.name != "TIFF":
        return f"{suffix} holds gray or color, and there are {len(picture.planes)} channels; write .tif"
    if len(picture.planes) > 1 and kind.color is None:
        return f"{suffix} has no color; write .ppm or .png"
    if max(width, height) > kind.longest:
        return f"{suffix} holds at most {kind.longest} pixels a side, not {width} x {height}; write .png"
    return None


# What is not read, by its name, and what would help: other than damage, it has a way out. A file is known by its first
# bytes, or by some further on. Sources: the formats' own specifications.

_RAW = "a camera's raw data", "develop it into a TIFF, for example by darktable, RawTherapee or dcraw -T"
_VIDEO = "a video", "save its frames as pictures, for example by ffmpeg -i FILE %04d.png"
_MICROSCOPE = "a microscope's file", "convert it to an OME-TIFF, for example by Bio-Formats' bfconvert"
_ARRAY = "save its array as .npy or .tif"
# The place of some bytes in a file, these, the name of what has them, and the way out.
_STARTS: tuple[tuple[int, str, str, str], ...] = (
    (4, "ftyp(hei|hev|mif1|msf1)", "HEIF (HEIC)", "convert it to a PNG, for example by heif-dec"),
    (4, "ftypavi", "an AVIF that is damaged, or of an unknown kind,", "get a whole copy of it"),
    (4, "ftypcrx", *_RAW),
    (0, "FUJIFILMCCD-RAW|IIU\0|IIR[OS]|MMOR", *_RAW),
    (4, "ftyp|moov", *_VIDEO),
    (0, "RIFF....AVI |OggS|\x1aE\xdf\xa3|\0\0\1[\xba\xb3]", *_VIDEO),
    (0, r"#\?(RADIANCE|RGBE)|v/1\x01", "Radiance HDR or OpenEXR", "convert it to a TIFF of floats, as by oiiotool"),
    (128, "DICM", "DICOM", "convert it to a TIFF, for example by dcm2img or pydicom"),
    (0, "%PDF|%!PS", "PDF or PostScript", "draw its pages, for example by pdftoppm -r 300 -png"),
    (0, "8BPS", "a Photoshop file other than of 8 bits a sample", "save it as a TIFF"),
    (344, r"n\+1\0", "NIfTI", _ARRAY),
    (0, "ZISRAWFILE|\xda\xce\xbe\n|p\0\0\0", *_MICROSCOPE),
    (0, "PK\3\4|\x1f\x8b|BZh|7z\xbc\xaf|\xfd7zXZ", "an archive", "unpack it"),
    (0, "(?i:.{0,1020}<svg)", "SVG", "draw it, for example by rsvg-convert"),
)
# Formats that are read, of which some kinds are not, or the headers of which may be damaged.
_READ = {"\x89PNG": "PNG", "\xff\xd8\xff": "JPEG", "GIF8": "GIF", "BM": "BMP", "RIFF": "WebP"}


class UnsupportedError(OSError):
    """What is not read although nothing is damaged: its message names it, and what would help."""


def told(head: bytes) -> str:
    """Return what a file is that no reader knows, and what would help, by its first bytes."""
    start = head[:2048].decode("latin-1")
    for at, pattern, what, way_out in _STARTS:
        if re.compile(pattern, re.DOTALL).match(start, at):
            return f"{what} is not supported; {way_out}"
    for first, name in _READ.items():
        if start.startswith(first):
            return f"a {name} that is damaged, or of a kind that is not supported; get a whole copy, or make it a TIFF"
    return "not an image, or damaged at its start; give a PNG, TIFF, JPEG, PGM or PPM"
