"""What ImageJ and OME say of all pages, for those that are kept."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import tifffile
from PIL import Image

import fftfilter
from fftfilter import filter_stack
from fftfilter import transfer as H
from fftfilter.images import Asked, opened, pages_of
from fftfilter.images.pixel_size import of_series
from fftfilter.images.tiff_reader import kept_description
from tests.helpers import COMMAND

IMAGEJ = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\nunit=micron\nmin=0.0\nmax=300.0\n"
OME = '<?xml version="1.0"?><OME><Pixels ID="P" Type="int16" SignificantBits="12" SizeZ="6"/></OME>'


def after(text, chosen, *, keeps_levels=True, are_floats=False):
    return kept_description(text, chosen, 6, keeps_levels=keeps_levels, are_floats=are_floats)


@pytest.mark.parametrize("text", [IMAGEJ, OME, "anything", '{"shape": [6, 8, 9]}'])
def test_a_description_of_all_pages_stays(text):
    assert after(text, range(6)) == text


def test_the_range_that_imagej_shows_is_that_of_the_input():
    assert after(IMAGEJ, range(6), keeps_levels=False) == IMAGEJ.replace("min=0.0\nmax=300.0\n", "")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_file_of_one_page_says_so_too(dtype):
    file = io.BytesIO()
    tifffile.imwrite(file, np.ones((8, 9), dtype), imagej=True, metadata={"min": 3.0, "max": 200.0, "unit": "um"})
    for keeps_levels, left_out in (True, ()), (False, ("ImageJ's range of display",)):
        metadata = opened(file.getvalue(), "x.tif", Asked(keeps_levels=keeps_levels)).metadata
        tags = Image.Exif()
        tags.load(metadata.exif)
        assert ("unit=um" in tags[270], "min=3.0" in tags[270], "max=200.0" in tags[270]) == (True, *[keeps_levels] * 2)
        assert metadata.left_out == left_out


def test_some_pages_of_a_hyperstack_are_slices():
    assert after(IMAGEJ, range(1, 3)) == "ImageJ=1.53t\nimages=2\nslices=2\nunit=micron\nmin=0.0\nmax=300.0\n"


def test_some_frames_are_frames():
    assert after("ImageJ=1.53t\nimages=6\nframes=6\n", range(2)) == "ImageJ=1.53t\nimages=2\nframes=2\n"


def test_one_page_is_no_stack():
    assert after(IMAGEJ, range(2, 3)) == "ImageJ=1.53t\nunit=micron\nmin=0.0\nmax=300.0\n"


def test_ome_says_the_type_of_samples():
    assert after(OME, range(6), are_floats=True) == OME.replace("int16", "float").replace(' SignificantBits="12"', "")


def data_of(*names, own="1"):
    """Return a description whose planes are in files; None is a plane that names none."""
    said = [f'<UUID FileName="{name}.ome.tif">urn:uuid:{name}</UUID>' if name else "" for name in names]
    planes = "".join(f'<TiffData IFD="{i}" PlaneCount="1">{each}</TiffData>' for i, each in enumerate(said))
    return f'<?xml version="1.0"?><OME Creator="me" UUID="urn:uuid:{own}"><Pixels ID="P">{planes}</Pixels></OME>'


def test_ome_names_the_old_file_no_longer_and_readers_find_all_planes_in_the_new_one():
    assert after(data_of(*"111111"), range(6)) == data_of(*[None] * 6).replace(' UUID="urn:uuid:1"', "")
    prefixed = re.sub("<(/?)([A-Z])", r"<\1ome:\2", data_of(*"111111"))
    assert "UUID" not in after(prefixed, range(6))
    assert after(data_of(*[None] * 6), range(6)).count("UUID") == 0


@pytest.mark.parametrize(
    "text",
    [data_of(*"111222"), data_of(None, *"22222"), '<?xml version="1.0"?><OME><BinaryOnly MetadataFile="x.ome"/></OME>'],
)
def test_a_description_of_several_files_is_left_out(text):
    assert after(text, range(6)) == ""


def of_two_series(path):
    """Write five pages, of which two have half the pixel size; return their samples."""
    pages = np.random.default_rng(7).integers(0, 60000, (5, 32, 48), np.uint16)
    with tifffile.TiffWriter(path, ome=True) as file:
        for part, side in (pages[:3], 0.5), (pages[3:], 0.25):
            units = {"PhysicalSizeX": side, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": side, "PhysicalSizeYUnit": "µm"}
            file.write(part, photometric="minisblack", metadata={"axes": "ZYX", **units})
    return pages


def of_two_resolutions(path):
    pages = np.random.default_rng(7).integers(0, 60000, (5, 32, 48), np.uint16)
    with tifffile.TiffWriter(path) as file:
        for index, page in enumerate(pages):
            side = 0.5 if index < 3 else 0.25
            file.write(page, resolution=(10_000 / side,) * 2, resolutionunit=3, metadata=None)
    return pages


@pytest.mark.parametrize("make", [of_two_series, of_two_resolutions])
@pytest.mark.parametrize("pages", [None, "2-", "5"])
def test_each_page_is_filtered_by_the_size_of_its_own_pixels(tmp_path, make, pages):
    given = make(tmp_path / "in.ome.tif" if make is of_two_series else tmp_path / "in.tif")
    (source,) = tmp_path.iterdir()
    assert filter_stack(source, tmp_path / "out.tif", H.lowpass("4um"), output="keep", pages=pages, edges="wrap")
    first = {None: 0, "2-": 1, "5": 4}[pages]
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        made = [page.asarray() for page in file.pages]
    for number, page in enumerate(made, start=first):
        wanted = fftfilter.lowpass(given[number], "8px" if number < 3 else "16px", output="keep", edges="wrap")
        assert np.abs(page.astype(int) - wanted).max() <= 1, number


def test_one_scale_of_all_pages_is_that_of_each_filtered_by_its_own_size(tmp_path):
    given = of_two_series(tmp_path / "in.ome.tif")
    filter_stack(tmp_path / "in.ome.tif", tmp_path / "out.tif", H.highpass("4um"), scale="stack", **COMMAND)
    sizes = ["8px"] * 3 + ["16px"] * 2
    wanted = [
        np.abs(fftfilter.highpass(page / 1, size, output="real", edges="wrap"))
        for page, size in zip(given, sizes, strict=True)
    ]
    made = tifffile.imread(tmp_path / "out.tif", key=range(5))
    assert np.abs(made - 65535 * np.stack(wanted) / np.max(wanted)).max() <= 2


def test_series_of_ome_are_read_back_as_series(tmp_path):
    of_two_series(tmp_path / "in.ome.tif")
    filter_stack(tmp_path / "in.ome.tif", tmp_path / "out.tif", H.lowpass("4um"), output="keep", edges="wrap")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert [series.shape for series in file.series] == [(3, 32, 48), (2, 32, 48)]
        assert "UUID" not in file.ome_metadata


def test_one_of_several_files_keeps_the_size_of_its_pixels_and_names_no_sibling(tmp_path):
    described = data_of(*"1122").replace("<Pixels", '<Pixels PhysicalSizeX="0.325" PhysicalSizeY="0.325"')
    described = described.replace('IFD="2"', 'IFD="0"').replace('IFD="3"', 'IFD="1"')
    with tifffile.TiffWriter(tmp_path / "1.ome.tif") as file:
        file.write(np.ones((2, 8, 9), np.uint16), description=described, metadata=None, photometric="minisblack")
    pages = pages_of((tmp_path / "1.ome.tif").read_bytes(), "x")
    assert [pages.read(index).metadata.pixel_size.across for index in range(2)] == [pytest.approx(0.325e-6)] * 2
    assert pages.left_out == ("the description of all pages",)
    filter_stack(tmp_path / "1.ome.tif", tmp_path / "out.tif", H.lowpass(2), output="keep", edges="wrap")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert "UUID" not in file.pages.first.description
        assert file.pages.first.resolution == pytest.approx((25400 / 0.325,) * 2)


@pytest.mark.parametrize(
    "said",
    ['IFD="0" PlaneCount="999999999"', 'IFD="999999999"', 'PlaneCount="-3"', f'IFD="{"9" * 400}"', ""],
)
def test_what_a_damaged_description_says_of_pages_takes_no_time(said):
    text = f'<OME><Pixels PhysicalSizeX="2">{f"<TiffData {said}/>" * 50_000}</Pixels></OME>'
    assert of_series(text, 1000).keys() <= set(range(1000))


@pytest.mark.parametrize("text", [OME, '{"shape": [6, 8, 9]}'])
def test_what_cannot_be_said_of_some_pages_is_left_out(text):
    assert after(text, range(2)) == ""
