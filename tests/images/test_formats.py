"""The table of formats: what files can hold, and what is refused before any work."""

from __future__ import annotations

import io
import re
import struct
import sys

import numpy as np
import pytest
from PIL import Image

from fftfilter.errors import ParameterError, WriteError
from fftfilter.images import (
    Asked,
    Coding,
    Picture,
    check_fits,
    decode,
    extensions,
    is_lossy,
    is_zarr,
    read,
    refuse_coding,
    write,
)
from fftfilter.images.formats import FORMATS, RASTERS, refuse_whole_numbers, suffix_of
from tests.files.helpers import ROOT, message, python
from tests.helpers import HAS_ASTROPY, needs_posix
from tests.images.helpers import picture

# Those that other libraries than Pillow write, which test_fits.py and test_library_formats.py test.
OF_OTHERS = {"NPY", "FITS", *(kind.name for kind in FORMATS.values() if kind.is_by_library)}


@pytest.mark.parametrize("suffix", sorted(each for each, kind in FORMATS.items() if kind.name not in OF_OTHERS))
def test_extensions_mean_what_pillow_thinks(suffix):
    assert Image.registered_extensions()[suffix] == FORMATS[suffix].name
    Image.init()
    assert FORMATS[suffix].name in Image.SAVE


@pytest.mark.parametrize(
    ("what", "suffixes"),
    [
        ("alpha", ".avif .gif .j2k .jp2 .png .tga .tif .tiff .webp"),
        ("lossy", ".avif .gif .jpeg .jpg"),
        ("has_quality", ".avif .jpeg .jpg .webp"),
        (
            "pages",
            ".emd .fit .fit.gz .fits .fits.gz .fts .fts.gz .fz .gif .grd .mrc .mrcs .nc .npy .png .tif .tiff .webp",
        ),
        ("has_tables", ".gif .png .tif .tiff"),
        ("is_shown", ".gif .png .webp"),
    ],
)
def test_which_formats_hold_what(what, suffixes):
    assert sorted(suffix for suffix, kind in FORMATS.items() if getattr(kind, what)) == suffixes.split()


@pytest.mark.parametrize("alpha", [False, True], ids=["opaque", "alpha"])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    "suffix",
    [e for e, kind in FORMATS.items() if not kind.is_by_library and (HAS_ASTROPY or kind.name != "FITS")],
)
def test_every_format_holds_what_it_says(tmp_path, suffix, channels, alpha):
    ramp = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
    planes = np.stack([ramp, ramp // 2, 255 - ramp][:channels])
    kind = FORMATS[suffix]
    opacity = ramp if kind.shades_of_alpha else ramp // 128 * 255
    given = Picture(planes, opacity if alpha else None, 255, "PNG")
    path = tmp_path / f"x{suffix.upper()}"
    if (alpha and not kind.alpha) or (channels == 3 and kind.color is None):
        for action in check_fits, write:
            with pytest.raises(WriteError):
                action(given, path)
        assert not path.exists()
        return
    check_fits(given, path)
    write(given, path)
    got = read(path, Asked(palette="colors"))
    white = got.maxval / 255
    if alpha:
        np.testing.assert_allclose(got.alpha / white, opacity, atol=4)
    # What is transparent has no color where that takes an entry of a palette.
    has_color = np.s_[...] if kind.shades_of_alpha or not alpha else np.s_[..., 128:]
    np.testing.assert_allclose((got.planes / white - planes)[has_color], 0, atol=4)


@pytest.mark.parametrize(
    ("channels", "alpha", "suffix", "words"),
    [
        (3, False, ".pgm", ".pgm has no color; write .ppm or .png"),
        (1, True, ".pgm", ".pgm has no alpha channel; write .png"),
        (3, True, ".ppm", "no alpha"),
        (3, True, ".jpg", "no alpha"),
        (3, True, ".BMP", "no alpha"),
        (1, True, ".npy", "no alpha channel; write .tif"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_by_name(channels, alpha, suffix, words):
    with pytest.raises(WriteError) as caught:
        check_fits(picture(channels=channels, alpha=alpha), f"out{suffix}")
    assert message(caught).startswith(f"out{suffix}: ")
    assert words in message(caught)


@pytest.mark.parametrize("suffix", FORMATS)
def test_further_channels_are_for_tiff_alone(suffix):
    given = Picture(np.zeros((5, 2, 3), np.uint8), None, 255, "TIFF", extra=4)
    if FORMATS[suffix].name == "TIFF":
        check_fits(given, f"x{suffix}")
    else:
        with pytest.raises(WriteError, match=f"{suffix} holds gray or color, and there are 5 channels; write .tif$"):
            check_fits(given, f"x{suffix}")


def test_standard_output_is_called_so():
    with pytest.raises(WriteError, match=r"^standard output: \.pgm has no color"):
        check_fits(picture(channels=3), "-", format="pgm")


def test_a_format_with_a_largest_size_says_so():
    long = Picture(np.zeros((1, 1, 20000), np.uint8), None, 255, "PNG")
    with pytest.raises(
        WriteError, match=r"^x.webp: .webp holds at most 16383 pixels a side, not 20000 x 1; write .png$"
    ):
        check_fits(long, "x.webp")
    check_fits(long, "x.jpg")


@pytest.mark.parametrize(
    ("suffix", "most"),
    [
        (".jpg", 65500),
        (".webp", 16383),
        (".avif", 65536),
        *((each, 65535) for each in (".gif", ".tga", ".sgi", ".pcx")),
    ],
)
def test_a_side_may_be_as_long_as_the_format_has_room_for(suffix, most):
    check_fits(Picture(np.zeros((1, 1, most), np.uint8), None, 255, "PNG"), f"x{suffix}")
    with pytest.raises(WriteError, match=f"at most {most} pixels a side"):
        check_fits(Picture(np.zeros((1, most + 1, 1), np.uint8), None, 255, "PNG"), f"x{suffix}")


@pytest.mark.parametrize(
    ("target", "format_", "wanted"),
    [
        ("x.png", None, ".png"),
        ("folder.png/x.TIF", None, ".tif"),
        ("..png", None, ".png"),
        ("folder/x.png/", None, ".png"),
        ("x.png", "ppm", ".pnm"),  # Pillow's name of all of netpbm
        ("x.png", "pgm", ".pgm"),
        ("x.dat", "TIFF", ".tif"),
        ("-", "jpeg", ".jpg"),
        ("-", None, ".png"),
        pytest.param("/dev/null", None, ".png", marks=needs_posix),
        ("s3://bucket/x.webp", None, ".webp"),
    ],
)
def test_a_named_format_goes_before_the_extension(target, format_, wanted):
    assert suffix_of(target, format_) == wanted


@needs_posix
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (picture(format="PPM"), ".pnm"),
        (picture(format="TIFF", channels=3), ".tif"),
        (picture(format="GIF"), ".gif"),
        (picture(format="GIF", alpha=True), ".png"),
        (picture(format="ICO"), ".png"),
        (picture(format=""), ".png"),
    ],
    ids=lambda value: value.format if isinstance(value, Picture) else value,
)
def test_a_stream_gets_the_pictures_format_or_png(given, wanted):
    assert suffix_of("-", None, given) == suffix_of("/dev/null", None, given) == wanted


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.docx", "cannot write .docx files"),
        ("x.pbm", "cannot write .pbm files"),
        ("x.a\x1b", r"cannot write '.a\x1b' files"),
        ("x", "a name without extension"),
        ("x.png.", ""),
        (".png", "a name without extension"),
    ],
)
def test_an_extension_that_cannot_be_written_is_refused(name, words):
    with pytest.raises(ParameterError) as caught:
        suffix_of(name)
    assert words in message(caught)
    assert message(caught).endswith("; choose .png, .tif, .pgm, .ppm or .jpg")


def test_a_format_that_cannot_be_written_is_refused():
    for action in (lambda: suffix_of("x.png", "docx"), lambda: suffix_of("output", "docx")):
        with pytest.raises(ParameterError, match=r"cannot be written as 'docx'; choose \.png"):
            action()


@pytest.mark.parametrize(
    ("coding", "words"),
    [
        (Coding(quality=500), "quality 500 is invalid: give a whole number from 1 to 100"),
        (Coding(quality=101), "quality 101 is invalid"),
        (Coding(quality=0), "quality 0 is invalid"),
        (Coding(quality="high"), "quality 'high' is invalid"),
        (Coding(png_level=10), "PNG level 10 is invalid: give a whole number from 0 to 9"),
        (Coding(png_level=-1), "PNG level -1 is invalid"),
        (Coding(png_level=1.5), "PNG level 1.5 is invalid"),
    ],
)
def test_a_coding_that_no_format_has_is_refused(coding, words):
    for name in "x.jpg", "-":
        with pytest.raises(ParameterError, match=words):
            refuse_coding(name, coding)


@pytest.mark.parametrize("coding", [Coding(png_level=0, quality=1), Coding(png_level=9, quality=100)])
def test_the_least_and_the_most_of_a_coding_are_fine(coding):
    refuse_coding("x.jpg", coding)


def test_some_formats_have_other_samples_when_they_are_read_again():
    assert {suffix for suffix in FORMATS if is_lossy(f"x{suffix}")} == {".jpg", ".jpeg", ".avif", ".gif"}
    assert is_lossy("x.png", format="jpg")
    assert is_lossy("x.webp", coding=Coding(quality=100))
    assert not is_lossy("x.png", coding=Coding(png_level=9))


def test_values_as_they_are_need_floats():
    for name in "x.tif", "x.npy", "x.pfm", "x.fits":
        refuse_whole_numbers(name)
    said = ".png holds whole numbers, and output real gives floats"
    with pytest.raises(ParameterError, match=f"^x.png: {said}; write .tif, .npy or .pfm$"):
        refuse_whole_numbers("x.png")
    with pytest.raises(ParameterError, match=f"^standard output: {said}; give --format tif or npy$"):
        refuse_whole_numbers("-", format="png")


@pytest.mark.parametrize("name", ["zarr.json", ".zgroup", ".zattrs", ".zarray"])
def test_a_folder_is_a_zarr_by_its_name_or_its_metadata(tmp_path, name):
    folder, named = tmp_path / "a", tmp_path / "b.zarr"
    folder.mkdir()
    named.mkdir()
    assert not is_zarr(folder)
    (folder / name).touch()
    for source in folder, f"{folder}/", named, f"{named}/":
        assert is_zarr(source)
        assert is_zarr(source, "out.zarr/")
        assert not is_zarr(source, "out.png")
    assert not is_zarr(tmp_path / "missing.zarr")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("PNG", ".png"), ("JPEG", ".jpg"), ("jpg", ".jpg"), ("TIFF", ".tif"), ("tif", ".tif"), ("JPEG2000", ".jp2")],
)
def test_a_format_has_an_extension(name, wanted):
    assert suffix_of("output", name) == wanted


def test_pillow_knows_the_extensions_that_are_only_read():
    assert extensions(read_only=False) == set(FORMATS)
    more = extensions(read_only=True) - set(FORMATS)
    jpegs = {".jpe", ".jfif", ".mpo", ".jpf", ".jpx", ".j2c", ".jpc"}
    others = {".jxl", ".dm3", ".dm4", ".npz"}
    assert more == others | jpegs | {".pbm", ".dib", ".psd", ".ico", ".qoi", ".icb", ".vda", ".rgb"}
    Image.init()
    # Pillow opens an MPO as the JPEG that it begins with.
    assert {Image.EXTENSION[suffix] for suffix in more - others} - {"MPO"} <= set(Image.OPEN)


def test_extensions_do_not_wait_for_numpy():
    code = "import sys; from fftfilter import images; images.extensions(read_only=True); print('numpy' in sys.modules)"
    assert python(code).stdout == b"False\n"


FOREIGN = {
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n%%EndComments\nshowpage\n%%EOF\n",
    "EPS with a preview": b"\xc5\xd0\xd3\xc6\x1e\0\0\0\x40\0\0\0" + bytes(18) + b"%!PS\n%%BoundingBox: 0 0 9 9\n",
    "PDF": b"%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n",
    "WMF": b"\xd7\xcd\xc6\x9a\0\0\0\0\0\0\x64\0\x64\0\x60\0" + bytes(6) + b"\x01\0\x09\0" + bytes(40),
    "EMF": b"\x01\0\0\0" + bytes(36) + b" EMF" + bytes(60),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(60),
    "GRIB": b"GRIB\0\0\0\x01" + bytes(60),
    "FPX": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000),
}
OPEN_ALL = """
import sys
from pathlib import Path
from fftfilter import errors, images
from fftfilter.images.formats import FORMATS
for path in sorted(Path("files").iterdir()):
    for read in images.read, images.measure, lambda path: images.opened(images.raw(path), path):
        try:
            print("READ", path, read(path))
        except errors.ReadError as error:
            told = str(error)
            known = "not an image" in told or " is not supported; " in told or path.name.startswith("HDF5")
            assert told.isprintable() and known, error
gray = images.read("gray.pgm")
for suffix in images.extensions(read_only=False):
    if FORMATS[suffix].name == "FITS" or FORMATS[suffix].is_by_library:  # by a library, if it is there
        continue
    images.write(gray, "gray" + suffix)
    images.read("gray" + suffix)
print(*sorted(name for name in sys.modules if name.startswith("PIL.") and name.endswith("Plugin")))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="its programs are no scripts")
def test_what_is_no_raster_starts_no_program_and_loads_no_plugin_whatever_its_name_is(tmp_path):
    (tmp_path / "files").mkdir()
    for kind, data in FOREIGN.items():
        for suffix in sorted(extensions(read_only=True) | {".eps", ".ps", ".pdf", ".wmf"}):
            (tmp_path / "files" / f"{kind}{suffix}").write_bytes(data)
    (tmp_path / "gray.pgm").write_bytes(b"P5 4 3 255\n" + bytes(range(12)))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gs").write_text(f"#!/bin/sh\necho 10.0; touch {tmp_path}/started\n")
    (tmp_path / "bin" / "gs").chmod(0o755)
    code = f"import os; os.environ['PATH'] = '{tmp_path}/bin' + os.pathsep + os.environ['PATH']\n{OPEN_ALL}"
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert not (tmp_path / "started").exists()
    # A camera's file of several pictures is opened as a JPEG.
    allowed = {f"PIL.{module}ImagePlugin" for module in (*RASTERS.values(), "Mpo")}
    assert set(done.stdout.decode().split()) <= allowed


@pytest.mark.parametrize("format_", sorted({*RASTERS} - {"PSD"}))
def test_every_raster_that_the_documents_name_is_read(format_):
    image, file = Image.fromarray(np.tile(np.arange(0, 256, 8, np.uint8), (32, 1))), io.BytesIO()
    if format_ == "SUN":  # which Pillow does not write
        file.write(struct.pack(">8I", 0x59A66A95, 32, 32, 8, 32 * 32, 1, 0, 0) + image.tobytes())
    elif format_ == "ICNS":  # of which Pillow writes all sizes up to 1024 x 1024
        image.convert("RGB").save(file, "PNG")
        inner = file.getvalue()
        file = io.BytesIO(struct.pack(">4sI4sI", b"icns", 16 + len(inner), b"icp5", 8 + len(inner)) + inner)
    elif format_ == "QOI":  # which not every Pillow writes
        pixels = b"".join(b"\xfe" + bytes(3 * [level]) for level in image.tobytes())
        file.write(struct.pack(">4sIIBB", b"qoif", 32, 32, 3, 0) + pixels + bytes(7) + b"\1")
    else:
        image.save(file, format_)
    found = decode(file.getvalue(), "x")
    assert found.format == format_
    np.testing.assert_allclose(found.planes[0], np.asarray(image), atol=6)


def test_pillow_opens_nothing_without_the_list():
    calls = [
        (path.name, line.strip())
        for path in (ROOT / "fftfilter").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bImage\.(open|init|preinit)\(", line)
    ]
    assert {name for name, _ in calls} == {"quiet.py", "page.py"}
    assert all("formats=" in line for _, line in calls)


def test_the_documents_name_what_is_read():
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8").partition("## Formats")[2].partition("##")[0]
    words = set(re.findall(r"[A-Z0-9]+", text.replace("JPEG 2000", "JPEG2000").upper()))
    assert set(RASTERS) - {"PPM"} <= words, set(RASTERS) - words
