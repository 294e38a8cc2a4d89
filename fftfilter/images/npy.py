"""NumPy's .npy: an array (height, width) of gray, or (height, width, 3) of color, of any real type.

Numbers of other types than uint8 and uint16 become float32 as they are; white is their type's largest, 1 for floats.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ReadError
from .picture import F32, MAXVAL_OF, Picture, Samples, Size

if TYPE_CHECKING:
    from typing import BinaryIO

    from ..files.atomic import Parts

MAGIC = b"\x93NUMPY"


def encode(samples: Samples) -> Parts:
    """Return the parts of a file of samples (height, width, channels)."""
    array = np.ascontiguousarray(samples[:, :, 0] if samples.shape[2] == 1 else samples)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return [header.getvalue(), array.data]


def measure(file: BinaryIO, name: str) -> Size:
    """Return the size of the image in a file; raises ReadError."""
    shape, _, dtype = _header(file, name)
    return Size(shape[1], shape[0], 3 if len(shape) == 3 else 1, _kept(dtype).itemsize)


def decode(data: bytes, name: str) -> Picture:
    """Read an image from a file's bytes; raises ReadError."""
    file = io.BytesIO(data)
    shape, is_fortran, dtype = _header(file, name)
    wanted = math.prod(shape) * dtype.itemsize
    if len(data) - file.tell() != wanted:
        raise ReadError(
            f"{name}: has {len(data) - file.tell()} bytes of samples, not the {wanted} of its header; "
            "get a whole copy of it"
        )
    flat = np.frombuffer(data, dtype, offset=file.tell())
    array = flat.reshape(shape, order="F" if is_fortran else "C")
    with np.errstate(over="ignore"):
        kept = array.astype(_kept(dtype), copy=False)
    if not np.isfinite(kept).all():
        raise ReadError(f"{name}: has samples that are NaN, infinite or beyond single precision; replace them")
    planes = np.ascontiguousarray(np.atleast_3d(kept).transpose(2, 0, 1))
    return Picture(planes, None, MAXVAL_OF[planes.dtype], "NPY")


def _kept(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that samples have in memory."""
    native = dtype.newbyteorder("=")
    return native if native in MAXVAL_OF else F32


def _header(file: BinaryIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
    except Exception as error:  # of damaged headers NumPy raises almost anything
        raise ReadError(f"{name}: the header of this .npy is damaged; get a whole copy of it") from error
    if dtype.kind not in "uif" or len(shape) not in (2, 3) or min(shape) < 1 or shape[2:] not in ((), (3,)):
        raise ReadError(
            f"{name}: an array of shape {shape} and type {dtype} is not an image; give real numbers, "
            "(height, width) or (height, width, 3)"
        )
    return shape, is_fortran, dtype
