"""Read images through Pillow, at their own depth, and refuse truncated ones.

The pixels of a PNG are decoded by imagecodecs, in two thirds of the time: it refuses data that end too early, and does
not narrow 16-bit color. Pillow refuses a file whose bytes end too early, but not one whose compressed data do: it
leaves missing rows black or gray without an error.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import takewhile
from typing import BinaryIO

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray
from PIL import Image, ImageFile

from ..errors import ReadError
from ..files.sources import Content, as_file
from .formats import JPEG_START, PNG_START, UnsupportedError
from .metadata import Metadata, gather, orientation_of, upright
from .pages import PaletteRule
from .picture import MAXVAL_OF, WHITE, Picture, Samples, Size, Working, refuse_oversize, stretched, table_of
from .png_writer import chunk, chunks_of
from .quiet import DEEP, codec, open_raster, quiet_pillow

# Pixels that a byte can stand for at most, the header included: deflate makes 1032 of one byte, eight pixels of a bit
# each; a code of GIF's 12 bits is up to 4093 pixels; a block of a JPEG, 64 pixels, takes a bit.
_PIXELS_A_BYTE = {"PNG": 8 * 1032, "GIF": 8 * 4093 // 9, "JPEG": 8 * 64}
_PCX_PALETTE = 769  # bytes at the end of a file of 256 colors
_OF_PIXELS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")  # a PNG's chunks that say what its pixels are
_WIDEST = 1_000_000  # of the pictures that libpng reads
_SMALL = 1 << 22  # bytes of a PNG's rows that may be in memory twice
_HAS_CODECS = find_spec("imagecodecs") is not None  # there are systems for which pip has none
_UNSET = 167  # every sample of a PNG before Pillow decodes it, which those keep that are missing in the file
_SCAN, END_OF_JPEG = b"\xff\xda", b"\xff\xd9"
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd8\xff])")
_LOSSLESS = b"\xff\xc3"
_FRAMES = (b"\xff\xc0", b"\xff\xc1", b"\xff\xc2", _LOSSLESS, b"\xff\xc9", b"\xff\xca")  # markers of a JPEG's header
# How a JPEG begins of which nothing but its pixels is known, and its markers before them.
_BARE_JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
_BASELINE = b"\xff\xc0"
_OF_JPEG = (b"\xff\xe0", b"\xff\xdb", b"\xff\xc4", b"\xff\xdd", _BASELINE)
_MISSING = "its pixels end before its last row"
_MOST_SCANS = 3 * 64  # one for each frequency of each color; each takes the time of a whole picture, and few bytes


def read_with_pillow(data: bytes, name: str, working: Working | None, palette: PaletteRule = "auto") -> Picture | None:
    """Read an image from a file's bytes, None if it has several frames; ``name`` begins the message of an error."""
    if _HAS_CODECS and (picture := _bare_png(data, name, working) or _bare_jpeg(data, name, working)):
        return picture
    with quiet_pillow():
        image = _opened(io.BytesIO(data))
        if _frames(image) > 1:
            return None
        refuse_unfit(image, len(data), name, working)
    if data.startswith(JPEG_START) and data.count(_SCAN) > _MOST_SCANS:
        _jpeg_end(data)  # which counts those that are none of a thumbnail
    if _is_followed_by_another(image, data):
        raise ReadError(f"{name}: several images in one file; give one at a time")
    if image.format == "PCX" and image.mode in ("P", "L") and data[-_PCX_PALETTE:].startswith(b"\x0c"):
        image.fp = io.BytesIO(data[:-_PCX_PALETTE])  # or Pillow would take it for rows that are missing
    # Of few or of 16 bits Pillow compares the one transparent gray with others than the file has.
    has_odd_gray = "transparency" in image.info and (image.mode in ("1", "I;16") or rawmode_of(image) in ("L;2", "L;4"))
    is_usual = _HAS_CODECS and not image.info.get("interlace") and max(image.size) <= _WIDEST
    is_by_codec = has_odd_gray or is_narrowed(image) or (image.format == "PNG" and is_usual)  # before it is loaded
    if image.format == "PNG" and not is_by_codec:
        _fill(image, _UNSET)
    table = _table(image, palette)
    samples = _decoded(image, data) if is_by_codec else read_as_it_is(image)
    if table is not None:
        samples = np.asarray(image)
        if image.has_transparency_data:
            samples = np.dstack([samples, np.asarray(image.convert("RGBA"))[..., 3]])
    if not is_by_codec or image.format == "JPEG":
        refuse_missing_rows(image, data)
    return upright(picture_of(image, samples, table, data), orientation_of(image))


def _bare_png(data: bytes, name: str, working: Working | None) -> Picture | None:
    """Return the picture of a PNG that has 8 or 16 bits a sample and nothing beside its pixels, as programs write them.

    Of others it is None, also of damaged ones. To open it by Pillow would take as long as to read a small one.
    """
    kinds = [kind for kind, _, _ in chunks_of(data)] if data.startswith(PNG_START) else []
    if not (kinds[:1] == [b"IHDR"] and {*kinds[1:-1]} == {b"IDAT"} and kinds[-1] == b"IEND"):
        return None
    width, height, bits, color, *how = struct.unpack_from(">IIBBBBB", data, 16)
    is_usual = bits in (8, 16) and color in (0, 2, 4, 6) and not any(how) and max(width, height) <= _WIDEST
    if not is_usual or not 0 < width * height <= len(data) * _PIXELS_A_BYTE["PNG"]:
        return None
    refuse_oversize(name, Size(width, height, 3 if color in (2, 6) else 1, bits // 8), working)
    check_chunks(data)
    return picture_with(_png_samples(data), "PNG")


def _bare_jpeg(data: bytes, name: str, working: Working | None) -> Picture | None:
    """Return the picture of a JPEG of 8 bits, not progressive, that has nothing beside it, as :func:`_bare_png`."""
    if not (data.startswith(_BARE_JPEG) and data.endswith(END_OF_JPEG)) or JPEG_START in data[3:]:
        return None
    header = list(takewhile(lambda marker: marker[0] != _SCAN, _markers(data)))
    kinds, starts = dict(header), [at - 2 for _, at in header]
    ends = [at + int.from_bytes(data[at : at + 2]) for _, at in header]
    is_whole = starts[1:] == ends[:-1] and data.startswith(_SCAN, ends[-1]) and data.count(_SCAN) == 1
    if not (is_whole and _BASELINE in kinds and kinds.keys() <= {*_OF_JPEG}):
        return None
    bits, height, width, channels = struct.unpack_from(">BHHB", data, kinds[_BASELINE] + 2)
    if (bits, channels) not in ((8, 1), (8, 3)) or not 0 < width * height <= len(data) * _PIXELS_A_BYTE["JPEG"]:
        return None
    refuse_oversize(name, Size(width, height, channels, 1), working)
    samples: Samples = codec("jpeg8_decode")(data)
    # Missing rows are gray: then a closer look is taken.
    if {*samples[-1, -1:].ravel().tolist()} <= {127, 128} and _needs_more(data[: _jpeg_end(data)]):
        raise ValueError(_MISSING)
    return picture_with(samples, "JPEG")


def _opened(file: BinaryIO) -> ImageFile.ImageFile:
    """Open an image; a JPEG of more than 8 bits, which Pillow refuses, by the header of one that has 8."""
    try:
        return open_raster(file)
    except UnsupportedError:
        file.seek(0)
        data = file.read()
        if data.startswith(PNG_START):
            check_chunks(data)  # which says where it is damaged
        at = next((at for kind, at in _markers(data) if kind in _FRAMES), 0) if data.startswith(JPEG_START) else 0
        if not at or data[at + 2] == 8:
            raise
        image = open_raster(io.BytesIO(data[: at - 1] + b"\xc0" + data[at : at + 2] + b"\x08" + data[at + 3 :]))
        image.info[DEEP] = data[at + 2]
        return image


def _decoded(image: ImageFile.ImageFile, data: bytes) -> Samples:
    """Return the samples (height, width) or (height, width, channels) of a PNG, or of a file that Pillow narrows."""
    if image.format == "AVIF":
        return stretched(codec("avif_decode")(data), image.info[DEEP])
    if image.format == "JPEG":
        return _deep_jpeg(data)
    if image.mode != "P":  # which is loaded for its palette; of others text may follow the pixels
        image.load_prepare()
        image.load_end()
    samples = _png_samples(data)
    return _one_gray(samples) if image.mode == "P" else samples


def _png_samples(data: bytes) -> Samples:
    """Return the samples of a PNG, as libpng has them.

    Of a small one ISA-L inflates the rows, in less than half of zlib's time, and libpng gets them as they are.
    """
    # Of other chunks libpng would print what it finds wrong.
    kept = [(kind, start, end) for kind, start, end in chunks_of(data) if kind in _OF_PIXELS]
    parts = [data[start - 8 : end + 4] for _, start, end in kept]
    width, height, bits, color, _, _, is_interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    nbytes = height * (1 + (width * bits * {2: 3, 4: 2, 6: 4}.get(color, 1) + 7) // 8)
    pixels = [i for i, (kind, _, _) in enumerate(kept) if kind == b"IDAT"]
    with suppress(isal_zlib.IsalError):  # type: ignore[arg-type]  # libpng says what is wrong
        packed = b"".join(data[kept[i][1] : kept[i][2]] for i in pixels)
        is_small = nbytes <= _SMALL and not is_interlaced
        inflating = isal_zlib.decompressobj()
        rows = inflating.decompress(packed, nbytes + 1) if is_small else b""
        if len(rows) == nbytes and inflating.eof:
            parts[pixels[0] : pixels[-1] + 1] = chunk(b"IDAT", zlib.compress(rows, 0))
    samples: Samples = codec("png_decode")(b"".join((PNG_START, *parts)))
    return samples


def _one_gray(colors: Samples) -> Samples:
    """Return the colors of a palette, (height, width, 3 or 4), those that are all gray as gray, with their alpha."""
    is_gray = (colors[..., 0] == colors[..., 1]).all() and (colors[..., 1] == colors[..., 2]).all()
    return colors[..., 2:] if is_gray else colors


def _deep_jpeg(data: bytes) -> Samples:
    is_lossless = next((kind for kind, _ in _markers(data) if kind in _FRAMES), b"") == _LOSSLESS
    samples: Samples = codec("ljpeg_decode" if is_lossless else "jpeg8_decode")(data)
    if samples.ndim == 3 and samples.shape[2] != 3:
        raise UnsupportedError(f"a JPEG of {samples.shape[2]} channels of more than 8 bits is not supported; use RGB")
    return samples.astype(np.uint16, copy=False)


def _table(image: ImageFile.ImageFile, palette: PaletteRule) -> NDArray[np.uint16] | None:
    """Return the look-up table of an image with a palette, None if it has none, or its colors are to be filtered."""
    if image.mode != "P":
        return None
    image.load()
    if palette == "auto" and (image.has_transparency_data or image.format not in ("PNG", "GIF")):
        return None
    return table_of(np.array(image.getpalette() or [], np.uint16).reshape(-1, 3) * WHITE, palette)


def read_tiff_with_pillow(data: Content, number: int, name: str, working: Working | None = None) -> Picture:
    """Read a page of a TIFF, counted from 0 among all of its lists of tags."""
    with quiet_pillow():
        image = open_raster(as_file(data), "TIFF")
        image.seek(number)
        refuse_unfit(image, len(data), name, working)
    if is_narrowed(image):
        raise UnsupportedError  # as Pillow gives no more than the high bytes of its samples
    return picture_of(image, read_as_it_is(image))


def picture_of(
    image: ImageFile.ImageFile, samples: Samples, table: NDArray[np.uint16] | None = None, data: bytes = b""
) -> Picture:
    """Return a loaded image with its samples (height, width) or (height, width, channels); ``data`` is its file."""
    channels = 3 if table is not None else 1 if samples.ndim == 2 or samples.shape[2] < 3 else 3  # a table's are colors
    format_ = "JPEG" if image.format == "MPO" else image.format or ""
    return picture_with(samples, format_, gather(image, channels, data), table)


def picture_with(
    samples: Samples, format_: str, metadata: Metadata | None = None, table: NDArray[np.uint16] | None = None
) -> Picture:
    """Return a picture of samples (height, width) or (height, width, channels), alpha last."""
    bands = np.ascontiguousarray(np.atleast_3d(samples).transpose(2, 0, 1))
    alpha = bands[-1] if len(bands) in (2, 4) else None
    planes = bands if alpha is None else bands[:-1]
    return Picture(planes, alpha, MAXVAL_OF[bands.dtype], format_, metadata=metadata, table=table)


def measure(_: bytes, file: BinaryIO) -> Size:
    """Return the size of the image in a file, from its header alone."""
    file.seek(0)
    image = _opened(file)
    with quiet_pillow():
        size = size_of(image)._replace(pages=_frames(image))
        return size._replace(width=size.height, height=size.width) if orientation_of(image) in range(5, 9) else size


def _frames(image: ImageFile.ImageFile) -> int:
    # The image opened is the sum of a PSD's layers, which count as frames, and the main picture of an MPO.
    return 1 if image.format in ("MPO", "PSD") else getattr(image, "n_frames", 1)


def _is_followed_by_another(image: Image.Image, data: bytes) -> bool:
    """Whether another picture follows, other than those that cameras append: a smaller preview, or one in an index."""
    if image.format == "PNG":
        return data.startswith(PNG_START, check_chunks(data))
    if image.format != "JPEG" or "mp" in image.info or END_OF_JPEG + JPEG_START not in data:
        return False  # without a walk through all markers
    rest = data[_jpeg_end(data) + 2 :]
    with suppress(OSError):
        return rest.startswith(JPEG_START) and open_raster(io.BytesIO(rest), "JPEG").width >= image.width
    return False


def refuse_unfit(image: ImageFile.ImageFile, nbytes: int, name: str, working: Working | None = None) -> None:
    """Refuse, by its header alone, an image that memory cannot hold, or whose file is too short for it."""
    # A GIF may have pixels for a part of its screen only.
    left, top, right, bottom = image.tile[0].extents or (0, 0, *image.size) if image.tile else (0, 0, 0, 0)
    pixels = (right - left) * (bottom - top)
    if nbytes * _PIXELS_A_BYTE.get(image.format or "", pixels) < pixels:
        size = f"{image.width} x {image.height}"
        raise ReadError(f"{name}: {nbytes:,} bytes cannot hold the {size} pixels of its header; get a whole copy of it")
    refuse_oversize(name, size_of(image), working)


def size_of(image: ImageFile.ImageFile) -> Size:
    """Return the size of an opened image as it is read."""
    channels = 1 if len(image.getbands()) < 3 and image.mode != "P" else 3
    depth = 2 if is_narrowed(image) or image.mode.startswith("I;16") else 4 if image.mode in ("I", "F") else 1
    return Size(image.width, image.height, channels, depth)


def read_as_it_is(image: ImageFile.ImageFile) -> Samples:
    """Return an image's samples in Pillow's depth: (height, width) or (height, width, channels)."""
    image.load()
    mode = image.mode  # Some of Pillow's readers set it when they load.
    if mode in ("P", "PA"):
        opaque = mode == "P" and not image.has_transparency_data
        return _one_gray(np.asarray(image.convert("RGB" if opaque else "RGBA")))
    if mode in ("L", "RGB") and "transparency" in image.info:  # one gray or color that a PNG calls transparent
        return np.asarray(image.convert("LA" if mode == "L" else "RGBA"))
    if mode == "1":
        return np.asarray(image).astype(np.uint8) * np.uint8(255)
    if mode.startswith("I"):
        return np.asarray(image).astype(np.float32 if mode == "I" else np.uint16)
    if mode in ("L", "LA", "RGB", "RGBA", "F"):
        return np.asarray(image)
    return np.asarray(image.convert("LA" if mode == "La" else "RGB"))


def rawmode_of(image: ImageFile.ImageFile) -> str:
    """Return Pillow's name for the layout of the samples in the file, such as "RGB;16B", "" if it has none."""
    args = image.tile[0].args if image.tile else None
    rawmode = args[0] if isinstance(args, tuple) and args else args
    return rawmode if isinstance(rawmode, str) else ""


def is_narrowed(image: ImageFile.ImageFile) -> bool:
    """Whether Pillow would give only the high byte of each 16-bit sample, or no sample at all."""
    return DEEP in image.info or (not image.mode.startswith(("I", "F")) and ";16" in rawmode_of(image))


# Truncated files


def refuse_missing_rows(image: ImageFile.ImageFile, data: bytes) -> None:
    """Raise ValueError if a loaded image has rows that are not in its file's bytes."""
    # The last row is missing, or every second row or column of an interlaced picture. A closer look is taken if the
    # last pixels are those that missing ones would be: of a JPEG, gray.
    is_deep, is_missing = image.format == "JPEG" and is_narrowed(image), False
    places = [] if is_deep else [(max(0, image.width - i), max(0, image.height - i)) for i in (1, 2)]
    last: list[float] = np.array([image.getpixel(place) for place in places]).ravel().tolist()
    if image.format == "ICO" or (image.format == "PNG" and (image.mode == "1" or _UNSET in last)):
        is_missing = any(_lacks_rows(data[start.start() :]) for start in re.finditer(PNG_START, data))
    elif image.format in ("JPEG", "MPO") and (is_deep or {*last[: len(last) // 2]} <= {127, 128}):
        is_missing = _needs_more(data[: _jpeg_end(data)], is_deep=is_deep)
    if is_missing:
        raise ValueError(_MISSING)


def _lacks_rows(data: bytes) -> bool:
    """Whether a PNG lacks rows: then its pixels depend on what they were before it was decoded."""
    first, second = (open_raster(io.BytesIO(data), "PNG") for _ in range(2))
    _fill(first, 0)
    _fill(second, _UNSET)
    return first.tobytes() != second.tobytes()


def _fill(image: ImageFile.ImageFile, level: int) -> None:
    image.im = Image.new(image.mode, image.size, (level,) * len(image.getbands())).im


def check_chunks(data: bytes) -> int:
    """Return where a PNG ends; raises ValueError if its chunks are damaged or incomplete, as Pillow checks no CRCs."""
    view = memoryview(data)
    for kind, start, end in chunks_of(data):
        if start + 4 > len(data):
            break
        if view[end : end + 4] != struct.pack(">I", zlib.crc32(view[start - 4 : end])):
            raise ValueError(f"the checksum of its chunk {kind.decode('latin-1')!r} at byte {start - 8} is wrong")
        if kind == b"IEND":
            return end + 4
    raise ValueError("it ends before its last chunk")


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height that the header of a JPEG says, None without one."""
    for kind, start in _markers(data):
        if kind in _FRAMES:
            height, width = struct.unpack_from(">HH", data, start + 3)
            return width, height
    return None


def _markers(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield each marker of a JPEG, and where it ends, but for those of a thumbnail in its segments."""
    at = 2
    while marker := _JPEG_MARKER.search(data, at):
        yield b"\xff" + marker[1], marker.end()
        at = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2])


def _jpeg_end(data: bytes) -> int:
    """Return where the marker of a JPEG's end is, or its length; raises ValueError for too many scans."""
    scans = 0
    for kind, start in _markers(data):
        scans += kind == _SCAN
        if scans > _MOST_SCANS:
            raise ValueError(f"it has more than {_MOST_SCANS} scans")
        if kind == END_OF_JPEG:
            return start - len(END_OF_JPEG)
    return len(data)


def _needs_more(data: bytes, *, is_deep: bool = False) -> bool:
    """Whether a JPEG, given up to its end, lacks pixels: then those that are decoded depend on what follows."""
    ends = [data.rstrip(b"\xff") + bytes((filler,)) * 64 + END_OF_JPEG for filler in (0x00, 0x55)]
    first, second = (_deep_jpeg(each) if is_deep else open_raster(io.BytesIO(each), "JPEG") for each in ends)
    return first.tobytes() != second.tobytes()
