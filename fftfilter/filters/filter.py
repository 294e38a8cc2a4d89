""":class:`Filter`: one transfer function on one device, to use again."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.waves import has_waves, without_waves
from ..arrays import pixel_type, planes_of, type_of_output, white_of_input
from ..device.choice import check_process
from .call import NOTHING, Found, call, start
from .description import Described, describe
from .pipelines import ON_THEIR_WAY, Prepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ..device.launcher import Precision, Timing
    from ..output.modes import Output
    from ..staged.algorithms import Option
    from ..staged.steps import Transpose
    from ..transfer import Transfer
    from ..transfer.edges import Edges
    from .call import Begun, Observe
    from .description import PixelOptions, ScaleLike

    Array = NDArray[Any]


class Filter(Described):
    """A filter to use again: one transfer function on one device.

    ``transfer`` is made by the functions of ``fftfilter.transfer`` and may be a product of them.

    ``device`` is auto, gpu, cpu, an index or a part of a name. ``output`` is

    - "magnitude": from 0, black, to the largest magnitude, white, truncated;
    - "keep": the input's grey levels with their mean, as if H(0) were 1, rounded and clipped; floats as they are;
    - "signed": 0 in the middle (128 of 255), the largest magnitude white and its negative black, rounded;
    - "real": the filtered values as they are, float.

    ``pixel_size``, such as "65nm" or "300dpi" (a number is in meters), is needed for radii in physical units.

    ``scale`` of "magnitude" and "signed" is "each", every picture its own; "auto" or ("auto", P), every picture its own
    but for P percent of the samples, by default 0.35, which become black or white; or two grey levels (LO, HI) of the
    input, which become black and white.

    ``edges`` says what lies beyond the borders: "wrap", the image again, or "mirror", its mirror image, as if
    ``numpy.pad(image, "symmetric")`` to twice each side were filtered.

    ``engine`` is "fused", the fast one, or the name of an algorithm for the staged pipeline, with options of its
    own in ``engine_options`` (``{"radix": 8}`` for stockham). Only the staged pipeline has a ``precision`` of double,
    a ``work_group_size``, a ``transpose`` (tiled, plain, float4; by default the algorithm's own), and transfer
    functions with H(-k) other than H(k), whose result is complex ("real" is its real part): without an ``engine``,
    asking for one of them takes "book", and so does an image too long for the fused form of a GPU. The attribute
    ``engine`` says which one filtered last.

    Threads may share a filter: it filters one image at a time. A filter can be pickled and sent to other processes: its
    copy has the same options, and opens its device with its first image.

    If so little of a picture passes that rounding in single precision would show, or if many of its levels lie next to
    an edge between two, the staged pipeline filters it once more in double precision, where the device has it.

    Raises ParameterError for invalid values, DeviceError without a usable device.

        from fftfilter import transfer as H
        with fftfilter.Filter(H.bandpass("20px", "4px"), device="gpu") as f:
            for image in images:
                out = f(image)
    """

    def __init__(
        self,
        transfer: Transfer,
        *,
        engine: str | None = None,
        engine_options: Mapping[str, Option] | None = None,
        device: str | int | None = None,
        precision: Precision = "single",
        work_group_size: int | None = None,
        transpose: Transpose | None = None,
        output: Output = "magnitude",
        scale: ScaleLike = None,
        edges: Edges = "wrap",
        pixel_size: str | float | None = None,
        profile: bool = False,
    ) -> None:
        of_engine = {"engine": engine, "engine_options": engine_options, "transpose": transpose}
        of_device = {"device": device, "precision": precision, "work_group_size": work_group_size, "profile": profile}
        of_output = {"output": output, "scale": scale, "edges": edges, "pixel_size": pixel_size}
        self._describe(transfer, {**of_engine, **of_device, **of_output})
        _ = self.launcher  # without a usable device there is no filter

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        super()._describe(transfer, options)
        # A pipeline has one set of buffers and of kernels, whose arguments are set before they are launched.
        self._lock = threading.RLock()
        self._prepared: Prepared | None = None
        self._found = NOTHING
        self._notes: list[str] = []

    def retune(self, transfer: Transfer) -> None:
        """Filter with another transfer function from now on, with the same options, on the same open device.

        The fused form for CPUs keeps its buffers and its program, so that a new cutoff costs little more than an image.
        Raises ParameterError for a transfer function that does not fit the options, and leaves the filter as it was.
        Whether it fits a picture is known when that is filtered.

            with fftfilter.Filter(H.lowpass(10)) as f:
                for radius in range(10, 60):
                    f.retune(H.lowpass(radius))
                    out = f(image)
        """
        description = describe(transfer, self._description.options)
        with self._alone():
            if self._prepared is not None:
                self._prepared = self._prepared.retuned(description)
            self._description = description

    @property
    def engine(self) -> str:
        """The name of the engine that filtered last."""
        return self._description.engine.name if self._prepared is None else self._prepared.engine

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
        observe: Observe = None,
    ) -> Array:
        """Filter an image ``(height, width)`` or a stack of images ``(count, height, width)``.

        uint8 and uint16 give their own type, every other real type float32 from 0 to 1, unless ``dtype``
        asks for one of the three. ``levels`` is the output's white, by default the type's largest value; that of floats
        is 1. ``white`` is the input's, by default its type's largest value, 1 for floats; "keep" maps it to ``levels``.
        Each image of a stack has its own scale; with ``channel_axis`` the array is one picture with
        channels along that axis, and one scale for all. All channels are filtered: no array says which one is alpha.
        Filter the others, and put it back:

            out = rgba.copy()
            out[..., :3] = f(rgba[..., :3], channel_axis=-1)

        ``observe`` is called with the name and contents of every intermediate result, which the fused
        engine does not have.

        Notches of some channels alone are for pictures with a ``channel_axis``, and for outputs that have no scale in
        common ("keep", "real", a ``scale`` of (LO, HI)); pictures of one channel are filtered by all of them.

        Raises ParameterError for an array that is not an image, or has masked values, or looks like a color picture
        without its ``channel_axis``; TooLargeError for one that the device cannot hold.
        """
        with self._alone():
            of_pixels: PixelOptions = {"dtype": dtype, "levels": levels, "white": white}
            self._notes = []
            if not self.transfer.is_fitted:
                result, self._found = call(self._ready(), image, channel_axis, of_pixels, observe)
                return result
            planes, shape = planes_of(image, channel_axis)
            pictures = [planes] if channel_axis is not None else planes[:, None]
            made = [self._fit_and_call(each, of_pixels, observe) for each in pictures]
            self._found = Found.of_all([found for _, found in made])
            results = np.concatenate([result for result, _ in made])
            return results.reshape(shape) if channel_axis is None else np.moveaxis(results, 0, channel_axis)

    def stream(
        self,
        images: Iterable[ArrayLike],
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
    ) -> Iterator[Array]:
        """Filter images or stacks one after the other, as calls do, and yield their results in order.

        The fused engine on a GPU copies in, filters and copies out at the same time: of the ``images``, three more than
        were yielded are asked for. An image has been read before the next one is asked for, so that a generator may
        fill the same array again. Arrays of :meth:`empty`, which a GPU reads without another copy, have to be two in
        turn: one is read while the next is filled.
        """
        of_pixels: PixelOptions = {"dtype": dtype, "levels": levels, "white": white}
        on_their_way: deque[Begun] = deque()

        def first() -> Array:
            started, finish = on_their_way.popleft()
            result = started.result()
            with self._alone():
                result, self._found = finish(result, started)
                return result

        for image in images:
            # Not while the next image is asked for, nor while a result is used: both may take long.
            with self._alone():
                begun = None if self.transfer.is_fitted else start(self._ready(), image, channel_axis, of_pixels)
            if begun is not None:
                on_their_way.append(begun)
            while len(on_their_way) > (0 if begun is None else ON_THEIR_WAY):
                yield first()
            if begun is None:
                yield self(image, channel_axis=channel_axis, **of_pixels)
        while on_their_way:
            yield first()

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> Array:
        """Return an array to be filled with images and filtered, not initialized.

        For a GPU it lies in page-locked memory, from which the device copies by itself, and which is used again when
        the array is gone; up to 256 MiB of it.
        """
        with self._alone():
            return self._ready().empty(shape, dtype)

    def extremes(self) -> list[tuple[float, float]]:
        """Return the smallest and largest magnitude of each picture of the last call, in the input's grey levels.

        While :meth:`stream` runs, those of the result that it has yielded last. The last call may be another thread's:
        threads that ask for extremes need a filter each.
        """
        return [(float(low), float(high)) for low, high in self._found.extremes]

    def clipped(self) -> list[float]:
        """Return the part of each picture's samples that the last call clipped to black or white; as :meth:`extremes`.

        Only "keep" and outputs with a scale clip.
        """
        return list(self._found.clipped)

    def weak(self) -> int:
        """Return how many pictures of the last call were filtered once more, as single is not enough.

        That is in double precision, by the staged pipeline.
        """
        return self._found.weak

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        with self._alone():
            return self._ready().device_bytes(shape)

    def timings(self) -> list[Timing]:
        """Return the time of each step on the device since the last call; needs ``profile=True``."""
        with self._alone():
            return self.launcher.timings()

    def close(self) -> None:
        """Release the device's memory, when no other thread filters; a later call takes it again."""
        with self._alone():
            if self._prepared is not None:
                self._prepared.close()
            self._found = self._found._replace(extremes=NOTHING.extremes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _alone(self) -> threading.RLock:
        """Return the lock under which the device is used; raises DeviceError in a process that was forked."""
        check_process()
        return self._lock

    def notes(self) -> list[str]:
        """Return in words what followed from each picture of the last call, if anything did; as :meth:`extremes`."""
        return list(self._notes)

    def _fit_and_call(self, planes: Array, of_pixels: PixelOptions, observe: Observe) -> tuple[Array, Found]:
        """Filter one picture ``(channels, height, width)``, which the gains follow from."""
        pixel = pixel_type(planes.dtype)
        white = white_of_input(of_pixels["white"], pixel)
        transfer = self._fitted(planes, white)
        measured = {part.kind for part in self.transfer.parts if part.is_fitted} - {"notch"}
        self._notes.append(", ".join(str(part) for part in transfer.parts if part.kind in measured))
        self._prepared = self._ready().retuned(describe(transfer, self._description.options))
        if has_waves(self.transfer):
            if planes.dtype.kind == "b":
                planes = planes * np.uint8(255)
            planes = without_waves(self.transfer, planes)
            of_pixels = {**of_pixels, "white": white, "dtype": type_of_output(of_pixels["dtype"], pixel)}
        # A picture of one channel is filtered by all parts.
        return call(self._prepared, planes, 0, of_pixels, observe)

    def _fitted(self, planes: Array, white: float) -> Transfer:
        """Return the transfer function for one picture."""
        from ..analysis.fit import fitted

        return fitted(self.transfer, planes, white, by_channel=not self._description.mode.is_scaled)

    def _ready(self) -> Prepared:
        if self._prepared is None:
            self._prepared = Prepared(self._description, self.launcher)
        return self._prepared
