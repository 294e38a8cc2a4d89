"""The chunks that PNG and WebP files consist of: their kinds, and where their contents begin and end.

A content may end beyond the file's last byte, if the file is cut off.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Chunk = tuple[bytes, int, int]


def png_chunks(data: bytes) -> Iterator[Chunk]:
    """Yield the chunks behind a PNG's signature; each is followed by a checksum of four bytes."""
    start = 16
    while start <= len(data):
        length, kind = struct.unpack_from(">I4s", data, start - 8)
        yield kind, start, start + length
        start += length + 12


def riff_chunks(data: bytes) -> Iterator[Chunk]:
    """Yield the chunks behind a WebP's head."""
    start = 20
    while start <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start - 8)
        yield kind, start, start + length
        start += length + length % 2 + 8
