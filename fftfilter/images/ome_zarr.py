"""Read and write OME-Zarr, the folders of microscopy, by zarr 3.

An image is a pyramid of levels. The planes of one level, which lie along the axes before y and x, are pages. An output
has them as its level 0, with a new pyramid above it. Until it is whole, it is called OUT.partial: a journal has the
number of each plane that is written, and the metadata come last.

zarr decodes a chunk to as many bytes as it says. Here it takes no more than its metadata say: codecs are those of
imagecodecs, whose decoders take a limit; others, such as pickles, are refused.

Source: OME-Zarr 0.4 and 0.5, https://ngff.openmicroscopy.org
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from numcodecs.abc import Codec
from xxhash import xxh3_128
from zarr.abc.codec import BytesBytesCodec
from zarr.errors import ContainsArrayError
from zarr.storage import LocalStore  # which zarr 2 lacks

from ..errors import ParameterError, ReadError, TooLargeError
from ..files.messages import FileName, first_line, quoted_if_odd
from ..files.sources import digest_of
from ..files.urls import is_name
from ..system import lacking
from .formats import unfinished_zarr
from .metadata import Metadata
from .pages import Pages, Sink
from .picture import F32, MAXVAL_OF, U8, U16, Picture, Samples, Size, Strips, Working, refuse_oversize, spread
from .pixel_size import of_axes
from .quiet import codec, damage_as_error, quiet

if TYPE_CHECKING:
    from io import FileIO

_VERSIONS = ("0.4", "0.5")
# The journal's name, and the length of its lines.
_JOURNAL, _LINE = ".fftfilter-done", 19
# Bytes of a chunk that may be more than so many times those of the array in it. Pixels of a chunk, of which fewer are
# read sooner than the chunk is found, and how many such chunks a plane may have.
_LARGE, _PART, _SMALL, _MANY = 1 << 27, 16, 1 << 10, 1 << 13
# numcodecs' names of compressors, and Zarr 3's of codecs that make samples no larger.
_COMPRESSORS = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")
_V3 = ("bytes", "crc32c", "transpose")
_SUM = 64  # bytes, more than all checksums
# Chunks that are decoded at a time while rows are read, and rows that are halved at a time.
_AT_ONCE, _ROWS = 2, 128


class ZarrPages(Pages):
    """The planes of a level of an OME-Zarr; raises ReadError, TooLargeError and ParameterError."""

    format, is_cut, data = "ZARR", False, b""

    def __init__(self, folder: FileName, name: str, level: int = 0) -> None:
        self.name, root, self._limits = name, os.path.realpath(folder), list[Any]()
        no_group = ReadError(f"{name}: is no group of a Zarr; give the folder of an OME-Zarr image")
        if not any(Path(root, each).is_file() for each in ("zarr.json", ".zgroup")):
            raise no_group
        self.length, self.digest = _survey(root, name)
        with damage_as_error(name), quiet():
            try:
                group = zarr.open_group(LocalStore(root, read_only=True), mode="r", use_consolidated=False)
            except ContainsArrayError as error:
                raise no_group from error
            self.attributes: dict[str, Any] = deepcopy(dict(group.attrs))  # which fails if they are too deep
            self.image = _image(self.attributes, name)
            axes, levels = self.image["axes"], self.image["datasets"]
            if not level < len(levels):
                raise ParameterError(f"{name}: has {len(levels)} levels, counted from 0, and no level {level}")
            self.levels, path = len(levels) - level, str(levels[level]["path"])
            if not all(map(is_name, path.strip("/").split("/"))):
                raise ReadError(f"{name}: level {level} lies outside of it, at {path[:80]!r}; get a whole copy of it")
            array, names = group.get(path), [axis["name"] for axis in axes]
            if not isinstance(array, zarr.Array) or names[-2:] != ["y", "x"] or array.ndim != len(axes):
                said = ", ".join(map(str, names))[:80]
                raise ReadError(f"{name}: level {level} is no array with the axes {said}, which have to end in y, x")
            self.array, self._bounded, kind = array, _bounded(array), array.dtype.newbyteorder("=")
            if kind.kind not in "uif" or min(*array.shape, *array.chunks) < 1:
                said = f"{array.shape} samples of {kind} in chunks of {array.chunks}"
                raise ReadError(f"{name}: {said} are no picture; save it again")
            self.lead, (height, width) = array.shape[:-2], array.shape[-2:]
            self.scale, self.translation = _transformation(levels[level], len(axes))
            outer, _ = _transformation(self.image, len(axes))
            sides = [across * by for across, by in zip(self.scale, outer, strict=True)]
            self._pixel_size = of_axes(sides[-1], sides[-2], str(axes[-1].get("unit")))
            self._names = [str(each) for each in names[:-2]]
            depths = [of_axes(side, side, str(axis.get("unit"))) for side, axis in zip(sides, axes, strict=True)]
            self._depth = dict(zip(names, depths, strict=True)).get("z")
        self.left_out = ("labels",) if Path(root, "labels").is_dir() else ()
        self.count = math.prod(self.lead)
        self.chosen = range(self.count)
        self._dtype = kind if kind in (U8, U16) else F32
        self._integers = kind if kind.kind != "f" and kind != self._dtype else None
        self.first = Size(width, height, 1, self._dtype.itemsize, self.count)
        # Planes that share chunks are read at once, if memory holds them.
        thick = self.array.chunks[-3] if self.lead else 1
        self.thick = thick if lacking(2 * thick * height * width * kind.itemsize) is None else 1
        _refuse_chunks(array, name)
        self._block: tuple[int, Samples] = (-1, np.empty(0))

    def page_name(self, index: int) -> str:
        return f"{self.name}, plane {self.chosen[index] + 1}"

    @property
    def depth(self) -> float | None:
        return self._depth and self._depth.across

    def axes(self) -> list[tuple[str, int]]:
        return list(zip(self._names, self.lead, strict=True))

    def place(self, number: int) -> tuple[int, ...]:
        """Return where a plane lies along the axes before y and x."""
        return tuple(map(int, np.unravel_index(number, self.lead))) if self.lead else ()

    def spare(self, room: int) -> int:
        if not self._limits:  # the whole process, as arrays have no such option, until this is closed
            self._limits.append(zarr.config.set({"async.concurrency": _AT_ONCE}))
        chunks = 2 * _AT_ONCE * math.prod(self.array.chunks) * self.array.dtype.itemsize
        page = self.first.width * self.first.height * self.array.dtype.itemsize
        parts = -(-self.thick * page // max(page, room - chunks))  # of the pages that share chunks
        self.thick = -(-self.thick // parts)
        return chunks + page * self.thick * (self.thick > 1)

    def close(self) -> None:
        while self._limits:
            self._limits.pop().__exit__(None, None, None)

    def strips(self, index: int) -> Strips:
        decoded, chunks = self.spare(0), self.array.chunks
        # Chunks that are decoded, and the rows of all levels that wait until they fill theirs.
        waiting = 4 * self.first.width * (self.array.shards or chunks)[-2] * self._dtype.itemsize

        def read(start: int, stop: int) -> Picture:
            with damage_as_error(self.page_name(index)), np.errstate(over="ignore"):
                return self._picture(np.asarray(self._bounded[(*self.place(self.chosen[index]), slice(start, stop))]))

        return spread(read(0, 1), self.first.height, read, min(chunks[-2], self.first.height), decoded + waiting)

    def read(self, index: int, working: Working | None = None) -> Picture:
        number, name = self.chosen[index], self.page_name(index)
        refuse_oversize(name, self.first, working)
        *before, last = self.place(number) or (0,)
        first = last - last % self.thick
        with damage_as_error(name), np.errstate(over="ignore"):
            if self._block[0] != number - last + first:
                self._block = -1, np.empty(0)  # first, as both would take memory
                place: Any = (*before, slice(first, first + self.thick)) if self.lead else ...
                block = np.asarray(self._bounded[place]).reshape(-1, self.first.height, self.first.width)
                self._block = number - last + first, block
            return self._picture(self._block[1][last - first])

    def _picture(self, plane: Samples) -> Picture:
        metadata = Metadata(pixel_size=self._pixel_size, dpi=self._pixel_size and self._pixel_size.dpi)
        pixels = plane[None].astype(self._dtype)
        return Picture(pixels, None, MAXVAL_OF[self._dtype], "ZARR", metadata, integers=self._integers)


def _refuse_chunks(array: Any, name: str) -> None:
    """Raise ReadError or TooLargeError for chunks of which one takes too much memory, or all take too much time."""
    taken, used = (
        2 * math.prod(sides) * array.dtype.itemsize for sides in (array.chunks, map(min, array.chunks, array.shape))
    )
    if (free := lacking(taken)) is not None:
        said = f"its chunks take {taken:,} bytes, and {free:,} of memory are free"
        raise TooLargeError(f"{name}: {said}; give more memory, or save it in smaller chunks")
    across = math.prod(map(min, array.chunks[-2:], array.shape[-2:]))
    is_large = taken > max(_LARGE, _PART * used)
    if is_large or (across < _SMALL and math.prod(array.shape[-2:]) > _MANY * across):
        said = f"in chunks of {array.chunks}, which are too {'large' if is_large else 'small'}"
        raise ReadError(f"{name}: {array.shape} samples {said}; save it anew")


def _survey(root: str, name: str) -> tuple[int, str]:
    """Return the bytes of all files in a folder, and a digest of their names, sizes and times.

    Raises ReadError for links, which may lead anywhere, and for pipes and devices.
    """
    length, stamps = 0, xxh3_128()
    for place, folders, files in os.walk(root):
        for path in sorted(Path(place, each) for each in (*folders, *files)):
            status, said = path.lstat(), str(path.relative_to(root))
            if stat.S_ISREG(status.st_mode):
                stamps.update(f"{said!r} {status.st_size} {status.st_mtime_ns} ".encode())
                length += status.st_size
            elif not stat.S_ISDIR(status.st_mode):
                raise ReadError(f"{name}: {quoted_if_odd(said)} is a link or no file; get a copy without links")
        folders.sort()
    return length, stamps.hexdigest()


def _image(attributes: dict[str, Any], name: str) -> dict[str, Any]:
    ome = attributes.get("ome", attributes)
    if "image-label" in ome:
        raise ReadError(f"{name}: has labels, which number objects and are no picture; give the image")
    if "multiscales" not in ome:
        what = next((f"a {each}" for each in ("plate", "well") if each in ome), "a Zarr without multiscales")
        raise ReadError(f"{name}: is no image but {what}; give the folder of one, such as {name.rstrip('/')}/0")
    image: dict[str, Any] = ome["multiscales"][0]
    version = (image if ome is attributes else ome).get("version", _VERSIONS[0])
    if version not in _VERSIONS:
        raise ReadError(f"{name}: is OME-Zarr {str(version)[:20]}; save it as {' or '.join(_VERSIONS)}")
    return image


def _transformation(given: dict[str, Any], axes: int) -> tuple[list[float], list[float] | None]:
    found = {each["type"]: [*map(float, each[each["type"]])] for each in given.get("coordinateTransformations", ())}
    scale = found.get("scale", [1.0] * axes)
    if {len(each) for each in (scale, *found.values())} != {axes} or not all(0 < each < math.inf for each in scale):
        raise ValueError(f"coordinateTransformations of {str(found)[:80]}")
    return scale, found.get("translation")


# Chunks, decoded to no more than their metadata say


def _decoded(name: str, stored: Any, most: int) -> bytes:
    """Return the bytes of a chunk; raises ValueError if they are more than ``most``."""
    data = np.asarray(stored).tobytes()
    if name == "blosc" and int.from_bytes(data[12:16], "little") != len(data):  # which its decoder believes
        raise ValueError("a chunk is cut off")
    options = {"header": True} if name == "lz4" else {}
    made: bytes = codec(f"{name}_decode")(data, out=most + 1, **options)
    if len(made) > most:
        raise ValueError(f"a chunk has more than the {most} bytes that the metadata allow")
    return made


class _Compressor(Codec):  # type: ignore[misc]
    codec_id = "bounded"

    def __init__(self, name: str, most: int) -> None:
        self._name, self._most = name, most

    def encode(self, buf: Any) -> Any:
        raise NotImplementedError

    def decode(self, buf: Any, out: Any = None) -> Any:  # noqa: ARG002  which zarr does not give
        return _decoded(self._name, buf, self._most)


@dataclass(frozen=True)
class _Bounded(BytesBytesCodec):
    """A compressor of Zarr 3 that decodes no more than the samples of a chunk."""

    name: str
    is_fixed_size = False

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        most = math.prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize + _SUM
        made = await asyncio.to_thread(_decoded, self.name, chunk_bytes.as_numpy_array(), most)
        return chunk_spec.prototype.buffer.from_bytes(made)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError


def _bounded(array: Any) -> Any:
    """Return an array to read, each chunk of which takes no more memory than its metadata say; raises ValueError."""
    metadata = array.metadata
    if metadata.zarr_format == 3:
        metadata = replace(metadata, codecs=_of_v3(metadata.codecs))
    else:
        names = [each.codec_id for each in (*(metadata.filters or ()), metadata.compressor) if each]
        if names and (len(names) > 1 or names[0] not in _COMPRESSORS):
            raise ValueError(f"its codecs {', '.join(names)} are not supported")
        if names:
            most = math.prod(array.chunks) * array.dtype.itemsize + _SUM
            metadata = replace(metadata, compressor=_Compressor(names[0], most))
    return zarr.Array(zarr.AsyncArray(metadata=metadata, store_path=array.store_path))


def _of_v3(codecs: Any) -> tuple[Any, ...]:
    """Return the codecs of a Zarr 3, those of shards, too, with bounded compressors."""
    made = []
    for given in codecs:
        name = given.to_dict()["name"].removeprefix("numcodecs.")
        if name == "sharding_indexed":
            inner = {each: _of_v3(getattr(given, each)) for each in ("codecs", "index_codecs")}
            made.append(replace(given, **inner))
        elif name in (*_COMPRESSORS, *_V3):
            made.append(_Bounded(name) if name in _COMPRESSORS else given)
        else:
            raise ValueError(f"its codec {name} is not supported")
    return tuple(made)


# Writing


@contextmanager
def growing(target: FileName, pages: ZarrPages, settings: str, *, by_rows: bool = False) -> Iterator[ZarrSink]:
    """Give a sink, choose the planes that no earlier run has written, and rename the folder when all are.

    The sink grows by planes, or ``by_rows`` of them, in their order. ``settings`` is a digest of what else decides the
    planes. Raises OSError, and ParameterError for others' folders.
    """
    folder = unfinished_zarr(target)
    folder.mkdir(exist_ok=True)
    kept = {each.name for each in folder.iterdir()}
    has_link = folder.is_symlink() or any(each.is_symlink() for each in folder.rglob("*"))  # into which it would write
    if has_link or (kept and _JOURNAL not in kept):
        raise ParameterError(f"{folder}: is no unfinished output: remove it, or choose another name")
    key = f"{digest_of(f'{pages.digest} {settings}'.encode())}\n".encode()
    with (folder / _JOURNAL).open("a+b", buffering=0) as journal:
        _lock(journal, folder)
        journal.seek(0)
        found, *lines = journal.readlines() or [b""]
        if found != key and (found or len(kept) > 1):
            raise ParameterError(f"{folder}: is unfinished, but of another input or other settings: remove it")
        if not found:
            journal.write(key)
        for each in folder.rglob("*.partial"):  # chunks that zarr was writing when the run was killed
            each.unlink()
        # A killed run may have written half a line.
        done = {int(line) for line in lines if len(line) == _LINE and line[:-1].isdigit()}
        pages.chosen = [number for number in pages.chosen if number not in done]
        try:
            yield ZarrSink(folder, pages, journal, by_rows=by_rows)
        finally:
            if os.fstat(journal.fileno()).st_size == len(key):
                shutil.rmtree(folder)  # no plane is done
    folder.rename(target)
    Path(target, _JOURNAL).unlink()


def _lock(journal: FileIO, folder: Path) -> None:
    """Keep other runs out, which would make the arrays anew, until the journal is closed; raises ParameterError."""
    if sys.platform != "win32":
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(journal, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            said = "is being written by another run: wait for it, or choose another name"
            raise ParameterError(f"{folder}: {said}") from error


@contextmanager
def part(target: FileName, pages: ZarrPages) -> Iterator[ZarrSink]:
    """Give a sink for some planes of an output that :func:`growing` has begun, in another process perhaps."""
    folder = unfinished_zarr(target)
    with (folder / _JOURNAL).open("ab", buffering=0) as journal:
        yield ZarrSink(folder, pages, journal, is_part=True)


class ZarrSink(Sink):
    """The levels of an OME-Zarr, which grow by planes, or by rows of these."""

    def __init__(
        self, folder: Path, pages: ZarrPages, journal: FileIO, *, is_part: bool = False, by_rows: bool = False
    ) -> None:
        self._by_rows, self._rows, self._number = by_rows, 0, 0  # rows of a plane, by its number, that are there
        self._waiting: list[tuple[int, list[Samples]]] = []  # rows of each level, and where they begin
        self._folder, self._pages, self._journal, self._left = folder, pages, journal, iter(pages.chosen)
        self._is_part = is_part
        self._shapes = [pages.array.shape]
        while len(self._shapes) < pages.levels and max(self._shapes[-1][-2:]) > 1:
            self._shapes.append((*pages.lead, *(-(-side // 2) for side in self._shapes[-1][-2:])))
        self._levels: list[Any] = []

    def _level(self, number: int, dtype: np.dtype[Any]) -> Any:
        """Return the array of a level, coded like the one that was read, with chunks of one plane."""
        if len(self._pages.chosen) < self._pages.count:  # an earlier run made it
            return zarr.open_array(self._folder / str(number), mode="r+")
        like, thin, shape = self._pages.array, (1,) * len(self._pages.lead), self._shapes[number]
        sides = like.chunks[-2:] if like.shards else map(min, like.chunks[-2:], shape[-2:])
        is_same = like.dtype.newbyteorder("=") == dtype
        more: dict[str, Any] = {"dimension_names": getattr(like.metadata, "dimension_names", None)}
        if like.metadata.zarr_format == 2:
            more = {"chunk_key_encoding": {"name": "v2", "separator": "/"}, "order": like.order}
        return zarr.create_array(
            self._folder,
            name=str(number),
            shape=shape,
            dtype=like.dtype if is_same else dtype,
            chunks=(*thin, *sides),
            shards=like.shards and (*thin, *like.shards[-2:]),
            filters=like.filters if is_same else None,
            compressors=like.compressors,
            fill_value=like.fill_value if is_same else 0,
            zarr_format=like.metadata.zarr_format,
            attributes=dict(like.attrs),
            overwrite=True,
            **more,
        )

    def encode(self, picture: Picture, milliseconds: float | None) -> list[Samples]:  # noqa: ARG002
        """Return the plane of each level, or rows of the finest."""
        planes = [picture.planes[0]]
        while len(planes) < len(self._shapes) and not self._by_rows:
            planes.append(_halved(planes[-1]))
        return planes

    def add(self, encoded: list[Samples]) -> None:
        self._number = self._number if self._rows else next(self._left)
        place = self._pages.place(self._number)
        try:
            with quiet():
                self._levels = self._levels or [self._level(i, encoded[0].dtype) for i in range(len(self._shapes))]
            (self._write_rows if self._by_rows else self._write)(place, encoded)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # zarr decodes by damaged settings of a codec that it cannot encode by
            name, said = self._pages.name, first_line(error)
            raise ReadError(f"{name}: OUT cannot be compressed as IN is ({said}); save IN anew") from error
        if not self._rows:
            self._journal.write(b"%0*d\n" % (_LINE - 1, self._number))

    def _write(self, place: tuple[int, ...], planes: list[Samples]) -> None:
        for level, plane in zip(self._levels, planes, strict=True):
            level[place or ...] = plane

    def _write_rows(self, place: tuple[int, ...], encoded: list[Samples]) -> None:
        """Write rows to each level, as far as they fill its chunks: others wait for the next ones."""
        (rows,) = encoded
        if not self._rows:
            self._waiting = [(0, []) for _ in self._shapes]
        self._rows = (self._rows + len(rows)) % self._pages.first.height
        for i, level in enumerate(self._levels):
            start, parts = self._waiting[i]
            parts.append(rows)
            many, count = math.lcm(2, (level.shards or level.chunks)[-2]), sum(map(len, parts))
            stop = count // many * many if self._rows else count
            if not stop:
                break
            made = np.concatenate(parts)
            self._waiting[i], rows = (start + stop, [made[stop:].copy()]), made[:stop]
            parts.clear()
            level[(*place, slice(start, start + stop))] = rows
            rows = _halved(rows)

    def finish(self) -> None:
        if self._is_part:
            return
        pages, attributes = self._pages, self._pages.attributes
        ome = attributes.get("ome", attributes)
        image = {**pages.image, "type": "mean", "datasets": [*map(self._dataset, range(len(self._shapes)))]}
        image.pop("metadata", None)  # on how the input's pyramid was made
        ome["multiscales"] = [image]
        if not pages.asked.keeps_levels and "omero" in ome:
            middle: Any = zarr.open_array(self._folder / "0", mode="r")[pages.place(pages.count // 2) or ...]
            low, high = (float(end.reduce(middle, None)) for end in (np.fmin, np.fmax))
            for channel in ome["omero"]["channels"]:
                channel["window"] = {"min": low, "start": low, "max": high, "end": high}
        zarr.open_group(self._folder, mode="r+").attrs.put(attributes)

    def written(self) -> ZarrPages:
        """Return the planes that were written, but for those of an earlier run."""
        found = ZarrPages(self._folder, self._pages.name)
        found.chosen, found.count = self._pages.chosen, len(self._pages)
        return found

    def _dataset(self, level: int) -> dict[str, Any]:
        """Return the metadata of a level, whose pixels are the means of 2 x 2 of those of the level below."""
        pages, across = self._pages, [1.0] * len(self._pages.lead) + [2.0**level] * 2
        made = [{"type": "scale", "scale": [each * by for each, by in zip(pages.scale, across, strict=True)]}]
        if pages.translation:
            moved = [(by - 1) / 2 * each for by, each in zip(across, pages.scale, strict=True)]
            made.append({"type": "translation", "translation": [*map(add, pages.translation, moved)]})
        return {"path": str(level), "coordinateTransformations": made}


def _halved(plane: Samples) -> Samples:
    """Return the means of 2 x 2 samples, without those that are NaN; an odd border counts twice."""
    if len(plane) > _ROWS:  # float64 takes memory
        return np.concatenate([_halved(plane[top : top + _ROWS]) for top in range(0, len(plane), _ROWS)])
    even = np.pad(plane, [(0, side % 2) for side in plane.shape], mode="edge")
    four = np.stack([even[i::2, j::2] for i in (0, 1) for j in (0, 1)]).astype(np.float64)
    valid = ~np.isnan(four)
    with np.errstate(invalid="ignore"):  # where none is valid
        means = four.sum(axis=0, where=valid) / valid.sum(axis=0)
    made: Samples = (means if plane.dtype.kind == "f" else np.rint(means)).astype(plane.dtype)
    return made
