"""TIFFs of several pages, written by tifffile and Pillow, read page by page and written again."""

from __future__ import annotations

import io
import re
import struct

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ReadError, SeveralPagesError
from fftfilter.files.sources import Slices
from fftfilter.images import Asked, Coding, Pages, decode, measure, opened, pages_of, sink
from fftfilter.images import tiff_writer as writer
from tests.images.helpers import interleaved, noise

STACK = noise(3).transpose(2, 0, 1)  # 3 pages of 16 bits, 11 x 9


def tiff_of(*arguments, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, *arguments, **{"photometric": "minisblack"} | options)
    return file.getvalue()


def by_pillow(compression, pages=STACK):
    file = io.BytesIO()
    first, *others = [Image.fromarray(page) for page in pages]
    first.save(file, "TIFF", save_all=True, append_images=others, compression=compression)
    return file.getvalue()


def arrays(data, asked=None):
    pages = opened(data, "x.tif", Asked.parse(asked) if asked else Asked())
    if not isinstance(pages, Pages):
        return [interleaved(pages).squeeze()]
    return [interleaved(pages.read(i)).squeeze() for i in range(len(pages))]


KINDS = {
    "plain": lambda: tiff_of(STACK),
    "imagej": lambda: tiff_of(STACK, imagej=True),
    "imagej in the other byte order": lambda: tiff_of(STACK, imagej=True, byteorder=">"),
    "ome": lambda: tiff_of(STACK, ome=True, metadata={"axes": "ZYX"}),
    "big": lambda: tiff_of(STACK, bigtiff=True),
    "big in the other byte order": lambda: tiff_of(STACK, bigtiff=True, byteorder=">"),
    "deflate": lambda: tiff_of(STACK, compression="zlib", predictor=True),
    "lzw": lambda: by_pillow("tiff_lzw"),
    "8 bits": lambda: tiff_of(STACK.astype(np.uint8)),
    "float": lambda: tiff_of(STACK.astype(np.float32) / 7),
    "tiles": lambda: tiff_of(STACK, tile=(16, 16)),
    "color": lambda: tiff_of(np.stack([noise(3), noise(3)]), photometric="rgb"),
    "int32": lambda: tiff_of(STACK.astype(np.int32) - 30000),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_those_that_tifffile_reads(kind, tmp_path):
    data = KINDS[kind]()
    try:
        wanted = tifffile.imread(io.BytesIO(data))
    except ValueError:  # LZW, without imagecodecs
        wanted = STACK
    (tmp_path / "x.tif").write_bytes(data)
    with (tmp_path / "x.tif").open("rb") as file:
        for source in (data, Slices(file)):
            np.testing.assert_array_equal(arrays(source), wanted)
        assert measure(tmp_path / "x.tif").pages == len(wanted)


def test_a_run_of_imagej_has_the_tags_of_its_first_page_alone():
    """As ImageJ writes more than 4 GB."""
    data = bytearray(tiff_of(STACK, imagej=True))
    offset = struct.unpack_from("<I", data, 4)[0]
    tags = struct.unpack_from("<H", data, offset)[0]
    struct.pack_into("<I", data, offset + 2 + 12 * tags, 0)
    np.testing.assert_array_equal(arrays(bytes(data)), STACK)
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        start = file.pages.first.dataoffsets[0]
    with pytest.raises(ReadError, match=r"page 3 is missing, the file ends before it; .* --pages -2"):
        arrays(bytes(data[: start + 5 * STACK[0].nbytes // 2]))


def test_pages_may_differ_in_size_and_kind():
    pages = [np.zeros((4, 5), np.uint8), np.ones((6, 3, 3), np.uint8), np.full((2, 2), 0.5, np.float32)]
    file = io.BytesIO()
    with tifffile.TiffWriter(file) as made:
        for page in pages:
            made.write(page, photometric="rgb" if page.ndim == 3 else "minisblack", metadata=None)
    for got, wanted in zip(arrays(file.getvalue()), pages, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_palettes_and_what_libtiff_takes_apart_are_read_through_pillow():
    color = Image.fromarray(noise(3).astype(np.uint8))
    for compression, image in (("raw", color.quantize(7)), ("jpeg", color), ("group4", color.convert("1"))):
        file = io.BytesIO()
        image.save(file, "TIFF", save_all=True, append_images=[image.rotate(180)], compression=compression)
        first, second = arrays(file.getvalue())
        single = io.BytesIO()
        image.save(single, "TIFF", compression=compression)
        np.testing.assert_array_equal(first, interleaved(decode(single.getvalue(), "x")).squeeze())
        assert first.shape == second.shape
        assert (first != second).any()


@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_reduced_copies_and_masks_are_no_pages(byteorder):
    file = io.BytesIO()
    with tifffile.TiffWriter(file, byteorder=byteorder) as made:
        for page in STACK[:2]:
            made.write(page, subifds=1, metadata=None)
            made.write(page[::2, ::2], subfiletype=1)
        made.write(STACK[2, ::2, ::2], subfiletype=1, metadata=None)
        made.write(STACK[0], subfiletype=1, metadata=None)
        made.write(STACK[2], metadata=None)
    # The last reduced copy becomes a mask, of another size than the page.
    reduced, mask = (struct.pack(f"{byteorder}HHII", 254, 4, 1, kind) for kind in (1, 4))
    pages = opened(mask.join(file.getvalue().rsplit(reduced, 1)), "x.tif")
    assert pages.left_out == ("reduced copies of pages",)
    np.testing.assert_array_equal([pages.read(i).planes[0] for i in range(len(pages))], STACK)


@pytest.mark.parametrize("kind", ["plain", "imagej", "lzw", "big"])
def test_a_stack_that_is_cut_off_is_never_taken_for_a_shorter_one(kind):
    data = KINDS[kind]()
    for length in range(300, len(data) - 40, 97):
        try:
            found = arrays(data[:length])
        except ReadError:
            continue
        # ImageJ's first tags say where all pages are.
        assert kind == "imagej"
        np.testing.assert_array_equal(found, STACK)


def test_the_page_that_is_missing_has_its_number():
    data = by_pillow("tiff_lzw")  # each list of tags stands beside its page
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        second, third = file.pages[1], file.pages[2]
    with pytest.raises(
        ReadError,
        match=r"^x.tif: page 3 is missing, the file ends before it; get a whole copy of it, or take --pages -2$",
    ):
        arrays(data[: third.offset + 10])
    np.testing.assert_array_equal(arrays(data[: third.offset + 10], "1-2"), STACK[:2])
    file = bytearray(tiff_of(STACK, metadata=None))
    with tifffile.TiffFile(io.BytesIO(file)) as opened_file:
        second = opened_file.pages[1]
    struct.pack_into("<I", file, second.tags["StripOffsets"].offset + 8, len(file))
    with pytest.raises(
        ReadError,
        match=r"^x.tif, page 2: 1 of its 1 strips are missing, the first is number 1; get a whole copy of it$",
    ):
        arrays(bytes(file))


def test_a_chain_that_leads_back_ends():
    data = bytearray(by_pillow(None))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        first, last = file.pages[0], file.pages[2]
    tags = struct.unpack_from("<H", data, last.offset)[0]
    struct.pack_into("<I", data, last.offset + 2 + 12 * tags, first.offset)
    np.testing.assert_array_equal(arrays(bytes(data)), STACK)


def test_one_picture_is_not_taken_from_several():
    with pytest.raises(SeveralPagesError, match=r"3 frames or pages; save one of them as a file of its own$"):
        decode(tiff_of(STACK), "x.tif")


# Writing


def written(pictures, coding=Coding()):  # noqa: B008
    file = io.BytesIO()
    made = sink(file, ".tif", coding, count=len(pictures), plays=0)
    for picture in pictures:
        made.add(made.encode(picture, None))
    made.finish()
    return file.getvalue()


def pictures_of(data, asked=None, **options):
    pages = opened(data, "x.tif", (Asked.parse(asked) if asked else Asked())._replace(**options))
    return [pages.read(i) for i in range(len(pages))]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_what_was_read(kind):
    data = KINDS[kind]()
    again = written(pictures_of(data))
    np.testing.assert_array_equal(arrays(again), arrays(data))
    with tifffile.TiffFile(io.BytesIO(data)) as given, tifffile.TiffFile(io.BytesIO(again)) as got:
        assert [page.compression for page in got.pages] == [page.compression for page in given.pages]
        assert [page.offset % 2 for page in got.pages] == [0] * len(got.pages)  # as TIFF wants its lists of tags


def test_a_file_of_more_than_4_gib_is_a_bigtiff(monkeypatch):
    monkeypatch.setattr(writer, "_LARGEST", 1000)
    data = written(pictures_of(tiff_of(STACK)))
    assert data[:4] == b"II+\0"
    np.testing.assert_array_equal(tifffile.imread(io.BytesIO(data)), STACK)


def test_profiles_count_for_the_4_gib(monkeypatch):
    profile = bytes(16) + b"GRAY" + bytes(16) + b"acsp" + bytes(9000)
    data = tiff_of(STACK, iccprofile=profile)
    for largest, head in ((20_000, b"II+\0"), (40_000, b"II*\0")):
        monkeypatch.setattr(writer, "_LARGEST", largest)
        again = written(pictures_of(data))
        assert (again[:4], again.count(profile)) == (head, 3)


@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_what_imagej_says_stays(byteorder):
    said = {"axes": "ZYX", "unit": "um", "Labels": ["a", "b", "c"], "Info": "µ", "Ranges": (1.0, 9.0), "max": 9.0}
    data = tiff_of(STACK, imagej=True, resolution=((77, 5), (77, 10)), byteorder=byteorder, metadata=said)
    again = written(pictures_of(data))
    with tifffile.TiffFile(io.BytesIO(data)) as given, tifffile.TiffFile(io.BytesIO(again)) as got:
        assert got.imagej_metadata == given.imagej_metadata
        page = got.pages.first
        assert (page.tags["XResolution"].value, page.tags["ResolutionUnit"].value) == ((77, 5), 1)
        # ImageJ takes for granted that the samples of all pages follow each other.
        starts = [page.dataoffsets[0] for page in got.pages]
        assert np.diff(starts).tolist() == [STACK[0].nbytes] * 2
    (second, third) = pictures_of(data, "2-3", keeps_levels=False)
    with tifffile.TiffFile(io.BytesIO(written([second, third]))) as got:
        assert got.imagej_metadata == {"ImageJ": "1.11a", "images": 2, "slices": 2} | {
            "mode": "grayscale",
            "unit": "um",
            "Info": "µ",
            "Labels": ["b", "c"],
        }


def test_labels_that_are_not_one_for_each_page_stay():
    data = tiff_of(STACK, imagej=True, metadata={"Labels": ["a", "b"]})
    with tifffile.TiffFile(io.BytesIO(written(pictures_of(data, "2-3")))) as got:
        assert got.imagej_metadata["Labels"] == ["a", "b"]


def test_what_ome_says_stays():
    said = {"axes": "ZYX", "PhysicalSizeX": 0.1, "PhysicalSizeXUnit": "µm"}
    data = tiff_of(STACK, ome=True, metadata=said)
    with tifffile.TiffFile(io.BytesIO(data)) as given:
        for options, kind in (({}, "uint16"), ({"are_floats": True}, "float")):
            again = written(pictures_of(data, **options))
            assert "µm".encode() in again  # as OME has it
            with tifffile.TiffFile(io.BytesIO(again)) as got:
                wanted = re.sub(' UUID="[^"]*"', "", given.ome_metadata)  # that of another file
                assert got.ome_metadata == wanted.replace('Type="uint16"', f'Type="{kind}"')
                assert got.pages[1].description == ""


@pytest.mark.parametrize(
    ("dtype", "keeps_levels", "wanted"),
    [("i2", True, "int16"), ("i2", False, "float"), ("f8", True, "float"), ("u2", False, "uint16")],
)
def test_ome_says_the_type_of_the_samples_that_are_written(dtype, keeps_levels, wanted):
    data = tiff_of(STACK.astype(dtype), ome=True, metadata={"axes": "ZYX"})
    with tifffile.TiffFile(io.BytesIO(written(pictures_of(data, keeps_levels=keeps_levels)))) as got:
        assert f' Type="{wanted}"' in got.ome_metadata


def test_what_ome_says_of_all_pages_is_said_to_be_left_out_of_some():
    """But for the size of a pixel, which becomes a resolution."""
    data = tiff_of(STACK, ome=True, metadata={"axes": "ZYX", "PhysicalSizeX": 0.1, "PhysicalSizeXUnit": "µm"})
    for asked, wanted in ((Asked(), ()), (Asked(1, 2), ("the description of all pages",))):
        pages = opened(data, "x.tif", asked)
        first, *_ = [pages.read(index).metadata for index in range(len(pages))]
        assert pages.left_out == wanted
        assert first.pixel_size.across == pytest.approx(1e-7)
        assert first.dpi == (pytest.approx((254_000, 254_000)) if wanted else None)


def test_pages_of_a_file_on_disk_need_no_bytes_of_it(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff_of(STACK))
    with (tmp_path / "x.tif").open("rb") as file:
        pages = pages_of(Slices(file), "x.tif")
        np.testing.assert_array_equal([pages.read(i).planes[0] for i in (2, 0, 1)], STACK[[2, 0, 1]])
