"""The size of a pixel, as files say it."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import images
from fftfilter.errors import ParameterError
from fftfilter.images.metadata import Metadata, upright
from fftfilter.images.pixel_size import PixelSize, of_axes

PIXELS = np.zeros((4, 6), np.uint8)
OME = (
    '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
    '<Pixels ID="Pixels:0" {}><TiffData/></Pixels></Image></OME>'
)


def by_pillow(format_, **options):
    file = io.BytesIO()
    Image.fromarray(PIXELS).save(file, format_, **options)
    return file.getvalue()


def by_tifffile(**options):
    file = io.BytesIO()
    tifffile.imwrite(file, PIXELS, metadata=None, **options)
    return file.getvalue()


def without_unit(data):
    """Return a TIFF's bytes with the tag of the resolution's unit made one that nobody knows."""
    at = data.index(struct.pack("<HHI", 296, 3, 1))
    return data[:at] + struct.pack("<H", 297) + data[at + 2 :]


def exif(**tags):
    made = Image.Exif()
    for tag, value in tags.items():
        made[{"across": 282, "down": 283, "unit": 296, "text": 270}[tag]] = value
    return made


def found(data):
    """Return the size of a pixel of a file's bytes."""
    metadata = images.decode(data, "file").metadata
    return metadata and metadata.pixel_size


FILES = {
    "TIFF in inches": (by_tifffile(resolution=(300, 300), resolutionunit=2), 25.4e-3 / 300, "300 dpi"),
    "TIFF in centimeters": (
        by_tifffile(resolution=((10**7, 65),) * 2, resolutionunit=3),
        65e-9,
        "3.908e+05 dpi",
    ),
    "TIFF whose unit is left out, which is the inch": (
        without_unit(by_tifffile(resolution=(300, 300))),
        25.4e-3 / 300,
        "300 dpi",
    ),
    "EXIF that leaves it out": (by_pillow("WEBP", exif=exif(across=254.0, down=254.0)), 1e-4, "254 dpi"),
    "BigTIFF": (by_tifffile(resolution=(300, 300), resolutionunit=2, bigtiff=True), 25.4e-3 / 300, "300 dpi"),
    "ImageJ": (
        by_tifffile(
            resolution=((1000, 65),) * 2,
            resolutionunit=1,
            description="ImageJ=1.53t\nunit=micron\nspacing=0.2\nmin=0.0\n",
        ),
        65e-9,
        "ImageJ description",
    ),
    "ImageJ, escaped": (
        by_tifffile(resolution=(10, 10), resolutionunit=1, description="ImageJ=1.53t\nunit=\\u00B5m\n"),
        1e-7,
        "ImageJ description",
    ),
    "OME": (
        by_tifffile(description=OME.format('PhysicalSizeX="0.065" PhysicalSizeY="0.065"'), resolution=(72, 72)),
        65e-9,
        "OME description",
    ),
    "OME with units": (
        by_tifffile(
            description=OME.format(
                'PhysicalSizeX="65" PhysicalSizeXUnit="nm" PhysicalSizeY="0.065" PhysicalSizeYUnit="&#181;m"'
            )
        ),
        65e-9,
        "OME description",
    ),
    "OME in UTF-8": (
        by_tifffile(
            description=OME.format('PhysicalSizeX="0.065" PhysicalSizeXUnit="\N{MICRO SIGN}m"').encode(),
        ),
        65e-9,
        "OME description",
    ),
    "ImageJ in Latin-1": (
        by_tifffile(resolution=(10, 10), resolutionunit=1, description=b"ImageJ=1.53t\nunit=\xb5m\n"),
        1e-7,
        "ImageJ description",
    ),
    "EXIF of one side": (by_pillow("WEBP", exif=exif(across=254.0)), 1e-4, "254 dpi"),
    "PNG": (by_pillow("PNG", dpi=(600, 600)), 25.4e-3 / 600, "600 dpi"),
    "JFIF in centimeters": (
        by_pillow("JPEG", dpi=(100, 100)).replace(b"JFIF\0\1\1\1", b"JFIF\0\1\1\2"),
        1e-4,
        "254 dpi",
    ),
    "PNG, which goes before its EXIF": (
        by_pillow("PNG", dpi=(600, 600), exif=exif(across=254.0, down=254.0)),
        25.4e-3 / 600,
        "600 dpi",
    ),
    "JFIF": (by_pillow("JPEG", dpi=(72, 72)), 25.4e-3 / 72, "72 dpi"),
    "EXIF in a JPEG": (by_pillow("JPEG", exif=exif(across=100.0, down=100.0, unit=3)), 1e-4, "254 dpi"),
    "EXIF in WebP": (by_pillow("WEBP", exif=exif(across=254.0, down=254.0, unit=2)), 1e-4, "254 dpi"),
    "BMP": (by_pillow("BMP", dpi=(254, 254)), 1e-4, "254 dpi"),
}


@pytest.mark.parametrize("what", FILES)
def test_files_say_the_size_of_their_pixels(what):
    data, meters, source = FILES[what]
    size = found(data)
    assert (size.across, size.down) == pytest.approx((meters, meters), rel=1e-4)
    assert size.source == source


@pytest.mark.parametrize(
    "data",
    [
        by_tifffile(resolution=(254, 127), resolutionunit=2),
        by_tifffile(resolution=(10, 5), resolutionunit=1, description="ImageJ=1.53t\nunit=mm\n"),
        by_tifffile(description=OME.format('PhysicalSizeX="100" PhysicalSizeY="0.2" PhysicalSizeYUnit="mm"')),
        by_pillow("PNG", dpi=(254, 127)),
        by_pillow("WEBP", exif=exif(across=254.0, down=127.0)),
    ],
    ids=["TIFF", "ImageJ", "OME", "PNG", "EXIF"],
)
def test_pixels_may_be_higher_than_wide(data):
    size = found(data)
    assert (size.across, size.down) == pytest.approx((1e-4, 2e-4), rel=1e-4)
    assert size.dpi == pytest.approx((254, 127), rel=1e-4)


@pytest.mark.parametrize(
    ("unit", "meters"),
    [
        *(("micrometer", 1e-6), ("nanometers", 1e-9), ("angstrom", 1e-10), ("millimeter", 1e-3), ("centimeter", 1e-2)),
        *(("meter", 1.0), ("micron", 1e-6), ("inch", 0.0254), ("\N{MICRO SIGN}m", 1e-6), (" nm ", 1e-9)),
    ],
)
def test_axes_have_units(unit, meters):
    assert of_axes(2, 3, unit) == pytest.approx((2 * meters, 3 * meters, "axes"))


@pytest.mark.parametrize(
    ("unit", "meters"),
    [
        *(("Mm", 1e6), ("mm", 1e-3), ("Pm", 1e15), ("pm", 1e-12), ("am", 1e-18), ("km", 1e3), ("&#8491;", 1e-10)),
        *(("thou", 2.54e-5), ("li", 0.0254 / 12), ("pt", 0.0254 / 72), ("ft", 0.3048), ("mi", 1609.344)),
        *(("ly", 9.4607e15), ("pc", 3.0857e16)),
    ],
)
def test_ome_s_units_are_known(unit, meters):
    given = OME.format(f'PhysicalSizeX="2" PhysicalSizeXUnit="{unit}"')
    assert found(by_tifffile(description=given)).across == pytest.approx(2 * meters, rel=1e-4)


def test_aperio_says_micrometers_per_pixel():
    size = found(
        by_tifffile(description="Aperio Image Library v12.0.15\n2220x2967 |AppMag = 20|MPP = 0.4990|Left = 25")
    )
    assert size == pytest.approx((4.99e-7, 4.99e-7, "Aperio description"))


def geo(facts, *tags):
    directory = [1, 1, 0, len(facts), *(number for fact, value in facts.items() for number in (fact, 0, 1, value))]
    return by_tifffile(extratags=[(34735, "H", len(directory), directory), *((t, "d", len(v), v) for t, v in tags)])


@pytest.mark.parametrize(("unit", "meters"), [(9001, 1), (9002, 0.3048), (9003, 1200 / 3937), (9036, 1000)])
def test_a_map_in_a_plane_says_the_sides_of_its_pixels(unit, meters):
    facts = {1024: 1, 3076: unit}
    corner = (33922, (0, 0, 0, 4e5, 5e6, 0))
    assert found(geo(facts, (33550, (30, 20, 0)), corner)) == pytest.approx((30 * meters, 20 * meters, "GeoTIFF tags"))
    turned = (34264, (18, 16, 0, 4e5, 24, -12, 0, 5e6, 0, 0, 0, 0, 0, 0, 0, 1))
    assert found(geo(facts, turned)) == pytest.approx((30 * meters, 20 * meters, "GeoTIFF tags"))


def test_a_map_in_degrees_has_the_sides_of_its_middle_on_the_ellipsoid():
    # A degree of latitude and of longitude at 60 degrees, by the tables of WGS 84: 111,412 and 55,800 m.
    rows = PIXELS.shape[0]
    size = found(geo({1024: 2, 2054: 9102}, (33550, (0.1, 0.1, 0)), (33922, (0, 0, 0, 10, 60 + 0.05 * rows, 0))))
    assert size[:2] == pytest.approx((5580.0, 11141.2), rel=1e-4)


@pytest.mark.parametrize("facts", [{1024: 1}, {1024: 1, 3076: 9999}, {1024: 3}, {}, {1024: 2, 2054: 9101}], ids=str)
def test_a_map_in_unknown_units_says_no_size(facts):
    corner = (33922, (0, 0, 0, 4, 5, 0))
    size = found(geo(facts, (33550, (30, 20, 0)), corner))
    assert size is None
    for damaged in ((33550, (30.0, 20.0)), (33922, (0.0, 0.0))):
        assert found(geo({1024: 1}, damaged)) is None


@pytest.mark.parametrize("unit", ["pixel", "second", "ms", "None", ""])
def test_a_unit_that_is_no_length_is_no_size(unit):
    assert of_axes(2, 3, unit) is None


@pytest.mark.parametrize(
    ("data", "dpi", "unitless"),
    [
        (by_tifffile(resolution=(300, 150), resolutionunit=2), (300, 150), None),
        (by_tifffile(resolution=(100, 50), resolutionunit=3), (254, 127), None),
        (without_unit(by_tifffile(resolution=(300, 150))), (300, 150), None),
        (by_tifffile(resolution=(300, 150), resolutionunit=1), None, (300, 150)),
        (by_tifffile(resolution=(1, 1), resolutionunit=1), None, None),
        (by_tifffile(resolution=(0, 300), resolutionunit=1), None, None),
    ],
    ids=["inch", "centimeter", "left out", "none", "unknown", "zero"],
)
def test_the_resolution_of_a_tiff_is_kept_in_dots_per_inch(tmp_path, data, dpi, unitless):
    given = images.decode(data, "file")
    assert (given.metadata.dpi, given.metadata.unitless) == (dpi, unitless)
    assert images.write(given, tmp_path / "x.png") == (["resolution"] if unitless else [])
    images.write(given, tmp_path / "x.tif")
    again = images.read(tmp_path / "x.tif").metadata
    assert (again.dpi, again.unitless) == (dpi, unitless)


SILENT = {
    "PNG": by_pillow("PNG"),
    "JPEG, whose density is the shape of a pixel": by_pillow("JPEG"),
    "EXIF without resolution, of which Pillow makes 72 dpi": by_pillow("JPEG", exif=exif(text="a cat")),
    "TIFF without unit": by_tifffile(resolution=(300, 300), resolutionunit=1),
    "TIFF of 1 dpi": by_tifffile(resolution=(1, 1), resolutionunit=2),
    "TIFF of 0 dpi": by_tifffile(resolution=(0, 0), resolutionunit=2),
    "ImageJ in pixels": by_tifffile(resolution=(3, 3), resolutionunit=1, description="ImageJ=1.53t\nunit=pixel\n"),
    "OME in pixels": by_tifffile(description=OME.format('PhysicalSizeX="1" PhysicalSizeXUnit="pixel"')),
    "OME, damaged": by_tifffile(description=OME.format('PhysicalSizeX="wide"')),
    "PGM": b"P5 2 1 255\n\0\0",
}


@pytest.mark.parametrize("what", SILENT)
def test_what_says_no_size_has_none(what):
    assert found(SILENT[what]) is None


def picture(size):
    return images.Picture(PIXELS[None], None, 255, "PNG", Metadata(b"", b"exif", pixel_size=size))


def test_the_size_that_a_filter_needs():
    for sides in (1e-7, 1.009e-7), (1e-7, 0.991e-7):
        assert images.pixel_size_of(picture(PixelSize(*sides, "300 dpi")), "a.png", "2um").across == 1e-7
    assert str(PixelSize(0.0254 / 72, 0.0254 / 72, "72 dpi")) == "pixel size 0.3528 mm from the file's 72 dpi"


def test_pixels_of_two_sides_have_both():
    for across in 1.02e-7, 0.98e-7, 2e-7:
        assert images.pixel_size_of(picture(PixelSize(across, 1e-7, "tags")), "a.png", "2um")[:2] == (across, 1e-7)
    assert str(PixelSize(7e-6, 1e-5, "tags")) == "pixel size 7 um x 10 um from the file's tags"


def test_a_missing_size_is_one_line():
    message = r"^a.pn?gm?: says no pixel size, which 2um needs: give --pixel-size .65nm, .*., or .* px, cyc or %$"
    with pytest.raises(ParameterError, match=message):
        images.pixel_size_of(picture(None), "a.png", "2um")
    with pytest.raises(ParameterError, match="says no pixel size"):
        images.pixel_size_of(images.Picture(PIXELS[None], None, 255, "PPM"), "a.pgm", "2um")


def test_stripped_and_turned_pictures_know_the_size_of_their_pixels():
    size = PixelSize(2e-7, 1e-7, "72 dpi")
    stripped = picture(size).stripped().metadata
    assert stripped == Metadata(pixel_size=size)
    for orientation in range(1, 9):
        given = images.Picture(PIXELS[None], None, 255, "PNG", Metadata(pixel_size=size, dpi=(127, 254)))
        turned, lies = upright(given, orientation), orientation > 4
        assert turned.planes.shape == ((1, 6, 4) if lies else (1, 4, 6))
        assert turned.metadata.pixel_size == (PixelSize(1e-7, 2e-7, "72 dpi") if lies else size)
        assert turned.metadata.dpi == ((254, 127) if lies else (127, 254))


# World files


UTM = 'PROJCS["UTM 33N",GEOGCS["WGS 84",UNIT["degree",0.0174532925199433]],UNIT["{}",{}]]'
DEGREES = 'GEOGCS["WGS 84",DATUM["WGS_1984"],UNIT["degree",0.0174532925199433]]'
NORTH_UP, TURNED = "10\n0\n0\n-20\n500000\n5000000\n", "6 8 -16 12 500000 5000000"


@pytest.mark.parametrize(
    ("world", "prj", "size"),
    [
        (NORTH_UP, None, (10, 20)),
        (TURNED, None, (10, 20)),
        (NORTH_UP, UTM.format("metre", 1), (10, 20)),
        (NORTH_UP, UTM.format("US survey foot", 0.3048006096012192), (3.048006096, 6.096012192)),
        ("0.01 0 0 -0.01 10 60.02", DEGREES, (558.0, 1114.1)),  # 4 rows high: its middle is at 60 degrees
        ("0.01 0 0 -0.01 10 60.02", None, None),  # degrees, or meters of a laboratory
        ("0 0 0 0 500000 5000000", None, None),
        ("10 0 0", None, None),
        ("nan inf 0 -20 500000 5000000", None, None),
        ("ten", None, None),
        ("9" * 70_000, None, None),
        (NORTH_UP, 'PROJCS["no unit"]', None),
    ],
)
@pytest.mark.parametrize("suffix", [".pgw", ".wld", ".pngw"])
def test_a_world_file_has_the_size_of_pixels(tmp_path, world, prj, size, suffix):
    images.write(picture(PixelSize(1e-4, 1e-4, "254 dpi")), tmp_path / "in.png")
    (tmp_path / f"in{suffix}").with_name("in.png" + "w" if suffix == ".pngw" else f"in{suffix}").write_text(world)
    if prj:
        (tmp_path / "in.prj").write_text(prj)
    metadata = images.read(tmp_path / "in.png").metadata
    assert (metadata and metadata.pixel_size and metadata.pixel_size[:2]) == (size and pytest.approx(size, rel=1e-4))


def test_a_name_that_no_file_beside_it_can_have_is_read(tmp_path):
    path = tmp_path / f"{'a' * 251}.pgm"
    path.write_bytes(b"P5 2 2 255\nabcd")
    assert images.read(path).planes.shape == (1, 2, 2)
