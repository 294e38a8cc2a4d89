"""Transforms by the fused engine or by an algorithm of the papers, kept between calls, for numbers of any size."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device.choice import open_device
from ..device.launcher import PRECISIONS, Launcher
from ..engine import choose
from ..errors import ParameterError
from ..fused import fused, plain_fft
from ..staged.plan import FORWARD, INVERSE
from ..staged.transform import Transform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..device.choice import Device
    from ..device.launcher import Precision
    from ..fused.plain_fft import PlainFft, Shape
    from ..staged.algorithms import Option

    Array = NDArray[Any]

# Beyond this power of two, sums and products could leave single precision's range: scale before, undo after.
SAFE_EXPONENT = 40
# Real types that kernels read as they are.
PIXELS = (np.uint8, np.uint16, np.float32)
# Prepared transforms that are kept, and the bytes that they may take together on their devices.
MOST_KEPT, MOST_BYTES = 16, 256 << 20


class Engine:
    """Transforms arrays over their last axes.

    Raises ParameterError for an unknown algorithm or option, and for an option that the fused engine lacks.
    """

    def __init__(
        self,
        algorithm: str | None,
        device: str | int | None,
        precision: Precision,
        options: Mapping[str, Option],
    ) -> None:
        if precision not in PRECISIONS:
            raise ParameterError(f"precision {precision!r} is unknown: choose {' or '.join(PRECISIONS)}")
        _, self.real, self.complex = PRECISIONS[precision]
        asked = {"engine": algorithm, "precision": precision, "engine_options": options}
        self._engine, self._precision = choose(asked, word="algorithm"), precision
        self._device: Device = open_device(device, fused)

    def transform(self, data: Array, shape: Shape, scale: float) -> Array:
        """Return the transform of an array of the shape's numbers, times a scale.

        It is made once more with numbers nearer to 1 if some were too large or too small.
        """
        data = data.reshape(shape.source)
        made, largest = self._any(data, shape, scale)
        if 2.0**-SAFE_EXPONENT * scale < largest < 2.0**SAFE_EXPONENT * scale:
            return made
        # In NumPy's other orders there is no view of the parts.
        wide = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64, order="C")
        most = float(np.max(np.abs(wide.view(np.float64))))
        exponent = int(np.frexp(most)[1]) if np.isfinite(most) else 0
        if abs(exponent) <= SAFE_EXPONENT // 2:
            return made
        made, _ = self._any(_ldexp(wide, -exponent), shape, scale)
        return _ldexp(made, exponent)

    def _any(self, data: Array, shape: Shape, scale: float) -> tuple[Array, float]:
        serves = plain_fft.serves(self._device, shape)
        if self._engine.is_fused(serves=serves):
            if not serves:
                raise ParameterError(f"{shape} is too long for the fused engine of {self._device.name}: take another")
            pixel = data.dtype.type if shape.data == "real" and data.dtype.type in PIXELS else np.float32
            number = np.dtype(pixel if shape.data == "real" else np.complex64)
            with np.errstate(over="ignore"):
                given = np.ascontiguousarray(data, number)
            prepared, lock = _prepared(self._device, shape, np.dtype(pixel))
            with lock:
                return prepared.run(given, scale)
        return self._staged(data, shape, scale)

    def _staged(self, data: Array, shape: Shape, scale: float) -> tuple[Array, float]:
        """Transform by an algorithm of the papers: complex numbers alone, in natural order, not normalized."""
        launcher = Launcher(self._device, precision=self._precision)
        if shape.data == "values":
            data = _whole(data, shape.width)
        if shape.along == "columns":
            data = data.swapaxes(1, 2)
        direction = INVERSE if shape.inverse or shape.data == "values" else FORWARD
        axes = 2 if shape.along == "both" else 1
        transform = Transform(launcher, self._engine.staged, data.shape, axes, direction)
        with np.errstate(over="ignore"):
            transform.load(np.ascontiguousarray(data, self.complex))
        transform.run()
        made: Array = transform.result()
        # The inverse of the papers is normalized.
        factor = scale * (math.prod(data.shape[-axes:]) if direction == INVERSE else 1)
        if factor != 1:
            made *= self.real.type(factor)
        if shape.along == "columns":
            made = made.swapaxes(1, 2)
        made = np.ascontiguousarray(made.real if shape.data == "values" else made[:, :, : shape.target[-1]])
        return made, float(np.max(np.abs(made.view(self.real))))


# Transforms that are kept, each with a lock: its buffers and arguments are for one array at a time.
_kept: OrderedDict[tuple[Device, Shape, np.dtype[Any]], tuple[PlainFft, threading.Lock]] = OrderedDict()
_keeping = threading.Lock()


def _prepared(device: Device, shape: Shape, pixel: np.dtype[Any]) -> tuple[PlainFft, threading.Lock]:
    """Return the transform of a shape, one of the last ones or a new one, and its lock."""
    key = (device, shape, pixel)
    with _keeping:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = plain_fft.transform(Launcher(device), shape, pixel), threading.Lock()
        _kept.move_to_end(key)
        while len(_kept) > 1 and (
            len(_kept) > MOST_KEPT or sum(each.device_bytes for each, _ in _kept.values()) > MOST_BYTES
        ):
            _kept.popitem(last=False)
        return found


def _whole(half: Array, width: int) -> Array:
    """Return the whole spectrum of half a one; columns that mirror themselves become the mean of both."""
    whole = np.empty((*half.shape[:-1], width), half.dtype)
    mirrored = np.roll(half[:, ::-1], 1, axis=1).conj()
    whole[..., : half.shape[-1]] = half
    whole[..., width // 2 + 1 :] = mirrored[..., (width - 1) // 2 : 0 : -1]
    for alone in {0, width // 2} if width % 2 == 0 else {0}:
        whole[..., alone] = (half[..., alone] + mirrored[..., alone]) / 2
    return whole


def _ldexp(data: Array, exponent: int) -> Array:
    """Return numbers times 2^exponent, exactly; beyond the type's range they become infinite."""
    with np.errstate(over="ignore"):
        scaled: Array = np.ldexp(data.view(data.real.dtype), exponent).view(data.dtype)
    return scaled
