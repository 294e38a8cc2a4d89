"""Decode the chunks of a Zarr, each to no more bytes than its metadata say: zarr decodes to what their bytes say.

Codecs are those of images, by imagecodecs, whose decoders take a limit; others, such as pickles, are refused.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numcodecs.abc import Codec
from zarr import Array, AsyncArray
from zarr.abc.codec import BytesBytesCodec

_imagecodecs: Any = import_module("imagecodecs")  # whose types are not those of each version
# numcodecs' names of compressors, and of filters that keep the number of samples.
_COMPRESSORS = ("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd")
_FILTERS = ("adler32", "bitround", "crc32", "delta", "fixedscaleoffset", "fletcher32", "quantize", "shuffle")
_V3 = ("bytes", "crc32c", "transpose")
_WIDEST = 8  # bytes of a sample, also of one that a filter makes another type
_SUM = 64  # bytes, more than all checksums


def _decoded(name: str, stored: Any, most: int) -> bytes:
    """Return the bytes of a chunk; raises ValueError if they are more than ``most``."""
    data = np.asarray(stored).tobytes()
    if name == "blosc" and int.from_bytes(data[12:16], "little") != len(data):  # which its decoder believes
        raise ValueError("a chunk is cut off")
    options = {"header": True} if name == "lz4" else {}
    made: bytes = getattr(_imagecodecs, f"{name}_decode")(data, out=most + 1, **options)
    if len(made) > most:
        raise ValueError(f"a chunk has more than the {most} bytes that the metadata allow")
    return made


class _Compressor(Codec):  # type: ignore[misc]
    """A compressor of Zarr 2 that decodes no more than some bytes."""

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
        most = prod(chunk_spec.shape) * chunk_spec.dtype.to_native_dtype().itemsize + _SUM
        made = await asyncio.to_thread(_decoded, self.name, chunk_bytes.as_numpy_array(), most)
        return chunk_spec.prototype.buffer.from_bytes(made)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        raise NotImplementedError


def bounded(array: Any) -> Any:
    """Return an array to read, each chunk of which takes no more memory than its metadata say; raises ValueError."""
    metadata = array.metadata
    if metadata.zarr_format == 3:
        metadata = replace(metadata, codecs=_of_v3(metadata.codecs))
    else:
        filters, compressor = metadata.filters or (), metadata.compressor
        if unknown := [each.codec_id for each in filters if each.codec_id not in _FILTERS or _is_wide(each)]:
            raise ValueError(f"its filter {unknown[0]!r} is unknown")
        if compressor is not None:
            if compressor.codec_id not in _COMPRESSORS:
                raise ValueError(f"its compressor {compressor.codec_id!r} is unknown")
            most = prod(array.chunks) * (_WIDEST if filters else array.dtype.itemsize) + _SUM
            metadata = replace(metadata, compressor=_Compressor(compressor.codec_id, most))
    return Array(AsyncArray(metadata=metadata, store_path=array.store_path))


def _is_wide(codec: Any) -> bool:
    return any(isinstance(each, np.dtype) and each.itemsize > _WIDEST for each in vars(codec).values())


def _of_v3(codecs: Any) -> tuple[Any, ...]:
    """Return the codecs of a Zarr 3, those of shards, too, with bounded compressors."""
    made = []
    for codec in codecs:
        name = codec.to_dict()["name"].removeprefix("numcodecs.")
        if name == "sharding_indexed":
            inner = {each: _of_v3(getattr(codec, each)) for each in ("codecs", "index_codecs")}
            made.append(replace(codec, **inner))
        elif name in (*_COMPRESSORS, *_V3):
            made.append(_Bounded(name) if name in _COMPRESSORS else codec)
        else:
            raise ValueError(f"its codec {name!r} is unknown")
    return tuple(made)
