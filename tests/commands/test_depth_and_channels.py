"""``--depth`` and ``--channels``: one picture, pages, folders, previews, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tifffile
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.filters import Filter

SIZE = (12, 10)
LOW = H.lowpass(3)
TO_KEEP = ("lowpass", "--radius", "3", "--output", "keep")


@pytest.fixture
def rgba(tmp_path, rng):
    pixels = rng.integers(1, 256, (*SIZE, 4), dtype=np.uint8)  # transparent pixels would be missing
    Image.fromarray(pixels).save(tmp_path / "in.png")
    return pixels


def by(rgb, **options):
    with Filter(LOW, output="keep", **({"edges": "wrap"} | ({"edges": "wrap"} | options))) as f:
        return f(rgb, channel_axis=-1)


def test_alpha_passes_through_beside_each_part(run, tmp_path, rgba):
    for channels in ("luminance", "chroma"):
        words = (*TO_KEEP, "-v", "--channels", channels, "--verify")
        code, said, errors = run(*words, tmp_path / "in.png", tmp_path / "out.png")
        assert (code, f"10 x 12: lowpass, ideal, radius 3, {channels} alone; " in errors) == (0, True)
        assert b"out.png: off by at most" in said
        made = np.asarray(Image.open(tmp_path / "out.png"))
        np.testing.assert_array_equal(made[..., :3], by(rgba[..., :3], channels=channels))
        np.testing.assert_array_equal(made[..., 3], rgba[..., 3])


def test_a_depth_is_of_all_that_a_command_removes(run, tmp_path, rgba):
    options = ("--notch", "0.2,0.1,2", "--stripes", "90", "--depth", "6")
    for output in ("keep", "magnitude"):
        command = ("lowpass", "--radius", "3", "--output", output, *options, "--verify", "-v")
        code, _, errors = run(*command, tmp_path / "in.png", tmp_path / "out.png")
        assert code == 0
        assert "stripes at 90 degrees, as the picture has them, depth 6 dB (" in errors
        whole = LOW * H.notch((0.2, 0.1), width=2) * H.stripes(90)
        with Filter(whole.with_depth(6), output=output, edges="wrap") as f:
            made = f(rgba[..., :3], channel_axis=-1)
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out.png"))[..., :3], made)


def test_waves_that_are_found_are_attenuated_too(run, tmp_path):
    x = np.arange(64)
    wave = np.broadcast_to(np.rint(100 + 40 * np.sin(x * 2 * np.pi / 8)), (64, 64)).astype(np.uint8)
    Image.fromarray(np.stack([wave] * 3, -1)).save(tmp_path / "in.png")
    for further in ((), ("--channels", "luminance")):
        command = ("notch", "--auto", "--depth", "20", "--edges", "wrap", *further, "--verify", "-v")
        code, _, errors = run(*command, tmp_path / "in.png", tmp_path / "out.png")
        assert code == 0
        assert "removed 8.00 px" in errors
        made = np.asarray(Image.open(tmp_path / "out.png"))[..., 0]
        assert np.ptp(made[32]) == pytest.approx(8, abs=2)


def test_pages_and_files_of_a_folder_take_both(run, tmp_path, rgba):
    rgb = rgba[..., :3]
    (tmp_path / "in").mkdir()
    tifffile.imwrite(tmp_path / "in" / "pages.tif", np.stack([rgb, rgb[::-1]]), photometric="rgb")
    Image.fromarray(rgb[..., 0]).save(tmp_path / "in" / "gray.png")
    tifffile.imwrite(
        tmp_path / "in" / "five.tif", np.dstack([rgb, rgb[..., :2]]), photometric="rgb", extrasamples=[0, 0]
    )
    options = ("--depth", "12", "--channels", "chroma", "--verify", "--report", tmp_path / "report.jsonl")
    code, _, errors = run(*TO_KEEP, *options, tmp_path / "in", tmp_path / "out")
    assert code == 1
    assert "five.tif: has 5 channels, and channels chroma is for gray and RGB: leave 1 or 3, or choose all" in errors
    assert "1 file: gray: there is no chroma to filter, and pixels stay as they are" in errors
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out" / "gray.png")), rgb[..., 0])
    pages = tifffile.imread(tmp_path / "out" / "pages.tif")
    np.testing.assert_array_equal(pages[1], by(rgb[::-1], channels="chroma", depth=12))
    lines = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    assert {(each["filter"]["channels"], each["filter"]["depth"]) for each in lines} == {("chroma", 12.0)}
    count = fftfilter.filter_stack(
        tmp_path / "in" / "pages.tif",
        tmp_path / "python.tif",
        LOW,
        output="keep",
        channels="chroma",
        depth=12,
        edges="wrap",
    )
    assert count == 2
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "python.tif"), pages)


def test_a_preview_says_what_is_filtered(run, tmp_path, rgba):  # noqa: ARG001  it is the file
    options = ("--channels", "luminance", "--depth", "12", "--region", "1,2,6,7", "--preview", tmp_path / "page.png")
    code, said, _ = run(*TO_KEEP, *options, tmp_path / "in.png", tmp_path / "out.png")
    assert (code, said) == (0, b"")
    assert Image.open(tmp_path / "page.png").size[0] > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["highpass", "--depth", "0"], "depth 0 is invalid: give decibels above 0, such as 6, which halves, or 20"),
        (["highpass", "--depth", "nan"], "depth nan is invalid: give decibels above 0"),
        (["highpass", "--depth", "deep"], "'deep' is not a valid float"),
        (["highpass", "--channels", "chroma"], "output magnitude has other gray levels: choose output keep or real"),
        (["highpass", "--channels", "Y"], "'Y' is not one of 'all', 'luminance', 'chroma'"),
        (["imagej", "--channels", "chroma"], "No such option '--channels'"),
    ],
)
def test_invalid_values_are_refused_before_anything_is_read(run, tmp_path, arguments, message):
    (tmp_path / "broken.png").touch()
    for source in (tmp_path / "broken.png", tmp_path):
        code, _, errors = run(*arguments, source, tmp_path / "out")
        assert code == 2
        assert message in errors
        assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_page_of_explore_refuses_them(run, tmp_path, rgba):  # noqa: ARG001
    code, _, errors = run("explore", "--with", "lowpass --depth 6", tmp_path / "in.png")
    assert code == 2
    assert "--depth is not for a page to set" in errors
