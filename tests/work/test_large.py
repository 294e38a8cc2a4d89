"""Pictures that do not fit into memory: strip by strip they become what they become as a whole."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tifffile

import fftfilter
import fftfilter.arrays
import fftfilter.images
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, TooLargeError, WriteError
from fftfilter.output.difference import Difference
from fftfilter.output.modes import MODES, scale_of
from fftfilter.output.ramp import Gray
from fftfilter.transfer.edges import grid_with
from fftfilter.work import large
from fftfilter.work.large import How, planned, ready
from tests.helpers import needs, needs_posix

ROOT = Path(__file__).parent.parent.parent
FILTERS = {
    "lowpass": H.lowpass("8px", shape="gaussian"),
    "highpass": H.highpass(20),
    "no constant": H.highpass(9, shape="butterworth"),
    "bandpass": H.bandpass("30px", "4px", shape="cosine"),
    "bandstop": H.bandstop("30px", "10px"),
    "far columns": H.notch((0.323, -0.047)),
    "all columns": H.stripes(33, width="0.01cyc", spare="40px"),
    "product": H.highpass("50px", shape="gaussian") * H.notch((0.1, 0.2)),
    "floor": H.lowpass("9px", shape="fermi").with_depth(12),
    "everything": H.Transfer(()),
}
OUTPUTS = [("magnitude", None), ("magnitude", "auto"), ("keep", None), ("signed", (-90, 90)), ("real", None)]
# In memory of this size OpenCL has no place, and strips have.
LITTLE = "105MB"
# In so many bytes blocks have some columns, and not all.
ROOM = 76 << 20


def picture(height, width, dtype=np.uint8):
    """Return waves and noise."""
    y, x = np.mgrid[:height, :width]
    waves = 128 + 60 * np.sin(x / 17 + y / 50) + 40 * np.cos(y / 31 * (1 + x / width))
    levels = (waves + np.random.default_rng(1).normal(0, 12, (height, width))).clip(0, 255)
    return (levels / 255 * fftfilter.arrays.largest_of(np.dtype(dtype))).astype(dtype)


def by_strips(given, transfer, folder, output="keep", scale=None, edges="wrap", **changed):
    """Return what strips make of a picture, in blocks of a few columns; ``changed`` is of their plan."""
    white = fftfilter.arrays.largest_of(given.dtype)
    mode, how = MODES[output], How(output, scale_of(scale), Gray(white, given.dtype, white))
    grid = grid_with(edges, transfer.keeping_mean() if mode.keeps_mean else transfer, *given.shape)
    plan = planned((1, *given.shape), given.itemsize, grid, precision="single", units=(1, 1), room=ROOM)
    read = lambda start, stop: given[None, start:stop]  # noqa: E731
    with ready(read, lambda _: plan._replace(**changed), how, str(folder)) as large:
        return np.concatenate([large.pixels(large.values(*strip)).pixels[0] for strip in large.plan.strips])


def assert_same(got, wanted, step=0):
    """Hold pixels, or floats that may be rounded to a step, to the contract."""
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    white = fftfilter.arrays.largest_of(got.dtype)
    unit = float(np.abs(wanted).max()) if got.dtype.kind == "f" else None
    found = Difference.of(got, wanted, white, unit=unit, step=2 * step)
    assert found.is_right, str(found)


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize(("output", "scale"), OUTPUTS)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("on_disk", [False, True])
def test_strips_become_what_the_whole_becomes(tmp_path, name, output, scale, edges, on_disk):
    given, how = picture(301, 457), {"output": output, "scale": scale, "edges": edges}
    got = by_strips(given, FILTERS[name], tmp_path, **how, rows=23, on_disk=on_disk, threads=2)
    with fftfilter.Filter(FILTERS[name], device="numpy", **how) as whole:
        wanted = whole(given)
    assert_same(got, wanted)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("shape", [(1, 97), (83, 1), (2, 2), (1, 1), (130, 131), (256, 300), (17, 1000)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_strips_of_any_size_and_type(tmp_path, shape, dtype, edges):
    given = picture(*shape, np.dtype(dtype))
    for name in ("highpass", "no constant", "all columns"):
        for output in ("magnitude", "keep"):
            got = by_strips(given, FILTERS[name], tmp_path, output, edges=edges, rows=500 if shape[0] == 17 else 1)
            with fftfilter.Filter(FILTERS[name], device="numpy", output=output, edges=edges) as whole:
                assert_same(got, whole(given))


def test_weak_detail_on_a_bright_ground_is_filtered_in_double_precision(tmp_path):
    given = np.full((200, 210), 40000, np.uint16)
    given[:, ::2] += 1  # the finest waves, of half a level
    given[:100] -= 30000
    transfer = H.bandpass("3px", "1.9px", shape="gaussian") * H.notch((0.0, 0.1))
    got = by_strips(given, transfer, tmp_path, "magnitude", rows=50)
    with fftfilter.Filter(transfer, precision="double", device="numpy", output="magnitude", edges="wrap") as whole:
        assert_same(got, whole(given))


def test_a_constant_becomes_black(tmp_path):
    assert not by_strips(np.full((90, 70), 77, np.uint8), FILTERS["highpass"], tmp_path, "magnitude", rows=7).any()


def test_floats_beyond_single_precision_are_filtered_all_the_same(tmp_path):
    given = picture(60, 50, np.dtype(np.float32)) * np.float32(3e38)
    got = by_strips(given, FILTERS["lowpass"], tmp_path, "magnitude", rows=7)
    assert_same(got, fftfilter.lowpass(given, "8px", shape="gaussian", output="magnitude", edges="wrap"))


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


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": np.empty((5, 6), np.uint8)}, "target has the shape"),
        ({"source": np.zeros(9)}, "is not an image"),
        ({"source": np.full((9, 9), np.nan)}, "NaN or infinite"),
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


@needs_posix
def test_scratch_without_room_is_refused_before_any_work(tmp_path):
    with pytest.raises(WriteError, match=r"bytes of scratch are needed, and .* are free: --scratch takes another"):
        large.Spectra((1, 1 << 20, 1 << 20, 1 << 10), np.complex64, str(tmp_path))


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


def test_dry_run_prints_the_way_and_writes_nothing(tmp_path):
    name = saved(tmp_path, "pgm")
    code, said = run("highpass", "-n", "--memory", LITTLE, name, "-", "--format=pgm", folder=tmp_path)
    assert code == 0
    assert re.fullmatch(
        r"in.pgm -> standard output: in 1 strips of 501 rows, by 3 readings; [0-9]+ MB of memory\n", said
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
        (name, "out.png"): "a .png is written as a whole: take .tif, .pgm, .ppm or .npy",
        ("in.png", "out.pgm"): "in.png: its format is not read by strips; save it as .tif, .pgm, .ppm or .npy",
        ("turned.tif", "out.tif"): "turned, is not read by strips",
        ("masked.tif", "out.tif"): "the mask beside it, a .msk file, is not read by strips; move it away",
    }
    for files, said in given.items():
        code, line = run("highpass", "--memory=90MB", *files, folder=tmp_path)
        assert (code, line.count("\n")) == (1, 1), line
        assert said in line
    assert not [*tmp_path.glob("out*")]


@pytest.mark.parametrize("memory", ["40MB", "1", "55MB"])
def test_too_little_memory_is_a_line(tmp_path, memory):
    code, line = run("highpass", "--memory", memory, saved(tmp_path, "pgm"), "out.pgm", folder=tmp_path)
    assert (code, line.count("\n")) == (1, 1)
    assert "give more" in line
    assert "than the program takes" in line or memory != "1"


def test_missing_pixels_are_refused_in_a_line_and_leave_nothing(tmp_path):
    holes = picture(501, 403) / np.float32(255)
    holes[400, 7] = np.nan
    tifffile.imwrite(tmp_path / "in.tif", holes)
    code, line = run("lowpass", f"--memory={LITTLE}", "--output=keep", "in.tif", "out.tif", folder=tmp_path)
    assert code == 1
    assert "pixels are missing in the rows" in line
    assert [each.name for each in tmp_path.iterdir()] == ["in.tif"]


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
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_kill_in_any_phase_leaves_the_output_whole_or_missing_and_no_scratch(tmp_path, number):
    (tmp_path / "in.pgm").write_bytes(b"P5\n3000 3000\n255\n" + picture(3000, 3000).tobytes())
    (tmp_path / "scratch").mkdir()
    words = ["highpass", "--shape=butterworth", "--memory=150MB", "--scratch=scratch", "in.pgm", "out.pgm"]
    command = [sys.executable, "-m", "fftfilter", *words]
    for seconds in (0.4, 0.8, 1.2, 1.8):
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
