"""Files whose pages are filtered together: hyperstacks, cubes and OME-Zarr, by their own readers, against NumPy."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context

import numpy as np
import pytest
import tifffile

import fftfilter
from fftfilter import system
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.images.tiff_reader import TiffPages
from fftfilter.work.opened import open_input
from fftfilter.work.output_file import make_output
from fftfilter.work.recipe import Recipe
from tests.commands.conftest import run  # noqa: F401
from tests.filters.test_strips import assert_same
from tests.helpers import needs
from tests.work.test_large import ome_zarr

SOFT = ("lowpass", "--shape", "gaussian", "--output", "keep")
SIZES = {"z": 0.3, "y": 0.1, "x": 0.1}


def soft(array, period, axes, sizes=None):
    """Return the reference's gray levels: a Gaussian low-pass along axes, its cutoff a period of theirs."""
    grids = np.meshgrid(
        *(np.fft.fftfreq(array.shape[i], sizes[i] if sizes else 1) for i in axes), indexing="ij", sparse=True
    )
    gain = np.exp2(-(period**2) * sum(f * f for f in grids))
    shape = [array.shape[i] if i in axes else 1 for i in range(array.ndim)]
    values = np.fft.ifftn(np.fft.fftn(array.astype(float), axes=axes) * gain.reshape(shape), axes=axes).real
    return np.floor(values + 0.5 + 1 / 2048)


@pytest.fixture
def run_cli(run):  # noqa: F811
    """Run the program, which has to end with ``code``; returns what it says."""

    def run_cli(*arguments, code=0):
        got, _, said = run(*arguments)
        assert got == code, said
        return said

    return run_cli


@pytest.fixture
def hyperstack(rng):
    return rng.integers(0, 256, (3, 6, 2, 15, 16), np.uint8)  # t, z, c, y, x


def written(form, path, array):
    if form == "ImageJ":
        said = {"axes": "TZCYX", "spacing": 0.3, "unit": "um"}
        tifffile.imwrite(path, array, imagej=True, resolution=(10, 10), metadata=said)
    else:
        side = {f"PhysicalSize{axis.upper()}": size for axis, size in SIZES.items()}
        tifffile.imwrite(path, array, ome=True, metadata={"axes": "TZCYX", **side})
    return path


@pytest.mark.parametrize("form", ["ImageJ", "OME"])
def test_hyperstacks_are_filtered_channel_by_channel_and_frame_by_frame(form, hyperstack, tmp_path, run_cli):
    source = written(form, tmp_path / "in.tif", hyperstack)
    for options, axes, sizes, period in (
        (("--axes", "zyx", "--radius", "5px"), (1, 3, 4), None, 5),
        (("--axes", "zyx", "--radius", "0.8um"), (1, 3, 4), (1, 0.3, 1, 0.1, 0.1), 0.8),
        (("--axes", "tyx", "--radius", "5px"), (0, 3, 4), None, 5),
        (("--axes", "t", "--radius", "3px"), (0,), None, 3),
    ):
        run_cli(*SOFT, *options, source, tmp_path / "out.tif")
        with tifffile.TiffFile(tmp_path / "out.tif") as file:
            series = file.series[0]
            assert series.axes == "TZCYX"
            difference = np.abs(series.asarray() - soft(hyperstack, period, axes, sizes))
        assert difference.max() <= 1
        assert np.count_nonzero(difference) <= difference.size // 500


def test_cubes_keep_their_type(rng, tmp_path, run_cli):
    fits = pytest.importorskip("astropy.io.fits")
    cube = rng.normal(100, 5, (7, 9, 10)).astype(np.float32)
    fits.writeto(tmp_path / "in.fits", cube)
    run_cli(
        "highpass", "--radius", "4px", "--output", "real", "--axes", "zyx", tmp_path / "in.fits", tmp_path / "o.fits"
    )
    wanted = fftfilter.highpass(cube, "4px", axes=3, output="real", edges="wrap")
    np.testing.assert_allclose(fits.getdata(tmp_path / "o.fits"), wanted, atol=1e-4)
    assert "axes zyx" in "".join(fits.getheader(tmp_path / "o.fits")["HISTORY"])
    # Of a cube of cubes the last axis before the pictures is z.
    several = rng.integers(0, 999, (2, 5, 6, 7), np.int16)
    fits.writeto(tmp_path / "four.fits", several)
    run_cli(*SOFT, "--radius", "3px", "--axes", "zyx", tmp_path / "four.fits", tmp_path / "o4.fits")
    made = fits.getdata(tmp_path / "o4.fits")
    assert made.dtype == ">i2"
    np.testing.assert_allclose(made, soft(several, 3, (1, 2, 3)), atol=1)


def test_ome_zarr_has_the_voxels_of_its_scale(rng, tmp_path, run_cli):
    zarr = pytest.importorskip("zarr")
    array = rng.integers(0, 4000, (2, 5, 12, 14), np.uint16)
    group = zarr.open_group(str(tmp_path / "in.ome.zarr"), mode="w", zarr_format=2)
    group.create_array("0", data=array, chunks=(1, 2, 12, 14))
    axes = [{"name": "c", "type": "channel"}]
    axes += [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    scale = [{"type": "scale", "scale": [1, 0.3, 0.1, 0.1]}]
    level = {"path": "0", "coordinateTransformations": scale}
    group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": [level]}]
    run_cli(*SOFT, "--axes", "zyx", "--radius", "0.8um", tmp_path / "in.ome.zarr", tmp_path / "out.ome.zarr")
    made = zarr.open_group(str(tmp_path / "out.ome.zarr"), mode="r")["0"][:]
    np.testing.assert_allclose(made, soft(array, 0.8, (1, 2, 3), (1, 0.3, 0.1, 0.1)), atol=1)


def test_a_voxel_that_the_file_does_not_say_is_given(rng, tmp_path, run_cli):
    stack = rng.integers(0, 256, (6, 9, 10), np.uint8)
    tifffile.imwrite(tmp_path / "in.tif", stack)
    size = ("--pixel-size", "0.3um,0.1um,0.1um")
    run_cli(*SOFT, "--axes", "zyx", "--radius", "0.8um", *size, tmp_path / "in.tif", tmp_path / "out.tif")
    np.testing.assert_allclose(
        tifffile.imread(tmp_path / "out.tif"), soft(stack, 0.8, (0, 1, 2), (0.3, 0.1, 0.1)), atol=1
    )
    count = fftfilter.filter_stack(
        tmp_path / "in.tif",
        tmp_path / "python.tif",
        H.lowpass("0.8um", shape="gaussian"),
        axes="zyx",
        pixel_size=("0.3um", "0.1um", "0.1um"),
        output="keep",
        edges="wrap",
    )
    assert count == 6
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "python.tif"), tifffile.imread(tmp_path / "out.tif"))


def test_hum_of_a_movie_goes_by_its_frequency(tmp_path, run_cli):
    """A hum of 2 Hz at 20 frames a second; a saved recipe does it again."""
    t = np.arange(100)[:, None, None]
    picture = np.linspace(60, 190, 12 * 14).reshape(12, 14)
    movie = np.rint(picture + 20 * np.cos(2 * np.pi * t * 2 / 20)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "in.tif", movie, imagej=True, metadata={"axes": "TYX"})
    band = ("bandstop", "--inner", "1.5Hz", "--outer", "0.4s", "--axes", "t", "--frame-rate", "20", "--output", "keep")
    run_cli(*band, "--save-recipe", tmp_path / "hum.json", tmp_path / "in.tif", tmp_path / "out.tif")
    made = tifffile.imread(tmp_path / "out.tif")
    np.testing.assert_allclose(made, np.broadcast_to(picture, made.shape), atol=1.5)
    run_cli("apply", tmp_path / "hum.json", tmp_path / "in.tif", tmp_path / "again.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif"), made)


def test_chosen_pages_and_holes(rng, tmp_path, run_cli):
    stack = rng.random((8, 9, 10)).astype(np.float32)
    stack[4, 3:5, 4] = np.nan
    tifffile.imwrite(tmp_path / "in.tif", stack)
    run_cli(*SOFT, "--radius", "4px", "--axes", "zyx", "--pages", "2-7", tmp_path / "in.tif", tmp_path / "out.tif")
    made = tifffile.imread(tmp_path / "out.tif")
    assert made.shape == (6, 9, 10)
    np.testing.assert_array_equal(np.isnan(made), np.isnan(stack[1:7]))
    wanted = fftfilter.lowpass(stack[1:7], "4px", shape="gaussian", axes=3, output="keep", edges="wrap")
    np.testing.assert_allclose(made, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--axes", "t", "--time", "2"], "--time is a single one, and --axes t filters along all: leave it out"),
        (["--axes", "zyx", "--verify"], "--verify is for pictures by themselves: leave --axes out"),
        (["--axes", "t", "--preview", "p.png"], "--preview is for pictures by themselves"),
        (["--axes", "t", "--auto"], "--auto is for pictures by themselves"),
        (["--axes", "t", "--region", "0,0,2,2", "--output", "keep"], "--region is for pictures by themselves"),
        (["--axes", "t", "--scale", "stack"], "scale stack is for pages by themselves"),
        (["--axes", "t", "--radius", "2Hz"], "--radius 2Hz is for time: give --frame-rate, in frames a second"),
        (["--frame-rate", "20"], "--frame-rate, above 0, is for cutoffs along time: give --axes t"),
        (["--axes", "t", "--frame-rate", "nan"], "--frame-rate, above 0, is for cutoffs along time"),
        (["--axes", "zyx", "--frame-rate", "20"], "--frame-rate, above 0, is for cutoffs along time"),
        (["--axes", "zyx", "--notch", "0.1,0.2"], "notch is for pictures, two axes"),
        (["--axes", "zyx", "--radius", "3um"], "says no size of a sample along zyx, which 3um needs"),
        (
            ["--axes", "zyx", "--radius", "3um", "--pixel-size", "1um,2um"],
            "has 2 sizes: give one, or one for each axis",
        ),
        (["--axes", "zyx", "--pages", "3"], "has no axis z, as it is one picture: leave --axes zyx out"),
    ],
    ids=str,
)
def test_what_goes_with_pages_alone_is_refused(options, said, tmp_path, run_cli):
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((4, 5, 6), np.uint8), photometric="minisblack")
    result = run_cli("lowpass", *options, tmp_path / "in.tif", tmp_path / "out.tif", code=2)
    assert said in result
    assert not (tmp_path / "out.tif").exists()


def test_a_stack_without_the_axis_says_which_it_has(hyperstack, tmp_path, run_cli):
    tifffile.imwrite(tmp_path / "in.tif", hyperstack[:, 0], imagej=True, metadata={"axes": "TCYX"})
    result = run_cli("lowpass", "--axes", "zyx", tmp_path / "in.tif", tmp_path / "out.tif", code=2)
    assert "in.tif: has no axis z, as its pages lie along t, c: leave --axes zyx out, or give a stack" in result
    shown = ("spectrum", "--with", "lowpass --axes zyx", tmp_path / "in.tif", tmp_path / "page.png")
    assert "--axes filters several pages, and this shows one: leave it out" in run_cli(*shown, code=2)
    # Pages of two sizes are no volume.
    with tifffile.TiffWriter(tmp_path / "sizes.tif") as file:
        for side in (8, 9):
            file.write(np.zeros((side, side), np.uint8))
    result = run_cli("lowpass", "--axes", "zyx", tmp_path / "sizes.tif", tmp_path / "out.tif", code=2)
    assert "page 2: is of another size or type than its volume" in result


def test_a_description_of_one_endless_word_is_read_in_no_time():
    from fftfilter.images.pixel_size import axes_of, depth_of

    for text in (
        "<OME><Pixels " + "a" * 2_000_000,
        "<OME><Pixels a" + " " * 2_000_000 + "=",
        "ImageJ=" + "a" * 2_000_000,
    ):
        assert (axes_of(text), depth_of(text)) == ([], None)
    said = '<OME><Pixels DimensionOrder="XYZTC" SizeC="2" SizeT = \'3\' SizeZ="4" SizeX="9">'
    assert axes_of(said) == [("c", 2), ("t", 3), ("z", 4)]


def test_descriptions_that_lie_are_refused(tmp_path, run_cli):
    said = "ImageJ=1.53\nimages=4\nslices=3\nframes=999999999\n"
    with tifffile.TiffWriter(tmp_path / "in.tif") as file:
        for _ in range(4):
            file.write(np.zeros((5, 6), np.uint8), description=said, metadata=None, contiguous=False)
    result = run_cli("lowpass", "--axes", "zyx", tmp_path / "in.tif", tmp_path / "out.tif", code=1)
    assert "in.tif: has 4 pages, and its description says others; save it anew" in result


def test_recipes_of_volumes_have_the_axes_of_the_command(tmp_path):
    fftfilter.save_filter(fftfilter.Filter(H.lowpass("3px"), axes="zyx"), tmp_path / "r.json")
    assert "--axes=zyx" in json.loads((tmp_path / "r.json").read_text())["arguments"]
    assert fftfilter.load_filter(tmp_path / "r.json").options["axes"] == "zyx"
    for how in ({"axes": 3}, {"axes": "zyx", "pixel_size": ("2um", "1um", "1um")}):
        with pytest.raises(ParameterError, match="a recipe has zyx, tyx, t, and one size"):
            fftfilter.save_filter(fftfilter.Filter(H.lowpass("3px"), **how), tmp_path / "r.json")


def test_a_volume_is_read_by_one_thread_alone(tmp_path, run_cli, monkeypatch):
    """Readers seek in one file: a page that was read ahead meanwhile came instead of another."""
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((6, 9, 10), np.float32))
    threads, read = set(), TiffPages.read

    def seen(self, *arguments):
        threads.add(threading.get_ident())
        return read(self, *arguments)

    monkeypatch.setattr(TiffPages, "read", seen)
    run_cli(*SOFT, "--axes", "t", tmp_path / "in.tif", tmp_path / "out.tif")
    assert len(threads) == 1


def filter_in(megabytes, source, target, transfer, how):
    with system.at_most(system.resident() + (megabytes << 20)):
        with pytest.raises(TooLargeError):
            open_input(source, Recipe(transfer, options=how))
        fftfilter.filter_stack(source, target, transfer, **how)


def larger_than_memory(source, target, transfer, megabytes=145, **options):
    """Filter a file as a whole, and in less memory than that takes, and return the name of the first."""
    whole, how = target.with_name(f"whole-{target.name}"), {"edges": "mirror", "output": "keep", **options}
    fftfilter.filter_stack(source, whole, transfer, device="numpy", **how)
    # A process of its own: in this one memory is free that earlier tests have left in pieces.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        fresh.submit(filter_in, megabytes, source, target, transfer, how).result(timeout=200)
    return whole


@pytest.mark.parametrize(
    ("axes", "transfer", "options"),
    [
        ("zyx", H.lowpass("8px", shape="gaussian"), {}),
        ("tyx", H.highpass("6px"), {"output": "magnitude", "edges": "wrap"}),
        ("t", H.bandpass("30px", "4px", shape="butterworth"), {"output": "signed", "scale": "auto"}),
        ("t", H.highpass("20px", shape="gaussian"), {"output": "real"}),
        ("zyx", H.bandstop("9px", "5px", shape="cosine"), {"output": "real", "depth": 12, "precision": "double"}),
    ],
    ids=str,
)
def test_volumes_larger_than_memory_become_what_they_become_as_a_whole(axes, transfer, options, rng, tmp_path):
    given = rng.integers(0, 9000, (6, 2, 2, 500, 510), np.uint16)  # t, z, c, y, x
    tifffile.imwrite(tmp_path / "in.tif", given, imagej=True, metadata={"axes": "TZCYX"})
    whole = larger_than_memory(tmp_path / "in.tif", tmp_path / "out.tif", transfer, axes=axes, **options)
    assert_same(tifffile.imread(tmp_path / "out.tif"), tifffile.imread(whole))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in.tif", "out.tif", "whole-out.tif"]


@needs("zarr")
def test_an_ome_zarr_whose_planes_share_chunks_is_filtered_in_little_memory(rng, tmp_path):
    import zarr

    ome_zarr(tmp_path / "in.zarr", rng.integers(0, 9000, (70, 300, 310), np.uint16), (32, 128, 128), 2)
    with zarr.open_group(tmp_path / "in.zarr", mode="r+").store as store:
        shutil.rmtree(store.root / "0" / "c" / "1")  # missing chunks are empty
    transfer = H.lowpass("6px", shape="gaussian")
    whole = larger_than_memory(tmp_path / "in.zarr", tmp_path / "out.zarr", transfer, axes="zyx")
    for level in "01":
        got, wanted = (zarr.open_group(each, mode="r")[level][...] for each in (tmp_path / "out.zarr", whole))
        assert_same(got, wanted)


@pytest.mark.parametrize(
    ("axes", "transfer", "options"),
    [
        ("zyx", H.highpass("20px", shape="gaussian"), {"output": "real"}),
        ("tyx", H.lowpass("8px", shape="gaussian"), {"nodata": 0}),
        ("t", H.bandstop("9px", "5px", shape="cosine"), {"nodata": 0, "edges": "wrap"}),
    ],
    ids=str,
)
def test_missing_samples_are_filled_page_by_page(axes, transfer, options, rng, tmp_path):
    """Samples, a block that spans pages, a whole page: they come back as they were."""
    given = rng.integers(1000, 9000, (6, 4, 2, 200, 210), np.uint16)  # t, z, c, y, x
    given[rng.random(given.shape) < 0.01] = 0
    given[2:5, 1:4, 1, 50:90, 60:180] = given[3, 1] = 0
    if "nodata" not in options:
        given = np.where(given == 0, np.nan, given.astype(np.float32))[:, :, 0]
    said = {"axes": "TZCYX" if given.ndim == 5 else "TZYX"}
    tifffile.imwrite(tmp_path / "in.tif", given, imagej=True, metadata=said)
    whole = larger_than_memory(tmp_path / "in.tif", tmp_path / "out.tif", transfer, 95, axes=axes, **options)
    made = tifffile.imread(tmp_path / "out.tif")
    holes = np.isnan(given) if given.dtype.kind == "f" else given == 0
    np.testing.assert_array_equal(made[holes], given[holes])
    assert_same(made[~holes], tifffile.imread(whole)[~holes])


@pytest.mark.parametrize(("axes", "dtype"), [("zyx", np.uint16), ("t", np.float32)])
def test_logarithms_of_volumes_are_filtered_as_those_of_the_whole(axes, dtype, rng, tmp_path):
    given = (rng.integers(1000, 9000, (20, 2, 200, 210)) / (1 if dtype == np.uint16 else 1e9)).astype(dtype)
    given[5:9, :, 30:50] = 0
    tifffile.imwrite(tmp_path / "in.tif", given, imagej=True, metadata={"axes": "TCYX" if axes == "t" else "ZCYX"})
    transfer, options = H.highpass("20px", shape="gaussian"), {"ratio": True, "output": "keep", "axes": axes}
    whole = larger_than_memory(tmp_path / "in.tif", tmp_path / "out.tif", transfer, 95, **options)
    made = tifffile.imread(tmp_path / "out.tif")
    np.testing.assert_array_equal(made[given == 0], 0)
    assert_same(made, tifffile.imread(whole))


def test_a_volume_that_strips_do_not_filter_is_a_line_and_leaves_nothing(rng, tmp_path, run_cli):
    stack = rng.random((60, 300, 310)).astype(np.float32)
    stack[50, 20, 20] = np.nan
    tifffile.imwrite(tmp_path / "in.tif", stack)
    words = ["highpass", "--radius", "9px", "--axes", "zyx", tmp_path / "in.tif", tmp_path / "out.tif"]
    memory = lambda megabytes: ("--memory", str(system.resident() + (megabytes << 20)))  # noqa: E731
    said = run_cli(*words, *memory(130), code=2)
    assert "in.tif: larger than memory: filtered in " in said
    assert "output magnitude of a volume takes no missing samples: take keep or real, or fill them" in said
    assert "and its rows along z, take" in run_cli(*words, *memory(25), code=1)
    said = run_cli(*words, "--engine", "book", *memory(130), code=1)
    assert "in.tif: larger than memory, and engine book takes the whole: leave it out" in said
    assert [each.name for each in tmp_path.iterdir()] == ["in.tif"]


def test_a_folder_filters_volumes_that_do_not_fit_by_strips(rng, tmp_path, run_cli):
    (tmp_path / "in").mkdir()
    volumes = {"a": rng.random((100, 300, 310)), "b": rng.random((104, 300, 310)), "c": rng.random((9, 30, 40))}
    for name, volume in volumes.items():
        tifffile.imwrite(tmp_path / f"in/{name}.tif", volume.astype(np.float32))
    words = [
        "lowpass",
        "--radius",
        "9px",
        "--shape",
        "gaussian",
        "--axes",
        "zyx",
        "--output",
        "real",
        "--device",
        "numpy",
    ]
    with system.at_most(system.resident() + (170 << 20)):
        said = run_cli(*words, tmp_path / "in", tmp_path / "out")
    assert said.count("larger than memory: filtered in ") == 2
    assert "3 of 3 files" in said
    for name, volume in volumes.items():
        wanted = fftfilter.lowpass(volume, "9px", shape="gaussian", axes=3, edges="wrap", output="real")
        assert np.abs(tifffile.imread(tmp_path / f"out/{name}.tif") - wanted).max() < 1e-5


@pytest.mark.parametrize("axes", ["zyx", "t"])
def test_the_progress_of_strips_counts_readings_and_writing(axes, rng, tmp_path):
    """Channels lie between each other, and the last strip of a volume is shorter."""
    tifffile.imwrite(
        tmp_path / "in.tif", rng.integers(0, 9000, (23, 2, 300, 310), np.uint16), imagej=True, metadata={"axes": "TCYX"}
    )
    axes, counted = axes.replace("z", "t"), []
    recipe = Recipe(H.highpass("9px", shape="gaussian"), output="magnitude", options={"axes": axes, "edges": "wrap"})
    with system.at_most(system.resident() + (60 << 20)):
        opened = open_input(tmp_path / "in.tif", recipe, by_strips=True)
        opened.volumes.scratch = str(tmp_path)
        with closing(opened), recipe.open_filter(opened.transfer, "numpy") as filter_:
            make_output(opened, tmp_path / "out.tif", filter_, advance=lambda: counted.append(0))
        assert opened.volumes.is_large
        assert len(counted) == opened.volumes.steps > 2 * 23
