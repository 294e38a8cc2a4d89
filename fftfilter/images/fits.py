"""Read and write FITS, the format of astronomy, by astropy.

The picture is the first HDU with one, or that of ``--hdu``; the further axes of a cube are pages. Rows are in the order
of the file, of which FITS programs show the first at the bottom. BSCALE, BZERO and BLANK are applied: integers stay
integers where they are not scaled, and BLANK becomes NaN. A header goes along, without what no longer holds, and with
HISTORY of what was done.

Source: the FITS standard, version 4.0, https://fits.gsfc.nasa.gov/fits_standard.html
"""

from __future__ import annotations

import io
import math
import re
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
from astropy.io import fits

from ..errors import ParameterError, ReadError
from ..files.atomic import Parts
from ..files.sources import Content, as_file
from ..text import METERS, RADIANS, Angle
from .metadata import Metadata
from .pages import OTHER_HDUS, Pages, Sink
from .picture import F32, MAXVAL_OF, U8, U16, Picture, Samples, Size, refuse_oversize
from .pixel_size import PixelSize
from .quiet import damage_as_error, quiet

BLOCK = 2880
COMPRESSED = ".fz"
# BITPIX, and the type of the stored numbers.
_STORED = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
# The BZERO of integers that are stored with the highest bit changed, as those of the other sign.
_OTHER_SIGN = {np.dtype(np.int8): -128} | {np.dtype(f"u{size}"): 1 << (8 * size - 1) for size in (2, 4, 8)}
# Cards of the layout, of a table of compressed tiles, and of what no longer holds behind a filter.
_NOT_KEPT = re.compile(
    r"SIMPLE|XTENSION|BITPIX|NAXIS[12]?|EXTEND|PCOUNT|GCOUNT|GROUPS|BSCALE|BZERO|BLANK|DATA(MIN|MAX|SUM)|CHECKSUM|END|"
    r"Z(IMAGE|TENSION|BITPIX|NAXIS\d*|TILE\d+|CMPTYPE|NAME\d+|VAL\d+|QUANTIZ|DITHER0|SIMPLE|EXTEND|BLANK)|TFIELDS|THEAP"
)
_RECIPE, _OF_RECIPE = "fftfilter_recipe ", 55  # in front of each HISTORY card of a recipe, and the characters behind it
_OF_AXIS = re.compile(r"(NAXIS|CRPIX)(\d+)[A-Z]?")
_ANGLES_OF_THE_SKY = re.compile(r"(RA--|DEC-|.LON|.LAT|..LN|..LT)")


def _file(data: Content) -> SimpleNamespace:
    """Return bytes as a file that astropy reads, whatever mode the real one was opened in, and never closes."""
    file = as_file(data)
    return SimpleNamespace(closed=False, read=file.read, seek=file.seek, tell=file.tell)


class FitsPages(Pages):
    """The picture in a FITS, or the pages of its cube; raises ReadError and ParameterError."""

    format = "FITS"

    def __init__(self, data: Content, name: str, number: int | None) -> None:
        self.name, self.data = name, data
        with damage_as_error(name), quiet():
            hdus = fits.open(_file(data), memmap=False, do_not_scale_image_data=True)
            chosen, others = _image(hdus, name, number)
            self._hdu = hdus[chosen]
            self._header = self._hdu.header
            *self._lead, height, width = map(int, self._hdu.shape)
            self.count = whole = math.prod(self._lead)
            self._stored = np.dtype(_STORED[self._header["BITPIX"]])
            self._scale = float(self._header.get("BSCALE", 1)), float(self._header.get("BZERO", 0))
            blank = self._header.get("BLANK")
            available = len(data) - self._hdu.fileinfo()["datLoc"]
            if isinstance(self._hdu, fits.CompImageHDU):
                tables = fits.open(_file(data), memmap=False, disable_image_compression=True)
                _check_tiles(self._hdu, tables[chosen].header, available, name)
            else:
                whole = available // (height * width * self._stored.itemsize)
        if whole < 1:
            raise ReadError(
                f"{name}: the file ends within the {width} x {height} pixels of its header; get a whole copy of it"
            )
        self.is_cut, self.count = whole < self.count, min(whole, self.count)
        self.chosen = range(self.count)
        self._blank = blank if self._stored.kind in "iu" and isinstance(blank, int) else None
        self._integers = _integers(self._stored, *self._scale)
        # Pages without a pixel that is BLANK have the type of the others, too.
        self._dtype = self._integers if self._integers in (U8, U16) and self._blank is None else F32
        self._size = Size(width, height, 1, self._dtype.itemsize, self.count)
        if others:
            self.left_out = (OTHER_HDUS,)

    def size(self) -> Size:
        return self._size

    def read(self, index: int, working: Any = None) -> Picture:
        number, name = self.chosen[index], self.page_name(index)
        refuse_oversize(name, self.size(), working)
        with damage_as_error(name), np.errstate(over="ignore"):
            place = tuple(map(int, np.unravel_index(number, self._lead))) if self._lead else ()
            with quiet():
                stored: Samples = np.asarray(self._hdu.section[place], self._stored)
            if self._integers is not None and self._blank is None:
                pixels = (_other_sign(stored) if self._integers in _OTHER_SIGN else stored).astype(self._dtype)
            else:
                factor, offset = self._scale
                pixels = (stored * factor + offset if self._scale != (1, 0) else stored).astype(F32)
                if self._blank is not None:
                    pixels[stored == self._blank] = np.nan
        size, recipe = None, ""
        with quiet():
            with suppress(Exception):  # astropy raises almost anything on damaged cards
                size = _pixel_size(self._header)
            with suppress(Exception):
                said = [f"{card:72}".partition(_RECIPE) for card in map(str, self._header.get("HISTORY", ()))]
                recipe = "".join(text for before, mark, text in said if mark and not before)
            metadata = Metadata(pixel_size=size, fits=b"" if index else self._kept(), own_recipe=recipe)
        integers = self._integers if pixels.dtype == F32 else None
        nodata = None if self._blank is None or integers is None else self._blank * self._scale[0] + self._scale[1]
        return Picture(pixels[None], None, MAXVAL_OF[pixels.dtype], "FITS", metadata, integers=integers, nodata=nodata)

    def _kept(self) -> bytes:
        """Return the cards for the chosen pages; raises ParameterError for pages that are no part of a cube."""
        # Axes are counted from the last of NumPy's. Along those of more than one page a part is chosen.
        sides = {len(self._lead) + 2 - i: side for i, side in enumerate(self._lead)}
        place = map(int, np.unravel_index(self.chosen[0], self._lead) if self._lead else ())
        first = {axis: at for axis, at in zip(sides, place, strict=True) if sides[axis] > 1}
        is_part = len(self.chosen) < math.prod(self._lead)
        if is_part and len(first) > 1 and len(self.chosen) > 1:
            raise ParameterError(
                f"{self.name}: {' x '.join(map(str, self._lead))} pages, of which a part is no cube: "
                "leave --pages out, or choose one page"
            )
        cards = []
        for each in self._header.cards:
            with suppress(Exception):
                card, of_axis = each, _OF_AXIS.fullmatch(each.keyword)
                if of_axis and is_part and int(of_axis[2]) in first:
                    axis = int(of_axis[2])
                    value = len(self.chosen) if of_axis[1] == "NAXIS" else each.value - first[axis]
                    card = fits.Card(each.keyword, value, each.comment)
                is_recipe = each.keyword == "HISTORY" and str(each.value).startswith(_RECIPE)
                if not (is_recipe or _NOT_KEPT.fullmatch(each.keyword)):
                    cards.append(card.image.encode("ascii"))
        return b"".join(cards)


def _image(hdus: Any, name: str, number: int | None) -> tuple[int, bool]:
    """Return which HDU has the picture, and whether others have data; raises ReadError, ParameterError."""
    kinds = [type(hdu).__name__ for hdu in hdus]
    images = [i for i, hdu in enumerate(hdus) if getattr(hdu, "is_image", False) and len(hdu.shape) > 1]
    images = [i for i in images if min(hdus[i].shape) > 0]
    if not images:
        raise ReadError(f"{name}: no picture in this FITS ({', '.join(kinds)}); give one of 2 axes or more")
    if number is not None and number not in images:
        what = f"HDU {number}, {kinds[number]}, is no picture" if number < len(kinds) else f"no HDU {number}"
        raise ParameterError(f"{name}: {what}; --hdu may be {', '.join(map(str, images))}, counted from 0")
    chosen = images[0] if number is None else number
    return chosen, any(i != chosen and hdu.size for i, hdu in enumerate(hdus))


def _check_tiles(hdu: fits.CompImageHDU, header: fits.Header, available: int, name: str) -> None:
    """Raise ReadError if a picture's table of compressed tiles, whose header is given, lacks some, or bytes."""
    tiles = math.prod(-(-side // tile) for side, tile in zip(hdu.shape, hdu.tile_shape, strict=True))
    missing = header["NAXIS1"] * header["NAXIS2"] + header["PCOUNT"] - available
    if header["NAXIS2"] != tiles or missing > 0:
        raise ReadError(f"{name}: some of its {tiles} compressed tiles are missing; get a whole copy of it")


def _clear_times(content: io.BytesIO) -> None:
    """Set the time of gzip in each tile to 0, or equal pictures would be other bytes; a row says where its tile is."""
    content.seek(0)
    table = fits.open(content, disable_image_compression=True)[1]  # closing it would close the content
    behind = table.fileinfo()["datLoc"] + table.header.get("THEAP", table.header["NAXIS1"] * table.header["NAXIS2"])
    tiles = table.data.view(table.data.dtype, np.ndarray)["COMPRESSED_DATA"][:, 1:].astype(np.int64)
    np.frombuffer(content.getbuffer(), np.uint8)[behind + tiles + np.arange(4, 8)] = 0


def _integers(stored: np.dtype[Any], scale: float, zero: float) -> np.dtype[Any] | None:
    """Return the type of the integers that are meant, None for floats and for scaled ones."""
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
    with quiet():
        header = _header_of(metadata)
        if not has_unit:
            header.remove("BUNIT", ignore_missing=True)
        header.add_history(re.sub("[^ -~]", "?", history))  # the names of masks may have other characters
        text: str = header.tostring(endcard=False, padding=False)
    return replace(metadata or Metadata(), fits=text.encode("ascii", "replace"))


def encode(picture: Picture, suffix: str) -> Parts:
    """Return the parts of a file of a picture in gray."""
    file = io.BytesIO()
    sink = FitsSink(file, suffix, 1)
    sink.add(picture)
    sink.finish()
    return [file.getbuffer()]


class FitsSink(Sink):
    """A FITS that grows by pages, or one whose tiles are compressed at the end."""

    def __init__(self, file: BinaryIO, suffix: str, count: int) -> None:
        self._file, self._count, self._pages = file, count, list[Samples]()
        self._is_compressed = suffix == COMPRESSED
        self._header: Any = None

    def add(self, encoded: Picture) -> None:
        pixels = np.ascontiguousarray(encoded.planes[0])
        if self._header is None:
            with quiet():
                self._header = self._begun(encoded)
            if not self._is_compressed:
                self._file.write(self._header.tostring(endcard=True, padding=True).encode("ascii"))
        if self._is_compressed:
            self._pages.append(pixels)
            return
        stored = _other_sign(pixels) if pixels.dtype in _OTHER_SIGN else pixels
        self._file.write(stored.astype(stored.dtype.newbyteorder(">"), copy=False).data.cast("B"))

    def finish(self) -> None:
        if not self._is_compressed:
            self._file.write(bytes(-self._file.tell() % BLOCK))
            return
        with quiet():
            shape = [self._header[f"NAXIS{axis}"] for axis in range(self._header["NAXIS"], 0, -1)]
            pixels = np.stack(self._pages).reshape(shape)
            # Without losses for floats, too.
            hdu = fits.CompImageHDU(pixels, self._header, compression_type="GZIP_2", quantize_level=0)
            content = io.BytesIO()
            fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(content)
            _clear_times(content)
        self._file.write(content.getbuffer())

    def _begun(self, picture: Picture) -> Any:
        """Return the header of the file, whose first page is given."""
        kept, (height, width) = _header_of(picture.metadata), picture.planes.shape[1:]
        dtype = picture.planes.dtype
        lead = [kept.pop(name) for name in [f"NAXIS{axis}" for axis in range(3, 1000)] if name in kept]
        if math.prod(lead) != self._count:
            lead = [self._count] if self._count > 1 else []
        bits, zero = 8 * dtype.itemsize, _OTHER_SIGN.get(dtype, 0)
        made = fits.Header()
        made["SIMPLE"] = True, "conforms to FITS standard"
        made["BITPIX"], made["NAXIS"] = -bits if dtype.kind == "f" else bits, 2 + len(lead)
        for axis, side in enumerate([width, height, *lead], start=1):
            made[f"NAXIS{axis}"] = side
        if zero:
            made["BSCALE"], made["BZERO"] = 1, zero
        if picture.nodata is not None and dtype.kind in "iu":
            made["BLANK"] = int(picture.nodata) - zero
        made.extend(kept.cards, unique=False, update=False)
        recipe = picture.metadata.recipe if picture.metadata else ""
        for first in range(0, len(recipe), _OF_RECIPE):
            made.add_history(_RECIPE + recipe[first : first + _OF_RECIPE])
        return made


def _header_of(metadata: Metadata | None) -> fits.Header:
    return fits.Header.fromstring(metadata.fits.decode("ascii") if metadata else "")
