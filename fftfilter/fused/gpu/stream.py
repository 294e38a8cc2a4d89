"""A stream of stacks through a GPU: one is copied in, one is filtered, one is copied out, all at the same time.

    put(stack)   host      -> image    queue up        page-locked memory, which the device reads by itself
                 image     -> output   queue           the pipeline's launches, behind the copy in
                 output    -> host     queue down      behind the launches
    result()     waits for the last of them

Each of a few slots has its own buffers, so that the three queues work on different stacks. Pictures come out in
page-locked memory, too: copying them on the host would take longer than all the rest.
"""

from __future__ import annotations

import math
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...device.launcher import Launcher

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyopencl as cl
    from numpy.typing import DTypeLike, NDArray

    from .pipeline import FusedGpuPipeline

    Array = NDArray[Any]

# One stack on its way in, one in work, one on its way out, and one behind them so that none of the three waits for
# the host.
SLOTS = 4
# Page-locked memory is taken from all other programs: at most so many bytes are kept free, and as many lent.
MOST_BYTES = 1 << 28
# One processor copies slower than the device does: from two of these on, several share an array. Less is done before
# the others are awake.
PART_BYTES = 1 << 22
COPIERS = 4


class _Lease:
    """Page-locked memory in the hands of arrays; when the last of them is gone, it may be used again.

    NumPy asks an object with this attribute for its memory, and keeps the object as long as any view of it.
    """

    def __init__(self, memory: Array) -> None:
        self.nbytes = memory.nbytes
        self.__array_interface__ = memory.__array_interface__


class PageLocked:
    """Arrays in page-locked memory of one device, lent and taken back: making them takes long."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._free: dict[int, list[Array]] = {}
        self._lent: weakref.WeakSet[_Lease] = weakref.WeakSet()

    def take(self, size: int) -> Array:
        """Return so many bytes, to be given back or lent."""
        free = self._free.get(size)
        return free.pop() if free else self._launcher.page_locked(size)

    def give_back(self, memory: Array) -> None:
        """Keep memory that is of no more use for the next one who asks."""
        if sum(size * len(free) for size, free in self._free.items()) + memory.nbytes <= MOST_BYTES:
            self._free.setdefault(memory.nbytes, []).append(memory)

    def lend(self, memory: Array, shape: tuple[int, ...], dtype: DTypeLike) -> Array | None:
        """Return memory as an array that gives it back at its end; None if too much is lent already."""
        if sum(lease.nbytes for lease in self._lent) + memory.nbytes > MOST_BYTES:
            return None
        lease = _Lease(memory)
        self._lent.add(lease)
        weakref.finalize(lease, self.give_back, memory).atexit = False
        return np.asarray(lease).view(dtype).reshape(shape)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an array in page-locked memory; in any other if too much is lent already."""
        memory = self.take(math.prod(shape) * np.dtype(dtype).itemsize)
        array = self.lend(memory, shape, dtype)
        if array is None:
            self.give_back(memory)
            return np.empty(shape, dtype)
        return array

    @staticmethod
    def holds(array: Array) -> bool:
        """Tell whether an array lies in lent memory, in one piece."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, _Lease) and array.flags.c_contiguous


@dataclass(eq=False)
class _Slot:
    """A stack's buffers on the device and on the host, and the copies that work on them."""

    image: cl.Buffer
    output: cl.Buffer
    largest: cl.Buffer
    staging: Array | None = None
    copied_in: Any = None
    copied_out: Any = None


class Flight:
    """A stack on its way; :meth:`result` waits for it."""

    def __init__(self, land: Callable[[], Array], extremes: Callable[[], Array]) -> None:
        self._land = land
        self._array: Array | None = None
        self.extremes = extremes
        """Returns 0 and the largest magnitude of each picture, (pictures, 2); to be asked before a slot is reused."""

    def result(self) -> Array:
        """Return the pictures ``(count, height, width)``, which are the caller's to keep."""
        if self._array is None:
            self._array = self._land()
        return self._array


class Stream:
    """A pipeline's stacks, overlapped; ``memory`` is shared with other streams on the same device.

    Raises TooLargeError where the device holds one stack, but not one for each slot.
    """

    def __init__(self, pipeline: FusedGpuPipeline, memory: PageLocked) -> None:
        self.pipeline = pipeline
        self._memory = memory
        self._compute = pipeline.launcher
        self._up, self._down = (Launcher(pipeline.device) for _ in range(2))
        sizes = (pipeline.bytes_in, pipeline.bytes_out, pipeline.largest.size)
        pipeline.device.check_memory(
            f"a stream of {SLOTS} times {pipeline.stack}", [*pipeline.memory, *(SLOTS * sizes)]
        )
        slots = [[self._compute.allocate(size) for size in sizes] for _ in range(SLOTS)]
        self._slots = cycle([_Slot(image, output, largest) for image, output, largest in slots])
        self._copiers: ThreadPoolExecutor | None = None
        self._read: cl.Event | None = None

    def put(self, stack: Array) -> Flight:
        """Send a contiguous stack on its way.

        It has been read when this returns; one in page-locked memory when this returns the next time, so that
        copies in follow each other without a gap.
        """
        slot = next(self._slots)
        if slot.copied_out is not None:
            self._down.wait(slot.copied_out)
        is_page_locked = self._memory.holds(stack)
        source = stack if is_page_locked else self._staged(slot, stack)
        target = self._memory.take(self.pipeline.bytes_out)
        # The slot keeps the events: one that is let go waits, to keep its array alive.
        slot.copied_in = self._up.write(slot.image, source, wait=False)
        filtered = self.pipeline.enqueue(slot.image, slot.output, largest=slot.largest, after=slot.copied_in)
        self._compute.queue.flush()
        slot.copied_out = copied_out = self._down.read(target, slot.output, after=filtered, wait=False)
        self.settle()
        self._read = slot.copied_in if is_page_locked else None
        return Flight(lambda: self._land(target, copied_out), lambda: self.pipeline.extremes(slot.largest))

    def settle(self) -> None:
        """Wait until no stack is read any more from where the caller has it."""
        if self._read is not None:
            self._up.wait(self._read)
            self._read = None

    def _land(self, target: Array, copied_out: cl.Event) -> Array:
        """Return the pictures in page-locked memory once they are there."""
        self._down.wait(copied_out)
        shape, out = self.pipeline.stack.shape, self.pipeline.stack.out
        lent = self._memory.lend(target, shape, out)
        if lent is not None:
            return lent
        copied = target.view(out).reshape(shape).copy()
        self._memory.give_back(target)
        return copied

    def _staged(self, slot: _Slot, stack: Array) -> Array:
        """Return a stack copied into the slot's page-locked memory, by several processors if it is large."""
        if slot.staging is None:
            slot.staging = self._memory.take(self.pipeline.bytes_in)
        source = stack.reshape(-1).view(np.uint8)
        parts = min(COPIERS, source.size // PART_BYTES)
        if parts < 2:
            slot.staging[...] = source
            return slot.staging
        if self._copiers is None:
            self._copiers = ThreadPoolExecutor(COPIERS, thread_name_prefix="copy")
        bounds = [source.size * i // parts for i in range(parts + 1)]
        spans = [slice(*pair) for pair in pairwise(bounds)]
        target = slot.staging
        list(self._copiers.map(lambda span: np.copyto(target[span], source[span]), spans))
        return slot.staging
