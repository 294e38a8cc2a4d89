"""Cutoffs in physical units, on files whose pixels have a size, or are given one."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tifffile
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.errors import ParameterError
from fftfilter.transfer import reference
from tests.helpers import COMMAND, assert_gray_levels

SIZE = (36, 60)


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, SIZE, dtype=np.uint8)


@pytest.fixture
def scan(tmp_path, image):
    """A picture of 254 dpi: 0.1 mm a pixel."""
    Image.fromarray(image).save(tmp_path / "scan.png", dpi=(254, 254))
    return tmp_path / "scan.png"


def pixels(path):
    return np.asarray(Image.open(path))


def wanted(image, radius):
    return reference.filter_image(image, H.lowpass(radius).gain(*SIZE))


@pytest.mark.parametrize("options", [[], ["--strip"], ["--verify"]], ids=str)
def test_the_files_own_pixel_size(run, tmp_path, scan, image, options):
    code, _, said = run("lowpass", "-v", "--radius", "1mm", *options, scan, tmp_path / "out.png")
    assert code == 0
    assert "radius 1mm, pixel size 0.1 mm from the file's 254 dpi;" in said
    assert_gray_levels(pixels(tmp_path / "out.png"), wanted(image, "10px"))


def test_a_given_pixel_size_goes_before_the_files(run, tmp_path, scan, image):
    given = ["--pixel-size", "0.2mm", "--radius", "25.4lpi"]
    code, _, said = run("lowpass", "-v", *given, scan, tmp_path / "out.png")
    assert code == 0
    assert "radius 25.4lpi, pixel size 0.2 mm;" in said
    assert_gray_levels(pixels(tmp_path / "out.png"), wanted(image, "5px"))


def test_every_filter_takes_physical_units(run, tmp_path, scan, image):
    arguments = ["bandpass", "--large", "2mm", "--small", "2lp/mm", "--notch", "0.2,0.1,0.5mm", "--stripes", "33"]
    assert run(*arguments, scan, tmp_path / "out.png") == (0, b"", "")
    named = H.bandpass("20px", "5px") * H.notch((0.2, 0.1), width="5px") * H.stripes(33)
    transfer = fitted(named, image[None], 255)
    assert_gray_levels(pixels(tmp_path / "out.png"), reference.filter_image(image, transfer.gain(*SIZE)))


def test_without_a_pixel_size_both_ways_out_are_named(run, tmp_path, image):
    Image.fromarray(image).save(tmp_path / "plain.png")
    code, out, said = run("lowpass", "--radius", "1mm", tmp_path / "plain.png", tmp_path / "out.png")
    assert (code, out) == (2, b"")
    assert said == (
        f"fftfilter: {tmp_path / 'plain.png'}: says no pixel size, which 1mm needs: give --pixel-size "
        "(65nm, 300dpi, 0.2arcsec), or a number with px, cyc or %\n"
    )
    code, _, said = run("lowpass", "--pixel-size", "0.1", tmp_path / "plain.png", tmp_path / "out.png")
    assert (code, said.count("\n")) == (2, 1)
    assert "pixel size '0.1' has no unit" in said
    assert not (tmp_path / "out.png").exists()


def test_each_file_of_a_folder_has_its_own_pixel_size(run, tmp_path, image):
    given, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "report.jsonl"
    given.mkdir()
    for i, dpi in enumerate((254, 50.8, 254, 50.8)):
        Image.fromarray(image).save(given / f"{i}.png", dpi=(dpi, dpi))
    Image.fromarray(image).save(given / "plain.png")
    code, _, said = run("lowpass", "-v", "--radius", "1mm", "--report", report, given, out)
    assert code == 1
    assert "4 of 5 files filtered" in said
    assert "1.png: done, pixel size 0.5 mm from the file's 50.8 dpi\n" in said
    assert "plain.png: says no pixel size" in said
    for i, radius in enumerate(("10px", "2px", "10px", "2px")):
        assert_gray_levels(pixels(out / f"{i}.png"), wanted(image, radius))
    lines = sorted((json.loads(line) for line in report.read_text().splitlines()), key=lambda line: line["input"])
    assert [line["filter"].get("pixel_size") or 0 for line in lines] == pytest.approx(
        [1e-4, 5e-4, 1e-4, 5e-4, 0], rel=1e-4
    )


def test_pages_have_the_pixel_size_of_imagejs_description(run, tmp_path, image):
    pages = np.stack([image, 255 - image])
    resolution = {"resolution": (10, 10), "metadata": {"unit": "um", "axes": "ZYX"}}
    tifffile.imwrite(tmp_path / "cells.tif", pages, imagej=True, **resolution)
    code, _, said = run("lowpass", "-v", "--radius", "1um", tmp_path / "cells.tif", tmp_path / "out.tif")
    assert code == 0
    assert "2 pages, 60 x 36: lowpass, ideal, radius 1um, pixel size 0.1 um from the file's ImageJ description" in said
    for given, got in zip(pages, tifffile.imread(tmp_path / "out.tif"), strict=True):
        assert_gray_levels(got, wanted(given, "10px"))
    fftfilter.filter_stack(
        tmp_path / "cells.tif", tmp_path / "again.tif", H.lowpass("1um"), pixel_size="200nm", **COMMAND
    )
    assert_gray_levels(tifffile.imread(tmp_path / "again.tif")[1], wanted(pages[1], "5px"))


def test_some_pages_of_ome_keep_the_pixel_size(run, tmp_path, image):
    size = {"PhysicalSizeX": 0.1, "PhysicalSizeXUnit": "\N{MICRO SIGN}m", "PhysicalSizeY": 0.1}
    tifffile.imwrite(tmp_path / "cells.ome.tif", np.stack([image, image, image]), metadata={"axes": "ZYX", **size})
    given = [tmp_path / "cells.ome.tif"]
    for source, out, said_by in (
        (given, "2.tif", "OME description"),
        ([tmp_path / "2.tif"], "again.tif", "2.54e+05 dpi"),
    ):
        pages = ["--pages", "2"] if source is given else []
        code, _, said = run("lowpass", "-v", "--radius", "1um", *pages, *source, tmp_path / out)
        assert code == 0
        assert f"pixel size 0.1 um from the file's {said_by}" in said
        assert ("the description of all pages" in said) == (source is given)


def test_another_pixel_size_is_another_filter(run, tmp_path, scan):
    (tmp_path / "out").mkdir()
    for size, skipped in (("1mm", False), ("1mm", True), ("2mm", False)):
        arguments = ["--radius", "9mm", "--pixel-size", size, "--skip-existing", tmp_path / "in", tmp_path / "out"]
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a.png").write_bytes(scan.read_bytes())
        code, _, said = run("lowpass", *arguments)
        assert code == 0
        assert ("1 skipped" in said) == skipped


def test_a_dry_run_needs_no_pixel_size(run, tmp_path, scan):
    (tmp_path / "in").mkdir()
    scan.rename(tmp_path / "in" / "a.png")
    code, out, said = run("lowpass", "-n", "--radius", "1mm", tmp_path / "in", tmp_path / "out")
    assert (code, said) == (0, "")
    assert b"1 files" in out


def test_in_python_a_filter_takes_the_pixel_size(image):
    got = fftfilter.lowpass(image, "1mm", pixel_size="0.1mm", **COMMAND)
    np.testing.assert_array_equal(got, fftfilter.lowpass(image, "10px", **COMMAND))
    with pytest.raises(ParameterError, match="1mm needs the size of a pixel"):
        fftfilter.lowpass(image, "1mm", **COMMAND)
