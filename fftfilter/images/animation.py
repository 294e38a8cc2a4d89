"""The frames of a GIF, an animated PNG or WebP, and of what else Pillow knows with several: whole, as they are shown.

Frames have one kind: color if any has color, alpha if any is transparent somewhere.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ReadError
from .completeness import check_chunks
from .metadata import without_orientation
from .pages import Pages
from .pillow_reader import (
    is_narrowed,
    picture_of,
    rawmode_of,
    read_as_it_is,
    refuse_unfit,
    with_alpha_of_one_color,
)
from .png_writer import chunks_of
from .quiet import damage_as_error, open_raster, quiet_pillow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import ImageFile

    from .picture import Picture, Working

_GIF_EXTENSION, _GIF_IMAGE, _GIF_END = 0x21, 0x2C, 0x3B


class AnimationPages(Pages):
    """The frames of a file's bytes; raises ReadError."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name, self._data, self.nbytes = name, data, len(data)
        with quiet_pillow():
            self._image = open_raster(io.BytesIO(data))
            self.format = self._image.format or ""
            refuse_unfit(self._image, len(data), name, None)
            self.count, self.is_cut = frames_of(data, self.format, getattr(self._image, "n_frames", 1))
        # The picture that is shown by programs without animation, if it is none of the frames.
        self._skipped = 1 if self._image.info.get("default_image") else 0
        self.chosen = range(self.count)
        self.plays = _plays(self._image)
        self._size = self._image.size
        if self._skipped:
            self.left_out += ("the default image",)
        if is_narrowed(self._image):
            self.left_out += ("the low bytes of 16-bit color",)
        self._rawmode = rawmode_of(self._image)
        self._kind: tuple[bool, bool] | None = None

    @property
    def pixels(self) -> int:
        """How many pixels are decoded: also those of the frames before."""
        return (self.chosen[-1] + 1) * self._size[0] * self._size[1]

    def read(self, index: int, working: Working | None = None) -> Picture:
        """Return a chosen frame."""
        name = self.page_name(index)
        with damage_as_error(name):
            if index == 0:
                refuse_unfit(self._image, len(self._data), name, working)
            # The others say by their header whether they have color and alpha; of a WebP it is often no more than that.
            says_nothing = self.format in ("GIF", "WEBP") or self._rawmode.startswith("P")
            if says_nothing and self._kind is None:
                self._kind = self._look()
            self._seek(self.chosen[index])
            # After loading: WebP knows it only then.
            shown = self._image.info.get("duration")
            self.milliseconds = float(shown) if isinstance(shown, int | float) else None
            if self._kind is None:
                samples = with_alpha_of_one_color(self._image, read_as_it_is(self._image), self._rawmode)
            else:
                has_color, has_alpha = self._kind
                bands = [0, 1, 2] if has_color else [0]
                samples = np.asarray(self._image.convert("RGBA"))[..., [*bands, 3] if has_alpha else bands]
            picture = without_orientation(picture_of(self._image, samples, name))
            if index:
                picture.metadata = None  # which is that of the file
            return picture

    def close(self) -> None:
        """Close the file."""
        self._image.close()

    def _seek(self, number: int) -> None:
        wanted, at = number + self._skipped, self._image.tell()
        try:
            # One by one: Pillow decodes all frames between, and one that is larger than the first makes all larger.
            for frame in range(at + 1 if wanted > at else wanted, wanted + 1):
                with quiet_pillow():
                    self._image.seek(frame)
                if self._image.size != self._size:
                    refuse_unfit(self._image, len(self._data), self.page_name(self.chosen.index(number)), None)
            self._image.load()
        except EOFError as error:
            raise ReadError(f"{self.name}: page {number + 1} is missing; get a whole copy of it") from error

    def _look(self) -> tuple[bool, bool]:
        """Return whether any of the chosen frames has color, and whether any is transparent somewhere."""
        has_color = has_alpha = False
        for number in self.chosen:
            self._seek(number)
            colors = np.asarray(self._image.convert("RGBA"))
            has_alpha = has_alpha or bool((colors[..., 3] < 255).any())
            has_color = has_color or bool((colors[..., :2] != colors[..., 1:3]).any())
        return has_color, has_alpha


def _plays(image: ImageFile.ImageFile) -> int:
    """Return how often an animation is played; 0 is forever."""
    loop = image.info.get("loop")
    if image.format == "GIF":  # which says how often it is repeated
        return 1 if loop is None else loop + 1 if loop else 0
    return loop if isinstance(loop, int) else 0


def frames_of(data: bytes, format_: str, counted: int) -> tuple[int, bool]:
    """Return how many frames of an animation are whole, and whether others are missing; ``counted`` is Pillow's."""
    if format_ == "GIF":
        return _gif_frames(data)
    if format_ == "PNG":
        return _png_frames(data)
    if format_ == "WEBP":
        frames = [end <= len(data) for kind, _, end in riff_chunks(data) if kind == b"ANMF"]
        promised = 8 + int.from_bytes(data[4:8], "little")
        return sum(frames), not all(frames) or sum(frames) < counted or len(data) < promised
    return counted, False


def refuse_cut_webp(data: bytes, name: str) -> None:
    """Raise ReadError for an animated WebP that ends before its last frame."""
    frames, is_cut = frames_of(data, "WEBP", 0)
    if is_cut and b"ANMF" in data:
        raise ReadError(f"{name}: page {frames + 1} is missing, the file ends before it; get a whole copy of it")


def _gif_frames(data: bytes) -> tuple[int, bool]:
    """Walk the blocks of a GIF: extensions, and images of a head, colors and compressed pixels."""
    frames, position = 0, 13 + _colors(data[10])
    try:
        while (block := data[position]) != _GIF_END:
            if block not in (_GIF_EXTENSION, _GIF_IMAGE):
                position += 1  # as Pillow does
                continue
            position += 11 + _colors(data[position + 9]) if block == _GIF_IMAGE else 2
            while data[position]:
                position += 1 + data[position]
            position += 1
            frames += block == _GIF_IMAGE
    except IndexError:
        return frames, True
    return frames, False


def _colors(flags: int) -> int:
    """Return the bytes of a table of colors."""
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
            check_chunks(data)
            return min(begun, promised), begun < promised
    return max(0, begun - 1), True


def riff_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind of each chunk of a WebP, and where its content begins and ends, as :func:`chunks_of`."""
    start = 20
    while start <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start - 8)
        yield kind, start, start + length
        start += length + length % 2 + 8
