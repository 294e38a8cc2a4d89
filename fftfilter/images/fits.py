"""Read and write FITS, the format of astronomy, by astropy.

The picture is the first HDU with one, or those of ``--hdu``; the further axes of a cube are pages. Rows are in the
order of the file, of which FITS programs show the first at the bottom. BSCALE, BZERO and BLANK are applied: integers
stay integers where they are not scaled, and BLANK becomes NaN. A header goes along, without what no longer holds, and
with HISTORY of what was done; so do the other HDUs, byte for byte.

The walk from HDU to HDU is our own: astropy makes an object of each, and believes any number of axes or columns.

Source: the FITS standard, version 4.0, https://fits.gsfc.nasa.gov/fits_standard.html
"""

from __future__ import annotations

import io
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from astropy.io import fits
from isal import igzip, isal_zlib

from ..errors import ParameterError, ReadError, TooLargeError
from ..files.sources import Content, Slices, as_file
from ..system import lacking
from ..text import METERS, RADIANS, Angle
from .metadata import Metadata
from .pages import ALL_HDUS, Asked, Pages, Sink
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
    refuse_oversize,
    spread,
)
from .pixel_size import PixelSize
from .quiet import damage_as_error, quiet

BLOCK, CARD = 2880, 80
COMPRESSED, ZIPPED = ".fz", ".gz"
# The most axes and columns of the standard, and more bytes than all headers of a file have in practice.
_MOST, _MOST_OF_HEADERS = 999, 1 << 26
_PART = 1 << 24  # bytes that are decompressed at a time
_LARGEST_TILE = 1 << 29  # pixels; what decodes larger ones counts in 32 bits
_END = b"END".ljust(8)
_gzip: Any = igzip.IGzipFile
# BITPIX, and the type of the stored numbers.
_STORED = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
# The BZERO of integers that are stored with the highest bit changed, as those of the other sign.
_OTHER_SIGN = {np.dtype(np.int8): -128} | {np.dtype(f"u{size}"): 1 << (8 * size - 1) for size in (2, 4, 8)}
# Cards of the layout, of a table of compressed tiles, and of what no longer holds behind a filter.
_NOT_KEPT = re.compile(
    rb"SIMPLE|XTENSION|BITPIX|NAXIS[12]?|EXTEND|PCOUNT|GCOUNT|GROUPS|BSCALE|BZERO|BLANK|DATA(MIN|MAX|SUM)|CHECKSUM|END|"
    rb"TFIELDS|THEAP|"
    rb"Z(IMAGE|TENSION|BITPIX|NAXIS\d*|TILE\d+|CMPTYPE|NAME\d+|VAL\d+|QUANTIZ|DITHER0|SIMPLE|EXTEND|BLANK|PCOUNT|GCOUNT)"
)
_TEXT = (b"HISTORY ", b"COMMENT ", b" " * 8)
_BARE = set(b"SIMPLE BITPIX NAXIS EXTEND COMMENT CHECKSUM DATASUM END".split()) | {b""}
# In front of each HISTORY card of a recipe, and the characters behind it.
_RECIPE, _OF_RECIPE = b"HISTORY fftfilter_recipe ", 55
_OF_AXIS = re.compile(rb"(NAXIS|CRPIX)(\d+)[A-Z]?")
_ANGLES_OF_THE_SKY = re.compile(r"(RA--|DEC-|.LON|.LAT|..LN|..LT)")
_PRIMARY = fits.PrimaryHDU(header=fits.Header({"EXTEND": True})).header.tostring().encode("ascii")


class Hdu(NamedTuple):
    """An HDU as its header describes it, and where it lies in the file."""

    kind: str  # its XTENSION; PRIMARY; COMPRESSED for an image in a table
    name: str
    version: int
    shape: tuple[int, ...]  # as NumPy has it
    start: int
    data: int
    size: int  # of the data, in bytes
    end: int

    @property
    def is_picture(self) -> bool:
        """Whether it has an image of two axes or more."""
        is_image = self.kind in ("PRIMARY", "IMAGE", "COMPRESSED")
        return is_image and len(self.shape) > 1 and min(self.shape) > 0

    @property
    def label(self) -> str:
        """Its name and version, as ``--hdu`` takes them."""
        return f"{self.name},{self.version}" if self.name and self.kind != "PRIMARY" else self.name


class Container(NamedTuple):
    """The file around the HDUs that are filtered, for an output that has the others, too."""

    data: Content
    hdus: list[Hdu]
    chosen: list[int]
    pages: list[int]  # how many of each are filtered
    by_itself: bool  # whether none was asked for

    @property
    def others(self) -> int:
        """How many other HDUs have data."""
        return sum(bool(hdu.size) for i, hdu in enumerate(self.hdus) if i not in self.chosen)

    @property
    def becomes_primary(self) -> bool:
        """Whether the picture was the primary HDU before it was compressed, and stands behind an empty one."""
        keys = [{card[:8].rstrip() for card in _cards(self.data[hdu.start : hdu.data])} for hdu in self.hdus[:2]]
        return self.chosen[0] == 1 and keys[0] <= _BARE and b"ZSIMPLE" in keys[1]

    def cautions(self, *, is_copied: bool) -> list[str]:
        """Return a line on the HDUs that are not filtered, if there are some and nobody asked for that."""
        if not self.others or (is_copied and not self.by_itself):
            return []
        which = ", ".join(map(str, self.chosen[:9])) + (" ..." if len(self.chosen) > 9 else "")
        rest = "1 other is" if self.others == 1 else f"{self.others} others are"
        way_out = "; --hdu chooses, --hdu all filters every picture" if self.by_itself else ""
        return [f"HDU {which} is filtered, {rest} {'copied unchanged' if is_copied else 'left out'}{way_out}"]

    def written_at(self, suffix: str) -> int | str:
        """Return which HDU of an output with this extension has the picture, as ``--hdu`` takes it."""
        if len(self.chosen) > 1:
            return ALL_HDUS
        return 0 if self.becomes_primary and suffix != COMPRESSED else max(self.chosen[0], suffix == COMPRESSED)

    def close(self) -> None:
        """Close the file."""
        if not isinstance(self.data, bytes):
            self.data.close()


class _Unzipped(Slices):
    """A file in a gzip, decompressed as far as it was asked for: to the end that the headers in it say."""

    def __init__(self, data: Content, name: str) -> None:
        super().__init__(io.BytesIO())
        self._name, self._packed = name, _gzip("", "rb", fileobj=as_file(data))

    def __getitem__(self, part: slice) -> bytes:
        if (free := lacking(part.stop - self._size)) is not None:
            raise TooLargeError(f"{self._name}: {part.stop:,} bytes in a gzip, and {free:,} of memory are free")
        self.file.seek(self._size)
        while self._size < part.stop and (more := self._packed.read(min(_PART, part.stop - self._size))):
            self._size += self.file.write(more)
        return super().__getitem__(part)


def _survey(data: Content, name: str) -> list[Hdu]:
    found, start, length = list[Hdu](), 0, 0
    while data[start : start + 9] == (b"XTENSION=" if found else b"SIMPLE  ="):
        at, block = start, b""
        while _END not in {card[:8] for card in _cards(block)}:
            block, length = data[at : at + BLOCK], length + BLOCK
            if not block or length > _MOST_OF_HEADERS:
                why = "has more than 64 MiB of headers before the end of" if block else "ends within"
                raise ReadError(f"{name}: the file {why} the header of HDU {len(found)}; get a whole copy of it")
            at += BLOCK
        found.append(_hdu(data[start:at], start))
        start = found[-1].end
    return found


def _hdu(header: bytes, start: int) -> Hdu:
    cards = _parsed(_cards(header))

    def text(key: str) -> str:
        return str(cards.get(key, "")).strip()

    def number(key: str, usual: int | None = None) -> int:
        value = cards.get(key, usual)
        # Of several astropy takes another one than the first.
        is_limit = key.endswith(("NAXIS", "TFIELDS"))
        if not isinstance(value, int) or value < 0 or (is_limit and (value > _MOST or cards.count(key) > 1)):
            raise ValueError(f"{key} is {value}")
        return value

    kind = text("XTENSION") or ("PRIMARY" if cards.get("SIMPLE") is True else "no standard")
    axes = [number(f"NAXIS{axis}") for axis in range(1, number("NAXIS") + 1)]
    is_grouped = cards.get("GROUPS") is True and axes[:1] == [0]
    values = number("PCOUNT", 0) + math.prod(axes[is_grouped:]) if axes else 0
    size = abs(int(cards["BITPIX"])) // 8 * number("GCOUNT", 1) * values
    if kind == "BINTABLE" and cards.get("ZIMAGE") is True and number("TFIELDS"):
        kind, axes = "COMPRESSED", [number(f"ZNAXIS{axis}") for axis in range(1, number("ZNAXIS") + 1)]
    name = text("EXTNAME") or ("PRIMARY" if kind == "PRIMARY" else "")
    version = int(text("EXTVER")) if text("EXTVER").isdecimal() else 1
    data = start + len(header)
    end = data + -(-size // BLOCK) * BLOCK
    return Hdu(kind, name, version, tuple(axes[::-1]), start, data, size, end)


def _parsed(cards: list[bytes]) -> fits.Header:
    """Return a header without its lines of text, of which there may be thousands: astropy makes an object of each."""
    return fits.Header.fromstring(b"".join(card for card in cards if not card.startswith(_TEXT)))


def _cards(header: bytes) -> list[bytes]:
    return [header[at : at + CARD] for at in range(0, len(header), CARD)]


def _chosen(hdus: list[Hdu], wanted: int | str | None, name: str) -> list[int]:
    images = [i for i, hdu in enumerate(hdus) if hdu.is_picture]
    if not images:
        kinds = ", ".join(dict.fromkeys(hdu.kind for hdu in hdus))
        raise ReadError(f"{name}: no picture in this FITS ({kinds}); give one of 2 axes or more")
    if wanted is None or wanted == ALL_HDUS:
        return images if wanted else images[:1]
    names = [(i, hdu.name.upper(), hdu.label.upper()) for i, hdu in enumerate(hdus)]
    named = [each[0] for each in names if (wanted.upper() if isinstance(wanted, str) else wanted) in each]
    if found := [i for i in named if i in images]:
        return found[:1]
    what = f"HDU {wanted}, {hdus[named[0]].kind}, is no picture" if named else f"no HDU {wanted}"
    labels = {i: hdus[i].label for i in images[:20]}
    said = ", ".join(f"{i} ({label})" if label not in ("", "PRIMARY") else str(i) for i, label in labels.items())
    more = ", ..." if len(images) > 20 else ""
    raise ParameterError(f"{name}: {what}; --hdu may be {said}{more}, counted from 0, or all")


class _Image:
    def __init__(self, data: Content, hdu: Hdu, primary: Hdu, name: str) -> None:
        self._data, self._hdu, self._name = data, hdu, name
        self.lead = hdu.shape[:-2]
        header = data[hdu.start : hdu.data]
        if hdu.kind == "COMPRESSED":
            file = _PRIMARY + header + data[hdu.data : hdu.end].ljust(hdu.end - hdu.data, b"\0")
            self._table = fits.open(io.BytesIO(file), memmap=False, disable_image_compression=True)[1]
            self._packed = fits.open(io.BytesIO(file), memmap=False, do_not_scale_image_data=True)[1]
            self._content = file[len(_PRIMARY) + len(header) :]
            tile = self._packed.tile_shape
            tiles = math.prod(-(-side // part) for side, part in zip(hdu.shape, tile, strict=True))
            if self._table.header["NAXIS2"] != tiles or math.prod(map(min, hdu.shape, tile)) > _LARGEST_TILE:
                raise ReadError(f"{name}: some of its {tiles} compressed tiles are missing; get a whole copy of it")
            header = self._packed.header.tostring(endcard=False, padding=False).encode("ascii", "replace")
        self.cards = [card for card in _cards(header) if card.isascii()]
        self.header = _parsed(self.cards)
        self.pixel_size = None
        with suppress(Exception):  # astropy raises almost anything on damaged cards
            said = self.header
            if said.get("INHERIT") is True:
                said = fits.Header.fromstring(data[primary.start : primary.data])
                said.update(self.header)
            self.pixel_size = _pixel_size(said)
        own = b"".join(card[len(_RECIPE) :] for card in self.cards if card.startswith(_RECIPE))
        self.recipe = own.decode("ascii")
        self.stored = np.dtype(_STORED[self.header["BITPIX"]])
        self.scale = float(self.header.get("BSCALE", 1)), float(self.header.get("BZERO", 0))
        blank = self.header.get("BLANK")
        self.blank = blank if self.stored.kind in "iu" and isinstance(blank, int) else None
        self.integers = _integers(self.stored, *self.scale)
        # Pages without a pixel that is BLANK have the type of the others, too.
        self.dtype = self.integers if self.integers in (U8, U16) and self.blank is None else F32

    def pixels(self, number: int, some: tuple[int, int] | None = None) -> Samples:
        """Return the pixels of a page, or of some of its rows, with NaN where they are BLANK."""
        height, width = self._hdu.shape[-2:]
        top, stop = some or (0, height)
        if self._hdu.kind == "COMPRESSED":
            if self._content:
                _check_tiles(self._packed, self._table, self._content, self._name)
                self._content = b""
            place = tuple(map(int, np.unravel_index(number, self.lead))) if self.lead else ()
            stored: Samples = np.asarray(self._packed.section[(*place, slice(top, stop))], self.stored)
        else:
            start, by_row = self._hdu.data, width * self.stored.itemsize
            first, end = (start + (number * height + row) * by_row for row in (top, stop))
            stored = np.frombuffer(self._data[first:end], self.stored).reshape(-1, width)
        if self.integers is not None and self.blank is None:
            return (_other_sign(stored) if self.integers in _OTHER_SIGN else stored).astype(self.dtype)
        factor, offset = self.scale
        pixels: Samples = (stored * factor + offset if self.scale != (1, 0) else stored).astype(F32)
        if self.blank is not None:
            pixels[stored == self.blank] = np.nan
        return pixels

    def kept(self, chosen: Sequence[int] | None) -> bytes:
        """Return the cards for an output, of which the chosen pages are a part, if any are; raises ParameterError."""
        # Axes are counted from the last of NumPy's. Along those of more than one page a part is chosen.
        sides = {len(self.lead) + 2 - i: side for i, side in enumerate(self.lead)}
        first = dict[int, int]()
        if chosen is not None:
            place = map(int, np.unravel_index(chosen[0], self.lead))
            first = {axis: at for axis, at in zip(sides, place, strict=True) if sides[axis] > 1}
        if len(first) > 1 and chosen and len(chosen) > 1:
            raise ParameterError(
                f"{self._name}: {' x '.join(map(str, self.lead))} pages, and those chosen are no cube: "
                "leave --pages out, or choose one page"
            )
        cards = []
        for each in self.cards:
            card, key = each, each[:8].rstrip()
            of_axis = _OF_AXIS.fullmatch(key)
            if chosen and of_axis and (axis := int(of_axis[2])) in first:
                with suppress(Exception):  # astropy raises almost anything on damaged cards
                    given = fits.Card.fromstring(each)
                    value = len(chosen) if of_axis[1] == b"NAXIS" else given.value - first[axis]
                    card = fits.Card(given.keyword, value, given.comment).image.encode("ascii")
            if not (each.startswith(_RECIPE) or _NOT_KEPT.fullmatch(key)):
                cards.append(card)
        while cards and not cards[-1].strip():
            cards.pop()
        return b"".join(cards)


class FitsPages(Pages):
    """The pictures in a FITS, or the pages of their cubes; raises ReadError and ParameterError."""

    format = "FITS"

    def __init__(self, data: Content, name: str, wanted: int | str | None) -> None:
        self.name = name
        with damage_as_error(name), quiet():
            self.data = data if data[:1] == b"S" else _Unzipped(data, name)
            hdus = self._hdus = _survey(self.data, name)
            self._chosen, self._by_itself = _chosen(hdus, wanted, name), wanted is None
            last = hdus[-1]
            self.is_cut = last.data + last.size > len(self.data)
            if self.is_cut and (self._chosen != [len(hdus) - 1] or last.kind == "COMPRESSED"):
                raise ReadError(f"{name}: the file ends within HDU {len(hdus) - 1}; get a whole copy of it")
            self._first = _Image(self.data, hdus[self._chosen[0]], hdus[0], name)
            self._open = 0, self._first
        shape, size = hdus[self._chosen[0]].shape, self._first.dtype.itemsize
        counts = [math.prod(hdus[i].shape[:-2]) for i in self._chosen]
        if self.is_cut:
            counts = [(len(self.data) - last.data) // (math.prod(shape[-2:]) * self._first.stored.itemsize)]
        self.count = sum(counts)
        if self.count < 1:
            raise ReadError(
                f"{name}: the file ends within the {shape[-1]} x {shape[-2]} pixels of its header; "
                "get a whole copy of it"
            )
        self._starts = [0, *accumulate(counts)]
        self.chosen = range(self.count)
        self.first = Size(shape[-1], shape[-2], 1, size, self.count)

    def choose(self, asked: Asked) -> None:
        super().choose(asked)
        if len(self._chosen) > 1 and len(self) < self.count:
            raise ParameterError(f"{self.name}: --pages are those of one picture: leave it out, or choose an --hdu")
        if self.chosen[-1] - self.chosen[0] >= len(self):
            raise ParameterError(
                f"{self.name}: its header says where neighbors are: give pages without gaps, such as 2-5"
            )

    def axes(self) -> list[tuple[str, int]]:
        lead = self._first.lead
        return [("", side) for side in lead] if math.prod(lead) == self.count else super().axes()

    def read(self, index: int, working: Any = None, some: tuple[int, int] | None = None) -> Picture:
        number, name = self.chosen[index], self.page_name(index)
        which = bisect_right(self._starts, number) - 1
        hdu, first = self._hdus[self._chosen[which]], self._starts[which]
        if some is None:
            refuse_oversize(name, self.first._replace(width=hdu.shape[-1], height=hdu.shape[-2]), working)
        with damage_as_error(name), np.errstate(over="ignore"), quiet():
            if self._open[0] != which:
                self._open = which, _Image(self.data, hdu, self._hdus[0], name)
            image = self._open[1]
            pixels = image.pixels(number - first, some)
        metadata = Metadata(pixel_size=image.pixel_size, own_recipe=image.recipe)
        if index == 0 or number == first:
            is_part = len(self) < self.count or self.is_cut
            kept = image.kept(self.chosen if is_part else None)
            metadata = replace(metadata, fits=kept, hdus=self.container if len(self._hdus) > 1 else None)
        integers = image.integers if pixels.dtype == F32 else None
        factor, offset = image.scale
        nodata = None if image.blank is None or integers is None else image.blank * factor + offset
        return Picture(pixels[None], None, MAXVAL_OF[pixels.dtype], "FITS", metadata, integers=integers, nodata=nodata)

    def strips(self, index: int) -> Strips:
        hdu = self._hdus[self._chosen[bisect_right(self._starts, self.chosen[index]) - 1]]
        if hdu.kind == "COMPRESSED":
            raise TooLargeError(f"{self.page_name(index)}: a compressed FITS {NOT_BY_STRIPS}")
        return spread(self.read(index, some=(0, 1)), hdu.shape[-2], lambda *rows: self.read(index, some=rows))

    @property
    def container(self) -> Container:
        """The file, and which of its HDUs are filtered."""
        pages = [len(self)] if len(self._chosen) == 1 else [b - a for a, b in pairwise(self._starts)]
        return Container(self.data, self._hdus, self._chosen, pages, self._by_itself)


def _check_tiles(hdu: Any, table: Any, content: bytes, name: str) -> None:
    """Raise ReadError if tiles of a compressed picture, in a table with this content, have other lengths than theirs.

    Those of gzip and of PLIO are decoded by astropy to whatever length their bytes say.
    """
    pixels, (heap, rows) = math.prod(map(min, hdu.shape, hdu.tile_shape)), _heap(table)
    kinds = {"COMPRESSED_DATA": table.header["ZCMPTYPE"], "GZIP_COMPRESSED_DATA": "GZIP_1"}
    for column in rows.dtype.names:
        if (kind := kinds.get(column.upper())) is None:
            continue
        of_item = {"I": 2, "J": 4}.get(table.columns[column].format.lstrip("1")[1], 1)
        for length, at in rows[column].tolist():
            tile, is_right = content[heap + at : heap + at + length * of_item], min(length, at) >= 0
            if tile and is_right and kind.startswith("GZIP"):
                unpacked = isal_zlib.decompressobj(31)
                unpacked.decompress(tile, 8 * pixels)
                is_right = unpacked.eof and not unpacked.unused_data.strip(b"\0")
            elif tile and is_right and kind == "PLIO_1":
                words = np.frombuffer(tile[:10].ljust(10, b"\0"), ">i2").astype(int)
                is_right = 2 * (words[2] if words[2] > 0 else (words[4] << 15) + words[3]) <= len(tile)
            if not is_right:
                raise ReadError(f"{name}: a compressed tile has the wrong size; get a whole copy of it")


def _heap(table: Any) -> tuple[int, Any]:
    """Return where the tiles begin behind the header of a table, and its rows, which say where each of them is."""
    header = table.header
    rows = table.data.view(table.data.dtype, np.ndarray)
    return header.get("THEAP", header["NAXIS1"] * header["NAXIS2"]), rows


def _clear_times(content: io.BytesIO) -> None:
    """Set the time of gzip in each tile to 0, or equal pictures would be other bytes."""
    content.seek(0)
    table = fits.open(content, disable_image_compression=True)[1]  # closing it would close the content
    heap, rows = _heap(table)
    tiles = table.fileinfo()["datLoc"] + heap + rows["COMPRESSED_DATA"][:, 1:].astype(np.int64)
    np.frombuffer(content.getbuffer(), np.uint8)[tiles + np.arange(4, 8)] = 0


def _integers(stored: np.dtype[Any], scale: float, zero: float) -> np.dtype[Any] | None:
    if stored.kind not in "iu" or scale != 1:
        return None
    of_zero = {0.0: stored.newbyteorder("=")}
    of_zero |= {float(each): dtype for dtype, each in _OTHER_SIGN.items() if dtype.itemsize == stored.itemsize}
    return of_zero.get(zero)


def _other_sign(numbers: Samples) -> Samples:
    """Return integers with the highest bit changed, as the type of the same size and the other sign."""
    size, native = numbers.dtype.itemsize, numbers.astype(numbers.dtype.newbyteorder("="))
    changed: Samples = native.view(f"u{size}") ^ np.array(1 << (8 * size - 1), f"u{size}")
    return changed.view(f"{'u' if numbers.dtype.kind == 'i' else 'i'}{size}")


def _pixel_size(header: Any) -> PixelSize | None:
    """Return the size of a pixel by the WCS, from CD, or from CDELT and PC; None for other axes than on the sky."""
    axes, are_lengths = list[list[float]](), set[bool]()
    try:
        for axis in (1, 2):
            if f"CD{axis}_{axis}" in header or f"CD{axis}_{3 - axis}" in header:
                steps = [float(header.get(f"CD{axis}_{pixel}", 0)) for pixel in (1, 2)]
            else:
                turned = [float(header.get(f"PC{axis}_{pixel}", float(axis == pixel))) for pixel in (1, 2)]
                steps = [float(header[f"CDELT{axis}"]) * each for each in turned]
            of_sky = _ANGLES_OF_THE_SKY.match(str(header.get(f"CTYPE{axis}", ""))[:4].upper())
            unit = str(header.get(f"CUNIT{axis}", "deg" if of_sky else "")).strip().lower()
            scale = (METERS | RADIANS | {"degree": RADIANS["deg"]})[unit]
            axes.append([each * scale for each in steps])
            are_lengths.add(unit in METERS)
    except (KeyError, TypeError, ValueError):
        return None
    kind = float if True in are_lengths else Angle
    across, down = (kind(math.hypot(*steps)) for steps in zip(*axes, strict=True))
    is_right = 0 < across < math.inf and 0 < down < math.inf and len(are_lengths) == 1
    return PixelSize(across, down, "WCS") if is_right else None


def with_history(metadata: Metadata | None, history: str, *, has_unit: bool) -> Metadata:
    """Return metadata whose header says what was done, without a unit if the values no longer have one."""
    metadata = metadata or Metadata()
    cards = [card for card in _cards(metadata.fits) if has_unit or card[:8] != b"BUNIT   "]
    said = re.sub("[^ -~]", "?", history).encode("ascii")  # the names of masks may have other characters
    return replace(metadata, fits=b"".join(cards) + _history(said))


def _history(said: bytes, mark: bytes = b"HISTORY ", width: int = 72) -> bytes:
    return b"".join((mark + said[at : at + width]).ljust(CARD) for at in range(0, len(said), width))


class _Zipping(igzip.IGzipFile):
    def __del__(self) -> None:
        """Write no end of a file that is given up."""


class FitsSink(Sink):
    """A FITS that grows by pages, with the other HDUs of the file that they are from around them.

    With a ``height`` it grows by rows of pages that have it.
    """

    def __init__(self, file: BinaryIO, suffix: str, count: int, height: int = 0) -> None:
        self._height, self._target, self._is_compressed = height, file, suffix == COMPRESSED
        self._file: Any = file
        if suffix.endswith(ZIPPED):
            self._file = _Zipping("", "wb", fileobj=file, mtime=0)  # type: ignore[no-untyped-call]
        self._pages, self._left, self._counts = list[Samples](), 0, [count]  # rows that are left of an HDU
        self._container: Container | None = None
        self._copied = self._begun = 0  # bytes of the container, and HDUs

    def add(self, encoded: Picture) -> None:
        pixels = np.ascontiguousarray(encoded.planes[0])
        if not self._left:
            with quiet():
                self._begin(encoded)
        self._left -= len(pixels)
        if self._is_compressed:
            self._pages.append(pixels)
        else:
            stored = _other_sign(pixels) if pixels.dtype in _OTHER_SIGN else pixels
            self._file.write(stored.astype(stored.dtype.newbyteorder(">"), copy=False).data.cast("B"))
        if not self._left:
            with quiet():
                self._end()

    def finish(self) -> None:
        if self._container:
            self._copy(self._container, len(self._container.data))
        if self._file is not self._target:
            self._file.close()

    def _copy(self, container: Container, end: int) -> None:
        for at in range(self._copied, end, _PART):
            self._file.write(container.data[at : min(end, at + _PART)])

    def _begin(self, picture: Picture) -> None:
        """Write what lies before an HDU, and its header; the first of its pages is given."""
        metadata, is_primary = picture.metadata or Metadata(), True
        if not self._begun and metadata.hdus:
            self._container, self._counts = metadata.hdus, metadata.hdus.pages
        if self._container:
            hdu = self._container.hdus[self._container.chosen[self._begun]]
            is_primary = not hdu.start or (self._container.becomes_primary and not self._is_compressed)
            if not is_primary:
                self._copy(self._container, hdu.start)
            self._copied = hdu.end
        height = self._height or picture.planes.shape[1]
        count = self._counts[self._begun]
        self._left = count * height
        self._begun += 1
        if self._is_compressed and is_primary:
            self._file.write(_PRIMARY)
        cards = _cards(metadata.fits)
        of_axes = [card for card in cards if re.match(rb"NAXIS\d+ *=", card)]
        lead = [fits.Card.fromstring(card).value for card in of_axes]
        made = (
            self._layout(picture, height, count, lead, is_primary=is_primary)
            .tostring(endcard=False, padding=False)
            .encode("ascii")
        )
        made += b"".join(card for card in cards if card not in of_axes)
        made += _history(metadata.recipe.encode("ascii", "replace"), _RECIPE, _OF_RECIPE)
        if self._is_compressed:
            self._header = fits.Header.fromstring(made)
            return
        made += _END.ljust(CARD)
        self._file.write(made.ljust(-(-len(made) // BLOCK) * BLOCK))

    def _layout(self, picture: Picture, height: int, count: int, lead: list[int], *, is_primary: bool) -> Any:
        """Return the cards of the layout of an HDU of ``count`` pages, with these axes before those of a page."""
        width, dtype = picture.planes.shape[2], picture.planes.dtype
        if math.prod(lead) != count:
            lead = [count] if count > 1 else []
        bits, zero = 8 * dtype.itemsize, _OTHER_SIGN.get(dtype, 0)
        made = fits.Header()
        if is_primary:
            made["SIMPLE"] = True, "conforms to FITS standard"
        else:
            made["XTENSION"] = "IMAGE", "Image extension"
        made["BITPIX"], made["NAXIS"] = -bits if dtype.kind == "f" else bits, 2 + len(lead)
        for axis, side in enumerate([width, height, *lead], start=1):
            made[f"NAXIS{axis}"] = side
        if not is_primary:
            made["PCOUNT"], made["GCOUNT"] = 0, 1
        elif self._container:
            made["EXTEND"] = True
        if zero:
            made["BSCALE"], made["BZERO"] = 1, zero
        if picture.nodata is not None and dtype.kind in "iu":
            made["BLANK"] = int(picture.nodata) - zero
        return made

    def _end(self) -> None:
        if self._is_compressed:
            shape = [self._header[f"NAXIS{axis}"] for axis in range(self._header["NAXIS"], 0, -1)]
            pixels = np.stack(self._pages).reshape(shape)
            self._pages.clear()
            # Without losses for floats, too.
            hdu = fits.CompImageHDU(pixels, self._header, compression_type="GZIP_2", quantize_level=0)
            content = io.BytesIO()
            fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(content)
            _clear_times(content)
            self._file.write(content.getbuffer()[BLOCK:])
        else:
            self._file.write(bytes(-self._file.tell() % BLOCK))
