"""Read and write formats of microscopes and of the Earth, by the libraries of their fields, loaded on first use.

A row of ``LIBRARIES`` has the reader of a format, and its writer if there is one. A file is read as a whole: a reader
asks whether its array fits into memory before it loads it. Axes before the last two are pages. For an output of the
same format a picture's metadata keep what the reader has kept of the file.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from ..errors import ReadError, TooLargeError
from ..files.sources import Content
from ..system import check_memory
from .formats import FORMATS
from .metadata import Metadata
from .pages import Pages, Sink
from .picture import F32, MAXVAL_OF, Picture, Samples, Size, Working, refuse_missing, refuse_oversize
from .pixel_size import PixelSize, in_degrees, in_map, of_axes
from .quiet import damage_as_error, quiet

if TYPE_CHECKING:
    Check = Callable[[tuple[int, ...], Any], None]


class Found(NamedTuple):
    """What a reader finds in a file."""

    array: Samples  # (..., height, width)
    pixel: PixelSize | None = None
    depth: float | None = None  # the distance of pages in meters
    kept: Any = None  # what its writer takes


class Library(NamedTuple):
    """How a format is read and written."""

    read: Callable[[bytes, Check], Found]
    # Takes a page, or a stack of them, what the reader has kept of a file of its format, and the size of pixels.
    write: Callable[[Samples, Any, PixelSize | None], bytes | memoryview] | None = None


def _read_mrc(data: bytes, check: Check) -> Found:
    from mrcfile.mrcinterpreter import MrcInterpreter

    order = ">" if data[212] == 0x11 else "<"
    *shape, extended = np.frombuffer(data[:96], f"{order}i4")[[2, 1, 0, 23]].tolist()
    if min(shape) < 1 or math.prod(shape) + extended > len(data):
        raise ReadError(f"{len(data):,} bytes for {' x '.join(map(str, shape))} samples; get a whole copy of it")
    check(tuple(shape), F32)
    made = MrcInterpreter(io.BytesIO(data))
    across, down, depth = (float(made.voxel_size[axis]) * 1e-10 for axis in "xyz")
    is_known = min(across, down) > 0 and made.header.cella.x not in (0, made.header.mx)  # 1 by default
    pixel = PixelSize(across, down, "MRC header") if is_known else None
    return Found(np.asarray(made.data).reshape(shape), pixel, depth if pixel and depth else None, made)


def _write_mrc(stack: Samples, kept: Any, pixel: PixelSize | None) -> bytes:
    import mrcfile

    own = stack.dtype if stack.dtype in (np.int8, np.int16, np.uint16) else np.float32  # as it has no others
    with TemporaryDirectory() as folder:
        with mrcfile.new(Path(folder, "made.mrc")) as made:
            made.set_data(np.ascontiguousarray(stack, own))
            if kept is not None:
                made.set_extended_header(kept.extended_header)
                for name in ("exttyp", "cellb", "origin", "nxstart", "nystart", "nzstart", "nlabl", "label"):
                    made.header[name] = kept.header[name]
                made.header.ispg = kept.header.ispg if stack.shape == kept.data.shape else made.header.ispg
                made.voxel_size = kept.voxel_size
            elif pixel:
                made.voxel_size = pixel.across * 1e10, pixel.down * 1e10, pixel.across * 1e10
        return Path(folder, "made.mrc").read_bytes()


def _refuse_other_files(data: bytes) -> None:
    """Raise ReadError for an HDF5 whose arrays lie in other files, of whatever name."""
    import h5py

    def leads_out(_: str, found: Any) -> bool | None:
        others = isinstance(found, h5py.Dataset) and (found.external or found.is_virtual)
        return bool(others or isinstance(found, h5py.ExternalLink)) or None

    with h5py.File(io.BytesIO(data)) as file:
        if file.visititems_links(leads_out) or file.visititems(leads_out):
            raise ReadError("has arrays in other files, which are not opened: put all into one file")


def _read_netcdf(data: bytes, check: Check) -> Found:
    import xarray
    from h5netcdf.core import File

    File._writable = False  # which a damaged one is closed without, and then a trace is printed
    whole = xarray.open_dataset(io.BytesIO(data), decode_times=False)
    names = [name for name, each in whole.data_vars.items() if each.ndim > 1 and each.dtype.kind in "uif" and each.size]
    if not names:
        raise ReadError(f"has no numbers of two axes, but {', '.join(map(str, whole.data_vars)) or 'none'}")
    found = whole[names[0]]
    check(found.shape, found.dtype)
    check_memory(found.shape[-2], found.shape[-1], 2 * whole.nbytes)
    whole.load()
    return Found(found.values, _pixel_of_axes(found), None, (whole, names[0]))


def _pixel_of_axes(found: Any) -> PixelSize | None:
    """Return the size of pixels by the coordinates of the last two axes, None unless they are lengths or degrees."""
    axes = [found.coords.get(dim) for dim in found.dims[-2:]]
    if any(axis is None or axis.ndim != 1 or axis.size < 2 or axis.dtype.kind not in "uif" for axis in axes):
        return None
    down, across = (abs(float(axis[-1] - axis[0])) / (axis.size - 1) for axis in axes)
    units = {re.sub("^degrees?(_.*)?$", "deg", str(axis.attrs.get("units", ""))) for axis in axes}
    if units == {"deg"}:
        return in_degrees(across, down, float(axes[0].mean()), "axes")
    return of_axes(across, down, *units) if len(units) == 1 else None


def _write_netcdf(stack: Samples, kept: Any, pixel: PixelSize | None) -> bytes | memoryview:
    import xarray

    if kept is not None and kept[0][kept[1]].size == stack.size:
        whole, name = kept[0].copy(), kept[1]
        attributes = {
            key: each for key, each in whole[name].attrs.items() if key not in ("actual_range", "valid_range")
        }
        whole[name] = whole[name].dims, stack.reshape(whole[name].shape), attributes
    else:
        (across, down), units = (pixel[:2], {"units": "m"}) if pixel else ((1.0, 1.0), {})
        axes = {
            "y": ("y", down * np.arange(stack.shape[-2]), units),
            "x": ("x", across * np.arange(stack.shape[-1]), units),
        }
        whole = xarray.Dataset({"z": (("page", "y", "x")[-stack.ndim :], stack)}, axes)
    made = whole.to_netcdf(engine="h5netcdf")
    return made if made is not None else b""


def _by_rosettasciio(module: str, data: bytes, check: Check) -> Found:
    from importlib import import_module

    with TemporaryDirectory() as folder:
        path = Path(folder, "given")
        path.write_bytes(data)
        every = import_module(f"rsciio.{module}").file_reader(str(path), lazy=True)
        found = [each for each in every if each["data"].ndim > 1 and each["data"].dtype.kind in "uif"]
        if not found:
            raise ReadError("has no picture of two axes")
        largest = max(found, key=lambda each: int(each["data"].size))
        check(largest["data"].shape, largest["data"].dtype)
        array = np.asarray(largest["data"])
    *_, down, across = largest["axes"]
    same = across["units"] == down["units"]
    pixel = of_axes(abs(across["scale"]), abs(down["scale"]), str(across["units"])) if same else None
    return Found(array, pixel, None, largest)


def _write_emd(stack: Samples, kept: Any, pixel: PixelSize | None) -> bytes:
    from rsciio.emd import file_writer

    sides = {"x": (pixel.across, "m"), "y": (pixel.down, "m")} if pixel else {}
    axes = [
        {"name": name, "size": size, "scale": scale, "offset": 0.0, "units": unit, "navigate": False}
        for name, size in zip("zyx"[-stack.ndim :], stack.shape, strict=True)
        for scale, unit in [sides.get(name, (1.0, ""))]
    ]
    about = {"metadata": {"General": {"title": "filtered"}, "Signal": {}}, "original_metadata": {}}
    if kept is not None and kept["data"].shape == stack.shape:
        axes, about = kept["axes"], {name: kept[name] for name in about}
    with TemporaryDirectory() as folder:
        path = Path(folder, "made.emd")
        file_writer(str(path), {"data": stack, "axes": axes, **about, "attributes": {}})
        return path.read_bytes()


def _read_surfer(data: bytes, check: Check) -> Found:
    import rasterio

    if data.startswith(b"DSAA") and not data.isascii():
        raise ReadError("is no text; get a whole copy of it")  # of which rasterio prints a trace
    driver = {b"DSAA": "GSAG", b"DSBB": "GSBG", b"DSRB": "GS7BG"}[data[:4]]
    with rasterio.MemoryFile(data) as file, file.open(driver=driver) as found:
        check(found.shape, F32)
        (across, down), array = found.res, found.read(1, masked=True).astype(np.float32).filled(np.nan)
        return Found(array, in_map(across, down, found.bounds.left, found.bounds.top, "grid"))


LIBRARIES = {
    "MRC": Library(_read_mrc, _write_mrc),
    "DM": Library(partial(_by_rosettasciio, "digitalmicrograph")),
    "EMD": Library(partial(_by_rosettasciio, "emd"), _write_emd),
    "NETCDF": Library(_read_netcdf, _write_netcdf),
    "SURFER": Library(_read_surfer),
}
_HDF5 = b"\x89HDF"
_BY_START = {b"\0\0\0": "DM", b"CDF": "NETCDF", b"DSA": "SURFER", b"DSB": "SURFER", b"DSR": "SURFER"}


def _format_of(data: bytes) -> str:
    """Return the name of the format of a file that is read here."""
    if data.startswith(_HDF5):  # EMD's files say a version, or are Velox's
        return "EMD" if re.search(rb"version_major|emd_group|Features\0", data[: 1 << 16]) else "NETCDF"
    return "MRC" if data[208:211] == b"MAP" else _BY_START[data[:3]]


class LibraryPages(Pages):
    """The pages of a file that a library reads; raises ReadError."""

    is_cut = False

    def __init__(self, data: Content, name: str) -> None:
        content = data[:]
        self.name, self.data, self.format = name, b"", _format_of(content)
        refuse_missing(self.format, name)

        def check(shape: tuple[int, ...], dtype: Any) -> None:
            sides = [*shape[-2:][::-1], 1, max(F32.itemsize, np.dtype(dtype).itemsize)]
            refuse_oversize("", Size(*sides)._replace(channels=math.prod(shape[:-2])))

        with damage_as_error(name), quiet():
            try:
                if content.startswith(_HDF5):
                    _refuse_other_files(content)
                self._found = LIBRARIES[self.format].read(content, check)
            except (ReadError, TooLargeError) as error:
                raise type(error)(f"{name}: {error}") from error
        array = self._found.array
        if array.dtype.kind not in "uif" or array.ndim < 2 or not array.size:
            raise ReadError(f"{name}: an array of shape {array.shape} and type {array.dtype} is not an image")
        self._dtype = array.dtype.newbyteorder("=")
        self._kept = self._dtype if self._dtype in MAXVAL_OF else F32
        self._lead, (height, width) = array.shape[:-2], array.shape[-2:]
        self.count, self.length = math.prod(self._lead), len(content)
        self.chosen = range(self.count)
        self.first = Size(width, height, 1, self._kept.itemsize, self.count)

    @property
    def depth(self) -> float | None:
        return self._found.depth

    def axes(self) -> list[tuple[str, int]]:
        return [("z" if self.depth and i == len(self._lead) - 1 else "", side) for i, side in enumerate(self._lead)]

    def read(self, index: int, working: Working | None = None) -> Picture:
        refuse_oversize(self.page_name(index), self.first, working)
        plane = self._found.array.reshape(-1, *self._found.array.shape[-2:])[self.chosen[index]]
        integers = self._dtype if self._dtype.kind in "ui" and self._kept == F32 else None
        with np.errstate(over="ignore"):
            planes = np.ascontiguousarray(plane[None], self._kept)
        metadata = Metadata(pixel_size=self._found.pixel, library=(self.format, self._found.kept))
        return Picture(planes, None, MAXVAL_OF[self._kept], self.format, metadata, integers=integers)


class LibrarySink(Sink):
    """A file of pages that a library writes when all are there."""

    def __init__(self, file: BinaryIO, suffix: str) -> None:
        self._file, self._format, self._pages = file, FORMATS[suffix].name, list[Picture]()

    def add(self, encoded: Picture) -> None:
        self._pages.append(encoded)

    def finish(self) -> None:
        metadata = self._pages[0].metadata or Metadata()
        format_, kept = metadata.library or ("", None)
        write: Any = LIBRARIES[self._format].write
        planes = [page.planes[0] for page in self._pages]
        stack = np.stack(planes) if len(planes) > 1 else planes[0]
        with quiet():
            self._file.write(write(stack, kept if format_ == self._format else None, metadata.pixel_size))
