"""Which pages are asked for."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

from fftfilter.cli import cli
from fftfilter.errors import ParameterError, SeveralPagesError
from fftfilter.files.sources import Slices
from fftfilter.images import decode, opened
from fftfilter.images.pages import ALL, Asked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *[("2-4", [1, 2, 3]), ("3", [2]), ("4-", [3, 4]), ("-2", [0, 1]), (" 1-5 ", [0, 1, 2, 3, 4])],
        *[("1,2", [0, 1]), ("4, 2", [1, 3]), ("1-5:2", [0, 2, 4]), ("2-:3,1,2", [0, 1, 4]), ("-4:9", [0])],
    ],
)
def test_pages_are_counted_from_1(text, wanted):
    assert list(Asked.parse(text).of(5, "x.tif")) == wanted


def test_all_pages_are_those_of_the_file():
    assert list(ALL.of(3, "x.tif")) == [0, 1, 2]


@pytest.mark.parametrize(
    "text", ["", "-", "0", "0-3", "3-0", "1,,2", "1-3:0", "1:", "1,0", "a", "1-2-3", "1.5", "9" * 5000]
)
def test_what_asks_for_no_page_is_refused(text):
    said = f"^pages '{text[:80]}' are unknown: give 2-5, 3, 3- or -5, counted from 1, steps as 2-9:3, lists as 2,4$"
    with pytest.raises(ParameterError, match=said):
        Asked.parse(text)


def test_a_range_that_runs_backwards_is_refused():
    with pytest.raises(ParameterError, match=r"^pages '3-2' are an empty range: give the smaller number first$"):
        Asked.parse("3-2")
    assert Asked.parse("3-3") == Asked.parse("3")


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(ParameterError, match=r"x.tif: has 3 pages, and no page 5"):
        Asked.parse("2-5").of(3, "x.tif")
    with pytest.raises(ParameterError, match=r"^x.png: has 1 page, and no page 2$"):
        opened(b"P5 2 1 255\nab", "x.png", Asked.parse("2"))


@pytest.mark.parametrize("count", [1, 2])
def test_a_file_that_is_read_in_parts_is_closed_after_its_only_page_and_with_its_pages(tmp_path, count):
    frames = [Image.new("L", (8, 8), i) for i in range(count)]
    frames[0].save(tmp_path / "x.tif", save_all=True, append_images=frames[1:])
    data = Slices((tmp_path / "x.tif").open("rb"))
    found = opened(data, "x.tif")
    assert data.file.closed == (count == 1)
    if count > 1:
        found.close()
        assert data.file.closed
        data = Slices((tmp_path / "x.tif").open("rb"))
        with pytest.raises(SeveralPagesError):
            decode(data, "x.tif")
        assert data.file.closed


# Hyperstacks: each page has its own level, by its place

PAGES = np.arange(24, dtype=np.uint8).reshape(3, 4, 2, 1, 1) * 10 + np.zeros((8, 9), np.uint8)


def hyperstack(path):
    if path.name.endswith(".ome.tif"):
        tifffile.imwrite(path, PAGES, metadata={"axes": "TZCYX"}, photometric="minisblack")
    else:
        tifffile.imwrite(path, PAGES, imagej=True, metadata={"axes": "TZCYX", "spacing": 0.3, "unit": "um"})
    return path


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.parametrize("name", ["in.tif", "in.ome.tif"])
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--channel 2", PAGES[:, :, 1]),
        ("--z 3", PAGES[:, 2]),
        ("--time 2 --channel 1", PAGES[1, :, 0]),
        ("--time 3 --z 4 --channel 2", PAGES[2, 3, 1]),
        ("--channel 2 --pages 1-8", PAGES[0, :, 1]),
        ("--pages 1-24:2", PAGES[:, :, 0]),
        ("--pages 24,1", PAGES.reshape(24, 8, 9)[[0, 23]]),
    ],
)
def test_pages_are_taken_by_their_place_on_the_axes_that_a_file_names(tmp_path, name, words, wanted):
    made = run("lowpass", "--output", "keep", *words.split(), hyperstack(tmp_path / name), tmp_path / "out.tif")
    assert made.exit_code == 0, made.output
    np.testing.assert_array_equal(
        np.squeeze(tifffile.imread(tmp_path / "out.tif")), np.squeeze(wanted.reshape(-1, 8, 9))
    )


def test_slices_that_are_no_neighbors_have_no_distance(tmp_path):
    source = hyperstack(tmp_path / "in.tif")
    for words, has in (("--pages 1-4", True), ("--channel 2", False)):
        assert run("lowpass", "--output", "keep", *words.split(), source, tmp_path / "out.tif").exit_code == 0
        with tifffile.TiffFile(tmp_path / "out.tif") as file:
            assert ("spacing" in file.imagej_metadata, file.imagej_metadata["unit"]) == (has, "um")


@pytest.mark.parametrize(
    ("words", "name", "message"),
    [
        ("--channel 3", "in.tif", "has no channel 3: of axes it names 2 of channel, 4 of z, 3 of time"),
        ("--z 5", "in.ome.tif", "has no z 5"),
        ("--channel 1", "plain.tif", "has no channel 1: of axes it names none"),
        ("--time 1", "in.png", "names no axes: leave --time out"),
        ("--channel 1 --pages 2", "in.tif", "no page is left"),
        ("--channel 0", "in.tif", "0 is not in the range"),
        ("--pages 2,99", "in.tif", "has 24 pages, and no page 99"),
    ],
)
def test_places_that_a_file_does_not_have_are_refused_in_a_line(tmp_path, words, name, message):
    hyperstack(tmp_path / "in.tif")
    hyperstack(tmp_path / "in.ome.tif")
    tifffile.imwrite(tmp_path / "plain.tif", PAGES[0, :, 0], photometric="minisblack", metadata=None)
    Image.fromarray(PAGES[0, 0, 0]).save(tmp_path / "in.png")
    made = run("lowpass", *words.split(), tmp_path / name, tmp_path / "out.tif")
    assert (made.exit_code, message in made.stderr, (tmp_path / "out.tif").exists()) == (2, True, False), made.output


def test_lists_without_end_are_refused():
    assert len(Asked.parse(",".join(["1"] * 9000)).of(1, "x.tif")) == 1
    with pytest.raises(ParameterError, match="are unknown"):
        Asked.parse(",".join(["1"] * 20_000))


def test_a_list_of_a_file_that_is_cut_off_takes_pages_before_the_end(tmp_path):
    data = hyperstack(tmp_path / "in.ome.tif").read_bytes()
    with tifffile.TiffFile(tmp_path / "in.ome.tif") as file:
        end = file.pages[20].offset
    (tmp_path / "cut.tif").write_bytes(data[: end + 2])
    assert "is missing" in run("lowpass", "--pages", "1,30", tmp_path / "cut.tif", tmp_path / "out.tif").stderr
