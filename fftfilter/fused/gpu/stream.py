"""Streams stacks through a GPU: copies one in, filters one and copies one out at the same time.

    start(stack)  host   -> image    queue up      from page-locked memory, which the device reads by itself
                  image  -> output   queue         the pipeline's launches, after the copy in
                  output -> host     queue down    after the launches
    result()      waits for the copy out

Each of a few slots has its own buffers, so that the three queues work on different stacks. Results are in page-locked
memory, too: copying them on the host would take longer than all the rest.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle

import numpy as np
import pyopencl as cl

from ...arrays import Array
from ...device.launcher import Launcher
from ...device.memory_pool import PageLocked
from ...output.histogram import Ramps
from ...output.ramp import Facts
from .launches import FOUND
from .pipeline import FusedGpuPipeline, facts

# One stack that is copied in, one in work, one that is copied out, and one more so that none of the three waits for
# the host.
SLOTS = 4
# One processor copies slower than the device does: of arrays of twice this size and more, several threads copy a piece
# each. Less is copied before the other threads are awake.
COPY_BYTES = 1 << 22
COPIERS = 4


@dataclass(eq=False)
class _Slot:
    """A stack's buffers on the device and on the host, and the copies that work on them."""

    image: cl.Buffer
    output: cl.Buffer
    largest: cl.Buffer
    staging: Array | None = None
    copied_in: cl.Event | None = None
    found_out: cl.Event | None = None
    copied_out: cl.Event | None = None


class Started:
    """A stack that was started; :meth:`result` waits for it."""

    def __init__(self, stream: Stream, slot: _Slot, pictures: Array, largest: Array) -> None:
        self._stream, self._slot, self._copied_out, self.stack = stream, slot, slot.copied_out, stream.pipeline.stack
        self._target, self._found = pictures, largest

    def result(self) -> Array:
        """Return the pictures ``(count, height, width)``, which are the caller's to keep."""
        return self._results[0]

    def facts(self) -> Facts:
        """Return facts about the pictures, their deviations as long as :meth:`images` can."""
        return facts(self._results[1], self.stack, partial(self._stream.pipeline.deviations, self._slot.image))

    def images(self) -> Array:
        """Return the stack as it was given. Its slot keeps it until the fourth stack after it is started."""
        found = np.empty(self.stack.shape, self.stack.pixel)
        self._stream.down.read(found, self._slot.image)
        return found

    @cached_property
    def _results(self) -> tuple[Array, Array]:
        """Wait for the copies to the host; return the pictures and what kernels found of each, (pictures, FOUND)."""
        page_locked, stack, target = self._stream.page_locked, self.stack, self._target
        if self._copied_out is not None:
            self._stream.down.wait(self._copied_out)
        found = self._found.view(np.uint32).reshape(-1, FOUND)[: stack.pictures].copy()
        page_locked.give_back(self._found)
        pictures = page_locked.as_array(target, stack.shape, stack.out)
        if pictures is None:  # too much is in use
            pictures = target.view(stack.out).reshape(stack.shape).copy()
            page_locked.give_back(target)
        return pictures, found


class Stream:
    """A pipeline's stacks, overlapped; ``page_locked`` is shared with other streams on the same device.

    Stacks of twice ``copy_bytes`` and more are copied by several threads. Raises TooLargeError where the device holds
    one stack, but not one for each slot.
    """

    def __init__(self, pipeline: FusedGpuPipeline, page_locked: PageLocked, *, copy_bytes: int = COPY_BYTES) -> None:
        self.pipeline = pipeline
        self.page_locked = page_locked
        self._copy_bytes = copy_bytes
        self._compute = pipeline.launcher
        self._up, self.down = (Launcher(pipeline.device) for _ in range(2))
        sizes = (pipeline.bytes_in, pipeline.bytes_out, pipeline.largest.size)
        buffers = [*pipeline.buffer_bytes, *(SLOTS * sizes)]
        pipeline.device.check_memory(f"a stream of {SLOTS} times {pipeline.stack}", buffers)
        slots = [[self._compute.allocate(size) for size in sizes] for _ in range(SLOTS)]
        self._slots = cycle([_Slot(image, output, largest) for image, output, largest in slots])
        self._copiers: ThreadPoolExecutor | None = None
        self._read: cl.Event | None = None

    def start(self, stack: Array, ramps: Ramps = None) -> Started:
        """Start to filter a contiguous stack, each picture on its ramp, by default the stack's own.

        The stack has been read when this returns. One in page-locked memory has been read when the next call returns,
        so that copies to the device follow each other without a gap.
        """
        slot = next(self._slots)
        if slot.copied_out is not None:
            self.down.wait(slot.copied_out)
        is_page_locked = self.page_locked.holds(stack)
        source = stack if is_page_locked else self._staged(slot, stack)
        target, found = (self.page_locked.take(size) for size in (self.pipeline.bytes_out, slot.largest.size))
        # The slot keeps the events: pyopencl waits for one that is dropped, to keep its array alive.
        slot.copied_in = self._up.write(slot.image, source, wait=False)
        self.pipeline.set_ramps(ramps)
        filtered = self.pipeline.enqueue(slot.image, slot.output, largest=slot.largest, after=slot.copied_in)
        self._compute.queue.flush()
        slot.found_out = self.down.read(found, slot.largest, after=filtered, wait=False)
        slot.copied_out = self.down.read(target, slot.output, wait=False)
        self.wait_until_read()
        self._read = slot.copied_in if is_page_locked else None
        return Started(self, slot, target, found)

    def wait_until_read(self) -> None:
        """Wait until no stack is being read from the caller's page-locked memory."""
        if self._read is not None:
            self._up.wait(self._read)
            self._read = None

    def _staged(self, slot: _Slot, stack: Array) -> Array:
        """Return a stack copied into the slot's page-locked memory, by several threads if it is large."""
        if slot.staging is None:
            slot.staging = self.page_locked.take(self.pipeline.bytes_in)
        source = stack.reshape(-1).view(np.uint8)
        pieces = min(COPIERS, source.size // self._copy_bytes)
        if pieces < 2:
            slot.staging[...] = source
        else:
            self._copiers = self._copiers or ThreadPoolExecutor(COPIERS, thread_name_prefix="copy")
            list(self._copiers.map(np.copyto, *(np.array_split(each, pieces) for each in (slot.staging, source))))
        return slot.staging
