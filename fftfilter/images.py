"""Read and write images: every depth kept where the format can, nothing half written.

    read -> Picture -> (planes filtered elsewhere) -> check_fits, plan_output -> write

PGM and PPM go through `pnm`, everything else through Pillow, which is imported only then. Pillow narrows
16-bit color to 8 bits on reading and cannot write it; `_read_16_bit_color`, `png16` and `_tiff_16_bit_color`
make up for it.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import stat
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fftfilter import pnm
from fftfilter.errors import FftfilterError, ParameterError, ReadError, TooLargeError, WriteError
from fftfilter.leftovers import temporary_name

if TYPE_CHECKING:
    from PIL import Image, ImageFile

    from fftfilter.metadata import Metadata

Samples = NDArray[Any]
Parts = Sequence[bytes | memoryview]
Times = tuple[int, int]

_U8, _U16, _F32 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32)
# A PNG's signature and its first chunk, behind which metadata belong.
_PNG_HEADER = 8 + 25
_WHITE = {_U8: 255, _U16: 65535, _F32: 1}
_STANDARD_STREAM = "-"


@dataclass(eq=False)
class Picture:
    """One image in memory, split into what is filtered and what passes through."""

    planes: Samples
    """(channels, height, width), uint8, uint16 or float32; channels 1 (gray) or 3 (RGB). May be read-only."""
    alpha: Samples | None
    """(height, width), of the planes' type, or None."""
    maxval: int
    """The sample that stands for white: 255, 65535, or what a PGM's header says; 1 for float32."""
    format: str
    """Pillow's name for the format it came from ("PPM" for all of netpbm): what standard output gets."""
    metadata: Metadata | None = None
    """What its file says about it; None leaves that out of the file that is written."""


class Depth(NamedTuple):
    """How a file stores a sample: its type and the value that stands for white."""

    dtype: np.dtype[Any]
    maxval: int


class Size(NamedTuple):
    """What a header says of an image; its alpha not counted."""

    width: int
    height: int
    channels: int
    bytes_per_sample: int


@dataclass(frozen=True)
class _Format:
    """What the files of one extension can hold."""

    name: str
    """Pillow's name."""
    gray: np.dtype[Any] = _U8
    """Deepest type of a gray image without alpha."""
    color: np.dtype[Any] | None = _U8
    """Deepest type of any other image; None if it cannot hold color."""
    alpha: bool = False
    longest: int = 2**31 - 1
    """Largest width and height."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Passed to Pillow: the least lossy setting that the format's users would still call normal."""


_JPEG = _Format("JPEG", longest=65500, options={"quality": 95})
_TIFF = _Format("TIFF", gray=_F32, color=_U16, alpha=True)
_JPEG2000 = _Format("JPEG2000", gray=_U16, alpha=True)
# For a format with several extensions, the first one stands for it on standard output.
_FORMATS = {
    ".pnm": _Format("PPM", gray=_U16, color=_U16),
    ".pgm": _Format("PPM", gray=_U16, color=None),
    ".ppm": _Format("PPM", gray=_U16, color=_U16),
    ".pfm": _Format("PPM", gray=_F32, color=None),
    ".png": _Format("PNG", gray=_U16, color=_U16, alpha=True),
    ".tif": _TIFF,
    ".tiff": _TIFF,
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".jp2": _JPEG2000,
    ".j2k": _JPEG2000,
    ".webp": _Format("WEBP", alpha=True, longest=16383, options={"lossless": True, "exact": True}),
    ".avif": _Format("AVIF", alpha=True, longest=65536, options={"quality": 95}),
    ".bmp": _Format("BMP"),
    ".gif": _Format("GIF", longest=65535),
    ".tga": _Format("TGA", alpha=True, longest=65535),
    ".sgi": _Format("SGI", longest=65535),
    ".pcx": _Format("PCX", longest=65535),
}
_SUFFIX_OF_FORMAT = {format_.name: suffix for suffix, format_ in reversed(_FORMATS.items())}
# Read, but never written.
_READ_ONLY = {".pbm", ".jpe", ".jfif", ".mpo", ".jpf", ".jpx", ".dib", ".psd", ".ico", ".qoi", ".icb", ".vda", ".rgb"}
# Where a PGM's header ends at the latest, comments included, in a file that is met in practice.
_HEADER_BYTES = 1 << 16
_GOOD_EXTENSIONS = ".png, .tif, .pgm, .ppm or .jpg"

_WAY_OUT = {
    errno.EACCES: "check its permissions and its folder's",
    errno.EPERM: "check its permissions and its folder's",
    errno.EROFS: "choose another folder",
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "check the name",
    errno.EISDIR: "give a file's name",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOSPC: "free some space or choose another folder",
    errno.EDQUOT: "free some space or choose another folder",
}


# Reading


def read(source: str | os.PathLike[str]) -> Picture:
    """Read an image file; "-" is standard input.

    A palette is expanded, to gray if every color used is gray; transparency becomes alpha. 32-bit integers
    become float32; CMYK, YCbCr, LAB and HSV become RGB. A camera's MPO gives its main picture, as a JPEG.

    Raises ReadError for a file that is missing, damaged, cut off, no image, several images or not finite, and
    TooLargeError, before allocating, for a size that the machine's memory cannot hold.
    """
    return decode(content(source), source)


def decode(data: bytes, source: str | os.PathLike[str]) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; ``source`` is what errors call it."""
    name = _shown(source, "standard input")
    try:
        if pnm.is_pnm(data):
            header = pnm.read_header(data, name)
            _refuse_oversize(name, header.width, header.height, header.nbytes)
            return Picture(pnm.read_samples(data, header, name), None, header.maxval, "PPM")
        return _read_with_pillow(data, name)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error


def times(source: str | os.PathLike[str]) -> Times:
    """Return when a file was last read and changed; raises ReadError."""
    try:
        status = Path(source).stat()
    except OSError as error:
        raise ReadError(f"{_shown(source, 'standard input')}: cannot be read: {_reason(error)}") from error
    return status.st_atime_ns, status.st_mtime_ns


def content(source: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file, which need not be seekable; raises ReadError, TooLargeError."""
    name = _shown(source, "standard input")
    try:
        if os.fsdecode(source) == _STANDARD_STREAM:
            data = sys.stdin.buffer.read()
        else:
            with Path(source).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if (memory := _physical_memory()) and size > memory:
                    raise TooLargeError(f"{name}: {size:,} bytes, more than the {memory:,} of this machine's memory")
                data = file.read()
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {_reason(error)}") from error
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error
    if not data:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    return data


def measure(source: str | os.PathLike[str]) -> Size:
    """Return the size of the image in a file, from its header alone; raises ReadError."""
    name = _shown(source, "standard input")
    try:
        with Path(source).open("rb") as file:
            start = file.read(_HEADER_BYTES)
            if pnm.is_pnm(start):
                header = pnm.read_header(start, name)
                return Size(header.width, header.height, header.channels, header.dtype.itemsize)
            if not start:
                raise ReadError(f"{name}: empty (0 bytes); give an image file")
            from PIL import Image

            file.seek(0)
            with _quiet_pillow():
                image = Image.open(file)
            depth = 4 if image.mode in ("I", "F") else 2 if _is_narrowed(image) or image.mode.startswith("I;16") else 1
            return Size(image.width, image.height, 1 if len(image.getbands()) < 3 and image.mode != "P" else 3, depth)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {_reason(error)}") from error
    except (FftfilterError, MemoryError):
        raise
    except Exception as error:  # Pillow's readers raise almost anything on damaged bytes.
        raise ReadError(f"{name}: cannot be decoded ({_first_line(error)}); it may be damaged or cut off") from error


def _read_with_pillow(data: bytes, name: str) -> Picture:
    from PIL import UnidentifiedImageError

    try:
        return _decode(data, name)
    except (FftfilterError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        if data[:4] in (b"II*\0", b"MM\0*"):
            raise ReadError(f"{name}: damaged, or a TIFF of a rare kind; convert it to PNG") from error
        raise ReadError(f"{name}: no image, or damaged at its start; give a PNG, TIFF, JPEG, PGM or PPM") from error
    except Exception as error:  # Pillow's readers raise almost anything on damaged bytes.
        raise ReadError(f"{name}: cannot be decoded ({_first_line(error)}); it may be damaged or cut off") from error


def _decode(data: bytes, name: str) -> Picture:
    from PIL import Image

    from fftfilter.metadata import gather

    with _quiet_pillow():
        image = Image.open(io.BytesIO(data))
        format_ = image.format or ""
        _refuse_unfit(image, name)
        if format_ == "PNG":
            Image.open(io.BytesIO(data)).verify()  # Decoding alone checks no CRC and misses a cut-off end.
    rawmode = _rawmode(image)  # Loading forgets it.
    samples = _read_16_bit_color(image, data, name) if _is_narrowed(image) else _read_as_it_is(image)
    samples = _with_alpha_of_one_color(image, samples, rawmode)
    if samples.dtype == _F32:
        _refuse_not_finite(samples, name)
    bands = np.ascontiguousarray(np.atleast_3d(samples).transpose(2, 0, 1))
    has_alpha = len(bands) in (2, 4)
    channels = len(bands) - has_alpha
    return Picture(
        planes=bands[:channels],
        alpha=bands[-1] if has_alpha else None,
        maxval=_WHITE[bands.dtype],
        format="JPEG" if format_ == "MPO" else format_,
        metadata=gather(image, channels),
    )


def _refuse_unfit(image: ImageFile.ImageFile, name: str) -> None:
    """Refuse what the header alone shows to be no single image that memory can hold."""
    frames = getattr(image, "n_frames", 1)
    # The frames of a PSD are its layers; the image opened is their sum, as it is the main picture of an MPO.
    if frames > 1 and image.format not in ("MPO", "PSD"):
        raise ReadError(f"{name}: {frames} frames or pages in one file; save one of them as a file of its own")
    depth = 4 if image.mode in ("I", "F") else 2 if _is_narrowed(image) or image.mode.startswith("I;16") else 1
    nbytes = image.width * image.height * len(image.getbands()) * depth
    _refuse_oversize(name, image.width, image.height, nbytes)


_pillow_lock = threading.Lock()


@contextmanager
def _quiet_pillow() -> Iterator[None]:
    """Open images without Pillow's warnings, log lines and limit on pixels: memory is the limit here.

    These are settings of the whole process: they are put back, and one thread at a time changes them.
    """
    from PIL import Image

    log = logging.getLogger("PIL")
    if not log.handlers:  # Without any, Python prints errors on stderr; this one adds nothing and hides nothing.
        log.addHandler(logging.NullHandler())
    with _pillow_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def _read_as_it_is(image: ImageFile.ImageFile) -> Samples:
    """Return an image's samples in Pillow's depth: (height, width) or (height, width, channels)."""
    image.load()  # np.asarray would do it, but hides some errors.
    mode = image.mode
    if mode in ("P", "PA"):
        return _without_palette(image)
    if mode == "1":
        return np.asarray(image).astype(np.uint8) * np.uint8(255)
    if mode.startswith("I;16"):
        gray = np.asarray(image).astype(np.uint16)
        return 65535 - gray if _tiff_tag(image, "PhotometricInterpretation") == 0 else gray
    if mode == "I":
        integers = np.asarray(image)
        # Pillow has no unsigned 32-bit mode and keeps the bits.
        unsigned = _tiff_tag(image, "SampleFormat") in (None, 1) and _tiff_tag(image, "BitsPerSample") == 32
        return (integers.view(np.uint32) if unsigned else integers).astype(np.float32)
    if mode in ("L", "LA", "RGB", "RGBA", "F"):
        return np.asarray(image)
    return np.asarray(image.convert({"La": "LA", "RGBa": "RGBA"}.get(mode, "RGB")))


def _without_palette(image: Image.Image) -> Samples:
    opaque = image.mode == "P" and not image.has_transparency_data
    colors = np.asarray(image.convert("RGB" if opaque else "RGBA"))
    is_gray = (colors[..., 0] == colors[..., 1]).all() and (colors[..., 1] == colors[..., 2]).all()
    return colors[..., 2:] if is_gray else colors


def _with_alpha_of_one_color(image: Image.Image, samples: Samples, rawmode: str) -> Samples:
    """Turn PNG's single transparent gray or color into alpha."""
    transparent = image.info.get("transparency")
    if transparent is None or image.mode not in ("1", "L", "I;16", "RGB"):
        return samples
    pixels = samples.reshape(*samples.shape[:2], -1)
    # Pillow stretches 1, 2 and 4 bits to 8 bits, but not the transparent gray (1 bit: it depends on its version).
    wanted = min(transparent, 1) * 255 if image.mode == "1" else transparent
    stretch = {"L;2": 85, "L;4": 17}.get(rawmode, 1)
    is_transparent = (pixels == np.asarray(wanted) * stretch).all(axis=2, keepdims=True)
    alpha = np.where(is_transparent, 0, _WHITE[samples.dtype]).astype(samples.dtype)
    return np.concatenate([pixels, alpha], axis=2)


def _rawmode(image: ImageFile.ImageFile) -> str:
    """Return Pillow's word for how samples lie in the file, such as "RGB;16B"; "" where it has none."""
    args = image.tile[0].args if image.tile else None
    word = args[0] if isinstance(args, tuple) and args else args
    return word if isinstance(word, str) else ""


def _is_narrowed(image: ImageFile.ImageFile) -> bool:
    """Whether Pillow would give the high byte of each 16-bit sample only."""
    if image.mode.startswith(("I", "F")):
        return False
    return ";16" in _rawmode(image) or (_tiff_tag(image, "BitsPerSample") or 8) > 8


def _read_16_bit_color(image: ImageFile.ImageFile, data: bytes, name: str) -> Samples:
    """Return the (height, width, channels) samples of which Pillow would give the high bytes only.

    A second decoding, told that the file has the other byte order, gives the low bytes.
    """
    from PIL import Image

    rawmode = _rawmode(image)
    with _quiet_pillow():
        twin = Image.open(io.BytesIO(data))
    if image.format == "PNG" and rawmode == "LA;16B":
        # Pillow knows no LA with the other byte order, but four bytes a pixel are an RGBA too.
        _set_rawmode(image, "RGBA")
        image.load()
        big_endian: NDArray[np.uint16] = np.asarray(image).view(np.dtype(">u2"))
        return big_endian.astype(np.uint16)
    layout, _, order = rawmode.partition(";16")
    if image.format not in ("PNG", "TIFF") or layout not in ("RGB", "RGBA", "RGBX"):
        raise ReadError(f"{name}: 16 bits a sample, laid out in an unusual way ({rawmode}); convert it to a 16-bit PNG")
    is_little = order == "L" or (order == "N" and sys.byteorder == "little")
    _set_rawmode(twin, f"{layout};16{'B' if is_little else 'L'}")
    image.load()
    twin.load()
    high, low = np.asarray(image), np.asarray(twin)
    wide: NDArray[np.uint16] = np.left_shift(high, 8, dtype=np.uint16) | low
    return wide


def _set_rawmode(image: ImageFile.ImageFile, rawmode: str) -> None:
    image.tile = [
        tile._replace(args=rawmode if isinstance(tile.args, str) else (rawmode, *(tile.args or ())[1:]))
        for tile in image.tile
    ]


def _tiff_tag(image: Image.Image, tag: str) -> int | None:
    """Return the (first) value of a tag, None if there is none or the image is no TIFF."""
    number = {"BitsPerSample": 258, "PhotometricInterpretation": 262, "SampleFormat": 339}[tag]
    value = getattr(image, "tag_v2", {}).get(number)
    return value[0] if isinstance(value, tuple) else value


def _refuse_not_finite(samples: Samples, name: str) -> None:
    wrong = ~np.isfinite(samples)
    if count := np.count_nonzero(wrong):
        y, x = divmod(int(np.argmax(wrong)), samples.shape[1])
        raise ReadError(
            f"{name}: {count} of {samples.size} samples are NaN or infinite, the first at x={x}, y={y}; "
            "replace them, for they would spread over the whole picture"
        )


def _refuse_oversize(name: str, width: int, height: int, nbytes: int) -> None:
    memory = _physical_memory()
    if memory and nbytes > memory:
        raise TooLargeError(
            f"{name}: {width} x {height} pixels need {nbytes:,} bytes, more than the {memory:,} "
            "of this machine's memory; use a smaller image"
        )


def _physical_memory() -> int | None:
    """Return the bytes of memory that this machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


# Before the work


def extensions(*, read_only: bool) -> frozenset[str]:
    """Return the extensions of images that are read and written, or only read, too; in lower case."""
    return frozenset(_FORMATS) | _READ_ONLY if read_only else frozenset(_FORMATS)


def extension_of(format: str) -> str:  # noqa: A002  as `write` has it
    """Return the extension for a format: Pillow's name, or an extension without its dot; raises ParameterError."""
    return _suffix("-", "output", format)


def check_output(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    in_place: bool = False,
    format: str | None = None,  # noqa: A002  as `write` has it
) -> None:
    """Refuse, before any work, a target that could not be written afterwards.

    Raises ParameterError for an extension that cannot be written and for a target that is the source (the
    same path, a hard link or a symbolic link to it) unless `in_place`; WriteError for a folder, for a target
    in a folder that is missing, and for one that may not be written.
    """
    name = _shown(target, "standard output")
    if os.fsdecode(target) == _STANDARD_STREAM or _is_special(path := Path(target)):
        return
    try:
        if path.is_dir():
            raise WriteError(f"{name}: a folder; give the name of a file in it")
        _suffix(target, name, format)
        folder = Path(os.path.realpath(path)).parent  # A symbolic link is written through.
        if not folder.is_dir():
            raise WriteError(f"{name}: there is no folder {quoted_if_odd(str(folder))}; create it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise WriteError(f"{name}: no permission to write in its folder; choose another one")
        if path.exists() and not os.access(path, os.W_OK):
            raise WriteError(f"{name}: exists and is write-protected; choose another name")
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {_reason(error)}") from error
    if not in_place and _is_same_file(source, path):
        raise ParameterError(f"{name}: is the input itself; choose another name, or --in-place to overwrite it")


def check_fits(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Raise WriteError if the target's format cannot hold the picture's color, alpha or size."""
    name = _shown(target, "standard output")
    suffix = _suffix(target, name, format, picture)
    if problem := _misfit(picture, suffix):
        raise WriteError(f"{name}: {problem}")


def plan_output(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> Depth:
    """Return how the target will store samples: as the picture does, or as near to it as its format can."""
    suffix = _suffix(target, _shown(target, "standard output"), format, picture)
    kind = _FORMATS[suffix]
    plain_gray = len(picture.planes) == 1 and picture.alpha is None
    deepest = kind.gray if plain_gray else kind.color or kind.gray
    if suffix == ".pfm":
        return Depth(_F32, 1)
    dtype = picture.planes.dtype
    if dtype == _F32 or deepest == _U8:
        dtype = deepest
    if kind.name == "PPM" and picture.planes.dtype != _F32:
        return Depth(_U8 if picture.maxval < 256 else _U16, picture.maxval)
    return Depth(dtype, _WHITE[dtype])


def _suffix(target: str | os.PathLike[str], name: str, format_: str | None, picture: Picture | None = None) -> str:
    """Return the key of _FORMATS that says how `target` is written.

    A pipe or device has no extension to say it: it gets the picture's own format, or PNG where that fails.
    """
    if format_ is not None:
        suffix = _SUFFIX_OF_FORMAT.get(format_.upper(), f".{format_.lower()}")
        if suffix not in _FORMATS:
            raise ParameterError(f"{name}: cannot be written as {format_!r}; choose {_GOOD_EXTENSIONS}")
        return suffix
    path = Path(target)
    suffix = path.suffix.lower()
    if os.fsdecode(target) == _STANDARD_STREAM or (suffix not in _FORMATS and _is_special(path)):
        own = _SUFFIX_OF_FORMAT.get(picture.format, ".png") if picture else ".png"
        return ".png" if picture and _misfit(picture, own) else own
    if suffix not in _FORMATS:
        odd = f"extension {quoted_if_odd(path.suffix)}" if suffix else "a name without extension"
        raise ParameterError(f"{name}: cannot write {odd}; choose {_GOOD_EXTENSIONS}")
    return suffix


def _misfit(picture: Picture, suffix: str) -> str | None:
    """Return what hinders a picture from being written with this extension, None if nothing does."""
    kind = _FORMATS[suffix]
    height, width = picture.planes.shape[1:]
    if picture.alpha is not None and not kind.alpha:
        return f"{suffix} has no alpha channel; write .png"
    if len(picture.planes) > 1 and kind.color is None:
        return f"{suffix} has no color; write .ppm or .png"
    if max(width, height) > kind.longest:
        return f"{suffix} holds at most {kind.longest} pixels a side, not {width} x {height}; write .png"
    return None


def _is_same_file(source: str | os.PathLike[str], target: Path) -> bool:
    try:
        is_stream = os.fsdecode(source) == _STANDARD_STREAM
        status = os.fstat(sys.stdin.fileno()) if is_stream else Path(source).stat()
        return os.path.samestat(status, target.stat())
    except (OSError, ValueError):
        return False


def _is_special(path: Path) -> bool:
    """Whether a path stands for an open stream, a pipe or a device, into which one writes straight."""
    # A redirected standard output is a regular file, but must not be replaced under the shell's hands.
    if str(path) in ("/dev/stdout", "/dev/stderr") or str(path).startswith(("/dev/fd/", "/proc/")):
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# Writing


def write(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    png_level: int = 1,
    times: Times | None = None,
) -> None:
    """Write an image file; "-" is standard output.

    The format is `format` (Pillow's name or an extension without its dot), else what the target's extension
    says; standard output, a pipe or a device gets the picture's own format, or PNG where that fails.
    Planes and alpha of another depth than `plan_output` says are rescaled. `png_level` is zlib's, 0 to 9.
    The picture's metadata go along as far as the format can hold them. ``times`` become the file's own.

    A file appears whole or not at all, with the permissions of the one it replaces.
    Raises WriteError, and ParameterError for an extension that cannot be written.
    """
    name = _shown(target, "standard output")
    check_fits(picture, target, format=format)
    depth = plan_output(picture, target, format=format)
    suffix = _suffix(target, name, format, picture)
    planes = _rescaled(picture.planes, picture.maxval, depth)
    alpha = picture.alpha
    if alpha is not None:
        alpha = _rescaled(alpha, _WHITE[alpha.dtype], Depth(depth.dtype, _WHITE[depth.dtype]))
    try:
        parts = _encode(planes, alpha, depth.maxval, suffix, png_level=png_level, metadata=picture.metadata)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while writing it; use a smaller image") from error
    except Exception as error:  # Pillow's writers raise almost anything where they meet a limit.
        kind = _FORMATS[suffix].name
        raise WriteError(f"{name}: cannot be written as {kind} ({_first_line(error)}); write .png") from error
    try:
        _store(target, parts, times)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {_reason(error)}") from error


def _rescaled(samples: Samples, white: float, depth: Depth) -> Samples:
    """Return samples with `depth.maxval` in place of `white`; integers are rounded and clipped."""
    if samples.dtype == depth.dtype and white == depth.maxval:
        return samples
    # In this order 50 of 100 is exactly 127.5 of 255.
    scaled = samples.astype(np.float64) * depth.maxval / white
    if depth.dtype != _F32:
        scaled = np.rint(scaled).clip(0, depth.maxval)
    return scaled.astype(depth.dtype)


def _encode(
    planes: Samples, alpha: Samples | None, maxval: int, suffix: str, *, png_level: int, metadata: Metadata | None
) -> Parts:
    """Return the parts of a file."""
    kind = _FORMATS[suffix]
    if kind.name == "PPM" and planes.dtype != _F32:
        if suffix == ".ppm":
            planes = np.broadcast_to(planes, (3, *planes.shape[1:]))
        return pnm.encode(planes, maxval)
    bands = planes if alpha is None else np.concatenate([planes, alpha[None]])
    samples = np.ascontiguousarray(bands.transpose(1, 2, 0))
    chunks: list[bytes] = []
    if metadata and kind.name == "PNG":
        from fftfilter.metadata import png_chunks

        chunks = list(png_chunks(metadata))
    if len(bands) > 1 and samples.dtype == _U16:
        if kind.name == "PNG":
            from fftfilter import png16

            return png16.encode(samples, png_level, chunks)
        return _tiff_16_bit_color(samples, metadata)

    from PIL import Image

    options = {"compress_level": png_level} if kind.name == "PNG" else dict(kind.options)
    if metadata and kind.name != "PNG":
        from fftfilter.metadata import pillow_options

        options |= pillow_options(metadata, kind.name)
    file = io.BytesIO()
    Image.fromarray(samples[:, :, 0] if len(bands) == 1 else samples).save(file, kind.name, **options)
    content = file.getbuffer()
    return [content[:_PNG_HEADER], *chunks, content[_PNG_HEADER:]] if chunks else [content]


def _tiff_16_bit_color(samples: NDArray[np.uint16], metadata: Metadata | None) -> Parts:
    """Return an uncompressed TIFF of (height, width, channels), channels 2 to 4.

    Gray with alpha is written as RGB with alpha, because Pillow, and so this program, could not read it back.
    """
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    if samples.shape[2] == 2:
        samples = samples[:, :, [0, 0, 0, 1]]
        metadata = replace(metadata, profile=b"") if metadata else None  # One of gray does not fit color.
    height, width, channels = samples.shape
    raster = samples.astype("<u2", order="C", copy=False).data
    tags = ImageFileDirectory_v2(prefix=b"II")
    tags[256], tags[257] = width, height
    tags[258] = (16,) * channels  # bits per sample
    tags[259] = 1  # no compression
    tags[262] = 2  # RGB
    tags[273] = 0  # The raster's offset, counted from the end of the tags.
    tags[277], tags[278] = channels, height  # all rows in one strip
    tags[279] = raster.nbytes
    if channels == 4:
        tags[338] = 2  # the fourth is alpha, not multiplied into the others
    if metadata:
        from fftfilter.metadata import add_to_tiff

        add_to_tiff(tags, metadata)
    header = io.BytesIO()
    tags.save(header)
    return [header.getvalue(), raster]


def _store(target: str | os.PathLike[str], parts: Parts, times: Times | None) -> None:
    """Write a file's parts; raises OSError."""
    if os.fsdecode(target) == _STANDARD_STREAM:
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
    elif _is_special(path := Path(target)):
        with path.open("wb") as file:
            file.writelines(parts)
    else:
        _replace(Path(os.path.realpath(path)), parts, times)


def _replace(path: Path, parts: Parts, times: Times | None) -> None:
    """Create a file, or replace it in one step, so that a failure leaves the old one."""
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = temporary_name(path)
    try:
        with temporary.open("xb") as file:
            if old:
                with suppress(OSError):  # Only root may give a file to its old owner.
                    os.chown(temporary, old.st_uid, old.st_gid)
                temporary.chmod(stat.S_IMODE(old.st_mode))
            file.writelines(parts)
        if times:
            os.utime(temporary, ns=times)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


# Words


def _shown(path: str | os.PathLike[str], stream: str) -> str:
    """Return a name as the user gave it, quoted where it would not stay on one readable line."""
    text = os.fsdecode(path)
    return stream if text == _STANDARD_STREAM else quoted_if_odd(text)


def quoted_if_odd(text: str) -> str:
    """Return a name, quoted where it would not stay on one readable line."""
    return text if text.isprintable() and text.strip() else repr(text)


def _reason(error: Exception) -> str:
    """Return a system error's cause in words, and a way out where one is known."""
    number = error.errno if isinstance(error, OSError) else None
    cause = os.strerror(number).lower() if number else _first_line(error)
    return f"{cause}; {_WAY_OUT[number]}" if number in _WAY_OUT else cause


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
