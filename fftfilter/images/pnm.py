"""PGM and PPM, plain and raw (P2, P3, P5, P6), with any maxval from 1 to 65535 kept.

Pillow stretches every maxval to 255 or 65535 and narrows 16-bit color to 8 bits, hence this module. A file:

    P5                  P2 plain gray, P3 plain color, P5 raw gray, P6 raw color
    # a comment         from # to the end of its line, anywhere before the raw samples
    640 480             width, height
    255                 maxval: the sample that stands for white; one whitespace ends a raw header
    ...                 height x width pixels of 1 or 3 samples; raw: two bytes each, high first, above 255

Source: the netpbm project's pages on the pgm and ppm formats.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ReadError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAGIC = re.compile(rb"P[2356][\s#]")
_WHITESPACE = b" \t\n\r\v\f"
_DIGITS = b"0123456789"
# Possessive, so that a line of thousands of # takes linear time.
_TOKEN = re.compile(rb"(?:\s|#[^\r\n]*+)*+([^\s#]*)")
_END_OF_RAW_HEADER = re.compile(rb"(?:#[^\r\n]*+)?\s")
_COMMENT = re.compile(rb"#[^\r\n]*")
_NO_DIGIT = re.compile(rb"[^\s\d]\S{0,19}")
_NEXT_IMAGE = re.compile(rb"\s*P[1-7]\s")


class Header(NamedTuple):
    """What a file says before its samples, and where they start."""

    magic: bytes
    width: int
    height: int
    maxval: int
    start: int

    @property
    def channels(self) -> int:
        """1 for gray, 3 for color."""
        return 3 if self.magic in (b"P3", b"P6") else 1

    @property
    def is_plain(self) -> bool:
        """Whether its samples are decimal numbers."""
        return self.magic in (b"P2", b"P3")

    @property
    def dtype(self) -> np.dtype[np.uint8 | np.uint16]:
        """The type of a sample in memory."""
        return np.dtype(np.uint8 if self.maxval < 256 else np.uint16)

    @property
    def nbytes(self) -> int:
        """Bytes of the samples in memory, and of the raster of a raw file."""
        return self.width * self.height * self.channels * self.dtype.itemsize


def is_pnm(data: bytes) -> bool:
    """Whether a file with this content is of one of the four kinds read here."""
    return _MAGIC.match(data) is not None


def read_header(data: bytes, name: str) -> Header:
    """Read the header of a file's content; `name` starts the message of a ReadError."""
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
    header = Header(data[:2], **fields, start=position)
    if header.is_plain:
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
    """Read the samples behind `header`.

    Returns an array (channels, height, width) of `header.dtype`. It may be a read-only view of `data`.
    Raises ReadError, starting with `name`, for too few or too many samples and for one above maxval.
    """
    plain = header.is_plain
    samples = _plain_samples(data, header, name) if plain else _raw_samples(data, header, name)
    if (plain or header.maxval not in (255, 65535)) and samples.max() > header.maxval:
        first = int(np.argmax(samples > header.maxval))
        y, x = divmod(first // header.channels, header.width)
        raise ReadError(
            f"{name}: sample {samples[first]} at x={x}, y={y} is above the maxval {header.maxval} of its "
            "header; correct one of them"
        )
    pixels = samples.astype(header.dtype, copy=False).reshape(header.height, header.width, header.channels)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def encode(planes: NDArray[np.uint8 | np.uint16], maxval: int) -> list[bytes | memoryview]:
    """Return the parts of a raw file: P5 for one channel, P6 for three; samples up to `maxval`.

    `planes` is (channels, height, width). Two bytes a sample if `maxval` is above 255.
    """
    channels, height, width = planes.shape
    header = f"P{5 if channels == 1 else 6}\n{width} {height}\n{maxval}\n".encode()
    raster = planes.transpose(1, 2, 0).astype(np.uint8 if maxval < 256 else ">u2", order="C", copy=False)
    return [header, raster.data]


def _raw_samples(data: bytes, header: Header, name: str) -> NDArray[np.uint8 | np.uint16]:
    """Read a raw raster: a flat view of `data`."""
    extra = len(data) - header.start - header.nbytes
    if extra < 0:
        raise ReadError(
            f"{name}: {-extra} bytes are missing of the {header.nbytes} that its header promises "
            f"({header.width} x {header.height}, maxval {header.maxval}); get a whole copy of it"
        )
    if extra:
        end = header.start + header.nbytes
        _refuse_second_image(data[end : end + 100], name)
        # To ignore them would hide a wrong width, which shears the picture.
        if data[end:].strip():
            raise ReadError(f"{name}: {extra} bytes follow the last pixel; cut them or correct the size in its header")
    dtype = header.dtype.newbyteorder(">")
    return np.frombuffer(data, dtype, header.nbytes // dtype.itemsize, header.start)


def _plain_samples(data: bytes, header: Header, name: str) -> NDArray[np.int64]:
    """Read a raster of decimal numbers: a flat array."""
    text = data[header.start :]
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if text.translate(None, _DIGITS + _WHITESPACE) and (odd := _NO_DIGIT.search(text)):
        _refuse_second_image(text[odd.start() :] + b"\n", name)
        raise ReadError(f"{name}: {_quoted(odd[0])} among its samples; they must be whole numbers")
    samples = np.fromstring(text, np.int64, sep=" ") if text.strip() else np.zeros(0, np.int64)
    wanted = header.width * header.height * header.channels
    if samples.size != wanted:
        amount = f"{abs(wanted - samples.size)} samples too {'few' if samples.size < wanted else 'many'}"
        raise ReadError(
            f"{name}: {amount} for the {header.width} x {header.height} of its header; "
            "correct it or get a whole copy of it"
        )
    return samples


def _refuse_second_image(rest: bytes, name: str) -> None:
    if _NEXT_IMAGE.match(rest):
        raise ReadError(f"{name}: several images in one file; split it, for example with pamsplit")


def _quoted(token: bytes) -> str:
    return repr(token[:20].decode("ascii", "replace"))
