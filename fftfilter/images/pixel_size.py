"""The size of a picture's pixels, from its file's description or resolution.

A microscope's description goes before the resolution: OME-XML and Aperio have the size itself, ImageJ the unit of the
resolution's tags; its ``spacing`` is the distance of slices. The tags of a GeoTIFF go before the resolution, too, and
so does a world file beside the picture; on maps in degrees a pixel has the sides that it has on the ellipsoid WGS 84 in
the picture's middle.

Sources: the OME model, 2016-06, UnitsLength; OGC GeoTIFF 1.1, annexes; NIMA TR8350.2 (WGS 84); OGC 12-063 (WKT).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError
from ..text import INCH, METERS, length_text, plain, sides_text

if TYPE_CHECKING:
    from PIL import Image

    from .picture import Picture

_METERS = {**METERS, "micron": METERS["um"], "inch": INCH, "angstrom": 1e-10, "kilometer": 1e3}
_METERS |= {"nanometer": 1e-9, "micrometer": 1e-6, "millimeter": 1e-3, "centimeter": 1e-2, "meter": 1.0}
_METERS |= {"thou": INCH / 1e3, "li": INCH / 12, "pt": INCH / 72, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344}
_METERS |= {"ua": 149597870700.0, "ly": 9460730472580800.0, "pc": 3.0856775814913673e16}
# By OME's prefixes, of which M is not m.
_POWERS = {24: "Y", 21: "Z", 18: "E", 15: "P", 12: "T", 9: "G", 6: "M", 3: "k", 2: "h", 1: "da", 0: "", -1: "d"}
_POWERS |= {-2: "c", -3: "m", -6: "u", -9: "n", -12: "p", -15: "f", -18: "a", -21: "z", -24: "y"}
_PREFIXED = {f"{prefix}m": 10.0**power for power, prefix in _POWERS.items()}
_DESCRIPTION, _ACROSS, _DOWN, _UNIT = 270, 282, 283, 296
_PER_UNIT = {2: INCH, 3: 1e-2}  # TIFF's and EXIF's units of a resolution; 1 is none
_JFIF_LENGTHS = (1, 2)  # JFIF's units of a density, of which 0 is the shape of a pixel alone
IS_OME = re.compile(r"<(?:\w+:)?OME\b")
_APERIO = re.compile(r"^Aperio\b.*?\bMPP\s*=\s*([\d.]+)", re.DOTALL)  # micrometers per pixel
# Tags of a GeoTIFF: sides of a pixel, a pixel and its place, a matrix from pixels to places, numbered facts.
_SIDES, _TIE, _MATRIX, _FACTS = 33550, 33922, 34264, 34735
_MODEL, _ANGLES, _LENGTHS = 1024, 2054, 3076  # facts: projected or geographic; EPSG's numbers of units
_PROJECTED, _GEOGRAPHIC, _DEGREE = 1, 2, 9102
_EPSG = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937, 9036: 1e3}
_EQUATOR, _FLATNESS = 6378137.0, 0.00669437999014  # the radius of WGS 84 in meters, and its eccentricity squared
_GEOTIFF = "GeoTIFF tags"
_MOST_BESIDE = 1 << 16  # bytes of a file beside a picture
_UNEQUAL = 0.01  # the part by which sides differ that count as one


class PixelSize(NamedTuple):
    """The sides of a pixel in meters, and the field of the file that they are from."""

    across: float
    down: float
    source: str

    @property
    def text(self) -> str:
        """Its one side, or its width and height where these differ."""
        return length_text(self.across) if self.is_square else sides_text(self[:2])

    @property
    def is_square(self) -> bool:
        """Whether its sides are the same, as far as it matters."""
        return abs(self.across - self.down) <= _UNEQUAL * max(self.across, self.down)

    @property
    def is_on_earth(self) -> bool:
        """Whether the file itself says where its pixels lie on Earth."""
        return self.source == _GEOTIFF

    @property
    def dpi(self) -> tuple[float, float]:
        """Pixels per inch, horizontal and vertical."""
        return INCH / self.across, INCH / self.down

    def __str__(self) -> str:
        return f"pixel size {self.text} from the file's {self.source}"


def pixel_size_of(picture: Picture, name: str, needed_by: object) -> PixelSize:
    """Return the size of a picture's pixels, square if they nearly are; raises ParameterError if its file has none.

    ``name`` is the file's; ``needed_by`` is the value, such as a radius, that has no meaning without a size.
    """
    found = picture.metadata.pixel_size if picture.metadata else None
    if found is None:
        raise ParameterError(
            f"{name}: says no pixel size, which {needed_by} needs: give --pixel-size (65nm, 300dpi, 0.2arcsec), or a "
            "number with px, cyc or %"
        )
    return found._replace(down=found.across) if found.is_square else found


def of_image(image: Image.Image, exif: bytes) -> PixelSize | None:
    """Return the size in an image that Pillow opened, not a TIFF: by its own resolution, else by that of its EXIF."""
    # Pillow makes 72 dpi of a JPEG whose EXIF says none.
    is_own = image.format not in ("JPEG", "MPO") or image.info.get("jfif_unit") in _JFIF_LENGTHS
    found = _by_resolution(image.info.get("dpi"), INCH) if is_own else None
    if found or not exif:
        return found
    with suppress(Exception):  # Pillow raises almost anything on damaged tags
        return of_tags(tags_of(exif))
    return None


def tags_of(exif: bytes) -> Image.Exif:
    """Return the tags of EXIF, none of no bytes."""
    from PIL import Image

    tags = Image.Exif()
    tags.load(exif)
    return tags


def of_tags(tags: Mapping[int, Any]) -> PixelSize | None:
    """Return the size in the tags of a TIFF, or of EXIF."""
    given = tags.get(_ACROSS), tags.get(_DOWN, tags.get(_ACROSS))
    description = tags.get(_DESCRIPTION)
    if isinstance(description, str):  # which is UTF-8 in OME, and which Pillow takes for Latin-1
        description = description.encode("latin-1", "replace")
    found = of_description(text_of(description), given) if isinstance(description, bytes) else None
    return found or _on_earth(tags) or _by_resolution(given, _PER_UNIT.get(tags.get(_UNIT, 2), 0.0))


def _on_earth(tags: Mapping[int, Any]) -> PixelSize | None:
    """Return the size by the tags of a GeoTIFF, None without them, or in unknown units."""
    with suppress(TypeError, ValueError, IndexError, KeyError):
        facts = dict(zip(tags[_FACTS][4::4], tags[_FACTS][7::4], strict=False))
        if matrix := tags.get(_MATRIX):
            across, down = math.hypot(matrix[0], matrix[4]), math.hypot(matrix[1], matrix[5])
            row, latitude = 0, matrix[7]
        else:
            (across, down, *_), (_, row, _, _, latitude, *_) = tags[_SIDES], tags[_TIE]
        if facts[_MODEL] == _PROJECTED:
            meters = _EPSG[facts[_LENGTHS]]
            return _sides(across * meters, down * meters, _GEOTIFF)
        if facts[_MODEL] == _GEOGRAPHIC and facts.get(_ANGLES, _DEGREE) == _DEGREE:
            return in_degrees(across, down, latitude + (row - tags.get(257, 0) / 2) * down, _GEOTIFF)
    return None


def in_degrees(across: float, down: float, latitude: float, source: str) -> PixelSize | None:
    """Return the size of a pixel with sides in degrees of longitude and latitude, at a latitude."""
    middle = math.radians(latitude)
    bent = 1 - _FLATNESS * math.sin(middle) ** 2
    east = math.radians(across) * _EQUATOR * math.cos(middle) / math.sqrt(bent)
    north = math.radians(down) * _EQUATOR * (1 - _FLATNESS) / bent**1.5
    return _sides(east, north, source)


def files_beside(name: str) -> list[Path]:
    """Return the files beside one that say where its pixels lie: a world file, such as .pgw of a .png, and a .prj."""
    stem, dot, suffix = name.rpartition(".")
    worlds = (f"{stem}.{suffix[:1]}{suffix[-1:]}w", f"{stem}.wld", f"{name}w") if dot else ()
    # Most files have none; that `isfile` finds nothing takes it longer than `access`, and Path's raises for long names.
    found = [each for each in worlds if os.access(each, os.F_OK) and os.path.isfile(each)][:1]  # noqa: PTH113
    return [Path(each) for each in (*found, f"{stem}.prj") if found and os.path.isfile(each)]  # noqa: PTH113


def of_world_file(name: str, height: int) -> PixelSize | None:
    """Return the size by the world file beside a file, None without one, and where nobody says the unit.

    A .prj beside it says the unit, else it is the meter if the corner lies beyond all degrees.
    """
    with suppress(OSError, ValueError, TypeError, IndexError):
        texts = []
        for each in files_beside(name):
            with each.open(encoding="ascii", errors="replace") as file:
                texts.append(file.read(_MOST_BESIDE))
        world, *prj = texts
        x_x, y_x, x_y, y_y, left, top = map(float, world.split()[:6])
        across, down = math.hypot(x_x, y_x), math.hypot(x_y, y_y)
        if not prj:
            return in_map(across, down, left, top, "world file")
        if re.search(r"PROJC\w+\[", prj[0]):
            units = re.findall(r"UNIT\s*\[[^,\]]*,\s*([\d.eE+-]+)", prj[0])
            meters = float(units[-1])  # that of the map stands behind that of its degrees
            return _sides(across * meters, down * meters, "world file")
        if re.search(r"GEOG\w+\[", prj[0]):
            return in_degrees(across, down, top + y_y * height / 2, "world file")
    return None


def in_map(across: float, down: float, left: float, top: float, source: str) -> PixelSize | None:
    """Return the size of a pixel in meters if the corner of a map lies beyond all degrees, else None."""
    return _sides(across, down, source) if max(abs(left), abs(top)) > 360 else None


def text_of(data: bytes) -> str:
    """Return text that is UTF-8, or else Latin-1."""
    with suppress(UnicodeDecodeError):
        return data.decode()
    return data.decode("latin-1")


def of_description(text: str, resolution: tuple[Any, Any] = (None, None)) -> PixelSize | None:
    """Return the size in a TIFF's description by OME or ImageJ; ImageJ's has the unit of the resolution."""
    if IS_OME.search(text):
        across = _ome_side(text, "X")
        return _sides(across, _ome_side(text, "Y") or across, "OME description")
    if aperio := _APERIO.search(text):
        with suppress(ValueError):
            return _sides(float(aperio[1]) * 1e-6, float(aperio[1]) * 1e-6, "Aperio description")
    unit = re.search(r"^unit=(.+)$", text, re.MULTILINE) if text.startswith("ImageJ=") else None
    if unit is None:
        return None
    with suppress(TypeError, ValueError, ZeroDivisionError):
        across, down = (_meters(unit[1]) / float(each) for each in resolution)
        return _sides(across, down, "ImageJ description")
    return None


def depth_of(text: str) -> float | None:
    """Return the distance of slices in meters by a description of OME or ImageJ."""
    if IS_OME.search(text):
        return _ome_side(text, "Z") or None
    said = dict(re.findall(r"^(unit|spacing)=(.+)$", text, re.MULTILINE)) if text.startswith("ImageJ=") else {}
    with suppress(KeyError, ValueError):
        found = abs(float(said["spacing"])) * _meters(said["unit"])
        return found if 0 < found < math.inf else None
    return None


def axes_of(text: str) -> list[tuple[str, int]]:
    """Return the axes of pages by a description of OME or ImageJ, slowest first, as names and lengths."""
    if text.startswith("ImageJ="):
        order, names = "tzc", {"t": "frames", "z": "slices", "c": "channels"}
    elif IS_OME.search(text[:1000]):
        pixels = next(iter(re.findall(r"<(?:\w+:)?Pixels\b[^<>]*", text)), "")
        said = re.findall(r"""\b(\w{1,20})\s{0,9}=\s{0,9}["'](\w{1,20})["']""", pixels)
        text = "\n".join(f"{name}={value}" for name, value in said)
        order, names = "tzc", {"t": "SizeT", "z": "SizeZ", "c": "SizeC"}
        if named := re.search(r"^DimensionOrder=XY([CZT]{3})$", text, re.MULTILINE):
            order = named[1][::-1].lower()
    else:
        return []
    sides = dict(re.findall(r"^(\w+)=(\d{1,9})$", text, re.MULTILINE))
    return [(axis, int(sides[names[axis]])) for axis in order if int(sides.get(names[axis], 0)) > 1]


def of_series(text: str, pages: int) -> dict[int, PixelSize | None]:
    """Return the size of the pixels of each page of a file, counted from 0, by the OME description of its series."""
    found, steps = dict[int, PixelSize | None](), 4 * pages  # which bounds what a damaged description says
    for series in re.split(r"<(?:\w+:)?Pixels\b", text)[1:]:
        size = of_description(f"<OME {series}")
        for data in re.findall(r"<(?:\w+:)?TiffData\b([^<>]*)", series):
            said = dict(re.findall(r"""\b(IFD|PlaneCount)\s*=\s*["'](\d{1,9})["']""", data))
            first, count = int(said.get("IFD", 0)), int(said.get("PlaneCount", 1 if "IFD" in said else pages))
            for page in range(first, min(first + count, pages, first + steps)):
                found.setdefault(page, size)
            steps -= max(0, min(count, steps))
    return found


def of_axes(across: float, down: float, unit: str) -> PixelSize | None:
    """Return the size by the scale and the unit of axes, None for a unit that is no length."""
    return _sides(across * _meters(unit), down * _meters(unit), "axes")


def _ome_side(text: str, axis: str) -> float:
    from html import unescape

    side = re.search(rf"""\bPhysicalSize{axis}\s*=\s*["']([^"']*)["']""", text)
    unit = re.search(rf"""\bPhysicalSize{axis}Unit\s*=\s*["']([^"']*)["']""", text)
    with suppress(ValueError):
        return float(side[1]) * _meters(unescape(unit[1]) if unit else "um") if side else 0.0
    return 0.0


def _meters(unit: str) -> float:
    """Return a unit's length, 0 for one that is none, such as pixels. ImageJ escapes the micro sign."""
    if (exact := unit.strip().translate({0xB5: "u", 0x3BC: "u"})) in _PREFIXED:
        return _PREFIXED[exact]
    known = plain(unit.strip()).replace("\\u00b5", "u")
    return _METERS.get(known.removesuffix("s") if len(known) > 2 else known, 0.0)


def _by_resolution(given: object, length: float) -> PixelSize | None:
    with suppress(TypeError, ValueError, ZeroDivisionError, OverflowError):
        across, down = (float(number) for number in given)  # type: ignore[attr-defined]
        # Other numbers are damaged, or mean "unknown" as the tags' 1 does.
        if min(across, down) > 1:
            return _sides(length / across, length / down, f"{across * INCH / length:.4g} dpi")
    return None


def _sides(across: float, down: float, source: str) -> PixelSize | None:
    return PixelSize(across, down, source) if all(0 < side < math.inf for side in (across, down)) else None
