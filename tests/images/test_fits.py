"""FITS, read and written beside astropy."""

from __future__ import annotations

import gc
import gzip
import io
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

from fftfilter.errors import ParameterError, ReadError, TooLargeError, WriteError, pip_install
from fftfilter.files.sources import Slices
from fftfilter.images import Asked, Depth, Picture, check_output, decode, measure, opened, pages_of, read, sink, write
from tests.files.helpers import python
from tests.helpers import Imported, needs
from tests.images.helpers import ALPHA, GRAY, picture

pytestmark = needs("astropy")
fits = Imported("astropy.io.fits")
RAMP = np.arange(120).reshape(10, 12)
CUBE = np.stack([RAMP + 7 * i for i in range(4)]).astype(np.int16)


def fits_of(*hdus, **cards):
    """Return the bytes of a FITS of arrays or HDUs; the cards are those of the first."""
    made = [
        each if hasattr(each, "header") else (fits.ImageHDU if i else fits.PrimaryHDU)(each)
        for i, each in enumerate(hdus)
    ]
    made[0].header.update(cards)
    file = io.BytesIO()
    fits.HDUList(made).writeto(file)
    return file.getvalue()


def changed(data, card, value):
    """Return a FITS with another value of a card, where that first stands."""
    at = data.index(f"{card:8}=".encode())
    return data[:at] + f"{card:8}= {value:>20}".encode() + data[at + 30 :]


def written(tmp_path, given, name="x.fits"):
    write(given, tmp_path / name)
    with fits.open(tmp_path / name) as hdus:
        hdus.verify("exception")
        return np.array(hdus[-1].data), hdus[-1].header


# Numbers


@pytest.mark.parametrize("suffix", [".fits", ".fz"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_each_type_is_read_and_comes_back_as_astropy_has_it(tmp_path, dtype, suffix):
    given = (RAMP - 60 * (dtype[0] != "u")).astype(dtype)
    found = decode(fits_of(given), "x")
    np.testing.assert_array_equal(found.planes[0], given)
    assert (found.format, found.maxval) == ("FITS", {"u1": 255, "u2": 65535}.get(dtype, 1))
    got, _ = written(tmp_path, found, f"x{suffix}")
    np.testing.assert_array_equal(got, given)
    assert got.dtype.newbyteorder("=") == np.dtype("f4" if dtype == "f8" else dtype)
    np.testing.assert_array_equal(read(tmp_path / f"x{suffix}").planes, found.planes)


def test_rows_are_in_the_order_of_the_file():
    np.testing.assert_array_equal(decode(fits_of(GRAY), "x").planes[0], GRAY)


def test_bscale_and_bzero_are_applied():
    hdu = fits.PrimaryHDU(RAMP.astype(np.float32) / 4)
    hdu.scale("int16", bscale=0.25, bzero=3)
    found = decode(fits_of(hdu), "x")
    np.testing.assert_array_equal(found.planes[0], RAMP / 4)
    assert found.integers is None


def test_blank_pixels_are_nan_and_blank_again(tmp_path):
    given = RAMP.astype(np.int16)
    given[1, 2] = -99
    found = decode(fits_of(given, BLANK=-99), "x")
    assert (np.isnan(found.planes).sum(), found.nodata) == (1, -99)
    assert np.isnan(found.planes[0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, header = written(tmp_path, found)
    assert np.isnan(got[1, 2])
    assert header["BLANK"] == -99


def test_pixels_of_unsigned_integers_may_be_blank(tmp_path):
    hdu = fits.PrimaryHDU(RAMP.astype(np.uint16))
    hdu.header["BLANK"] = 5 - 32768
    found = decode(fits_of(hdu), "x")
    assert (found.planes.dtype, found.integers, found.nodata) == (np.float32, np.uint16, 5)
    np.testing.assert_array_equal(np.argwhere(np.isnan(found.planes[0])), [[0, 5]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert written(tmp_path, found)[1]["BLANK"] == 5 - 32768


# Headers


def test_the_header_goes_along_but_for_what_no_longer_holds(tmp_path):
    cards = {"OBJECT": "M 31", "CRVAL1": 10.68, "EXPTIME": 3.5, "HIERARCH ESO TEL AIRM": 1.25}
    gone = {"DATAMAX": 119, "DATAMIN": 0}
    data = fits_of(RAMP.astype(np.int16), **cards, **gone)
    _, header = written(tmp_path, decode(data, "x"))
    assert not gone.keys() & header.keys()
    assert {name: header.get(name) for name in ("OBJECT", "CRVAL1", "EXPTIME", "ESO TEL AIRM")} == {
        "OBJECT": "M 31",
        "CRVAL1": 10.68,
        "EXPTIME": 3.5,
        "ESO TEL AIRM": 1.25,
    }


@pytest.mark.parametrize("kind", ["ImageHDU", "CompImageHDU"])
def test_an_extension_stays_one(tmp_path, kind):
    found = decode(fits_of(fits.PrimaryHDU(), getattr(fits, kind)(RAMP.astype(np.int16), name="SCI")), "x")
    got, header = written(tmp_path, found)
    np.testing.assert_array_equal(got, RAMP)
    assert list(header) == ["XTENSION", "BITPIX", "NAXIS", "NAXIS1", "NAXIS2", "PCOUNT", "GCOUNT", "EXTNAME"]
    assert (tmp_path / "x.fits").stat().st_size == 3 * 2880  # whole blocks


def test_a_gzip_that_is_given_up_writes_no_end_into_a_file_that_is_closed(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    file = io.BytesIO()
    growing = sink(file, ".fits.gz", None, count=2)
    growing.add(decode(fits_of(RAMP.astype(np.int16)), "x"))
    file.close()
    del growing
    gc.collect()
    assert told == []


@pytest.mark.parametrize("suffix", [".fits", ".fz"])
def test_sums_that_hold_no_longer_stay_behind(tmp_path, suffix):
    found = decode(fits_of(RAMP.astype(np.int16), CHECKSUM="0123456789abcdef", DATASUM="7"), "x")
    _, header = written(tmp_path, found, f"x{suffix}")
    assert {"CHECKSUM", "DATASUM"}.isdisjoint(header)


def test_the_value_of_missing_samples_is_no_card_of_floats(tmp_path):
    given = Picture(RAMP[None].astype(np.float32), None, 1, "TIFF", nodata=-9999.0)
    assert "BLANK" not in written(tmp_path, given)[1]


def test_pages_without_a_header_make_a_cube():
    file = io.BytesIO()
    growing = sink(file, ".fits", None, count=4, plays=0)
    for page in CUBE:
        growing.add(growing.encode(Picture(page[None], None, 1, "TIFF"), None))
    growing.finish()
    file.seek(0)
    np.testing.assert_array_equal(fits.getdata(file), CUBE)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_equal_pictures_are_equal_files_at_another_time(tmp_path, monkeypatch, dtype):
    given = decode(fits_of(RAMP.astype(dtype)), "x")
    write(given, tmp_path / "a.fz")
    monkeypatch.setattr("time.time", lambda: 1e9)
    write(given, tmp_path / "b.fz")
    assert (tmp_path / "a.fz").read_bytes() == (tmp_path / "b.fz").read_bytes()
    np.testing.assert_array_equal(fits.getdata(tmp_path / "b.fz"), RAMP)


def test_other_formats_drop_the_header(tmp_path):
    assert write(decode(fits_of(GRAY, OBJECT="M 31"), "x"), tmp_path / "x.png") == ["FITS header"]


@pytest.mark.parametrize(
    ("cards", "wanted"),
    [
        ({"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CDELT1": -0.5 / 3600, "CDELT2": 0.5 / 3600}, "0.5 arcsec"),
        ({"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR", "CD1_1": 0.0, "CD1_2": 2.0, "CD2_1": 2.0, "CD2_2": 0.0}, "2 deg"),
        ({"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CD1_2": -2.0, "CD2_1": 2.0}, "2 deg"),
        (
            {"CDELT1": 0.6, "CDELT2": 0.6, "CUNIT1": "arcsec", "CUNIT2": "arcsec"}
            | {"PC1_1": 0.6, "PC1_2": 0.8, "PC2_1": -0.8, "PC2_2": 0.6},
            "0.6 arcsec",
        ),
        ({"CTYPE1": "HPLN-TAN", "CTYPE2": "HPLT-TAN", "CDELT1": 2.0, "CDELT2": 2.0}, "2 deg"),
        ({"CDELT1": 3.0, "CDELT2": 3.0, "CUNIT1": "mas", "CUNIT2": "mas"}, "3 mas"),
        ({"CDELT1": 65.0, "CDELT2": 65.0, "CUNIT1": "nm", "CUNIT2": "nm"}, "65 nm"),
        ({"CDELT1": 65.0, "CDELT2": 65.0, "CUNIT1": "Hz", "CUNIT2": "nm"}, None),
        ({"CDELT1": 65.0, "CDELT2": 65.0, "CUNIT1": "deg", "CUNIT2": "nm"}, None),
        ({"CDELT1": 2.0, "CDELT2": 2.0, "CUNIT1": "Degree", "CUNIT2": "DEG"}, "2 deg"),
        ({"CDELT1": 2.0, "CDELT2": 2.0, "CTYPE1": "FREQ", "CTYPE2": "DEC--TAN"}, None),
        ({"CDELT1": 0.0, "CDELT2": 1.0, "CUNIT1": "deg", "CUNIT2": "deg"}, None),
        ({"CDELT1": "x", "CDELT2": 1.0, "CUNIT1": "deg", "CUNIT2": "deg"}, None),
        ({}, None),
    ],
)
def test_the_wcs_has_the_size_of_a_pixel(cards, wanted):
    size = decode(fits_of(GRAY, **cards), "x").metadata.pixel_size
    assert (size and str(size)) == (wanted and f"pixel size {wanted} from the file's WCS")


def test_the_sides_of_a_pixel_are_those_of_their_axes():
    turned = {"CD1_1": 39.0, "CD1_2": 104.0, "CD2_1": -52.0, "CD2_2": 78.0}
    for cards in {"CDELT1": -65.0, "CDELT2": 130.0}, turned:
        size = decode(fits_of(GRAY, CUNIT1="nm", CUNIT2="nm", **cards), "x").metadata.pixel_size
        assert (size.across, size.down) == pytest.approx((65e-9, 130e-9))


# HDUs and cubes


def test_the_first_hdu_with_a_picture_is_read_or_the_one_that_is_asked_for():
    table = fits.BinTableHDU.from_columns([fits.Column("a", "J", array=[1, 2])])
    data = fits_of(fits.PrimaryHDU(), table, GRAY, GRAY[::-1], fits.CompImageHDU(GRAY + 1))
    for hdu, wanted in (None, GRAY), (2, GRAY), (3, GRAY[::-1]), (4, GRAY + 1):
        np.testing.assert_array_equal(opened(data, "x", Asked(hdu=hdu)).planes[0], wanted)
    with pytest.raises(ParameterError, match=r"x: HDU 1, BINTABLE, is no picture; --hdu may be 2, 3, 4 \(COMP"):
        opened(data, "x", Asked(hdu=1))
    with pytest.raises(ParameterError, match=r"x: no HDU 7; --hdu may be 2, 3, 4"):
        opened(data, "x", Asked(hdu=7))
    assert decode(data, "x").metadata.fitting("PNG")[1] == ["other HDUs"]
    assert decode(fits_of(fits.PrimaryHDU(), GRAY), "x").metadata.fitting("PNG")[1] == []


def test_another_format_has_no_hdu(tmp_path):
    write(picture(), tmp_path / "x.png")
    with pytest.raises(ParameterError, match="x: is no FITS, and has no HDU 1: leave --hdu out"):
        opened((tmp_path / "x.png").read_bytes(), "x", Asked(hdu=1))


@pytest.mark.parametrize("suffix", [".fits", ".fz"])
@pytest.mark.parametrize(
    ("shape", "asked", "wanted", "crpix"),
    [
        ((4,), Asked(), (4,), 5),
        ((4,), Asked(2, 3), (2,), 4),
        ((4,), Asked(4, 4), (1,), 2),
        ((1, 4), Asked(2, 3), (1, 2), 4),
        ((2, 2), Asked(), (2, 2), 5),
        ((2, 2), Asked(4, 4), (1, 1), 4),
    ],
)
def test_pages_of_a_cube_make_a_cube(tmp_path, suffix, shape, asked, wanted, crpix):
    data = fits_of(CUBE.reshape(*shape, 10, 12), CRPIX3=5.0, CTYPE3="FREQ")
    found = opened(data, "x", asked)
    path = tmp_path / f"x{suffix}"
    if isinstance(found, Picture):
        write(found, path)
        chosen = range(asked.first - 1, asked.last)
    else:
        with path.open("w+b") as file:
            growing = sink(file, suffix, None, count=len(found), plays=0)
            for index in range(len(found)):
                page = found.read(index)
                page.planes = Depth(np.dtype(np.float32), 1, page.integers).rounded(page.planes)
                growing.add(growing.encode(page, None))
            growing.finish()
            pages = pages_of(Slices(file), "x")
            assert (pages.count, pages.is_cut) == (len(found), False)
        chosen = found.chosen
    with fits.open(path) as hdus:
        assert hdus[-1].data.shape == (*wanted, 10, 12)
        np.testing.assert_array_equal(hdus[-1].data.reshape(-1, 10, 12), CUBE[chosen.start : chosen.stop])
        assert (hdus[-1].header["CRPIX3"], hdus[-1].header["CTYPE3"]) == (crpix, "FREQ")


def test_some_pages_along_two_axes_are_no_cube():
    pages = opened(fits_of(CUBE.reshape(2, 2, 10, 12)), "x", Asked(2, 3))
    with pytest.raises(
        ParameterError, match=r"x: 2 x 2 pages, and those chosen are no cube: leave --pages out, or choose one page$"
    ):
        pages.read(0)


def test_a_cube_is_measured_by_its_header(tmp_path):
    (tmp_path / "x.fits").write_bytes(fits_of(CUBE))
    size = measure(tmp_path / "x.fits")
    assert size == (12, 10, 1, 4, 4)
    (tmp_path / "x.fits").write_bytes(fits_of(CUBE, GRAY))
    assert measure(tmp_path / "x.fits", Asked(hdu=1)) == (3, 2, 1, 1, 1)


def test_what_filters_counts_for_the_memory_of_a_picture():
    with pytest.raises(TooLargeError, match=r"^x: 600 x 500 pixels take 1,000,000,000,000 bytes"):
        decode(fits_of(np.zeros((500, 600), np.float32)), "x", lambda _: 10**12)


# What is refused


@pytest.mark.parametrize(
    ("card", "value", "cause"),
    [
        ("NAXIS1", 10**12, "the file ends within the 1000000000000 x 10 pixels of its header; get a whole copy of it$"),
        ("NAXIS1", -5, "cannot be decoded"),
        ("NAXIS1", "'x'", "cannot be decoded"),
        ("NAXIS", 999, "cannot be decoded"),
        ("NAXIS", 1, "no picture in this FITS"),
        ("BITPIX", 17, "cannot be decoded"),
        ("SIMPLE", "F", "no picture in this FITS"),
    ],
)
def test_a_header_that_cannot_be_is_an_error(card, value, cause):
    with pytest.raises(ReadError, match=f"^x: {cause}"):
        decode(changed(fits_of(RAMP.astype(np.int16)), card, value), "x")


@pytest.mark.parametrize("length", [9, 80, 2879, 2880, 2881, 2880 + 239])
def test_a_truncated_file_is_an_error(length):
    with pytest.raises(ReadError, match=r"^x: (the file ends within|cannot be decoded)"):
        decode(fits_of(RAMP.astype(np.int16))[:length], "x")


def test_whole_pages_of_a_truncated_cube_are_read():
    data = fits_of(CUBE)[: 2880 + 2 * 240 + 10]
    with pytest.raises(ReadError, match=r"x: page 3 is missing.*take --pages -2"):
        opened(data, "x")
    assert len(opened(data, "x", Asked(None, 2))) == 2


@pytest.mark.parametrize(("card", "value"), [("ZNAXIS2", 10**9), ("ZTILE1", 1), ("NAXIS2", 3)])
def test_compressed_tiles_that_do_not_make_the_picture_are_an_error(card, value):
    data = fits_of(fits.PrimaryHDU(), fits.CompImageHDU(RAMP.astype(np.int16)))
    head, table = data[:2880], data[2880:]
    with pytest.raises(ReadError, match=r"^x: some of its \d+ compressed tiles are missing; get a whole copy of it$"):
        decode(head + changed(table, card, value), "x")


def packed(kind="GZIP_1"):
    """Return a FITS with one compressed tile, and where the tile begins."""
    hdu = fits.CompImageHDU(RAMP.astype(np.int16), compression_type=kind, tile_shape=(10, 12))
    data = fits_of(fits.PrimaryHDU(), hdu)
    return data, len(data) - 2880 + 8


def with_tile(data, at, tile):
    """Return a FITS with another tile at the end of its table."""
    head = changed(data[2880:at], "PCOUNT", len(tile))
    content = head[:-8] + len(tile).to_bytes(4, "big") + bytes(4) + tile
    return data[:2880] + content + bytes(-len(content) % 2880)


@pytest.mark.parametrize("kind", ["GZIP_1", "GZIP_2"])
@pytest.mark.parametrize("column", [b"COMPRESSED_DATA", b"compressed_data"])
def test_a_tile_has_no_more_bytes_than_its_pixels_take(kind, column):
    data, at = packed(kind)
    data = data.replace(b"COMPRESSED_DATA", column)
    whole = data[at : at + int.from_bytes(data[at - 8 : at - 4], "big")]
    np.testing.assert_array_equal(decode(with_tile(data, at, whole), "x").planes[0], RAMP)
    bomb = gzip.compress(bytes(10**8))
    for tile in bomb, whole + bomb, whole[:-9]:
        tracemalloc.start()
        with pytest.raises(ReadError, match=r"^x: a compressed tile has the wrong size; get a whole copy"):
            decode(with_tile(data, at, tile), "x")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10**7


def test_a_tile_of_plio_ends_where_it_says():
    data, at = packed("PLIO_1")
    whole = data[at : at + 2 * int.from_bytes(data[at - 8 : at - 4], "big")]
    with pytest.raises(ReadError, match=r"^x: a compressed tile has the wrong size; get a whole copy"):
        decode(with_tile(data, at, whole[:6] + b"\x7f\xff" + whole[8:]), "x")


def test_a_tile_that_lies_of_its_size_is_an_error():
    for kind, cut in ("RICE_1", 20), ("HCOMPRESS_1", 2):
        data, at = packed(kind)
        more = bytes((0, 1, 0, 0)) * 2 + data[at + 10 :] if kind == "HCOMPRESS_1" else b""  # 65536 x 65536 pixels
        with pytest.raises(ReadError, match=r"^x: cannot be decoded"):
            decode(with_tile(data, at, data[at : at + cut] + more), "x")


@pytest.mark.parametrize(
    ("card", "value"), [("ZNAXIS", 99999999999), ("TFIELDS", 99999999999), ("ZNAXIS", 1000), ("TFIELDS", 1000)]
)
def test_a_table_has_as_many_columns_and_axes_as_the_standard_allows(card, value):
    data, _ = packed()
    with pytest.raises(ReadError, match=f"^x: cannot be decoded .{card} is {value}"):
        decode(data[:2880] + changed(data[2880:], card, value), "x")


@pytest.mark.parametrize("spelling", ["ZNAXIS  =", "znaxis  =", "HIERARCH ZNAXIS ="])
def test_a_number_of_axes_that_is_said_twice_is_an_error(spelling):
    data, _ = packed()
    end = data.rindex(b"END".ljust(80))
    twice = f"{spelling} 99999999999".ljust(80).encode()
    with pytest.raises(ReadError, match=r"^x: cannot be decoded .ZNAXIS is"):
        decode(data[:end] + twice + data[end:-80], "x")


def test_many_hdus_and_long_headers_are_read(tmp_path):
    empty = fits_of(fits.PrimaryHDU(), fits.ImageHDU())[2880:]
    data = fits_of(fits.PrimaryHDU(), GRAY)
    data = data[:2880] + empty * 1000 + data[2880:]
    assert decode(data, "x").metadata.hdus.chosen == [1001]
    with pytest.raises(ParameterError, match="no HDU 6000; --hdu may be 1001, counted from 0"):
        opened(data, "x", Asked(hdu=6000))
    long = empty[:-80].rstrip()[:-3].ljust(2880 * 1000) + b"END".ljust(2880)
    with pytest.raises(ReadError, match="has more than 64 MiB of headers before the end of the header of HDU 24"):
        decode(gzip.compress(data[:2880] + long * 30), "x")
    data = fits_of(RAMP.astype(np.int16))
    cards = b"".join(f"HISTORY {i}".ljust(80).encode() for i in range(36 * 1000))
    found = decode(data[: 5 * 80] + cards + data[5 * 80 :], "x")
    assert len(written(tmp_path, found)[1]["HISTORY"]) == 36 * 1000


def test_a_table_alone_is_no_picture():
    table = fits.BinTableHDU.from_columns([fits.Column("a", "J", array=[1, 2])])
    with pytest.raises(
        ReadError, match=r"^x: no picture in this FITS \(PRIMARY, BINTABLE\); give one of 2 axes or more$"
    ):
        decode(fits_of(fits.PrimaryHDU(), table), "x")


def test_color_and_alpha_do_not_fit():
    for given in picture(channels=3), Picture(GRAY[None], ALPHA, 255, "PNG"):
        with pytest.raises(WriteError, match=r"^x.fits: .fits has no (color|alpha)"):
            write(given, "x.fits")


def test_without_astropy_one_line_says_what_to_install(tmp_path):
    (tmp_path / "x.fits").write_bytes(fits_of(GRAY))
    hidden = "import sys; sys.modules['astropy'] = None; sys.meta_path.insert(0, type('No', (), {'find_spec': "
    code = hidden + (
        "staticmethod(lambda name, *_: (_ for _ in ()).throw(ImportError) if name == 'astropy' else None)}))\n"
        "from fftfilter.images import check_output, read\n"
        "for action, name in (read, 'x.fits'), (lambda name: check_output('x.png', name), 'y.fits'):\n"
        "    try: action(name)\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    done = python(code, cwd=tmp_path)
    assert done.stdout.decode().splitlines() == [
        f"ReadError x.fits: FITS needs astropy: {pip_install(extra='fits')}",
        f"ParameterError y.fits: FITS needs astropy: {pip_install(extra='fits')}",
    ]


def test_an_output_is_checked_with_astropy(tmp_path):
    check_output("x.png", tmp_path / "x.fits")
