"""A queue on a device: buffers, kernels, launches, times; and the interface of every pipeline.

Host memory, too: arrays aligned for vectors, and pools that keep large or page-locked memory to use it again.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, cast

import numpy as np
import pyopencl as cl
from numpy.typing import DTypeLike

from ..arrays import PRECISIONS, Array
from ..errors import DeviceError, ParameterError, TooLargeError, check_option
from ..output.ramp import Facts, Timing

if TYPE_CHECKING:
    from ..output.histogram import Ramps
    from .opencl import Device

MakePipeline = Callable[..., "Pipeline"]
"""Takes a `Launcher`, a `Transfer`, a `Stack`, and edges where these are not "wrap".

Raises TooLargeError, before anything is allocated, for a stack that the device cannot hold.
"""
P = ParamSpec("P")
R = TypeVar("R")

# One size for every launch: PoCL compiles a kernel anew for each work-group size.
WORK_GROUP_SIZE = 64

Precision = Literal["single", "double"]


def _plain_errors(method: Callable[P, R]) -> Callable[P, R]:
    """Turn OpenCL's errors in a method of a Launcher into errors of this package."""

    @wraps(method)
    def plain(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except cl.Error as error:
            name = cast("Launcher", args[0]).device.name
            if isinstance(error, cl.MemoryError):
                raise TooLargeError(
                    f"{name} ran out of memory ({error}): take a smaller image, or another device with --device"
                ) from error
            raise DeviceError(
                f"{name} failed ({error}): see 'fftfilter devices', or choose another device with --device"
            ) from error

    return plain


class Kernel:
    """A kernel whose ``arguments`` have names, in the order in which the kernel declares them.

    It keeps these buffers alive, but not those that are set later, in place of None or of another. When it goes,
    another one takes the OpenCL object from ``free``.
    """

    def __init__(
        self, made: cl.Kernel, real: np.dtype[Any], arguments: Mapping[str, Any], free: list[cl.Kernel] | None = None
    ) -> None:
        self.cl_kernel, self._free = made, [] if free is None else free
        self._real, self._kept = real.type, arguments
        self._places = {name: place for place, name in enumerate(arguments)}
        self.bind(**{name: value for name, value in arguments.items() if value is not None})

    def __del__(self) -> None:
        self._free.append(self.cl_kernel)

    def set(self, name: str, value: Any) -> None:
        """Set an argument: a buffer or a number; int and bool become uint, float becomes real."""
        if isinstance(value, (int, float)):
            value = np.uint32(value) if isinstance(value, int) else self._real(value)
        self.cl_kernel.set_arg(self._places[name], value)

    def set_buffers(self, buffers: Mapping[str, cl.Buffer]) -> None:
        """Set those of some buffers that the kernel has among its arguments."""
        for name in buffers.keys() & self._places:
            self.cl_kernel.set_arg(self._places[name], buffers[name])

    def bind(self, **given: Any) -> None:
        """Set arguments by name."""
        for name, value in given.items():
            self.set(name, value)


class Launcher:
    """A queue on a device, in one precision and with one work-group size, for one thread at a time.

    ``profile`` keeps the time of every step (:meth:`timings`). Raises ParameterError if the device has no double
    precision, or no work-groups of that size.
    """

    def __init__(
        self, device: Device, *, precision: str = "single", work_group_size: int | None = None, profile: bool = False
    ) -> None:
        check_option("precision", precision, PRECISIONS)
        if precision == "double" and not device.fp64:
            raise ParameterError(f"{device.name} has no double precision (fp64): choose single or another device")
        if work_group_size is not None:
            device.check_work_group_size(work_group_size)
        self.device, self.precision = device, precision
        self.real, self.complex = PRECISIONS[precision]
        self.real_name = "double" if precision == "double" else "float"
        self.work_group_size = int(work_group_size or 0) or min(WORK_GROUP_SIZE, device.work_group_limit)
        properties: Any = cl.command_queue_properties.PROFILING_ENABLE if profile else 0
        self.queue = cl.CommandQueue(device.context, properties=properties)
        self.profiles = profile
        self._events: list[tuple[str, Any]] = []
        self._is_busy = False

    @property
    def reduction_size(self) -> int:
        """The work-group of a reduction: a power of two, at most 256."""
        return 1 << (min(256, self.work_group_size).bit_length() - 1)

    @property
    def tile_side(self) -> int:
        """The side of a transpose's tile: a power of two, at most 16, its square within a work-group."""
        return 1 << ((self.reduction_size.bit_length() - 1) // 2)

    @cached_property
    def in_caller(self) -> Launcher:
        """A queue that computes in the thread that calls, for small images; this one where there is no other."""
        device = self.device.in_caller
        return Launcher(device, precision=self.precision) if device and not self.profiles else self

    @_plain_errors
    def allocate(self, size: int) -> cl.Buffer:
        """Return a device buffer of ``size`` bytes."""
        return cl.Buffer(self.device.context, cl.mem_flags.READ_WRITE, size)

    @_plain_errors
    def wrap(self, array: Array, *, constant: bool = False) -> cl.Buffer:
        """Return a buffer on a contiguous host array, or on a ``constant`` copy of it, which kernels only read."""
        if constant:
            flags = cl.mem_flags.COPY_HOST_PTR | cl.mem_flags.READ_ONLY
            return cl.Buffer(self.device.context, flags, hostbuf=np.ascontiguousarray(array))
        access = cl.mem_flags.READ_WRITE if array.flags.writeable else cl.mem_flags.READ_ONLY
        return cl.Buffer(self.device.context, cl.mem_flags.USE_HOST_PTR | access, hostbuf=array)

    @_plain_errors
    def kernel(
        self,
        names: tuple[str, ...],
        defines: tuple[str, ...],
        kernel: str,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        *,
        options: tuple[str, ...] = (),
    ) -> Kernel:
        """Return a kernel of the program of these files, and of those that they need.

        ``arguments`` are by name, in the order of the kernel's declaration; those that are None are set later.
        ``options`` are the compiler's own.
        """
        made, free = self.device.kernel(names, (f"REAL={self.real_name}", *defines), kernel, options)
        return Kernel(made, self.real, arguments, free)

    @_plain_errors
    def enqueue(
        self, step: str, kernel: Kernel, items: tuple[int, ...], group: tuple[int, ...], after: cl.Event | None = None
    ) -> cl.Event:
        """Launch a kernel whose arguments are set, optionally after an event of another queue."""
        waits = None if after is None else [after]
        return self._keep(step, cl.enqueue_nd_range_kernel(self.queue, kernel.cl_kernel, items, group, wait_for=waits))

    @_plain_errors
    def finish(self, buffer: cl.Buffer, array: Array) -> None:
        """Wait until a buffer of :meth:`wrap` is written and the host sees it in the array."""
        if "Portable Computing Language" in self.device.platform:
            # Its CPU device works on the array itself; mapping it would take as long as a small image.
            if self._is_busy:
                self.queue.finish()
            self._is_busy = False
            return
        mapped, _ = cl.enqueue_map_buffer(
            self.queue, buffer, cl.map_flags.READ, 0, array.shape, array.dtype, is_blocking=True
        )
        if mapped.ctypes.data != array.ctypes.data:
            array[...] = mapped
        mapped.base.release(self.queue)

    @_plain_errors
    def page_locked(self, size: int) -> Array:
        """Return ``size`` bytes of page-locked host memory, which the device copies from and to by itself."""
        buffer = cl.Buffer(self.device.context, cl.mem_flags.ALLOC_HOST_PTR | cl.mem_flags.READ_WRITE, size)
        flags: Any = cl.map_flags.READ | cl.map_flags.WRITE
        mapped: Array = cl.enqueue_map_buffer(self.queue, buffer, flags, 0, (size,), np.dtype("u1"))[0]
        return mapped

    def write(self, buffer: cl.Buffer, array: Array, *, offset: int = 0, wait: bool = True) -> cl.Event:
        """Copy a contiguous host array into the buffer; without ``wait`` it must not change until the event.

        ``offset`` is its first byte there.
        """
        return self._copy("write", buffer, array, dst_offset=offset, is_blocking=wait)

    def read(
        self, array: Array, buffer: cl.Buffer, *, offset: int = 0, after: cl.Event | None = None, wait: bool = True
    ) -> cl.Event:
        """Copy a part of a buffer into a contiguous host array, optionally after an event of another queue."""
        waits = None if after is None else [after]
        return self._copy("read", array, buffer, src_offset=offset, wait_for=waits, is_blocking=wait)

    def copy(self, target: cl.Buffer, source: cl.Buffer) -> cl.Event:
        """Copy a buffer into another one on the device."""
        return self._copy("copy", target, source)

    @_plain_errors
    def _copy(self, step: str, target: Any, source: Any, **how: Any) -> cl.Event:
        copied = cl.enqueue_copy(self.queue, target, source, **how)
        self.queue.flush()
        return self._keep(step, copied)

    @_plain_errors
    def wait(self, event: cl.Event) -> None:
        """Wait for an event; raises the error of the command that it belongs to."""
        event.wait()

    def keep_host_time(self, step: str, begin: int, end: int) -> None:
        """Add a step that ran on the host to the timings; ``begin`` and ``end`` in nanoseconds."""
        self._keep(step, SimpleNamespace(profile=SimpleNamespace(start=begin, end=end)))

    def timings(self) -> list[Timing]:
        """Return the time of each step since the last call, in the order of first use; empty without ``profile``."""
        self.queue.finish()
        seconds: dict[str, list[float]] = {}
        for step, event in self._events:
            seconds.setdefault(step, []).append((event.profile.end - event.profile.start) * 1e-9)
        self._events.clear()
        return [Timing(step, len(each), sum(each)) for step, each in seconds.items()]

    def _keep(self, step: str, event: R) -> R:
        self._is_busy = True
        if self.profiles:
            self._events.append((step, event))
        return event


class Pipeline(Protocol):
    """The whole filter for stacks of one kind, ready on a device."""

    # Results below this part of the input's deviation times the mean gain need double precision (``rounding.py``).
    weak: float

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Return the filtered images ``(count, height, width)``: their pixels on the ramp of each picture.

        Without ramps (``output/ramp.py``) they are what the stack says: magnitudes, each picture with its own range, or
        filtered values as they are.
        """

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run."""


# A pool takes memory from all other programs: it keeps at most this free, and has as much in use.
MOST_BYTES = 1 << 28
# Glibc gives memory of this size back to the system when it is freed, and every page of new one is cleared at its first
# use.
LARGE = 32 << 20
# Vector loads need it: a buffer over host memory has only the host's alignment.
ALIGNMENT = 128


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that begins at an address that vectors can have.

    NumPy requests huge pages for large arrays; OpenCL has no way to. Rows of strips touch a page for every strip, and a
    large image has more small pages than the CPU's table of them holds.
    """
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


class _Owner:
    """Owns memory of a pool as long as arrays use it.

    NumPy asks an object with this attribute for its memory, and keeps the object as long as any view of it.
    """

    def __init__(self, memory: Array, pool: type[MemoryPool]) -> None:
        self.__array_interface__, self.pool = memory.__array_interface__, pool


class MemoryPool:
    """A pool of ordinary memory. At most ``most_bytes`` are in use, and at most as many are kept free.

    Threads may share it. An array may be garbage-collected at any moment, even while the pool's lock is held. Its
    memory is then put in a queue, and the pool takes it back when it is next asked for some.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.RLock()
        self._free: dict[int, list[Array]] = {}
        self._in_use = 0
        self._returned: deque[Array] = deque()

    def _make(self, size: int) -> Array:
        return np.empty(size, np.uint8)

    def take(self, size: int) -> Array:
        """Return an array of ``size`` bytes."""
        with self._lock:
            self._take_back()
            free = self._free.get(size)
            if free:
                return free.pop()
            return self._make(size)

    def give_back(self, memory: Array) -> None:
        """Keep memory that is no longer used for the next :meth:`take`, unless enough is kept."""
        with self._lock:
            if sum(size * len(free) for size, free in self._free.items()) + memory.nbytes <= self._most_bytes:
                self._free.setdefault(memory.nbytes, []).append(memory)

    def as_array(self, memory: Array, shape: tuple[int, ...], dtype: DTypeLike) -> Array | None:
        """Return memory as an array that gives it back when it is gone; None if too much is in use."""
        with self._lock:
            self._take_back()
            if self._in_use + memory.nbytes > self._most_bytes:
                return None
            self._in_use += memory.nbytes
        owner = _Owner(memory, type(self))
        weakref.finalize(owner, self._returned.append, memory).atexit = False
        return np.asarray(owner).view(dtype).reshape(shape)

    def _take_back(self) -> None:
        """Take back the memory of arrays that are gone."""
        while self._returned:
            memory = self._returned.popleft()
            self._in_use -= memory.nbytes
            self.give_back(memory)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an array in memory of the pool, or in other memory if too much is in use."""
        size, array = math.prod(shape) * np.dtype(dtype).itemsize, None
        with self._lock:
            self._take_back()
            if self._in_use + size <= self._most_bytes:
                array = self.as_array(self.take(size), shape, dtype)
        return np.empty(shape, dtype) if array is None else array

    @classmethod
    def holds(cls, array: Array) -> bool:
        """Tell whether an array lies in memory of such a pool, in one piece."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, _Owner) and issubclass(base.pool, cls) and array.flags.c_contiguous


class PageLocked(MemoryPool):
    """A pool of page-locked memory, which a device copies from and to by itself."""

    def __init__(self, launcher: Launcher, *, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(most_bytes=most_bytes)
        self._launcher = launcher

    def _make(self, size: int) -> Array:
        return self._launcher.page_locked(size)
