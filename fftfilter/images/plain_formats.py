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

An .npy has an array (height, width) of gray, or (height, width, 3) of color, of any real type. Numbers of other types
than uint8 and uint16 become float32 as they are; white is their type's largest, 1 for floats.

Sources: the netpbm project's pages on the pgm and ppm formats; Paul Debevec's description of PFM,
https://www.pauldebevec.com/Research/HDR/PFM/; NumPy's documentation of numpy.lib.format.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError
from ..files.atomic import Parts
from .picture import F32, MAXVAL_OF, U8, U16, Picture, Samples, Size

_PNM = re.compile(rb"P[2356][\s#]")
_PFM = re.compile(rb"P[Ff]\s")
_NPY = b"\x93NUMPY"
_WHITESPACE = b" \t\n\r\v\f"
_DIGITS = b"0123456789"
# Possessive, so that a line of thousands of # takes linear time.
_TOKEN = re.compile(rb"(?:\s|#[^\r\n]*+)*+([^\s#]*)")
_END_OF_RAW_HEADER = re.compile(rb"(?:#[^\r\n]*+)?\s")
_COMMENT = re.compile(rb"#[^\r\n]*")
_NO_DIGIT = re.compile(rb"[^\s\d]\S{0,19}")
_PFM_HEADER = re.compile(rb"P([Ff])\s+(\d{1,18})\s+(\d{1,18})\s+([-+.\deE]{1,40})\s")


def is_plain(data: bytes) -> bool:
    """Whether a file with this content is read here."""
    return bool(_PNM.match(data) or _PFM.match(data)) or data.startswith(_NPY)


def measure(data: bytes, name: str) -> Size:
    """Return the size of the image in a file, from its header; ``name`` starts the message of a ReadError."""
    if _PNM.match(data):
        return read_header(data, name).size
    return (_pfm_header(data, name) if _PFM.match(data) else _npy_header(io.BytesIO(data), name))[0]


def decode(data: bytes, name: str, check: Callable[[Size], None]) -> Picture:
    """Read an image from a file's bytes; ``name`` starts the message of a ReadError.

    ``check`` gets the size before anything is allocated, and may raise.
    """
    if _PNM.match(data):
        header = read_header(data, name)
        # Decimal numbers take as much as floats while they are read.
        check(header.size._replace(bytes_per_sample=F32.itemsize) if header.has_decimals else header.size)
        return Picture(read_samples(data, header, name), None, header.maxval, "PPM")
    return (_decode_pfm if _PFM.match(data) else _decode_npy)(data, name, check)


class Header(NamedTuple):
    """The header of a PGM or PPM, and where its samples start."""

    size: Size
    maxval: int
    start: int
    has_decimals: bool  # whether its samples are decimal numbers

    @property
    def nbytes(self) -> int:
        """Bytes of the samples in memory, and of the raster of a raw file."""
        return self.size.samples * self.size.bytes_per_sample


def read_header(data: bytes, name: str) -> Header:
    """Read the header of a PGM or PPM; ``name`` starts the message of a ReadError."""
    fields, position = {}, 2
    for field, largest in ("width", None), ("height", None), ("maxval", 65535):
        found = _TOKEN.match(data, position)
        token, position = (found[1], found.end()) if found else (b"", position)
        if not token:
            raise ReadError(f"{name}: the file ends before its {field}; get a whole copy of it")
        if not token.isdigit():
            raise ReadError(f"{name}: its {field} is {_quoted(token)}; it must be a whole number above 0")
        # 30 digits are more than any machine can hold, and int() refuses thousands of them.
        fields[field] = int(token[:30])
        if fields[field] == 0 or (largest and fields[field] > largest):
            limits = f"1 to {largest}" if largest else "at least 1"
            raise ReadError(f"{name}: its {field} is {fields[field]}; it must be {limits}")
    width, height, maxval = fields.values()
    size = Size(width, height, 3 if data[:2] in (b"P3", b"P6") else 1, 1 if maxval < 256 else 2)
    header = Header(size, maxval, position, has_decimals=data[:2] in (b"P2", b"P3"))
    if header.has_decimals:
        return header
    end = _END_OF_RAW_HEADER.match(data, position)
    if not end:
        raise ReadError(f"{name}: the file ends with its header; get a whole copy of it")
    start = end.end()
    # A line end of two bytes is wrong here, but some programs write it; the file's length shows that it is one.
    if data[start - 1 : start + 1] == b"\r\n" and len(data) - start == header.nbytes + 1:
        start += 1
    return header._replace(start=start)


def read_samples(data: bytes, header: Header, name: str) -> NDArray[np.uint8 | np.uint16]:
    """Read the samples behind ``header``.

    Returns an array (channels, height, width) of uint8 or uint16. It may be a read-only view of ``data``.
    Raises ReadError, starting with ``name``, for too few or too many samples and for one above maxval.
    """
    size, decimals = header.size, header.has_decimals
    samples = _decimal_samples(data, header, name) if decimals else _raw_samples(data, header, name)
    if (decimals or header.maxval not in (255, 65535)) and samples.max() > header.maxval:
        first = int(np.argmax(samples > header.maxval))
        y, x = divmod(first // size.channels, size.width)
        raise ReadError(
            f"{name}: sample {samples[first]} at x={x}, y={y} is above the maxval {header.maxval} of its "
            "header; correct one of them"
        )
    dtype = U8 if size.bytes_per_sample == 1 else U16
    pixels = samples.astype(dtype, copy=False).reshape(size.height, size.width, size.channels)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def _raw_samples(data: bytes, header: Header, name: str) -> NDArray[np.uint8 | np.uint16]:
    """Read a raw raster: a flat view of ``data``."""
    extra = len(data) - header.start - header.nbytes
    if extra < 0:
        raise ReadError(
            f"{name}: {-extra} bytes are missing of the {header.nbytes} that its header promises "
            f"({header.size.width} x {header.size.height}, maxval {header.maxval}); get a whole copy of it"
        )
    # To ignore further bytes would hide a wrong width, which shears the picture.
    if data[header.start + header.nbytes :].strip():
        raise ReadError(
            f"{name}: {extra} bytes follow the last pixel; give one image a file, or correct the size in its header"
        )
    return np.frombuffer(data, f">u{header.size.bytes_per_sample}", header.size.samples, header.start)


def _decimal_samples(data: bytes, header: Header, name: str) -> NDArray[np.int64]:
    """Read a raster of decimal numbers: a flat array."""
    text = data[header.start :]
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if text.translate(None, _DIGITS + _WHITESPACE) and (odd := _NO_DIGIT.search(text)):
        raise ReadError(f"{name}: {_quoted(odd[0])} among its samples; they must be whole numbers, of one image")
    samples = np.fromstring(text, np.int64, sep=" ") if text.strip() else np.zeros(0, np.int64)
    if samples.size != (wanted := header.size.samples):
        amount = f"{abs(wanted - samples.size)} samples too {'few' if samples.size < wanted else 'many'}"
        raise ReadError(
            f"{name}: {amount} for the {header.size.width} x {header.size.height} of its header; "
            "correct it or get a whole copy of it"
        )
    return samples


def _quoted(token: bytes) -> str:
    return repr(token[:20].decode("ascii", "replace"))


def encode_pnm(planes: NDArray[np.uint8 | np.uint16], maxval: int) -> Parts:
    """Return the parts of a raw file: P5 for one channel, P6 for three; samples up to ``maxval``.

    ``planes`` is (channels, height, width). Two bytes a sample if ``maxval`` is above 255.
    """
    channels, height, width = planes.shape
    header = f"P{5 if channels == 1 else 6}\n{width} {height}\n{maxval}\n".encode()
    raster = planes.transpose(1, 2, 0).astype(np.uint8 if maxval < 256 else ">u2", order="C", copy=False)
    return [header, raster.data]


def _pfm_header(data: bytes, name: str) -> tuple[Size, str, int]:
    """Return the size, the byte order and where the samples start."""
    found = _PFM_HEADER.match(data)
    scale = 0.0
    with suppress(ValueError):
        scale = float(found[4]) if found else 0.0
    if not found or not int(found[2]) or not int(found[3]) or not scale or not math.isfinite(scale):
        raise ReadError(f"{name}: the header of this PFM is damaged; get a whole copy of it")
    size = Size(int(found[2]), int(found[3]), 3 if found[1] == b"F" else 1, F32.itemsize)
    return size, "<" if scale < 0 else ">", found.end()


def _decode_pfm(data: bytes, name: str, check: Callable[[Size], None]) -> Picture:
    size, order, start = _pfm_header(data, name)
    check(size)
    _check_length(len(data) - start, size.samples * F32.itemsize, name)
    upside_down = np.frombuffer(data, f"{order}f4", offset=start).reshape(size.height, size.width, size.channels)
    return Picture(np.ascontiguousarray(upside_down[::-1].transpose(2, 0, 1), F32), None, 1, "PPM")


def encode_pfm(planes: Samples) -> Parts:
    """Return the parts of a file of floats (channels, height, width)."""
    channels, height, width = planes.shape
    header = f"P{'f' if channels == 1 else 'F'}\n{width} {height}\n-1.0\n".encode()
    return [header, np.ascontiguousarray(planes.transpose(1, 2, 0)[::-1], "<f4").data.cast("B")]


def _check_length(found: int, wanted: int, name: str) -> None:
    if found != wanted:
        raise ReadError(f"{name}: has {found} bytes of samples, not the {wanted} of its header; get a whole copy of it")


def _npy_header(file: io.BytesIO, name: str) -> tuple[Size, tuple[int, ...], bool, np.dtype[Any]]:
    """Return the size, the shape, whether its order is Fortran's, and the type; the file then stands at the samples."""
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
    except Exception as error:  # of damaged headers NumPy raises almost anything
        raise ReadError(f"{name}: the header of this .npy is damaged; get a whole copy of it") from error
    if dtype.kind not in "uif" or len(shape) not in (2, 3) or min(shape) < 1 or shape[2:] not in ((), (3,)):
        raise ReadError(
            f"{name}: an array of shape {shape} and type {dtype} is not an image; give real numbers, "
            "(height, width) or (height, width, 3)"
        )
    size = Size(shape[1], shape[0], 3 if len(shape) == 3 else 1, _kept(dtype).itemsize)
    return size, shape, is_fortran, dtype


def _kept(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that samples have in memory."""
    native = dtype.newbyteorder("=")
    return native if native in MAXVAL_OF else F32


def _decode_npy(data: bytes, name: str, check: Callable[[Size], None]) -> Picture:
    file = io.BytesIO(data)
    size, shape, is_fortran, dtype = _npy_header(file, name)
    check(size)
    _check_length(len(data) - file.tell(), math.prod(shape) * dtype.itemsize, name)
    array = np.frombuffer(data, dtype, offset=file.tell()).reshape(shape, order="F" if is_fortran else "C")
    with np.errstate(over="ignore"):
        kept = array.astype(_kept(dtype), copy=False)
    planes = np.ascontiguousarray(np.atleast_3d(kept).transpose(2, 0, 1))
    integers = dtype.newbyteorder("=") if planes.dtype == F32 and dtype.kind in "iu" else None
    return Picture(planes, None, MAXVAL_OF[planes.dtype], "NPY", integers=integers)


def encode_npy(samples: Samples) -> Parts:
    """Return the parts of a file of samples (height, width, channels)."""
    array = np.ascontiguousarray(samples[:, :, 0] if samples.shape[2] == 1 else samples)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return [header.getvalue(), array.data]
