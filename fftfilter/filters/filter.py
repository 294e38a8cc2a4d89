""":class:`Filter`: one transfer function on one device, to use again."""

from __future__ import annotations

import copy
import re
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..analysis.found import Peak
from ..arrays import Array, Holes, as_numpy, check_finite, gray_of, split, type_of_result
from ..device_choice import check_process, launcher_on, open_device, wanted
from ..errors import MissingError, ParameterError, is_masked
from ..output.modes import MODES
from ..output.ramp import Gray, Timing, as_type
from ..plain import NumPyLauncher
from ..region import filtered_part, part_of
from ..transfer import Transfer
from . import libraries
from .call import AS_FLOATS, NOTHING, Found, along_axes, call, picture, removed, start
from .description import DEFAULTS, OF_CALLS, OF_OUTPUTS, Description, FilterOptions, PixelOptions, spelled_out
from .pipelines import ON_THEIR_WAY, Prepared

if TYPE_CHECKING:
    from ..analysis.fit import Fitted
    from ..device.launcher import Launcher
    from .call import Begun, Observe
    from .volumes import Volume


@spelled_out(*OF_CALLS)
class Filter:
    """A filter to use again: one transfer function on one device, which keeps what it prepared for each size.

    Threads may share a filter: it filters one image at a time. A filter can be pickled and sent to other processes: its
    copy has the same options, and opens its device with its first image.

    An ``engine`` that is an algorithm, ``precision`` "double", a ``work_group_size``, a ``transpose``, complex gains,
    and masks with H(-k) other than H(k), whose result is complex ("real" is its real part), take the staged pipeline;
    without an engine "book", and so does an image too long for the fused form of a GPU. NumPy's engine takes the place
    of the others, with a RuntimeWarning, where no OpenCL device works and neither a device nor an engine is asked for.
    :attr:`engine` says which one filtered last.

    Arrays of float64, and of integers of 32 bits and more, are filtered in double precision, by the staged pipeline on
    a GPU that has it, else by NumPy's engine; ``precision="single"`` and ``engine="fused"`` do without, many times as
    fast. If so little of a picture passes that rounding in single precision would show, or if many of its levels lie
    next to an edge between two, it is filtered once more in double precision.

    Args:
        profile: Whether :meth:`timings` has the time of each step.

    Examples:
        >>> with fftfilter.Filter(H.bandpass("20px", "4px") * H.notch((0.123, 0.047))) as band:
        ...     made = [band(each) for each in (image, image[:100])]
        >>> edges = fftfilter.Filter(H.highpass(64), output="magnitude", edges="wrap")  # as the command

    """

    method: ClassVar[str] = "plain"
    # Those of filters with steps of their own around the pipeline, which keep the input's gray levels and refuse
    # options of outputs and missing pixels: their name, what helps against missing pixels, the options that the
    # pipeline has in any case, and the defaults of options that no other filter has.
    name: ClassVar[str] = ""
    fill: ClassVar[str] = "fill them"
    fixed: ClassVar[Mapping[str, Any]] = {}
    usual: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, transfer: Transfer, *, profile: bool = False, **options: Unpack[FilterOptions]) -> None:
        self._describe(transfer, {**options, "profile": profile})
        _ = self.launcher  # without a usable device there is no filter

    @classmethod
    def unopened(cls, transfer: Transfer, options: Mapping[str, Any]) -> Self:
        """Return a filter that opens its device with its first image."""
        made = cls.__new__(cls)
        made._describe(transfer, options)
        return made

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        """Take a transfer function and options; raises ParameterError and TypeError."""
        if unknown := options.keys() - (DEFAULTS.keys() | self.usual.keys()):
            raise TypeError(f"{type(self).__name__} has no option {min(unknown)!r}: it has {', '.join(DEFAULTS)}")
        refused = (*OF_OUTPUTS, "auto", "ignore", "ratio") if self.fixed else ()
        if name := next((name for name in refused if options.get(name) is not None), None):
            raise ParameterError(f"{name} {options[name]!r} is not for {self.name}: leave it out")
        self._own = {name: options.get(name, usual) for name, usual in self.usual.items()}
        given = {name: value for name, value in options.items() if name not in self.usual}
        self._description = Description(transfer, {**given, **self.fixed})
        if self.fixed and transfer.is_complement:
            raise ParameterError(f"{self.name} has no complement: subtract its result from the picture")
        if self._description.ignore and transfer.parts and not (transfer.is_measured or self._description.auto):
            raise ParameterError(f"ignore is for what is found in a picture or subtracted from it, unlike {transfer}")
        if self._description.region:
            self._description.region.check_output(has_levels=not self._own.get("autoscale"))
        given = {name: value for name, value in self._description.options.items() if name not in refused}
        self._options = given | {name: value for name, value in self._own.items() if value != self.usual[name]}
        # A pipeline has one set of buffers and of kernels, whose arguments are set before they are launched.
        self._lock = threading.RLock()
        self._prepared: Prepared | None = None
        self._found, self._room, self._is_double = NOTHING, 0, False
        self._notes: list[str] = []
        self._peaks: list[list[Peak]] = []

    @property
    def transfer(self) -> Transfer:
        """The transfer function."""
        return self._description.transfer

    @property
    def description(self) -> Description:
        """The transfer function and the options, checked."""
        return self._description

    @property
    def options(self) -> Mapping[str, Any]:
        """The given options, without those that are defaults."""
        return self._options

    @cached_property
    def launcher(self) -> Launcher:
        """The queue on the device, opened on first use."""
        return launcher_on(open_device({**self._options, "edges": self._description.edges}), self._options)

    @spelled_out(*OF_CALLS, **dict.fromkeys(DEFAULTS, ...))
    def with_options(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Self:
        """Return a filter as this one but for some options, or for its transfer function; others stay as they are.

        It has the open device of this one, unless the options name another, and filters as one that is made anew.

        Args:
            transfer: Another transfer function, None for that of this filter.

        Returns:
            A filter of the same class.

        Examples:
            >>> f = fftfilter.Filter(H.lowpass("8px"))
            >>> f.with_options(output="real")
            Filter(H.lowpass('8px'), output='real')

        """
        made = copy.copy(self)  # goes through __getstate__, which leaves out the launcher and the pipeline
        made._describe(self.transfer if transfer is None else transfer, {**self._options, **options})
        is_same = wanted(made._options) == wanted(self._options)
        if is_same and not isinstance(self.launcher, NumPyLauncher):
            made.launcher = launcher_on(self.launcher.device, made._options)
        _ = made.launcher  # without a usable device there is no filter
        return made

    def again(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Self:
        """Return what :meth:`with_options` does, whose old name this is."""
        warnings.warn("Filter.again is now called with_options", DeprecationWarning, stacklevel=2)
        return self.with_options(transfer, **options)

    def __getstate__(self) -> tuple[Transfer, Mapping[str, Any]]:
        return self.transfer, self._options

    def __setstate__(self, state: tuple[Transfer, Mapping[str, Any]]) -> None:
        self._describe(*state)  # the device is opened on first use

    def __repr__(self) -> str:
        """Return what makes the same filter, with ``from fftfilter import Filter, transfer as H``."""
        # The value of an area is its text.
        options = "".join(f", {name}={getattr(value, 'text', value)!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({self.transfer!r}{options})"

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
        description = Description(transfer, self._description.options)
        with self._alone():
            if self._prepared is not None:
                self._prepared = self._prepared.retuned(description)
            self._description = description

    @property
    def engine(self) -> str:
        """The name of the engine that filtered last."""
        return self._description.engine.name if self._prepared is None else self._prepare().engine

    @spelled_out(*FilterOptions.__annotations__)
    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
        missing: ArrayLike | None = None,
        observe: Observe = None,
    ) -> Array:
        """Return a filtered image ``(height, width)``, a stack of images ``(count, height, width)``, or a picture.

        Each image of a stack has its own scale; with ``channel_axis`` the array is one picture with channels along that
        axis, and one scale for all. All channels are filtered: no array says which one is alpha. Missing pixels are
        filled in, and come back as they were; what is found in an image is found in the others.

        An array of xarray, PyTorch, JAX or another library becomes one of that library, and a Dask array is filtered
        later, by a copy of this filter; see :mod:`fftfilter.filters.libraries`.

        Notches of some channels alone are for pictures with a ``channel_axis``, and for outputs that have no scale in
        common ("keep", "real", a ``scale`` of (LO, HI)); pictures of one channel are filtered by all of them.

        Args:
            observe: Is called with the name and contents of each intermediate result, which fused has not.

        Examples:
            >>> f = fftfilter.Filter(H.lowpass("8px"))
            >>> out = rgba.copy()
            >>> out[..., :3] = f(rgba[..., :3], channel_axis=-1)

        """
        of_pixels: PixelOptions = {"dtype": dtype, "levels": levels, "white": white, "missing": missing}
        if not isinstance(image, np.ndarray):
            made: Array = libraries.filtered(self, image, channel_axis, **of_pixels, observe=observe)
            return made
        own, back = self._description, (-2, -1)
        there: tuple[int, ...] = back
        if own.axes and channel_axis is not None:
            raise ParameterError("axes say what is filtered, of channels each by itself: leave channel_axis out")
        moved = image
        if own.axes and not own.volume:  # a stack of pictures
            there = own.axes.places(image)
            moved = np.moveaxis(image, there, back)
            if missing is not None:
                missing = np.moveaxis(np.broadcast_to(as_numpy(missing), image.shape), there, back)
                of_pixels["missing"] = missing.reshape(-1, *moved.shape[-2:])
        pictures = moved if moved is image else moved.reshape(-1, *moved.shape[-2:])
        with self._alone():
            if own.ratio:
                from . import ratio

                made, self._found = ratio.filtered(self, pictures, channel_axis, of_pixels, observe)
                made = self._typed(made, image.dtype, dtype)
            else:
                made = self.filtered(pictures, channel_axis, of_pixels, observe)
            return made if moved is image else np.moveaxis(made.reshape(moved.shape), back, there)

    def filtered(
        self, image: Array, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe = None
    ) -> Array:
        """Return pictures or volumes of NumPy filtered, for one thread; with ``ratio`` their values are logarithms."""
        self._notes, self._peaks = [], []
        self._is_double = self._description.takes_double(image.dtype)
        if self._description.volume:
            result, self._found = along_axes(self._prepare(), image, of_pixels)
        else:
            result = self._pictures(image, channel_axis, of_pixels, observe)
        return self._typed(result, image.dtype, of_pixels.get("dtype"))

    def _pictures(self, image: Array, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe) -> Array:
        """Filter an image, a stack or a picture, all of it at once if it takes no steps of its own."""
        if of_pixels.get("missing") is not None or is_masked(image):
            if self.fixed:
                raise ParameterError(f"{self.name} knows no missing pixels: {self.fill}")
        elif not self._is_by_picture(channel_axis):
            with suppress(MissingError):
                result, self._found = call(self._prepare(), image, channel_axis, of_pixels, observe)
                return result
        return self._by_picture(image, channel_axis, of_pixels, observe)

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
        turn: one is read while the next is filled. Arrays of other libraries are filtered one by one.
        """
        of_pixels: PixelOptions = {"dtype": dtype, "levels": levels, "white": white}
        on_their_way: deque[tuple[Begun, np.dtype[Any]]] = deque()

        def first() -> Array:
            (started, finish), given = on_their_way.popleft()
            result = started.result()
            with self._alone():
                result, self._found = finish(result, started)
                return self._typed(result, given, dtype)

        for image in images:
            # Not while the next image is asked for, nor while a result is used: both may take long.
            with self._alone():
                is_alone, self._is_double = self._is_by_picture(channel_axis), False
                begun = None if is_alone else start(self._prepare(), image, channel_axis, of_pixels)
            if begun is not None:
                on_their_way.append((begun, as_numpy(image).dtype))
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
            prepared = self._prepare()
            return prepared.page_locked().empty(shape, dtype) if self.launcher.device.is_gpu else np.empty(shape, dtype)

    def extremes(self) -> list[tuple[float, float]]:
        """Return 0 and the largest magnitude of each picture of the last call, in the input's gray levels.

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

    @property
    def bytes(self) -> int:
        """The bytes of the device that the last calls' preparations take until :meth:`close`."""
        return 0 if self._prepared is None else self._prepared.bytes

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        with self._alone():
            return self._prepare().device_bytes(shape)

    def timings(self) -> list[Timing]:
        """Return the time of each step on the device since the last call; needs ``profile=True``."""
        with self._alone():
            return self._prepare().launcher.timings()

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
        opened = vars(self).get("launcher")  # what opens it checks this, too
        if opened and not isinstance(opened, NumPyLauncher):
            check_process()
        return self._lock

    def notes(self) -> list[str]:
        """Return in words what followed from each picture of the last call, if anything did; as :meth:`extremes`."""
        return list(self._notes)

    def peaks(self) -> list[list[Peak]]:
        """Return the waves that ``auto`` has removed from each picture of the last call; as :meth:`extremes`."""
        return list(self._peaks)

    def without(self, peaks: Sequence[Peak]) -> Transfer:
        """Return the transfer function with notches for peaks and their harmonics."""
        from ..analysis.search import notches

        own, auto = self._description, self._description.auto
        found = notches(peaks, auto.shape if auto else "gaussian", own.edges, self.transfer.depth, own.channels)
        waves = auto.waves.parts if auto else ()
        return replace(self.transfer, parts=self.transfer.parts + found.parts + waves)

    def fit(self, planes: Array, white: float, peaks: Sequence[Peak] = (), holes: Holes | None = None) -> Fitted:
        """Return what follows from a picture ``(channels, height, width)`` with this white.

        ``peaks`` are the waves that are removed, too; ``holes`` are the pixels that were filled in, from which no lines
        are estimated. No device is opened for it.
        """
        from ..analysis.fit import fit

        own = self._description
        by_channel = not (own.mode.is_scaled or own.channels)
        made = fit(self.without(peaks), planes, white, by_channel=by_channel, holes=holes)
        if own.ratio:  # offsets of logarithms are parts
            note = re.sub(r"offsets of ([-+.\de]+)", lambda log: f"gains of {100 * float(log[1]):.1f} %", made.note)
            made = made._replace(note=note)
        if own.channels and made.planes is not planes:  # the other part stays
            left = made.planes
            made = made._replace(planes=filtered_part(planes, own.channels, lambda _: part_of(left, own.channels)))
        return made

    def _is_by_picture(self, channel_axis: int | None) -> bool:
        """Whether each picture takes steps of its own, those of :meth:`_picture`."""
        own, has_colors = self._description, channel_axis is not None
        is_split = own.channels == "chroma" or (has_colors and (own.channels or own.transfer.is_by_channel))
        is_own = self.fixed or self.transfer.is_fitted or own.auto or own.region or own.ignore or own.ratio
        return bool(own.axes or is_split or is_own)

    @property
    def volume(self) -> Volume | None:
        """The axes that are filtered, None for those of pictures."""
        return self._description.axes

    @property
    def is_values(self) -> bool:
        """Whether results are the filtered values, in the gray levels of the input."""
        return MODES[self._options.get("output", DEFAULTS["output"])].is_values  # that of the pipeline may be another

    def type_of_result(self, given: np.dtype[Any], dtype: DTypeLike | None) -> np.dtype[Any]:
        """Return the type of what a call returns for an array of the ``given`` one."""
        return type_of_result(given, dtype, self._options.get("precision"), is_values=self.is_values)

    def _typed(self, result: Array, given: np.dtype[Any], dtype: DTypeLike | None) -> Array:
        if dtype is None and result.dtype == given:
            return result
        made = self.type_of_result(given, dtype)
        return result if result.dtype == made else as_type(result, made)

    def weight(self, height: int, width: int) -> Array | None:
        """Return the weight of the filtered picture in each pixel; None if all is filtered."""
        region = self._description.region
        return None if region is None else region.weight(height, width)

    def _by_picture(self, image: Any, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe) -> Array:
        """Filter an image, a stack or a picture, one picture after the other by :meth:`_picture`."""
        planes, holes = split(image, of_pixels.get("missing"), channel_axis)
        gray = gray_of(of_pixels, planes.dtype)
        if channel_axis is None and self.transfer.has_fixed_pattern:
            return self._with_fixed_pattern(planes, holes, gray, image, of_pixels)
        own = [slice(None)] if channel_axis is not None else [slice(i, i + 1) for i in range(len(planes))]
        if (most := planes[own[0]].size) > self._room:  # the next page finds the buffers of this one
            self._description.check_memory(planes[own[0]], method=self.method, has_holes=bool(holes.any()))
            self._room = most
        self.weight(*planes.shape[1:])  # raises for a region that does not fit the picture
        made, found = zip(*(self._picture(planes[i], holes[i], gray, observe) for i in own), strict=True)
        if (region := self._description.region) and not self._description.ratio:  # of values, not of logarithms
            levels = None if self.is_values else gray
            made = tuple(region.blended(planes[i], each, holes[i], levels) for i, each in zip(own, made, strict=True))
        self._found = Found.of_all(found)
        results = made[0] if len(made) == 1 else np.concatenate(made)
        result = results.reshape(np.shape(image)) if channel_axis is None else np.moveaxis(results, 0, channel_axis)
        return np.ma.MaskedArray(result, np.ma.getmaskarray(image)) if is_masked(image) else result

    def _with_fixed_pattern(
        self, planes: Array, holes: Array, gray: Gray, image: Array, of_pixels: PixelOptions
    ) -> Array:
        """Filter a stack whose images have lines in common."""
        from ..analysis.fit import some_of, with_fixed_pattern

        places = some_of(len(planes))
        pictures = ((planes[i : i + 1], holes[i : i + 1]) for i in places)
        transfer, note = with_fixed_pattern(self.transfer, pictures, len(places), gray.white, by_channel=False)
        with self.with_options(transfer) as own:
            result = own(image, **of_pixels)
            self._found, self._peaks, self._notes = own._found, own._peaks, [note] * len(planes)
        return np.asarray(result)

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:
        """Filter a picture ``(channels, height, width)``, by gains that follow from it or with missing samples."""
        own, left = self._description, planes
        if self.transfer.is_fitted or own.auto or own.ignore:
            transfer, left = self._fitted(planes, holes, gray.white)
            is_same = (planes.dtype, gray.white) == (gray.dtype, float(gray.levels))
            if transfer.passes_all and left is planes and own.mode.keeps_levels and is_same:
                return planes.copy(), Found(np.array([(0.0, np.abs(planes.astype(np.float64)).max())]), [0.0], 0)
            prepared = self._retuned(transfer)
        else:
            prepared = self._prepare()
        if prepared.description.transfer.is_complement and left is not planes:
            return removed(prepared, planes, left, holes, gray)
        made, found = picture(prepared, left, holes, gray, observe)
        if own.region and found.clipped[0]:  # pipelines count the samples that stay, too
            values, _ = picture(prepared.of_values(), left, holes, gray)
            found = found._replace(clipped=[own.region.clipped(values, holes, gray)])
        return made, found

    def _fitted(self, planes: Array, holes: Array, white: float) -> tuple[Transfer, Array]:
        """Return the transfer function for a picture, and the picture without waves that its edges would break."""
        from ..missing import fill_floats, filled, less_removed

        own, notes, peaks = self._description, list[str](), list[Peak]()
        unmeasured = holes | own.ignore.pixels(*planes.shape[1:]) if own.ignore else holes
        if own.auto:
            from ..analysis.power import spectrum

            device = wanted(self._options)
            searched = filled(planes, unmeasured, device) if unmeasured.any() else planes
            check_finite(searched)
            peaks, other = own.auto.peaks(spectrum(searched, white, device))
            notes += own.auto.lines(peaks, other)
            self._peaks.append(peaks)
        is_filled = unmeasured.any() and (own.ignore or self.without(peaks).is_fitted)
        whole = fill_floats(self.launcher, planes, unmeasured) if is_filled else planes
        made = self.fit(whole, white, peaks, unmeasured if is_filled else None)
        if own.auto and not (peaks or other) and any(getattr(part, "period", 0) for part in made.transfer.parts):
            notes = []  # such a wave was found
        self._notes.append("; ".join(filter(None, [*notes, made.note])))
        transfer, left = made.transfer, made.planes
        if own.ignore:
            removing, transfer = transfer.parted()
            of_values = self._prepare().of_values(removing.keeping_mean() if own.mode.keeps_mean else removing)
            left = less_removed(
                planes - (whole.astype(np.float64) - left),
                unmeasured,
                lambda part, holes: fill_floats(self.launcher, part, holes),
                lambda part: picture(of_values, part, None, AS_FLOATS)[0],
            )
        return transfer, planes if left is whole else np.where(holes, planes, left)

    def _retuned(self, transfer: Transfer, **other: Any) -> Prepared:
        """Return what filters the next picture by a transfer function of its own, or with ``other`` options."""
        last = self._prepared or Prepared(self._description, self.launcher)
        self._prepared = last.retuned(Description(transfer, {**self._description.options, **other}))
        return self._prepare()

    def _prepare(self) -> Prepared:
        """Return the description prepared on the device, made once; in double precision if the picture takes it."""
        if self._prepared is None:
            self._prepared = Prepared(self._description, self.launcher)
        return self._prepared.in_double() if self._is_double else self._prepared
