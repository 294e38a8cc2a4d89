"""MRC, DM3, EMD, netCDF and grids of Surfer: what others have written is read, and they read what is written."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from click.testing import CliRunner

from fftfilter import images
from fftfilter.cli import cli
from fftfilter.errors import ParameterError, ReadError, TooLargeError
from fftfilter.images import picture as module
from fftfilter.images.metadata import Metadata
from fftfilter.images.picture import MAXVAL_OF
from fftfilter.images.pixel_size import PixelSize

STACK = np.random.default_rng(3).integers(-500, 500, (3, 20, 25)).astype(np.int16)
EAST, NORTH = 10 + np.arange(25) * 0.01, 60 + np.arange(20) * 0.01


def mrc(path, data=STACK, side=2.5):
    mrcfile = pytest.importorskip("mrcfile")
    with mrcfile.new(path, overwrite=True) as made:
        made.set_data(data)
        made.voxel_size = side
        made.add_label("of a microscope")


def netcdf(path, data=STACK, engine="h5netcdf"):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    axes = {"lat": ("lat", NORTH, {"units": "degrees_north"}), "lon": ("lon", EAST, {"units": "degrees_east"})}
    about = {"long_name": "height", "actual_range": [-500, 500]}
    whole = xarray.Dataset({"line": ("lat", NORTH), "z": (("t", "lat", "lon"), data, about)}, axes, {"title": "T"})
    whole.to_netcdf(path, engine=engine)


def emd(path, data=STACK):
    pytest.importorskip("h5py")
    writer = pytest.importorskip("rsciio.emd").file_writer
    axes = [
        {"name": name, "size": size, "scale": 2.0, "offset": 0.0, "units": unit, "navigate": False}
        for name, size, unit in zip("zyx", data.shape, ("", "nm", "nm"), strict=True)
    ]
    about = {"metadata": {"General": {"title": "t"}, "Signal": {}}, "original_metadata": {}, "attributes": {}}
    writer(str(path), {"data": data, "axes": axes, **about})


def dm3(path, data=STACK[0]):
    pytest.importorskip("rsciio")

    def tag(name, value):
        named = struct.pack(">H", len(name)) + name.encode()
        if isinstance(value, list):
            return b"\x14" + named + group(value)
        if isinstance(value, str):
            return b"\x15" + named + b"%%%%" + struct.pack(">4i", 3, 20, 4, len(value)) + value.encode("utf-16-le")
        if isinstance(value, np.ndarray):
            return b"\x15" + named + b"%%%%" + struct.pack(">4i", 3, 20, 2, value.size) + value.tobytes()
        kind, layout = (6, "<f") if isinstance(value, float) else (5, "<I")
        return b"\x15" + named + b"%%%%" + struct.pack(">2i", 1, kind) + struct.pack(layout, value)

    def group(tags):
        return struct.pack(">BBi", 1, 0, len(tags)) + b"".join(tag(*each) for each in tags)

    axis = [("Origin", 0.0), ("Scale", 0.25), ("Units", "nm")]
    values = [("Origin", 0.0), ("Scale", 1.0), ("Units", "")]
    content = [
        ("Calibrations", [("Dimension", [("", axis), ("", axis)]), ("Brightness", values)]),
        ("Data", data.astype("<i2")),
        ("DataType", 1),
        ("Dimensions", [("", side) for side in data.shape[::-1]]),
        ("PixelDepth", 2),
    ]
    image = [("ImageData", content), ("ImageTags", []), ("Name", "x")]
    root = group([("ImageList", [("", image)]), ("ImageSourceList", [("", [("ImageRef", 0)])])])
    path.write_bytes(struct.pack(">3i", 3, len(root), 1) + root + bytes(8))


def surfer(path, data=STACK[0], driver="GSBG"):
    rasterio = pytest.importorskip("rasterio")
    from rasterio.shutil import copy

    place = rasterio.transform.from_origin(500_000, 5_000_000, 10, 20)
    how = {"width": 25, "height": 20, "count": 1, "dtype": "float32", "transform": place}
    with rasterio.open(path.with_suffix(".tif"), "w", driver="GTiff", **how) as made:
        made.write(data[None].astype(np.float32))
    copy(path.with_suffix(".tif"), path, driver=driver)


ON_EARTH = (556.4, 1114.1)
FILES = {
    "a.mrc": (mrc, (2.5e-10, 2.5e-10)),
    "a.nc": (netcdf, ON_EARTH),
    "b.grd": (lambda path: netcdf(path, engine="scipy"), ON_EARTH),
    "a.emd": (emd, (2e-9, 2e-9)),
    "a.dm3": (dm3, (2.5e-10, 2.5e-10)),
    "s.grd": (surfer, (10, 20)),
    "t.grd": (lambda path: surfer(path, driver="GSAG"), (10, 20)),
}


@pytest.fixture
def run():
    """Run the program in this process; returns exit code, stdout and stderr."""

    def run(*words):
        result = CliRunner().invoke(cli, [*map(str, words)])
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture(params=FILES)
def file(request, tmp_path):
    FILES[request.param][0](tmp_path / request.param)
    return tmp_path / request.param


def pages_of(path):
    found = images.opened(images.raw(path), path)
    return [found.read(i) for i in range(len(found))] if isinstance(found, images.Pages) else [found]


def test_what_other_programs_write_is_read(file):
    pages = pages_of(file)
    for page, wanted in zip(pages, STACK, strict=len(pages) > 1):
        assert (page.planes == wanted).all()
        assert page.metadata.pixel_size[:2] == pytest.approx(FILES[file.name][1], rel=1e-3)
    size = images.measure(file)
    assert (size.width, size.height, size.pages) == (25, 20, len(pages))


@pytest.mark.parametrize("name", ["a.mrc", "a.nc", "b.grd", "a.emd"])
def test_filtered_files_have_the_type_and_what_stands_beside(run, tmp_path, name):
    FILES[name][0](tmp_path / name)
    out = tmp_path / f"out{name[1:]}"
    assert run("highpass", "--output", "keep", "--radius", "5px", tmp_path / name, out)[0] == 0
    for page, given in zip(pages_of(out), pages_of(tmp_path / name), strict=True):
        assert page.integers == given.integers
        assert page.planes.mean() == pytest.approx(given.planes.mean(), abs=0.5)
        assert page.metadata.pixel_size == given.metadata.pixel_size
    if name == "a.mrc":
        mrcfile = pytest.importorskip("mrcfile")
        assert mrcfile.validate(out)
        with mrcfile.open(out) as made:
            assert (made.data.dtype, made.get_labels()[1][:15]) == (np.int16, "of a microscope")
    if name in ("a.nc", "b.grd"):
        made = pytest.importorskip("xarray").open_dataset(out)
        assert (made.title, made.z.dims, made.z.attrs) == ("T", ("t", "lat", "lon"), {"long_name": "height"})
        assert (made.line == NORTH).all()


@pytest.mark.parametrize("suffix", ["mrc", "nc", "emd"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_pictures_of_other_formats_become_such(run, tmp_path, suffix, dtype):
    pytest.importorskip({"mrc": "mrcfile", "nc": "h5netcdf", "emd": "rsciio"}[suffix])
    planes, size = abs(STACK[:1] // 2).astype(dtype), PixelSize(1e-9, 1e-9, "tags")
    picture = images.Picture(planes, None, MAXVAL_OF[planes.dtype], "TIFF", Metadata(pixel_size=size))
    images.write(picture, tmp_path / f"a.{suffix}")
    (made,) = pages_of(tmp_path / f"a.{suffix}")
    assert (made.planes == planes).all()
    assert made.metadata.pixel_size[:2] == pytest.approx((1e-9, 1e-9))
    code, _, said = run("lowpass", "--output", "keep", "--verify", tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}")
    assert (code, "off by at most" in said or not said) == (0, True), said


@pytest.mark.parametrize(
    ("at", "value"), [(0, 2**31 - 1), (0, -5), (0, 0), (8, 10**6), (12, 99), (12, 4), (92, 2**31 - 1), (92, -9)]
)
def test_headers_of_mrc_that_lie_are_refused_in_a_line(tmp_path, at, value):
    mrc(tmp_path / "a.mrc")
    data = bytearray((tmp_path / "a.mrc").read_bytes())
    data[at : at + 4] = struct.pack("<i", value)
    (tmp_path / "a.mrc").write_bytes(data)
    with pytest.raises(ReadError, match=r"^\S*a.mrc: [^\n]*$"):
        pages_of(tmp_path / "a.mrc")


@pytest.mark.parametrize("part", [0.01, 0.1, 0.5, 0.98])
def test_files_that_are_cut_off_are_refused_in_a_line(file, part):
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])
    with pytest.raises(ReadError, match=r"^[^\n]*$"):
        pages_of(file)


def test_an_array_beyond_the_memory_is_not_allocated(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf")
    with h5py.File(tmp_path / "a.nc", "w") as made:
        made.create_dataset("z", (1 << 24, 1 << 24), "f4", chunks=(64, 64))
    with pytest.raises((ReadError, TooLargeError), match=r"a.nc: 16777216 x 16777216 pixels take"):
        pages_of(tmp_path / "a.nc")


@pytest.mark.parametrize("how", ["link", "external", "virtual"])
@pytest.mark.parametrize("suffix", ["nc", "emd"])
def test_arrays_in_other_files_are_not_read(tmp_path, how, suffix):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf")
    pytest.importorskip("rsciio")
    (tmp_path / "secret").write_bytes(bytes(range(100)))
    with h5py.File(tmp_path / f"a.{suffix}", "w") as made:
        made.attrs["version_major" if suffix == "emd" else "title"] = 0
        if how == "link":
            made["z"] = h5py.ExternalLink(str(tmp_path / "secret"), "/z")
        elif how == "external":
            made.create_dataset("z", (10, 10), "u1", external=[(str(tmp_path / "secret"), 0, 100)])
        else:
            layout = h5py.VirtualLayout((10, 10), "u1")
            layout[:] = h5py.VirtualSource(str(tmp_path / "secret"), "z", (10, 10))
            made.create_virtual_dataset("z", layout)
    with pytest.raises(ReadError, match="has arrays in other files, which are not opened"):
        pages_of(tmp_path / f"a.{suffix}")


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"\0\0\0\3" + bytes(6) + b"\0\1", "DM needs rsciio"),
        (bytes(208) + b"MAP DD\0\0" + bytes(900), "MRC needs mrcfile"),
        (b"\x89HDF\r\n\x1a\n" + bytes(90), "NETCDF needs xarray"),
        (b"DSBB" + bytes(90), "SURFER needs rasterio"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch, start, said):
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    (tmp_path / "a").write_bytes(start)
    extra = "surfer" if "SURFER" in said else "formats"
    with pytest.raises(ReadError, match=rf"^\S*a: {said}: .* install '?fftfilter-opencl\[{extra}\]'?$"):
        images.read(tmp_path / "a")
    with pytest.raises(ParameterError, match="MRC needs mrcfile"):
        images.check_output("in.png", tmp_path / "b.mrc")
