"""FITS of several HDUs: one or all are filtered, and astropy finds the others as they were."""

from __future__ import annotations

import gzip
import shutil

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, ReadError
from tests.helpers import COMMAND, Imported, needs

pytestmark = needs("astropy")
fits = Imported("astropy.io.fits")
RAMP = np.arange(120).reshape(10, 12)
LOWPASS = ("lowpass", "--radius", "4px", "--output", "keep", "--verify")


@pytest.fixture
def given(tmp_path):
    """A file like those of telescopes: a primary header, pictures of several kinds, a table."""
    primary = fits.PrimaryHDU()
    primary.header.update(TELESCOP="X", CDELT1=-0.5, CDELT2=0.5, CUNIT1="arcsec", CUNIT2="arcsec")
    science = fits.ImageHDU(RAMP.astype(np.int16), name="SCI", ver=1)
    science.header.update(INHERIT=True, CRVAL1=10.5, BUNIT="adu")
    table = fits.BinTableHDU.from_columns([fits.Column("a", "J", array=[1, 2])], name="CAT")
    second = fits.ImageHDU(RAMP.astype(np.uint16) + 7, name="SCI", ver=2)
    packed = fits.CompImageHDU((RAMP % 7).astype(np.int32), name="DQ", compression_type="RICE_1")
    cube = fits.ImageHDU(np.stack([RAMP, RAMP[::-1], RAMP]).astype(np.float32)[:, :8], name="A/B")
    path = tmp_path / "in.fits"
    fits.HDUList([primary, science, table, second, packed, cube]).writeto(path, checksum=True)
    return path


def parts(path):
    """Return the bytes of each HDU, and whether astropy finds them right."""
    with fits.open(path, disable_image_compression=True, checksum=True) as hdus:
        hdus.verify("exception")
        for hdu in hdus:
            assert {"CHECKSUM", "DATASUM"}.isdisjoint(hdu.header) or (hdu.verify_checksum(), hdu.verify_datasum()) == (
                1,
                1,
            )
        places = [hdu.fileinfo() for hdu in hdus]
    data = gzip.decompress(path.read_bytes()) if path.name.endswith("gz") else path.read_bytes()
    return [data[place["hdrLoc"] : place["datLoc"] + place["datSpan"]] for place in places]


def filtered(array):
    """Return what the command makes of integers or floats."""
    made = fftfilter.lowpass(array.astype(np.float32), "4px", output="keep", edges="wrap")
    return np.rint(made) if array.dtype.kind != "f" else made


@pytest.mark.parametrize("out", ["out.fits", "out.fits.gz", "out.fz"])
@pytest.mark.parametrize(
    ("hdu", "chosen"), [(None, [1]), ("3", [3]), ("sci,2", [3]), ("DQ", [4]), ("A/B", [5]), ("all", [1, 3, 4, 5])]
)
def test_the_chosen_hdus_are_filtered_and_the_others_are_copied(run, given, tmp_path, out, hdu, chosen):
    code, printed, said = run(*LOWPASS, *(["--hdu", hdu] if hdu else []), given, tmp_path / out)
    assert (code, b"off by at most" in printed) == (0, True)
    line = "HDU 1 is filtered, 4 others are copied unchanged; --hdu chooses, --hdu all filters every picture"
    assert said == ("" if hdu else f"fftfilter: {line}\n")
    before, after = parts(given), parts(tmp_path / out)
    assert len(before) == len(after)
    with fits.open(given) as old, fits.open(tmp_path / out) as new:
        for i, (was, now) in enumerate(zip(old, new, strict=True)):
            assert (now.name, now.ver) == (was.name, was.ver)
            if i not in chosen:
                assert after[i] == before[i]
                continue
            assert [now.header.get(key) for key in ("INHERIT", "CRVAL1", "BUNIT", "BITPIX", "BZERO")] == [
                was.header.get(key) for key in ("INHERIT", "CRVAL1", "BUNIT", "BITPIX", "BZERO")
            ]
            assert any("lowpass" in each for each in now.header["HISTORY"])
            pages = zip(was.data.reshape(-1, *was.shape[-2:]), now.data.reshape(-1, *was.shape[-2:]), strict=True)
            for page, got in pages:
                np.testing.assert_allclose(got, filtered(page), atol=1 if page.dtype.kind != "f" else 1e-4)


def test_the_other_hdus_stay_in_place(run, given):
    before = parts(given)
    assert run("lowpass", "--output", "keep", "--in-place", "--hdu", "SCI,2", given, given)[0] == 0
    after = parts(given)
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, True, False, True, True]


def test_what_another_format_has_not_is_said(run, given, tmp_path):
    code, _, said = run("lowpass", "--hdu", "SCI,2", given, tmp_path / "out.png")
    assert (code, said) == (0, "fftfilter: HDU 3 is filtered, 4 others are left out\n")
    code, _, said = run("lowpass", "-v", "--output", "keep", "--hdu", "all", given, tmp_path / "out.tif")
    assert (code, "HDU 1, 3, 4, 5 is filtered, 1 other is left out" in said) == (0, True)
    before = given.read_bytes()
    code, _, said = run("lowpass", "--strip", "--in-place", given, given)
    assert (code, "its other HDUs would be lost: write another file" in said) == (1, True)
    assert given.read_bytes() == before


def test_a_stripped_output_has_the_picture_alone(run, given, tmp_path):
    assert run("lowpass", "--strip", "--hdu", "SCI,2", given, tmp_path / "out.fits")[0] == 0
    with fits.open(tmp_path / "out.fits") as hdus:
        assert (len(hdus), hdus[0].data.shape) == (1, (10, 12))
    code, _, said = run("lowpass", "--strip", "--hdu", "all", given, tmp_path / "o.fits")
    assert (code, "stripped outputs have no other HDUs: choose one, or leave --strip out" in said) == (2, True)


def test_the_size_of_a_pixel_is_inherited(run, given, tmp_path):
    for radius, name in ("2arcsec", "a.fits"), ("4px", "b.fits"):
        assert run("lowpass", "--radius", radius, "--hdu", "1", given, tmp_path / name)[0] == 0
    a, b = (fits.getdata(tmp_path / name, 1) for name in ("a.fits", "b.fits"))
    np.testing.assert_array_equal(a, b)
    assert run("lowpass", "--radius", "2arcsec", "--hdu", "3", given, tmp_path / "c.fits")[0] == 2


@pytest.mark.parametrize(
    ("hdu", "said"),
    [
        (
            "2",
            "HDU 2, BINTABLE, is no picture; --hdu may be 1 (SCI,1), 3 (SCI,2), 4 (DQ,1), 5 (A/B,1), counted from 0, ",
        ),
        ("CAT", "HDU CAT, BINTABLE, is no picture"),
        ("SCI,3", "no HDU SCI,3; --hdu may be 1 (SCI,1)"),
        ("99", "no HDU 99; "),
        ("-1", "HDU '-1' is unknown: give a number counted from 0, a NAME, NAME,VERSION or all"),
        ("", "HDU '' is unknown"),
        ("9" * 5000, "no HDU 9999"),
    ],
)
def test_an_hdu_that_is_no_picture_is_one_line(run, given, tmp_path, hdu, said):
    code, _, line = run("lowpass", f"--hdu={hdu}", given, tmp_path / "out.fits")
    assert (code, line.count("\n"), said in line) == (2, 1, True)
    assert not (tmp_path / "out.fits").exists()


def test_pages_are_those_of_one_picture(run, given, tmp_path):
    assert run("lowpass", "--output=keep", "--hdu", "A/B", "--pages", "2-3", given, tmp_path / "out.fits")[0] == 0
    assert fits.getdata(tmp_path / "out.fits", 5).shape == (2, 8, 12)
    code, _, said = run("lowpass", "--hdu", "all", "--pages", "2-3", given, tmp_path / "o.fits")
    assert (code, "--pages are those of one picture: leave it out, or choose an --hdu" in said) == (2, True)


def test_python_takes_names(given, tmp_path):
    for hdu, count in ("SCI", 1), ("SCI,2", 1), (3, 1), ("all", 6):
        assert (
            fftfilter.filter_stack(given, tmp_path / "out.fits", H.lowpass("4px"), output="keep", hdu=hdu, edges="wrap")
            == count
        )
    with pytest.raises(ParameterError, match=r"^HDU 0\.5 is unknown"):
        fftfilter.filter_stack(given, tmp_path / "out.fits", H.lowpass("4px"), hdu=0.5, **COMMAND)


def test_a_recipe_has_the_name_of_an_hdu(run, given, tmp_path):
    assert run("lowpass", "--hdu", "SCI,2", "--save-recipe", tmp_path / "r.json", given, tmp_path / "a.fits")[0] == 0
    assert run("apply", tmp_path / "r.json", given, tmp_path / "b.fits")[0] == 0
    assert (tmp_path / "a.fits").read_bytes() == (tmp_path / "b.fits").read_bytes()


def test_a_picture_that_was_the_primary_one_becomes_it_again(run, tmp_path):
    fits.PrimaryHDU(RAMP.astype(np.int16)).writeto(tmp_path / "a.fits")
    table = fits.BinTableHDU.from_columns([fits.Column("a", "J", array=[1, 2])])
    with fits.open(tmp_path / "a.fits") as hdus:
        fits.HDUList([hdus[0], table]).writeto(tmp_path / "b.fits")
    for name in "ab":
        assert run(*LOWPASS, tmp_path / f"{name}.fits", tmp_path / f"{name}.fz")[0] == 0
        assert run(*LOWPASS, tmp_path / f"{name}.fz", tmp_path / f"{name}2.fits")[0] == 0
        with fits.open(tmp_path / f"{name}.fits") as old, fits.open(tmp_path / f"{name}2.fits") as new:
            assert [type(hdu) for hdu in old] == [type(hdu) for hdu in new]
            assert new[0].data.shape == (10, 12)


def test_a_folder_has_gzipped_fits_and_all_hdus(run, given, tmp_path):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / f"in/{name}.fits.gz").write_bytes(gzip.compress(given.read_bytes()))
    code, out, _ = run(*LOWPASS, "9", "--hdu", "all", tmp_path / "in", tmp_path / "out")
    assert (code, out.count(b"off by at most")) == (0, 2)
    assert len(parts(tmp_path / "out/b.fits.gz")) == 6
    assert run("lowpass", "--format", "png", tmp_path / "in", tmp_path / "png")[0] == 0
    assert sorted(each.name for each in (tmp_path / "png").glob("*.png")) == ["a.png", "b.png"]


def test_a_large_file_is_read_and_copied_in_parts(run, tmp_path):
    rng = np.random.default_rng(1)
    pictures = [rng.integers(0, 999, (n, 1800, 1800)).astype(np.int16) for n in (2, 1, 3)]
    fits.HDUList([fits.PrimaryHDU(pictures[0]), *map(fits.ImageHDU, pictures[1:])]).writeto(tmp_path / "in.fits")
    for hdu, changed in ("1", [1]), ("0", [0]), ("all", [0, 1, 2]):
        code, out, _ = run(*LOWPASS, "--hdu", hdu, tmp_path / "in.fits", tmp_path / "out.fits")
        assert (code, b"off by at most" in out) == (0, True)
        before, after = parts(tmp_path / "in.fits"), parts(tmp_path / "out.fits")
        data = [[each[-(len(each) // 2880 - 1) * 2880 :] for each in which] for which in (before, after)]
        assert [i for i, (a, b) in enumerate(zip(*data, strict=True)) if a != b] == changed


def test_a_file_that_ends_within_another_hdu_is_refused(run, given, tmp_path):
    whole = given.read_bytes()
    for end in len(whole) - 2880, len(whole) - 5000:
        given.write_bytes(whole[:end])
        code, _, said = run("lowpass", given, tmp_path / "out.fits")
        assert (code, "the file ends within" in said and "HDU 5; get a whole copy of it" in said) == (1, True)
    given.write_bytes(whole + b"what follows".ljust(2880))  # special records
    assert run("lowpass", "--hdu=1", given, tmp_path / "out.fits")[0] == 0
    assert (tmp_path / "out.fits").read_bytes().endswith(b"what follows".ljust(2880))


# Gzip


@pytest.mark.parametrize("name", ["in.fits.gz", "in.fit.gz", "IN.FITS.GZ", "in.fits"])
def test_a_gzipped_fits_is_read(run, tmp_path, name):
    fits.PrimaryHDU(RAMP.astype(np.uint16)).writeto(tmp_path / "plain.fits")
    (tmp_path / name).write_bytes(gzip.compress((tmp_path / "plain.fits").read_bytes()))
    assert run(*LOWPASS, tmp_path / name, tmp_path / "out.fits.gz")[0] == 0
    assert run(*LOWPASS, tmp_path / "plain.fits", tmp_path / "wanted.fits")[0] == 0
    packed = (tmp_path / "out.fits.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "wanted.fits").read_bytes()
    assert packed[:9].hex() == "1f8b08000000000000" or packed[4:8] == bytes(4)  # no name and no time
    with (tmp_path / name).open("rb") as file:
        assert run(*LOWPASS[:-1], "-", tmp_path / "o.fits", stdin=file)[0] == 0


def test_a_gzip_is_decompressed_as_far_as_its_headers_say(tmp_path):
    fits.PrimaryHDU(RAMP.astype(np.uint16)).writeto(tmp_path / "plain.fits")
    plain = (tmp_path / "plain.fits").read_bytes()
    path = tmp_path / "in.fits.gz"
    path.write_bytes(gzip.compress(plain + bytes(1 << 28)))
    import tracemalloc

    tracemalloc.start()
    assert fftfilter.filter_stack(path, tmp_path / "out.fits", H.lowpass("4px"), output="keep", edges="wrap") == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 26
    path.write_bytes(gzip.compress(plain)[:150])
    with pytest.raises(ReadError, match=r"in.fits.gz: (the file ends within|cannot be decoded)"):
        fftfilter.filter_stack(path, tmp_path / "out.fits", H.lowpass("4px"), **COMMAND)
    path.write_bytes(gzip.compress(plain[:80] + b" " * (1 << 27)))
    with pytest.raises(ReadError, match="has more than 64 MiB of headers before the end of the header of HDU 0"):
        fftfilter.filter_stack(path, tmp_path / "out.fits", H.lowpass("4px"), **COMMAND)
    path.write_bytes(gzip.compress(b"P5 2 2 255\n1234"))
    with pytest.raises(ReadError, match="an archive is not supported; unpack it"):
        fftfilter.filter_stack(path, tmp_path / "out.fits", H.lowpass("4px"), **COMMAND)


def test_a_fits_in_a_folder_of_the_recipe_stays(run, given, tmp_path):
    shutil.copy(given, tmp_path / "x.fits")
    assert run("lowpass", "--output", "keep", "--embed-recipe", "--hdu", "all", given, tmp_path / "out.fits")[0] == 0
    assert run("apply", tmp_path / "out.fits", tmp_path / "x.fits", tmp_path / "again.fits")[0] == 0
    assert b"lowpass" in run("apply", "--show", tmp_path / "out.fits")[1]
