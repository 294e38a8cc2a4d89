"""Pictures that do not fit into memory: strip by strip they become what they become as a whole."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile

import fftfilter
import fftfilter.arrays
import fftfilter.images
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, ReadError, TooLargeError
from fftfilter.work.large import LargeFile
from fftfilter.work.recipe import Recipe
from tests.filters.test_strips import FILTERS, assert_same, picture
from tests.helpers import assert_gray_levels, needs, needs_posix

ROOT = Path(__file__).parent.parent.parent
# In memory of this size OpenCL has no place, and strips have.
LITTLE = "100MB"


# Arrays


def test_an_array_is_filtered_into_another_one(tmp_path):
    given = np.lib.format.open_memmap(tmp_path / "in.npy", "w+", np.uint16, (300, 211))
    given[:] = picture(300, 211, np.dtype(np.uint16))
    made = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.uint16, given.shape)
    fftfilter.filter_large(given, made, FILTERS["lowpass"], memory="200MB")
    assert_same(np.array(made), fftfilter.lowpass(given, "8px", shape="gaussian", output="keep", edges="mirror"))


def test_channels_have_one_scale():
    given = np.stack([picture(90, 80), picture(90, 80) // 3, 255 - picture(90, 80)])
    made = np.empty_like(given)
    fftfilter.filter_large(given, made, FILTERS["highpass"], output="magnitude", edges="wrap")
    assert_same(made, fftfilter.highpass(given, 20, channel_axis=0, output="magnitude", edges="wrap"))


@pytest.mark.parametrize("shape", [(2, 300_001), (300_001, 2), (1, 150_000)])
def test_rows_may_be_longer_than_what_is_transformed_at_a_time(shape):
    given = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    made = np.zeros_like(given)
    fftfilter.filter_large(given, made, FILTERS["lowpass"])
    wanted = fftfilter.Filter(FILTERS["lowpass"], engine="numpy", precision="double")(given)
    assert_gray_levels(made, wanted)


@needs("zarr")
@needs("dask")
def test_arrays_of_zarr_and_dask_are_filtered_by_their_chunks(tmp_path):
    import dask.array
    import zarr

    given = picture(300, 211)
    stored = zarr.create_array(str(tmp_path / "in.zarr"), shape=given.shape, chunks=(64, 50), dtype=given.dtype)
    stored[:] = given
    made = zarr.create_array(str(tmp_path / "out.zarr"), shape=given.shape, chunks=(100, 100), dtype=given.dtype)
    wanted = fftfilter.lowpass(given, "8px", shape="gaussian", output="keep", edges="mirror")
    for source in (stored, dask.array.from_array(given, chunks=(70, 60))):
        fftfilter.filter_large(source, made, FILTERS["lowpass"])
        assert_same(made[:], wanted)


@needs("zarr")
def test_a_target_that_is_another_handle_of_the_source_is_refused(tmp_path):
    import zarr

    zarr.create_array(str(tmp_path / "a.zarr"), shape=(90, 80), dtype=np.uint8)
    source, target = (zarr.open_array(tmp_path / "a.zarr", mode=mode) for mode in ("r", "r+"))
    with pytest.raises(ParameterError, match="target is source"):
        fftfilter.filter_large(source, target, FILTERS["highpass"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": np.empty((5, 6), np.uint8)}, "target has the shape"),
        ({"source": np.zeros(9)}, "is not an image"),
        ({"source": np.full((9, 9), np.inf)}, "NaN or infinite"),
        ({"transfer": 3}, "is not a transfer function"),
        ({"transfer": H.wiener("auto")}, "takes the whole picture"),
        ({"edges": "zero"}, "edges"),
        ({"output": "real"}, "give one of float32"),
        ({"memory": "much"}, "is not a size"),
        ({"memory": 1000}, "give more memory"),
        ({"target": np.empty((9, 9), np.complex64)}, "output type complex64 has no gray levels"),
    ],
)
def test_what_is_no_array_or_filter_is_refused(changed, said):
    usual = {"source": np.zeros((9, 9), np.uint8), "target": np.zeros((9, 9), np.uint8), "transfer": H.lowpass(2)}
    given = {**usual, **changed}
    with pytest.raises((ParameterError, TooLargeError), match=said):
        fftfilter.filter_large(given.pop("source"), given.pop("target"), given.pop("transfer"), **given)


def test_a_target_that_is_the_source_is_refused(tmp_path):
    """It would be read again when parts of it are filtered."""
    given = np.zeros((90, 80), np.uint8)
    np.save(tmp_path / "a.npy", given)
    maps = [np.load(tmp_path / "a.npy", mmap_mode="r+") for _ in range(2)]
    for source, target in ((given, given), (given, given[:]), (given.reshape(1, 90, 80), given[None]), maps):
        with pytest.raises(ParameterError, match=r"target is source, an array of .*90, 80\), .*: give another array"):
            fftfilter.filter_large(source, target, FILTERS["highpass"])
    fftfilter.filter_large(maps[0], given, FILTERS["highpass"])


# Files


def run(*words, folder, **options):
    """Return the exit code and what the command prints on standard error."""
    command = [sys.executable, "-m", "fftfilter", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, timeout=120, env=environment, **options
    )
    return done.returncode, done.stderr


def saved(folder, kind):
    """Save a picture in one of several layouts, and return its name."""
    gray = picture(501, 403)
    color = np.stack([gray, gray[::-1], 255 - gray], axis=-1)
    match kind:
        case "pgm" | "ppm":
            samples, number = (gray, 5) if kind == "pgm" else (color, 6)
            (folder / f"in.{kind}").write_bytes(b"P%d\n403 501\n255\n" % number + samples.tobytes())
        case "npy":
            np.save(folder / "in.npy", gray.astype(np.int16) - 100)
        case "tif":
            tifffile.imwrite(folder / "in.tif", gray, resolution=(3000, 3000))
        case "strips":
            tifffile.imwrite(folder / "in.tif", gray.astype(np.uint16) * 200, compression="deflate", rowsperstrip=7)
        case "tiles":
            layout = {"tile": (64, 48), "compression": "lzw", "predictor": True, "bigtiff": True, "byteorder": ">"}
            tifffile.imwrite(folder / "in.tif", color, photometric="rgb", **layout)
        case "planes":
            tifffile.imwrite(folder / "in.tif", np.moveaxis(color, -1, 0), photometric="rgb", planarconfig="separate")
        case "alpha":
            shades = np.dstack([color, (gray | 1)])
            tifffile.imwrite(folder / "in.tif", shades, photometric="rgb", extrasamples=["unassalpha"])
        case "floats":
            tifffile.imwrite(folder / "in.tif", gray / np.float32(255), compression="zstd", rowsperstrip=500)
        case "integers":
            tifffile.imwrite(folder / "in.tif", gray.astype(np.int32) * 1000 - 60000, tile=(16, 16))
    return next(folder.glob("in.*")).name


LAYOUTS = ["pgm", "ppm", "npy", "tif", "strips", "tiles", "planes", "alpha", "floats", "integers"]


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("words", [["highpass", "--radius", "20px"], ["lowpass", "--radius=9px", "--output=keep"]])
def test_a_file_becomes_the_same_strip_by_strip(tmp_path, kind, words):
    name = saved(tmp_path, kind)
    out = f"out{Path(name).suffix}"
    assert run(*words, "--device", "numpy", name, f"whole-{out}", folder=tmp_path)[0] == 0
    code, said = run(*words, "--memory", LITTLE, name, out, folder=tmp_path)
    assert code == 0, said
    assert said.startswith(f"fftfilter: {name}: larger than memory: filtered in ")
    got, wanted = (fftfilter.images.read(tmp_path / each) for each in (out, f"whole-{out}"))
    assert_same(got.planes, wanted.planes, step=got.integers is not None)
    assert (got.alpha is None) == (wanted.alpha is None)
    assert got.alpha is None or (got.alpha == wanted.alpha).all()
    assert (got.maxval, got.integers, got.tiff_compression) == (wanted.maxval, wanted.integers, wanted.tiff_compression)
    assert (got.tiff_tile, got.metadata and got.metadata.dpi) == (
        wanted.tiff_tile,
        wanted.metadata and wanted.metadata.dpi,
    )
    if out.endswith("tif"):
        assert (tifffile.imread(tmp_path / out).shape) == tifffile.imread(tmp_path / f"whole-{out}").shape
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, out, f"whole-{out}"])


class Strips(LargeFile):
    """A file in strips of some rows, which would fit as a whole."""

    def plan(self, precision):
        return replace(super().plan(precision), rows=self.height)


def both_ways(folder, source, target, transfer, height=60, **options):
    """Filter a file as a whole and by strips of a height, and return the names of both."""
    source, whole, strips = (folder / each for each in (source, f"whole-{target}", target))
    options = {"edges": "wrap", "output": "keep", **options}
    fftfilter.filter_stack(source, whole, transfer, device="numpy", **options)
    given = {name: options.pop(name) for name in ("output", "scale") if name in options}
    recipe = Recipe(transfer, options=options, **given).fitting(source, strips)
    large = Strips(source, strips, recipe)
    large.height = height
    large.write(lambda: None)
    return strips, whole


@pytest.mark.parametrize("kind", ["gray.tif", "tiles.tif", "color.tif", "stack.npy", "color.npy"])
def test_pages_are_filtered_strip_by_strip_one_after_the_other(tmp_path, kind):
    one = picture(130, 2048)  # of which a strip of a TIFF has 32 rows
    stack = np.stack([one, one[::-1] // 2, 255 - one])
    if kind.endswith("npy"):
        np.save(tmp_path / kind, stack[..., None].repeat(3, 3) if kind == "color.npy" else stack)
    else:
        layout = {"photometric": "minisblack", "tile": (32, 32) if kind == "tiles.tif" else None}
        tifffile.imwrite(tmp_path / kind, stack[None] if kind == "color.tif" else stack, **layout)
    got, wanted = map(
        tifffile.imread if kind.endswith("tif") else np.load,
        both_ways(tmp_path, kind, f"out-{kind}", FILTERS["highpass"], 64),
    )
    assert_same(got, wanted)


@needs("astropy")
@pytest.mark.parametrize("target", ["out.fits", "out.fits.gz"])
@pytest.mark.parametrize("kind", ["primary", "beside others", "cube", "unsigned"])
def test_a_fits_is_filtered_strip_by_strip_as_astropy_reads_it(tmp_path, kind, target):
    from astropy.io import fits

    given = (picture(301, 203).astype(np.int16) - 100) * 100
    table = fits.BinTableHDU.from_columns([fits.Column("n", "J", array=np.arange(99))])
    hdus = {
        "primary": [fits.PrimaryHDU(given)],
        "beside others": [fits.PrimaryHDU(), table, fits.ImageHDU(given / np.float32(3), name="SCI"), table],
        "cube": [fits.PrimaryHDU(np.stack([given, given[::-1] // 3]))],
        "unsigned": [fits.PrimaryHDU(given.view(np.uint16))],
    }[kind]
    hdus[0].header["OBJECT"] = "M 31"
    fits.HDUList(hdus).writeto(tmp_path / "in.fits")
    files = both_ways(tmp_path, "in.fits", target, FILTERS["highpass"], output="keep")
    with fits.open(files[0]) as got, fits.open(files[1]) as wanted:
        assert [repr(each.header) for each in got] == [repr(each.header) for each in wanted]
        which = 2 if kind == "beside others" else 0
        assert_same(
            *(np.array(each[which].data.astype(each[which].data.dtype.newbyteorder("="))) for each in (got, wanted)),
            step=1,
        )


@needs("astropy")
def test_a_fits_in_tiles_is_refused_in_a_line(tmp_path):
    from astropy.io import fits

    fits.CompImageHDU(picture(90, 80)).writeto(tmp_path / "tiles.fits")
    with pytest.raises(TooLargeError, match="a compressed FITS is not read"):
        LargeFile(tmp_path / "tiles.fits", tmp_path / "out.fits", Recipe(H.lowpass(9)))
    assert [each.name for each in tmp_path.iterdir()] == ["tiles.fits"]


def ome_zarr(folder, given, chunks, levels, **coding):
    """Write an OME-Zarr whose coarser levels are empty."""
    import zarr

    group, lead = zarr.create_group(folder), given.ndim - 2
    for level in range(levels):
        shape = (*given.shape[:-2], *(-(-side // 2**level) for side in given.shape[-2:]))
        group.create_array(str(level), shape=shape, chunks=chunks, dtype=given.dtype, **coding)
    group["0"][...] = given
    scales = [[{"type": "scale", "scale": [1] * lead + [2**level] * 2}] for level in range(levels)]
    datasets = [{"path": str(i), "coordinateTransformations": each} for i, each in enumerate(scales)]
    axes = [{"name": name, "type": "space"} for name in "czyx"[-given.ndim :]]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}


@needs("zarr")
@pytest.mark.parametrize(
    ("shape", "chunks", "levels", "coding"),
    [
        ((2, 301, 203), (1, 64, 50), 4, {}),
        ((301, 203), (33, 203), 9, {"compressors": None}),
        ((301, 203), (32, 32), 3, {"shards": (96, 64)}),
        ((1, 3, 150, 101), (1, 2, 64, 1000), 1, {}),
        ((1, 900), (1, 512), 3, {}),
        ((900, 1), (70, 1), 16, {}),
        ((301, 203), (2000, 2000), 2, {}),
    ],
)
@pytest.mark.parametrize("height", [1, 60, 1000])
def test_an_ome_zarr_is_filtered_strip_by_strip_with_its_pyramid(tmp_path, shape, chunks, levels, coding, height):
    import zarr

    one = picture(*shape[-2:], np.dtype(np.uint16))
    given = np.stack([one // (i + 1) for i in range(int(np.prod(shape[:-2])))]).reshape(shape)
    ome_zarr(tmp_path / "in.zarr", given, chunks, levels, **coding)
    files = both_ways(tmp_path, "in.zarr", "out.zarr", FILTERS["highpass"], height)
    got, wanted = (zarr.open_group(each, mode="r") for each in files)
    assert got.attrs.asdict() == wanted.attrs.asdict()
    assert sorted(got) == sorted(wanted)
    for name in wanted:
        assert (got[name].chunks, got[name].shards, got[name].shape) == (
            wanted[name].chunks,
            wanted[name].shards,
            wanted[name].shape,
        )
        assert_same(got[name][...], wanted[name][...])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.zarr", "out.zarr", "whole-out.zarr"]


def test_dry_run_prints_the_way_and_writes_nothing(tmp_path):
    name = saved(tmp_path, "pgm")
    code, said = run("highpass", "-n", "--memory", LITTLE, name, "-", "--format=pgm", folder=tmp_path)
    assert code == 0
    assert re.fullmatch(
        r"in.pgm -> standard output: in 1 strip of 501 rows, by NumPy in 3 readings; [0-9]+ MB of memory\n", said
    )
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["descreen"], "descreen takes the spectrum of the whole"),
        (["wiener"], "gains follow from the spectrum of the whole"),
        (["notch", "--auto"], "waves are looked for in the whole"),
        (["stripes", "--auto"], "gains follow from the spectrum of the whole"),
        (["imagej"], "ImageJ's filter takes the spectrum of the whole"),
        (["lowpass", "--output=keep", "--region=1,2,30,40"], "--region and --protect take the whole"),
        (["highpass", "--output=keep", "--ignore=1,2,30,40"], "--ignore takes the whole"),
        (["lowpass", "--verify"], "--verify takes all of it"),
        (["lowpass", "--engine=book"], "the book engine takes the whole"),
    ],
)
def test_what_takes_the_whole_is_refused_in_a_line(tmp_path, words, said):
    name = saved(tmp_path, "pgm")
    code, line = run(*words, "--memory=90MB", name, "out.pgm", folder=tmp_path)
    assert code == 1
    assert line.count("\n") == 1
    assert f"and strip by strip it cannot be filtered: {said}" in line
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_files_that_are_not_read_or_written_by_strips_are_refused_in_a_line(tmp_path):
    name = saved(tmp_path, "pgm")
    fftfilter.images.write(fftfilter.images.read(tmp_path / name), tmp_path / "in.png")
    tifffile.imwrite(tmp_path / "two.tif", np.zeros((2, 300, 300), np.uint8))
    tifffile.imwrite(tmp_path / "turned.tif", picture(300, 301), extratags=[(274, 3, 1, 6, True)])
    tifffile.imwrite(tmp_path / "masked.tif", picture(300, 301))
    tifffile.imwrite(tmp_path / "masked.tif.msk", np.tri(300, 301, dtype=np.uint8))
    given = {
        (name, "out.png"): "a .png is written as a whole: take .tif, .fits, .pgm, .ppm or .npy",
        ("in.png", "out.pgm"): "in.png: its format is not read by strips; save it as .tif, .fits, .pgm, .ppm, .npy or",
        ("turned.tif", "out.tif"): "turned, is not read by strips",
        ("masked.tif", "out.tif"): "the mask beside it, a .msk file, is not read by strips; move it away",
    }
    for files, said in given.items():
        code, line = run("highpass", "--memory=90MB", *files, folder=tmp_path)
        assert (code, line.count("\n")) == (1, 1), line
        assert said in line
    assert not [*tmp_path.glob("out*")]


def test_a_device_that_strips_do_not_take_is_named(tmp_path):
    name = saved(tmp_path, "pgm")
    code, said = run("highpass", "--memory", LITTLE, "--device=cpu", name, "out.pgm", folder=tmp_path)
    assert (code, "; device cpu does not take its strips" in said) == (0, True)


@pytest.mark.parametrize("kind", ["pgm", "npy", "strips"])
def test_a_file_that_becomes_shorter_while_it_is_read_is_a_line(tmp_path, kind):
    name = saved(tmp_path, kind)
    large = LargeFile(tmp_path / name, tmp_path / f"out-{name}", Recipe(FILTERS["highpass"], options={}))
    os.truncate(tmp_path / name, 60_001)
    with pytest.raises(ReadError, match=f"{name}: .*(shorter|cut off)"):
        large.write(lambda: None)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@needs("zarr")
def test_the_limit_of_zarrs_threads_ends_with_the_file(tmp_path):
    import zarr

    ome_zarr(tmp_path / "in.ome.zarr", picture(60, 50), (20, 20), 1)
    pages = fftfilter.images.in_parts(tmp_path / "in.ome.zarr", fftfilter.images.Asked())
    with zarr.config.set({"async.concurrency": 7}):
        pages.strips(0)
        pages.strips(0)
        assert zarr.config.get("async.concurrency") < 7
        pages.close()
        assert zarr.config.get("async.concurrency") == 7


@pytest.mark.parametrize("memory", ["40MB", "0", "1", "55MB"])
def test_too_little_memory_is_a_line(tmp_path, memory):
    code, line = run("highpass", "--memory", memory, saved(tmp_path, "pgm"), "out.pgm", folder=tmp_path)
    assert (code, line.count("\n")) == (1, 1)
    assert "give more" in line
    assert "than the program takes" in line or memory not in "01"


@pytest.mark.parametrize("kind", ["nan.tif", "value.tif", "alpha.tif", "nan.npy", "value.pgm"])
@pytest.mark.parametrize("words", [["highpass", "--shape=butterworth"], ["lowpass", "--output=keep", "--edges=mirror"]])
def test_missing_pixels_come_back_and_the_rest_is_that_of_the_whole(tmp_path, kind, words):
    gray, name = np.maximum(picture(501, 403), 1), f"in.{kind.split('.')[1]}"
    holes = np.random.default_rng(1).random(gray.shape) < 0.02
    holes[100:230, 150:] = True
    floats = np.where(holes, np.nan, gray / np.float32(255)).astype(np.float32)
    match kind:
        case "nan.tif":
            tifffile.imwrite(tmp_path / name, floats)
        case "nan.npy":
            np.save(tmp_path / name, floats)
        case "value.tif":  # as GDAL says it
            tifffile.imwrite(tmp_path / name, np.where(holes, 0, gray), extratags=[(42113, "s", 0, "0", True)])
        case "value.pgm":
            (tmp_path / name).write_bytes(b"P5\n403 501\n255\n" + np.where(holes, 0, gray).astype(np.uint8).tobytes())
            words = [*words, "--nodata=0"]
        case "alpha.tif":
            bands = np.dstack([gray, np.where(holes, 0, 200).astype(np.uint8)])
            tifffile.imwrite(tmp_path / name, bands, photometric="minisblack", extrasamples=["unassalpha"])
    assert run(*words, "--device=numpy", name, f"whole-{name}", folder=tmp_path)[0] == 0
    code, said = run(*words, f"--memory={LITTLE}", name, f"out-{name}", folder=tmp_path)
    assert (code, "larger than memory: filtered in" in said) == (0, True), said
    got, wanted = (fftfilter.images.read(tmp_path / f"{each}-{name}").planes[0] for each in ("out", "whole"))
    assert_same(got[~holes], wanted[~holes])
    assert np.array_equal(got[holes], wanted[holes], equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        (np.uint8, ["highpass", "--radius=60px", "--shape=gaussian"]),
        (np.uint16, ["lowpass", "--edges=wrap"]),
        (np.float32, ["highpass", "--shape=butterworth", "--output=removed"]),
        (np.float64, ["highpass", "--output=real"]),
    ],
)
def test_logarithms_are_filtered_as_those_of_the_whole(tmp_path, dtype, words):
    values = picture(501, 403) / 255
    values[:90] = values[200:203, 100:300] = 0  # a strip and more that has no logarithm
    given = (values * np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else values * 3e-5).astype(dtype)
    tifffile.imwrite(tmp_path / "in.tif", given)
    words = [*words, "--ratio"]
    code, of_whole = run(*words, "--device=numpy", "in.tif", "whole.tif", folder=tmp_path)
    assert code == 0, of_whole
    code, said = run(*words, f"--memory={LITTLE}", "in.tif", "out.tif", folder=tmp_path)
    assert (code, "larger than memory: filtered in" in said) == (0, True), said
    assert said.splitlines()[1:] == of_whole.splitlines()
    assert_same(tifffile.imread(tmp_path / "out.tif"), tifffile.imread(tmp_path / "whole.tif"))


@pytest.mark.parametrize(
    ("dark", "words", "said"),
    [
        (0.6, ["lowpass"], "60% of the values are 0 or less, which have no logarithm"),
        (
            0.1,
            ["lowpass", "--output=magnitude"],
            "output magnitude is stretched, and ratio is for an image's own levels",
        ),
    ],
)
def test_logarithms_that_cannot_be_are_refused_in_a_line(tmp_path, dark, words, said):
    given = np.maximum(picture(500, 403), 1)
    given[: int(500 * dark)] = 0
    tifffile.imwrite(tmp_path / "in.tif", given)
    code, line = run(*words, "--ratio", f"--memory={LITTLE}", "in.tif", "out.tif", folder=tmp_path)
    assert (code > 0, line.splitlines()[-1].count(said)) == (True, 1), line
    assert [each.name for each in tmp_path.iterdir()] == ["in.tif"]


def test_waves_end_at_missing_pixels_which_a_line_says(tmp_path):
    given = picture(90, 80).astype(np.float32)
    given[40, 7] = np.nan
    np.save(tmp_path / "in.npy", given)
    done = LargeFile(tmp_path / "in.npy", tmp_path / "out.npy", Recipe(FILTERS["far columns"])).write(lambda: None)
    assert done.missing == 1 / given.size
    assert "waves do not go on through missing pixels" in done.cautions[0]


def test_a_cluster_refuses_missing_pixels_in_a_line_and_leaves_nothing(tmp_path):
    given = picture(90, 80).astype(np.float32)
    given[40, 7] = np.nan
    np.save(tmp_path / "in.npy", given)
    large = LargeFile(tmp_path / "in.npy", tmp_path / "out.npy", Recipe(H.lowpass(9)))
    with pytest.raises(TooLargeError, match=r"in.npy: a cluster fills no missing pixels: leave --cluster out"):
        large.write(lambda: None, workers=lambda work, *arguments: work(*arguments))
    assert [each.name for each in tmp_path.iterdir()] == ["in.npy"]


def test_nan_in_an_array_comes_back():
    given = picture(90, 80).astype(np.float32)
    given[30:50, 20:33] = np.nan
    made = np.empty_like(given)
    fftfilter.filter_large(given, made, FILTERS["lowpass"], output="real")
    wanted = fftfilter.lowpass(np.ma.masked_invalid(given), "8px", shape="gaussian", output="real", edges="mirror")
    assert np.array_equal(np.isnan(made), np.isnan(given))
    assert_same(np.nan_to_num(made), wanted.filled(0).astype(np.float32))


@needs_posix
def test_a_full_disk_is_a_line_and_leaves_nothing(tmp_path):
    import resource

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    code, line = run(
        "highpass", f"--memory={LITTLE}", saved(tmp_path, "pgm"), "out.pgm", folder=tmp_path, preexec_fn=little
    )
    assert (code, line.splitlines()[1:]) == (1, ["fftfilter: out.pgm: cannot be written: file too large"])
    assert [each.name for each in tmp_path.iterdir()] == ["in.pgm"]


@needs_posix
@pytest.mark.parametrize(
    ("number", "after"),
    [(signal.SIGKILL, (0.4, 0.8, 1.2, 1.8)), (signal.SIGINT, (0.8, 1.2)), (signal.SIGTERM, (0.8, 1.2))],
)
def test_a_kill_in_any_phase_leaves_the_output_whole_or_missing_and_no_scratch(tmp_path, number, after):
    (tmp_path / "in.pgm").write_bytes(b"P5\n3000 3000\n255\n" + picture(3000, 3000).tobytes())
    (tmp_path / "scratch").mkdir()
    words = ["highpass", "--shape=butterworth", "--memory=150MB", "--scratch=scratch", "in.pgm", "out.pgm"]
    command = [sys.executable, "-m", "fftfilter", *words]
    for seconds in after:
        with subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
        ) as run_:
            time.sleep(seconds)
            run_.send_signal(number)
            run_.communicate(timeout=60)
        assert not [*(tmp_path / "scratch").iterdir()]
        if (out := tmp_path / "out.pgm").exists():
            assert out.stat().st_size == (tmp_path / "in.pgm").stat().st_size
    assert run(*words, folder=tmp_path)[0] == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.pgm", "out.pgm", "scratch"]


@needs("zarr")
@needs_posix
def test_a_killed_ome_zarr_is_missing_and_the_next_run_completes_it(tmp_path):
    import zarr

    given = np.stack([picture(2400, 2000), picture(2400, 2000)[::-1]])
    ome_zarr(tmp_path / "in.zarr", given, (1, 256, 256), 3)
    words = ["highpass", "--shape=butterworth", "--output=keep", "--memory=220MB", "in.zarr", "out.zarr"]
    command = [sys.executable, "-m", "fftfilter", *words]
    for seconds in (0.8, 1.6, 2.4):
        with subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
        ) as run_:
            time.sleep(seconds)
            run_.kill()
            run_.communicate(timeout=60)
        there = {each.name for each in tmp_path.iterdir()}
        if "out.zarr" in there:  # a quick machine was done before
            assert "out.zarr.partial" not in there
            shutil.rmtree(tmp_path / "out.zarr")
            break
        assert there <= {"in.zarr", "out.zarr.partial"}
    code, said = run(*words, folder=tmp_path)
    assert (code, "larger than memory: filtered 2 pages, each in " in said) == (0, True), said
    wanted = [fftfilter.highpass(page, shape="butterworth", output="keep", edges="wrap") for page in given]
    assert_same(zarr.open_array(tmp_path / "out.zarr" / "0", mode="r")[...], np.stack(wanted))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.zarr", "out.zarr"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux, which tells how much memory was taken")
@pytest.mark.parametrize("shape", ["ideal", "butterworth"])
def test_memory_stays_below_its_figure(tmp_path, shape):
    (tmp_path / "in.pgm").write_bytes(b"P5\n6000 4000\n255\n" + picture(4000, 6000).tobytes())
    words = ["-m", "fftfilter", "highpass", "--shape", shape, "--memory=200MB", "in.pgm", "out.pgm"]
    environment, taken = {**os.environ, "PYTHONPATH": str(ROOT)}, 0
    with subprocess.Popen([sys.executable, *words], cwd=tmp_path, stderr=subprocess.PIPE, env=environment) as run_:
        while run_.poll() is None:
            status = Path(f"/proc/{run_.pid}/status").read_text()
            taken = max([taken, *(1024 * int(line.split()[1]) for line in status.splitlines() if line[:5] == "VmHWM")])
            time.sleep(0.005)
        said = run_.stderr.read().decode()
    assert run_.returncode == 0, said
    figure = 1e6 * float(re.search(r"([0-9]+) MB of memory\n", said)[1])
    assert 0.6 * figure < taken < 1.05 * figure
