"""Files that stay as they are: FITS, palettes, tiles and integers, from the command line and from Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tifffile
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from tests.helpers import COMMAND, Imported, needs

pytestmark = needs("astropy")
fits = Imported("astropy.io.fits")
RAMP = np.arange(120).reshape(10, 12)
LOWPASS = ("lowpass", "--radius", "4px", "--output", "keep", "--verify")
ON_THE_SKY = {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CDELT1": -0.5 / 3600, "CDELT2": 0.5 / 3600, "BUNIT": "adu"}


def a_fits(path, array, **cards):
    hdu = fits.PrimaryHDU(array)
    hdu.header.update(cards)
    hdu.writeto(path)


def a_palette(path, indices):
    colors = np.stack([np.arange(256), np.arange(256), 255 - np.arange(256)], axis=-1)
    image = Image.fromarray(indices.astype(np.uint8))
    image.putpalette(colors.ravel().tolist())
    image.save(path)


def test_a_fits_says_what_was_done(run, tmp_path):
    a_fits(tmp_path / "in.fits", RAMP.astype(np.int16), **ON_THE_SKY)
    code, out, said = run(*LOWPASS, "--radius", "2arcsec", "-v", tmp_path / "in.fits", tmp_path / "out.fits")
    assert (code, b"; 0 of " in out) == (0, True)
    assert "pixel size 0.5 arcsec from the file's WCS" in said
    header = fits.getheader(tmp_path / "out.fits")
    assert list(header["HISTORY"]) == [
        f"fftfilter {fftfilter.__version__}: lowpass, ideal, radius 2arcsec; output keep"
    ]
    given = fits.getheader(tmp_path / "in.fits")
    assert [header[name] for name in ("BITPIX", *ON_THE_SKY)] == [given[name] for name in ("BITPIX", *ON_THE_SKY)]
    assert run(*LOWPASS, "--strip", tmp_path / "in.fits", tmp_path / "bare.fits")[0] == 0
    assert "HISTORY" not in fits.getheader(tmp_path / "bare.fits")
    assert run("lowpass", "--output", "real", tmp_path / "in.fits", tmp_path / "real.fits")[0] == 0
    assert fits.getheader(tmp_path / "real.fits")["BUNIT"] == "adu"


def test_history_has_ascii_for_the_name_of_a_mask(run, tmp_path):
    a_fits(tmp_path / "in.fits", RAMP.astype(np.int16))
    Image.fromarray(np.ones(RAMP.shape, np.uint8)).save(tmp_path / "mäsk.png")
    given = ("--output", "keep", "--region", tmp_path / "mäsk.png", "--embed-recipe", tmp_path / "in.fits")
    assert run("lowpass", *given, tmp_path / "out.fits")[0] == 0
    assert "m?sk.png" in "".join(fits.getheader(tmp_path / "out.fits")["HISTORY"])
    assert "mäsk.png".encode() in run("apply", "--show", tmp_path / "out.fits")[1]


@pytest.mark.parametrize("shape", [(8, 9), (2, 8, 9)])
def test_other_hdus_are_not_lost_in_place(run, tmp_path, shape):
    path = tmp_path / "in.fits"
    fits.HDUList([fits.PrimaryHDU(np.ones(shape, np.float32)), fits.ImageHDU(RAMP)]).writeto(path)
    before = path.read_bytes()
    code, _, said = run("lowpass", "--output", "keep", "--in-place", "--strip", path, path)
    assert (code, said.splitlines()[-1]) == (1, f"fftfilter: {path}: its other HDUs would be lost: write another file")
    assert path.read_bytes() == before
    assert run("lowpass", "--output", "keep", "--in-place", path, path)[0] == 0
    np.testing.assert_array_equal(fits.getdata(path, 1), RAMP)


def test_a_fits_that_is_stripped_says_nothing(run, tmp_path):
    a_fits(tmp_path / "in.fits", RAMP.astype(np.int16), OBJECT="M 31")
    assert run(*LOWPASS, "--strip", tmp_path / "in.fits", tmp_path / "out.fits")[0] == 0
    assert list(fits.getheader(tmp_path / "out.fits")) == ["SIMPLE", "BITPIX", "NAXIS", "NAXIS1", "NAXIS2"]


def test_2arcsec_of_half_an_arcsec_are_4_pixels(run, tmp_path):
    a_fits(tmp_path / "in.fits", RAMP.astype(np.float32), **ON_THE_SKY)
    for name, radius in ("a.fits", "4px"), ("b.fits", "2arcsec"):
        assert run("lowpass", "--radius", radius, tmp_path / "in.fits", tmp_path / name)[0] == 0
    a, b = (fits.getdata(tmp_path / name) for name in ("a.fits", "b.fits"))
    np.testing.assert_array_equal(a, b)
    assert "BUNIT" not in fits.getheader(tmp_path / "a.fits")  # magnitudes are parts of white


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--radius", "2um"], "2um is a length, and the pixel size, 0.5 arcsec, is an angle"),
        (
            ["--radius", "2arcsec", "--pixel-size", "65nm"],
            "2arcsec is an angle, and the pixel size, 65 nm, is a length",
        ),
        (["--radius", "2px", "--hdu", "1"], "no HDU 1; --hdu may be 0, counted from 0"),
    ],
)
def test_what_does_not_fit_a_fits_is_one_line(run, tmp_path, options, message):
    a_fits(tmp_path / "in.fits", RAMP.astype(np.float32), **ON_THE_SKY)
    code, _, said = run("lowpass", *options, tmp_path / "in.fits", tmp_path / "out.fits")
    assert (code, said.count("\n"), message in said) == (2, 1, True)
    assert not (tmp_path / "out.fits").exists()


def test_waves_on_the_sky_have_no_length(run, tmp_path, rng):
    (tmp_path / "in").mkdir()
    for name in "ab":
        a_fits(tmp_path / f"in/{name}.fits", rng.integers(0, 99, (64, 64)).astype(np.int16), **ON_THE_SKY)
    for given in (tmp_path / "in", tmp_path / "in/a.fits"):
        assert json.loads(run("peaks", "--json", given)[1])["pixel_size_m"] is None


@pytest.mark.parametrize("name", ["out.fits", "out.fz", "out.tif"])
def test_the_pages_of_a_cube_are_filtered(run, tmp_path, name):
    a_fits(tmp_path / "in.fits", np.stack([RAMP, RAMP + 50]).astype(np.int16))
    code, out, said = run(*LOWPASS, tmp_path / "in.fits", tmp_path / name)
    assert (code, said) == (0, "")
    assert b"; 0 of 240 samples by too much" in out
    got = tifffile.imread(tmp_path / name) if name == "out.tif" else fits.getdata(tmp_path / name)
    assert (got.shape, got.dtype.newbyteorder("=")) == ((2, 10, 12), np.int16)


def test_a_folder_has_fits(run, tmp_path):
    (tmp_path / "in").mkdir()
    a_fits(tmp_path / "in" / "a.fits", RAMP.astype(np.int16))
    a_palette(tmp_path / "in" / "b.png", RAMP)
    tifffile.imwrite(tmp_path / "in" / "c.tif", RAMP.astype(np.int32), tile=(16, 16))
    code, out, _ = run(*LOWPASS, "9", tmp_path / "in", tmp_path / "out")
    assert (code, out.count(b" by too much") + out.count(b"in 0 of ")) == (0, 3)
    assert fits.getheader(tmp_path / "out" / "a.fits")["BITPIX"] == 16
    assert Image.open(tmp_path / "out" / "b.png").mode == "P"
    with tifffile.TiffFile(tmp_path / "out" / "c.tif") as file:
        assert (file.pages[0].is_tiled, file.pages[0].dtype) == (True, np.int32)


@pytest.mark.parametrize(
    ("options", "mode"), [([], "P"), (["--palette", "colors"], "RGB"), (["--palette", "table"], "P")]
)
def test_a_palette_is_what_it_is_said_to_be(run, tmp_path, options, mode):
    a_palette(tmp_path / "in.png", RAMP)
    code, out, said = run(*LOWPASS, "-v", *options, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, b"off by at most 0 of 255" in out) == (0, True)
    assert ("look-up table: its indices are filtered" in said) == (mode == "P")
    assert Image.open(tmp_path / "out.png").mode == mode


def test_a_folder_says_of_each_file_what_is_missing_and_has_a_table(run, tmp_path):
    (tmp_path / "in").mkdir()
    a_palette(tmp_path / "in/a.png", RAMP)
    tifffile.imwrite(tmp_path / "in/b.tif", np.where(RAMP < 30, np.nan, RAMP).astype(np.float32))
    code, _, said = run("lowpass", "-v", "--report", tmp_path / "r.jsonl", tmp_path / "in", tmp_path / "out")
    assert code == 0
    assert [line.partition(": ")[2] for line in said.splitlines() if "-> " in line] == [
        "done, indices of a look-up table",
        "done, 25.00% missing",
    ]
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {line["input"][-5:]: line["missing"] for line in lines} == {"a.png": 0, "b.tif": 0.25}


def test_the_palette_of_a_mask_has_colors(run, tmp_path):
    a_palette(tmp_path / "mask.png", RAMP)
    Image.fromarray(RAMP.astype(np.uint8)).save(tmp_path / "in.png")
    code, _, said = run("mask", "--mask", tmp_path / "mask.png", tmp_path / "in.png", tmp_path / "out.png")
    assert (code, "has colors, and a mask has one gain for each frequency" in said) == (2, True)


@pytest.mark.parametrize(("output", "dtype"), [("keep", np.int16), ("real", np.float32), ("magnitude", np.float32)])
def test_integers_stay_where_levels_are_kept(run, tmp_path, output, dtype):
    tifffile.imwrite(tmp_path / "in.tif", (RAMP - 60).astype(np.int16))
    code, out, _ = run(*LOWPASS, "--output", output, tmp_path / "in.tif", tmp_path / "out.tif")
    assert (code, out.count(b"off by at most")) == (0, 1)
    assert tifffile.imread(tmp_path / "out.tif").dtype == dtype
    tifffile.imwrite(tmp_path / "in.ome.tif", np.stack([RAMP, RAMP]).astype(np.int16), metadata={"axes": "ZYX"})
    assert run(*LOWPASS, "--output", output, tmp_path / "in.ome.tif", tmp_path / "out.ome.tif")[0] == 0
    with tifffile.TiffFile(tmp_path / "out.ome.tif") as file:
        said = "int16" if dtype == np.int16 else "float"
        assert (file.pages[0].dtype, f' Type="{said}"' in file.ome_metadata) == (dtype, True)


def test_integers_are_clipped_to_their_type(run, tmp_path):
    steps = np.where(RAMP % 12 < 6, -32768, 32767).astype(np.int16)
    tifffile.imwrite(tmp_path / "in.tif", steps)
    assert run(*LOWPASS, tmp_path / "in.tif", tmp_path / "out.tif")[0] == 0
    got = tifffile.imread(tmp_path / "out.tif")
    assert (got.min(), got.max()) == (-32768, 32767)  # an ideal filter overshoots


def test_python_takes_the_same_options(tmp_path):
    hdus = fits.HDUList(
        [fits.PrimaryHDU(), fits.ImageHDU(RAMP.astype(np.int16)), fits.ImageHDU(-RAMP.astype(np.int16))]
    )
    hdus.writeto(tmp_path / "in.fits")
    for hdu, sign in (None, 1), (2, -1):
        fftfilter.filter_stack(
            tmp_path / "in.fits", tmp_path / "out.fits", H.lowpass("4px"), output="keep", hdu=hdu, edges="wrap"
        )
        assert np.sign(fits.getdata(tmp_path / "out.fits", hdu or 1).mean()) == sign
    a_palette(tmp_path / "in.png", RAMP)
    fftfilter.filter_stack(tmp_path / "in.png", tmp_path / "out.png", H.lowpass("4px"), palette="colors", **COMMAND)
    assert Image.open(tmp_path / "out.png").mode == "RGB"
    for wrong, said in (
        ({"palette": "x"}, "^palette 'x' is unknown: choose auto, table, colors$"),
        ({"hdu": -1}, "^HDU -1 is unknown: give a number counted from 0, a NAME, NAME,VERSION or all$"),
        ({"level": 0.5}, "^level 0.5 is invalid: give a whole number, counted from 0$"),
        ({"compression": "x"}, "^compression 'x' is unknown: choose none, lzw, deflate, packbits, lzma, zstd$"),
    ):
        with pytest.raises(ParameterError, match=said):
            fftfilter.filter_stack(tmp_path / "in.png", tmp_path / "out.png", H.lowpass("4px"), **(COMMAND | wrong))


@pytest.mark.parametrize(
    ("name", "larger", "smaller"),
    [
        ("out.png", {"png_level": 0}, {"png_level": 9}),
        ("out.jpg", {"quality": 95}, {"quality": 10}),
        ("out.tif", {"compression": "none"}, {"compression": "deflate"}),
        ("out.png", {}, {"strip": True}),
    ],
    ids=["png_level", "quality", "compression", "strip"],
)
def test_python_says_how_a_file_is_coded(tmp_path, name, larger, smaller):
    Image.fromarray(RAMP.astype(np.uint8)).save(tmp_path / "in.png", dpi=(300, 300))
    sizes = []
    for options in larger, smaller:
        fftfilter.filter_stack(tmp_path / "in.png", tmp_path / name, H.lowpass("4px"), **(COMMAND | options))
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[0] > sizes[1]
