"""The frames of a GIF, an animated PNG or WebP, and of whatever else Pillow knows with several, read and written.

Frames are read whole, as they are shown. All have one kind: color if any has color, alpha if any is transparent
somewhere. Written are the first three. One frame at a time is in memory; each is whole, and replaces the one before.
Pillow's ``save_all`` is no way to write them: it merges a frame that is like the one before into that one, so that
pages are lost, compares 16-bit frames by 8 bits, changes colors below clear pixels of a WebP, and holds all frames in
memory.

Sources: the GIF89a specification, https://www.w3.org/Graphics/GIF/spec-gif89a.txt; the PNG specification, third
edition, https://www.w3.org/TR/png-3/; the WebP container specification,
https://developers.google.com/speed/webp/docs/riff_container
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count, takewhile
from typing import BinaryIO

import numpy as np

from ..files.atomic import Parts
from . import pillow_reader
from .metadata import orientation_of, upright
from .pages import Pages, Sink
from .picture import CLEAR, Picture, Working
from .png_writer import chunk, chunks_of
from .quiet import damage_as_error, open_raster, quiet_pillow

_DEFAULT_MILLISECONDS = 100.0  # of the pages of a file without durations
_GIF_EXTENSION, _GIF_IMAGE, _GIF_END = 0x21, 0x2C, 0x3B
_GIF_COMMENT, _GIF_CONTROL = 0xFE, 0xF9
_GIF_STAYS, _GIF_CLEARED = 0x04, 0x08
_WEBP_FLAGS = {b"ICCP": 0x20, b"EXIF": 0x08, b"XMP ": 0x04}
_WEBP_REPLACES = 0x02  # and is not blended with the frame before


class AnimationPages(Pages):
    """The frames of an animation, given as bytes; raises ReadError."""

    decoder = 24  # frames in four bytes: this one, the one before, what it is drawn on, copies

    def __init__(self, data: bytes, name: str) -> None:
        self.name, self.data = name, data
        with quiet_pillow():
            self._image = open_raster(io.BytesIO(data))
            self.format = self._image.format or ""
            pillow_reader.refuse_unfit(self._image, len(self.data), name)
            self.count, self.is_cut = frames_of(data, self.format, getattr(self._image, "n_frames", 1))
        # The picture that is shown by programs without animation, if it is none of the frames.
        self._skipped = 1 if self._image.info.get("default_image") else 0
        self.chosen = range(self.count)
        loop = self._image.info.get("loop")
        self.plays = loop if isinstance(loop, int) else 0
        if self.format == "GIF":  # which says how often it is repeated
            self.plays = 1 if loop is None else loop + 1 if loop else 0
        self._size = self._image.size
        if self._skipped:
            self.left_out += ("the default image",)
        if pillow_reader.is_narrowed(self._image):
            self.left_out += ("the low bytes of 16-bit color",)
        self._rawmode = pillow_reader.rawmode_of(self._image)
        self._kind: tuple[bool, bool] | None = None

    @property
    def pixels(self) -> int:
        # Those of the frames before are decoded, too.
        return (self.chosen[-1] + 1) * self._size[0] * self._size[1]

    def read(self, index: int, working: Working | None = None) -> Picture:
        name = self.page_name(index)
        with damage_as_error(name):
            if index == 0:
                pillow_reader.refuse_unfit(self._image, len(self.data), name, working)
            # The others say by their header whether they have color and alpha; of a WebP it is often no more than that.
            says_nothing = self.format in ("GIF", "WEBP") or self._rawmode.startswith("P")
            if says_nothing and self._kind is None:
                self._kind = self._look()
            self._seek(self.chosen[index])
            # After loading: WebP knows it only then.
            shown = self._image.info.get("duration")
            self.milliseconds = float(shown) if isinstance(shown, int | float) else None
            if self._kind is None:
                samples = pillow_reader.read_as_it_is(self._image)
            else:
                has_color, has_alpha = self._kind
                bands = [0, 1, 2] if has_color else [0]
                whole = self._image.convert("RGBA")
                samples = np.stack([np.asarray(whole.getchannel(i)) for i in [*bands, *[3] * has_alpha]], axis=-1)
            picture = upright(
                pillow_reader.picture_of(self._image, samples, data=self.data[:]), orientation_of(self._image)
            )
            if index:
                picture.metadata = None  # which is that of the file
            return picture

    def _seek(self, number: int) -> None:
        wanted, at = number + self._skipped, self._image.tell()
        # One by one: Pillow decodes all frames between, and one that is larger than the first makes all larger.
        for frame in range(at + 1 if wanted > at else wanted, wanted + 1):
            with quiet_pillow():
                self._image.seek(frame)
            if self._image.size != self._size:
                pillow_reader.refuse_unfit(self._image, len(self.data), self.page_name(self.chosen.index(number)))
        self._image.load()

    def _look(self) -> tuple[bool, bool]:
        """Return whether any of the chosen frames has color, and whether any is transparent somewhere."""
        from PIL import ImageChops

        has_color = has_alpha = False
        for number in self.chosen:
            self._seek(number)
            red, *others, alpha = self._image.convert("RGBA").split()
            has_alpha |= any(alpha.histogram()[:255])
            has_color |= any(ImageChops.difference(red, each).getbbox() is not None for each in others)
        return has_color, has_alpha


def frames_of(data: bytes, format_: str, counted: int) -> tuple[int, bool]:
    """Return the number of whole frames, and whether others are missing; ``counted`` is Pillow's number."""
    if format_ == "PNG":
        return _png_frames(data)
    if format_ != "GIF":
        return counted, False
    frames = 0
    with suppress(IndexError):
        for start, _ in _gif_blocks(data):
            frames += data[start] == _GIF_IMAGE
        return frames, False
    return frames, True


def _gif_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each extension and image of a GIF; raises IndexError if the file is cut off."""
    position = 13 + _colors(data[10])
    while (block := data[position]) != _GIF_END:
        start, position = position, position + 1
        if block not in (_GIF_EXTENSION, _GIF_IMAGE):
            continue  # as Pillow does
        position += 10 + _colors(data[start + 9]) if block == _GIF_IMAGE else 1
        while data[position]:
            position += 1 + data[position]
        position += 1
        yield start, position


def _colors(flags: int) -> int:
    """Return the length in bytes of a table of colors."""
    return 3 << (1 + (flags & 7)) if flags & 0x80 else 0


def _png_frames(data: bytes) -> tuple[int, bool]:
    """Count the frames of a PNG; raises ValueError for a damaged one."""
    begun = promised = 0
    for kind, start, _ in chunks_of(data):
        if start + 4 > len(data):
            break
        if kind == b"acTL":
            promised = int.from_bytes(data[start : start + 4], "big")
        begun += kind == b"fcTL"
        if kind == b"IEND":
            pillow_reader.check_chunks(data)
            return min(begun, promised), begun < promised
    return max(0, begun - 1), True


class _AnimationSink(Sink):
    def __init__(self, file: BinaryIO, encode: Callable[[Picture], Parts], pages: int, plays: int) -> None:
        self._file, self._encode, self._pages, self._plays = file, encode, pages, plays

    def encode(self, picture: Picture, milliseconds: float | None) -> tuple[bytes, float]:
        """Return a frame as a file of its own, and how long it is shown."""
        self._height, self._width = picture.planes.shape[1:]  # which all frames have in common, as they have alpha
        self._has_alpha = picture.alpha is not None
        data = b"".join(self._encode(picture))
        return data, _DEFAULT_MILLISECONDS if milliseconds is None else milliseconds


class _GifSink(_AnimationSink):
    """GIF: a head, then for each frame its duration, its place, its colors and its pixels."""

    def add(self, encoded: tuple[bytes, float]) -> None:
        (data, milliseconds), is_first, position = encoded, not self._file.tell(), 0
        if is_first:
            self._file.write(b"GIF89a" + struct.pack("<HHBBB", self._width, self._height, 0x70, 0, 0))
        if is_first and self._plays != 1:
            repeats = max(0, min(self._plays, 65536) - 1)
            self._file.write(b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<HB", repeats, 0))
        for position, end in _gif_blocks(data):
            if data[position] == _GIF_IMAGE:
                break
            if data[position + 1] == _GIF_COMMENT and is_first:
                self._file.write(data[position:end])
        hundredths = min(65535, round(milliseconds / 10))
        # Cleared after it was shown, or it would be seen where the next frame is transparent.
        after, clear = (_GIF_CLEARED | 1, CLEAR) if self._has_alpha else (_GIF_STAYS, 0)
        self._file.write(b"!" + struct.pack("<BBBHBB", _GIF_CONTROL, 4, after, hundredths, clear, 0))
        place, own, flags = data[position : position + 9], data[position + 9], data[10]
        self._file.write(place + bytes((own & 0x40 | 0x80 | flags & 7,)) + data[13 : 13 + _colors(flags)])
        self._file.write(data[position + 10 : -1])

    def finish(self) -> None:
        self._file.write(b";")


class _PngSink(_AnimationSink):
    """PNG: the chunks of a picture; before the pixels of each frame a chunk with its place and duration."""

    def add(self, encoded: tuple[bytes, float]) -> None:
        data, milliseconds = encoded
        found = [(kind, data[start:end]) for kind, start, end in chunks_of(data)]
        is_first = not self._file.tell()
        if is_first:
            self._numbers = count()  # of the chunks of the animation
            self._file.write(data[:8])
            for kind, content in takewhile(lambda each: each[0] != b"IDAT", found):
                self._file.writelines(chunk(kind, content))
                if kind == b"IHDR":
                    self._file.writelines(chunk(b"acTL", struct.pack(">II", self._pages, self._plays)))
        seconds = min(65535.0, milliseconds / 1000)
        delay = Fraction(seconds).limit_denominator(min(1000, int(65535 / max(1.0, seconds))))
        place = struct.pack(">IIIII", next(self._numbers), self._width, self._height, 0, 0)
        shown = struct.pack(">HHBB", delay.numerator, delay.denominator, 0, 0)
        self._file.writelines(chunk(b"fcTL", place + shown))
        for content in (content for kind, content in found if kind == b"IDAT"):
            numbered = b"" if is_first else struct.pack(">I", next(self._numbers))
            self._file.writelines(chunk(b"IDAT" if is_first else b"fdAT", numbered + content))

    def finish(self) -> None:
        self._file.writelines(chunk(b"IEND", b""))


class _WebpSink(_AnimationSink):
    """WebP: common chunks, then for each frame a chunk with its place, its duration and its own chunks."""

    def add(self, encoded: tuple[bytes, float]) -> None:
        data, milliseconds = encoded
        chunks = {kind: _riff_chunk(kind, data[start:end]) for kind, start, end in _riff_chunks(data)}
        size = b"".join((side - 1).to_bytes(3, "little") for side in (self._width, self._height))
        if not self._file.tell():
            flags = 0x02 | 0x10 * self._has_alpha | sum(_WEBP_FLAGS.get(kind, 0) for kind in chunks)
            self._file.write(b"RIFF" + bytes(4) + b"WEBP" + _riff_chunk(b"VP8X", struct.pack("<I", flags) + size))
            self._file.write(chunks.get(b"ICCP", b""))
            self._file.write(_riff_chunk(b"ANIM", struct.pack("<IH", 0, min(65535, self._plays))))
            self._last = chunks.get(b"EXIF", b"") + chunks.get(b"XMP ", b"")
        shown = min((1 << 24) - 1, round(milliseconds)).to_bytes(3, "little")
        own = b"".join(part for kind, part in chunks.items() if kind in (b"ALPH", b"VP8 ", b"VP8L"))
        self._file.write(_riff_chunk(b"ANMF", bytes(6) + size + shown + bytes((_WEBP_REPLACES,)) + own))

    def finish(self) -> None:
        self._file.write(self._last)
        length = self._file.seek(0, os.SEEK_END)
        self._file.seek(4)
        self._file.write(struct.pack("<I", length - 8))


SINKS: dict[str, type[_AnimationSink]] = {"GIF": _GifSink, "PNG": _PngSink, "WEBP": _WebpSink}


def _riff_chunk(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind of each chunk of a WebP, and where its content begins and ends, as :func:`chunks_of`."""
    start = 20
    while start <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start - 8)
        yield kind, start, start + length
        start += length + length % 2 + 8
