"""Read and write formats of a header and plain numbers, without Pillow: PGM and PPM, PFM, NumPy's .npy.

PGM and PPM (P2, P3, P5, P6) keep any maxval from 1 to 65535, which Pillow stretches to 255 or 65535. A file:

    P5                  P2 plain gray, P3 plain color, P5 raw gray, P6 raw color
    # a comment         from # to the end of its line, anywhere before the raw samples
    640 480             width, height
    255                 maxval: the sample that stands for white; one whitespace ends a raw header
    ...                 height x width pixels of 1 or 3 samples; raw: two bytes each, high first, above 255

PFM has floats of gray or color as they are; Pillow reads gray ones only:

    PF                  Pf gray, PF color
    640 480             width, height
    -1.0                the byte order of the samples: negative for the low byte first; its size means nothing here
    ...                 height x width pixels of 1 or 3 floats of 4 bytes, the lowest row first

An .npy has an array (height, width) of gray, or (height, width, 3) of color, of any real type, or pages of these along
the axes before. Numbers of other types than uint8 and uint16 become float32 as they are; white is their type's largest,
1 for floats. An .npz is a zip with one such array.

Sources: the netpbm project's pages on the pgm and ppm formats; Paul Debevec's description of PFM,
https://www.pauldebevec.com/Research/HDR/PFM/; NumPy's documentation of numpy.lib.format.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError, TooLargeError
from ..files.atomic import Parts
from ..files.sources import Content
from ..system import check_memory
from .pages import Pages, Sink
from .picture import (
    F32,
    MAXVAL_OF,
    NOT_BY_STRIPS,
    U8,
    U16,
    Picture,
    Samples,
    Size,
    Strips,
    Working,
    refuse_oversize,
    spread,
)

# Possessive, so that a line of thousands of # takes linear time.
_PNM = re.compile(rb"P([2356])(?=[\s#])" + 3 * rb"(?:\s|#[^\r\n]*+)*+([^\s#]*)")
_END_OF_RAW_HEADER = re.compile(rb"(?:#[^\r\n]*+)?\s")
_PFM = re.compile(rb"P[Ff]\s")
_PFM_HEADER = re.compile(rb"P([Ff])\s+(\d{1,18})\s+(\d{1,18})\s+([-+.\deE]{1,40})\s")
NPY, _NPZ = b"\x93NUMPY", b"PK\3\4"
_NO_SPECTRUM = "is no spectrum to invert; give the .npy of complex numbers that 'fftfilter spectrum --complex' writes"
_HEADER_BYTES = 1 << 16  # more than any header has in practice, comments included
_COMMENT = re.compile(rb"#[^\r\n]*")
_NO_DIGIT = re.compile(rb"[^\s\d]\S{0,19}")
_DIGITS_AND_SPACE = b"0123456789 \t\n\r\v\f"


class Header(NamedTuple):
    """The header of a file, and how its samples follow."""

    size: Size
    maxval: int
    start: int
    stored: np.dtype[Any]  # the type of a sample in the file
    kept: np.dtype[Any]  # that of the picture
    is_text: bool = False  # whether samples are decimal numbers
    order: Literal["C", "F"] = "C"
    is_upward: bool = False  # whether the lowest row comes first
    format: str = "PPM"
    lead: tuple[int, ...] = ()  # the axes of the pages of an .npy

    def __str__(self) -> str:
        return f"{self.size.width} x {self.size.height} pixels of its header"


def is_plain(data: bytes) -> bool:
    """Whether a file with this content is read here."""
    return bool(_PNM.match(data) or _PFM.match(data)) or data.startswith(NPY)


def measure(data: bytes, name: str) -> Size:
    """Return the size of the image in a file, from its header; ``name`` starts the message of a ReadError."""
    return _header(data, name).size


def decode(data: bytes, name: str, check: Callable[[Size], None]) -> Picture:
    """Read an image from a file's bytes, a read-only view of them if possible.

    ``check`` gets the size before anything is allocated, and may raise. Raises ReadError, whose message starts with
    ``name``, for too few or too many samples and for one above maxval.
    """
    header = _header(data, name)
    # Decimal numbers take as much as floats while they are read.
    check(header.size._replace(bytes_per_sample=F32.itemsize) if header.is_text else header.size)
    return _picture((_decimals if header.is_text else _raw)(data, header, name), header, name)


def _picture(samples: NDArray[Any], header: Header, name: str, above: int = 0) -> Picture:
    """Return the picture of a header and of samples, which are those of rows with so many rows ``above`` them."""
    size, maxval, stored, kept = header.size, header.maxval, header.stored, header.kept
    may_exceed = kept.kind == "u" and (header.is_text or maxval not in (255, 65535))
    if may_exceed and samples.max() > maxval:
        first = int(np.argmax(samples > maxval))
        y, x = divmod(first // size.channels, size.width)
        found = f"sample {samples[first]} at x={x}, y={y + above}"
        raise ReadError(f"{name}: {found} is above the maxval {maxval} of its header; correct one of them")
    pixels = samples.reshape((size.height, size.width, size.channels), order=header.order)
    if header.is_upward:
        pixels = pixels[::-1]
    with np.errstate(over="ignore"):  # beyond float32 is infinite
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1), kept)
    integers = stored.newbyteorder("=") if kept == F32 and stored.kind in "iu" else None
    return Picture(planes, None, maxval, header.format, integers=integers)


def _stored(data: Content, first: int, end: int, header: Header, name: str) -> Samples:
    if len(found := data[first:end]) < end - first:
        raise ReadError(f"{name}: has become shorter while it was read; start again when it is complete")
    return np.frombuffer(found, header.stored)


def strips(data: Content, name: str, page: int = 0) -> Strips:
    """Return the picture in a file, or a page, to be read some rows at a time; raises ReadError, TooLargeError."""
    header = _header(data[:_HEADER_BYTES], name, len(data))
    if header.is_text or header.order == "F":
        raise TooLargeError(
            f"{name}: {'text' if header.is_text else 'an array with its columns first'} {NOT_BY_STRIPS}"
        )
    size, by_row = header.size, header.size.width * header.size.channels * header.stored.itemsize
    start = header.start + page * size.height * by_row
    if not header.lead:
        _check_length(data[start + size.height * by_row :], len(data), header, name)

    def rows(first: int, stop: int) -> Picture:
        part = header._replace(size=size._replace(height=stop - first))
        samples = _stored(data, start + first * by_row, start + stop * by_row, header, name)
        return _picture(samples, part, name, first)

    return spread(rows(0, 1), size.height, rows)


def _header(data: bytes, name: str, length: int | None = None) -> Header:
    if data.startswith(NPY):
        return _npy_header(data, name)
    found = _PNM.match(data)
    return _pnm_header(data, found, name, length or len(data)) if found else _pfm_header(data, name)


def _pnm_header(data: bytes, found: re.Match[bytes], name: str, length: int) -> Header:
    kind, *tokens = found.groups()
    for field, largest, token in zip(("width", "height", "maxval"), (math.inf, math.inf, 65535), tokens, strict=True):
        if not token:
            raise ReadError(f"{name}: the file ends before its {field}; get a whole copy of it")
        # 30 digits are more than any machine can hold, and int() refuses thousands of them.
        if not token.isdigit() or not 0 < int(token[:30]) <= largest:
            limits = "1 to 65535" if largest == 65535 else "a whole number above 0"
            raise ReadError(f"{name}: its {field} is {_quoted(token)}; it must be {limits}")
    width, height, maxval = (int(token[:30]) for token in tokens)
    kept = U8 if maxval < 256 else U16
    size = Size(width, height, 3 if kind in b"36" else 1, kept.itemsize)
    if kind in b"23":
        return Header(size, maxval, found.end(), kept, kept, is_text=True)
    if not (end := _END_OF_RAW_HEADER.match(data, found.end())):
        raise ReadError(f"{name}: the file ends with its header; get a whole copy of it")
    start = end.end()
    # A line end of two bytes is wrong here, but some programs write it; the file's length shows that it is one.
    if data[start - 1 : start + 1] == b"\r\n" and length - start == size.samples * kept.itemsize + 1:
        start += 1
    return Header(size, maxval, start, kept.newbyteorder(">"), kept)


def _pfm_header(data: bytes, name: str) -> Header:
    scale = 0.0
    if found := _PFM_HEADER.match(data):
        with suppress(ValueError):
            scale = float(found[4])
    if not found or not int(found[2]) or not int(found[3]) or not scale or not math.isfinite(scale):
        raise ReadError(f"{name}: the header of this PFM is damaged; get a whole copy of it")
    size = Size(int(found[2]), int(found[3]), 3 if found[1] == b"F" else 1, F32.itemsize)
    return Header(size, 1, found.end(), np.dtype("<f4" if scale < 0 else ">f4"), F32, is_upward=True)


def spectrum_of(data: Content, name: str) -> NDArray[np.complexfloating[Any, Any]]:
    """Return the complex numbers of an .npy, (channels, height, width); raises ReadError and TooLargeError."""
    found = data[:]
    header = _npy_header(found, name, "c") if found.startswith(NPY) else None
    if header is None:
        raise ReadError(f"{name}: {_NO_SPECTRUM}")
    size = header.size
    check_memory(size.height, size.width, 6 * size.samples * header.stored.itemsize, name)
    shape = (size.height, size.width, size.channels)
    array: NDArray[Any] = _raw(found, header, name).reshape(shape, order=header.order)
    return array.transpose(2, 0, 1)


def _npy_header(data: bytes, name: str, kinds: str = "uif") -> Header:
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, stored = read(file)
    except Exception as error:  # of damaged headers NumPy raises almost anything
        raise ReadError(f"{name}: the header of this .npy is damaged; get a whole copy of it") from error
    stored = U8 if stored.kind == "b" else stored  # as calls in Python take bools
    own = 3 if len(shape) > 2 and shape[-1] == 3 else 2  # axes of a page
    lead, sides = shape[:-own], shape[-own:]
    is_image = stored.kind in kinds and len(sides) > 1 and min(shape) > 0 and not (lead and kinds == "c")
    if not is_image or (lead and is_fortran):
        way_out = "is not an image; give real numbers, (height, width) or (height, width, 3), or pages of these"
        why = _NO_SPECTRUM if kinds == "c" else way_out
        if is_image:
            why = "has its columns first; save it by numpy.ascontiguousarray"
        raise ReadError(f"{name}: an array of shape {shape} and type {stored} {why}")
    kept = stored.newbyteorder("=") if stored.newbyteorder("=") in MAXVAL_OF else F32
    size = Size(sides[1], sides[0], 3 if own == 3 else 1, kept.itemsize, math.prod(lead))
    order: Literal["C", "F"] = "F" if is_fortran else "C"
    return Header(size, MAXVAL_OF[kept], file.tell(), stored, kept, order=order, format="NPY", lead=lead)


def has_pages(data: Content) -> bool:
    """Whether a file is an .npy of pages, or an .npz."""
    start = data[:_HEADER_BYTES]
    if start.startswith(NPY):
        with suppress(ReadError):
            return bool(_npy_header(start, "").lead)
    return start.startswith(_NPZ)


class NpyPages(Pages):
    """The pages of an .npy or .npz; raises ReadError."""

    is_cut, format = False, "NPY"

    def __init__(self, data: Content, name: str) -> None:
        content = _unzipped(data[:], name) if data[:4] == _NPZ else data
        self.name, self.data, self.length = name, content, len(content)
        self._header = header = _npy_header(content[:_HEADER_BYTES], name)
        whole = header._replace(size=header.size._replace(height=header.size.height * header.size.pages))
        self._bytes = header.size.samples * header.stored.itemsize
        _check_length(content[header.start + self._bytes * header.size.pages :], len(content), whole, name)
        self.count, self.first = header.size.pages, header.size
        self.chosen = range(self.count)

    def axes(self) -> list[tuple[str, int]]:
        return [("", side) for side in self._header.lead] or [("", 1)]

    def read(self, index: int, working: Working | None = None) -> Picture:
        refuse_oversize(self.page_name(index), self.first, working)
        start = self._header.start + self.chosen[index] * self._bytes
        samples = _stored(self.data, start, start + self._bytes, self._header, self.page_name(index))
        return _picture(samples, self._header, self.page_name(index))

    def strips(self, index: int) -> Strips:
        return strips(self.data, self.page_name(index), self.chosen[index])


def _unzipped(data: bytes, name: str) -> bytes:
    """Return the only array of an .npz, as an .npy; raises ReadError, and TooLargeError before it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) != 1 or not members[0].filename.endswith(".npy"):
                raise ReadError(f"{name}: an archive of {len(members)} files; give an .npz of one array, or unpack it")
            with archive.open(members[0]) as file:
                start = file.read(_HEADER_BYTES)
                size = _npy_header(start, name).size
                check_memory(size.height * size.pages, size.width, size.samples * size.pages * 8, name)
                if members[0].file_size > size.samples * size.pages * 16 + len(start):
                    raise ReadError(f"{name}: has more bytes than its array; get a whole copy of it")
                return start + file.read()
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise ReadError(f"{name}: an archive that is no .npz, or damaged; unpack it, or get a whole copy") from error


def _raw(data: bytes, header: Header, name: str) -> NDArray[Any]:
    _check_length(data[header.start + header.size.samples * header.stored.itemsize :], len(data), header, name)
    return np.frombuffer(data, header.stored, header.size.samples, header.start)


def _check_length(behind: bytes, length: int, header: Header, name: str) -> None:
    """Raise ReadError for a file of another length than its header says, with the bytes ``behind`` its last sample."""
    wanted = header.size.samples * header.stored.itemsize
    extra = length - header.start - wanted
    if extra < 0:
        raise ReadError(f"{name}: {-extra} bytes are missing of the {wanted} for the {header}; get a whole copy of it")
    # To ignore further bytes would hide a wrong width, which shears the picture.
    if behind.strip():
        raise ReadError(f"{name}: {extra} bytes follow the last pixel; give one image a file, or correct its header")


def _decimals(data: bytes, header: Header, name: str) -> NDArray[np.int64]:
    text = data[header.start :]
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if text.translate(None, _DIGITS_AND_SPACE) and (odd := _NO_DIGIT.search(text)):
        raise ReadError(f"{name}: {_quoted(odd[0])} among its samples; they must be whole numbers, of one image")
    samples = np.fromstring(text, np.int64, sep=" ") if text.strip() else np.zeros(0, np.int64)
    if samples.size != (wanted := header.size.samples):
        amount = f"{abs(wanted - samples.size)} samples too {'few' if samples.size < wanted else 'many'}"
        raise ReadError(f"{name}: {amount} for the {header}; correct it or get a whole copy of it")
    return samples


def _quoted(token: bytes) -> str:
    return repr(token[:20].decode("ascii", "replace"))


def encode_pnm(planes: NDArray[np.uint8 | np.uint16], maxval: int, height: int = 0) -> Parts:
    """Return the parts of a raw file: P5 for one channel, P6 for three; samples up to ``maxval``.

    ``planes`` is (channels, height, width), or the first rows of a ``height``. Two bytes a sample if ``maxval`` is
    above 255.
    """
    channels, _, width = planes.shape
    header = f"P{5 if channels == 1 else 6}\n{width} {height or planes.shape[1]}\n{maxval}\n".encode()
    raster = planes.transpose(1, 2, 0).astype(np.uint8 if maxval < 256 else ">u2", order="C", copy=False)
    return [header, raster.data]


def encode_pfm(planes: Samples) -> Parts:
    """Return the parts of a file of floats (channels, height, width)."""
    channels, height, width = planes.shape
    header = f"P{'f' if channels == 1 else 'F'}\n{width} {height}\n-1.0\n".encode()
    return [header, np.ascontiguousarray(planes.transpose(1, 2, 0)[::-1], "<f4").data.cast("B")]


def encode_npy(samples: Samples, height: int = 0, count: int = 1) -> Parts:
    """Return the parts of a file of samples (height, width, channels): all, the first rows of a ``height``, or a page.

    A file of several pages has ``count`` of them.
    """
    array = np.ascontiguousarray(samples[:, :, 0] if samples.shape[2] == 1 else samples)
    header, about = io.BytesIO(), np.lib.format.header_data_from_array_1_0(array)
    shape = (*[count] * (count > 1), height or len(array), *array.shape[1:])
    np.lib.format.write_array_header_1_0(header, {**about, "shape": shape})
    return [header.getvalue(), array.data]


class PlainSink(Sink):
    """A file that grows by rows of one picture, or by pages, which ``encode`` makes parts of the file of."""

    def __init__(self, file: BinaryIO, encode: Callable[[Picture], Parts]) -> None:
        self._file, self._encode = file, encode

    def encode(self, picture: Picture, milliseconds: float | None = None) -> Parts:  # noqa: ARG002
        return self._encode(picture)

    def add(self, encoded: Parts) -> None:
        self._file.writelines(encoded[1:] if self._file.tell() else encoded)

    def finish(self) -> None:
        """Do nothing: the header says all."""
