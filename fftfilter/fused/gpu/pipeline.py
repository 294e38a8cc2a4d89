"""The fused pipeline for GPUs: the book's flow in four launches.

    rows           load, twiddle factors, butterflies, transpose                1 byte in, 4 c out a pixel of 8 bits
    columns        butterflies, mask, butterflies back                       4 c in, 4 c out
    inverse rows   transpose, butterflies back, extremes                     4 c in, 1 more for a high-pass, 4 out
    quantize       values to pixels                                          4 in, 1 out

A filter's gain varies near DC alone: beyond some radius a low-pass is 0. Only the part c of the half spectrum's columns
that this radius reaches is stored and transformed, a quarter at the default of n/8. A high-pass is the image
minus a low-pass, so that this holds for it, too: the inverse rows read the pixels again and subtract.

The four passes through memory are needed: rows and columns need each other's results, and the scale of the output is
known only when every value is. A side too long for one work-group takes two to six launches. Where work-groups can wait
for each other, small square images run in one launch (``filter.cl``): there a launch costs as much as a step.

Compiling programs for a size takes longer than filtering most folders. So a generic program serves any size
(``GenericLaunches``), and a size that comes a second time gets specialized ones, which are faster.

A stream copies one stack in, filters one and copies one out at the same time. Each of its few slots has its own
buffers, so that the three queues work on different stacks. Stacks and results are in page-locked memory, which the
device reads and writes by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle
from typing import Any

import numpy as np
import pyopencl as cl

from ...arrays import Array
from ...device.launcher import MOST_BYTES, Launcher, PageLocked
from ...errors import ParameterError
from ...output.histogram import BINS, ByHistogram, Ramps, counted_samples
from ...output.ramp import ON_DEVICE, WANTED, Facts, Stack, of_values, own_ramps
from ...output.rounding import WEAK, most_undecided
from ...transfer import Transfer
from ...transfer.product import Edges
from .launches import FOUND, GenericLaunches, Kind, Launch, Launches, is_specialized
from .plan import mask, plan
from .transform import DEFAULT, Limits

# Results in page-locked memory at a time; further ones are in ordinary memory.
RESULTS = 4
# Chirp-z with twiddle factors made of powers rounds more.
LESS_EXACT = 3
# Platforms where a work-group is known to see what another one has written; OpenCL does not promise it.
WAITING_PLATFORMS = ("NVIDIA",)


def facts(found: Array, stack: Stack, deviations: Callable[[], Array]) -> Facts:
    """Return facts about the pictures of a run, of each of which kernels ``found`` numbers: (pictures, FOUND)."""
    largest, most = found[:, 0].view(np.float32), most_undecided(stack)
    extremes = np.stack([np.zeros_like(largest), largest], axis=1)
    undecided = [count / most for count in found[:, 2].tolist()]
    return Facts(extremes, found[:, 1] * (stack.pictures / stack.size), undecided, deviations)


class FusedGpuPipeline:
    """The whole filter for a stack of images on a GPU: four launches, more where a side is too long for one.

    The transfer function has to be even: the result is real. ``one_launch`` is whether small images go in one launch,
    whose groups wait for each other, by default where the platform is known for it; ``limits`` are what the transforms
    are planned for. With ``generic`` the first stack is filtered by the generic program, unless this size has
    specialized ones already. With ``edges`` of "mirror" no side may be too long for a work-group; a transfer function
    that is not even along each axis takes columns and inverse rows twice. Raises ParameterError for a size that is too
    large.
    """

    _runs = 0

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        limits: Limits = DEFAULT,
        one_launch: bool | None = None,
        generic: bool = False,
        edges: Edges = "wrap",
    ) -> None:
        self.launcher, self.device, self.stack = launcher, launcher.device, stack
        self.plan = plan(stack.height, stack.width, limits)
        if launcher.real_name != "float":
            raise ParameterError("the fused pipeline computes in single precision: take another engine for double")
        if edges == "mirror" and not self.plan.is_in_groups:
            raise ParameterError(
                f"the fused pipeline of GPUs has no mirrored edges for {stack.width} x {stack.height} "
                "pixels: take another engine"
            )
        is_chirp_z = any(side.points != side.length for side in (self.plan.rows, self.plan.columns))
        self.weak = WEAK * (LESS_EXACT if is_chirp_z else 1)
        self._limits, self._mask = limits, mask(transfer, self.plan, edges)
        self._allocate()
        is_known = any(name in self.device.platform for name in WAITING_PLATFORMS)
        self._waits = is_known if one_launch is None else one_launch
        self._is_specialized = not (generic and self.plan.is_in_groups) or is_specialized(self.device, self._kind)
        """Whether the programs are compiled for this size."""
        self._build()
        self._images: tuple[cl.Buffer, cl.Buffer] | None = None
        self._results: PageLocked | None = None
        self._ramps: Ramps = own_ramps(stack)
        self.set_ramps(None)

    def _allocate(self) -> None:
        """Allocate the buffers, which a kernel does not keep alive, and fill the tables; raises TooLargeError."""
        stack, launcher, planned, mask = self.stack, self.launcher, self.plan, self._mask
        row_tables, column_tables = planned.rows.tables(), planned.columns.tables()
        # Values that are not scaled are the output itself.
        values = 0 if stack.white is None else 4 * stack.size
        spectra = stack.count * (2 if mask.needs_two_inverses else 1)
        scratch = [planned.spectrum_length * spectra * 8, planned.work_length * stack.count * 8, values]
        small = [ON_DEVICE.itemsize * stack.pictures, WANTED.itemsize, 4 * FOUND * stack.count]
        self.bytes_in = stack.size * stack.pixel.itemsize
        self.bytes_out = stack.size * stack.out.itemsize
        tables = [table.nbytes for table in (*row_tables, *column_tables, mask.data)]
        self.buffer_bytes = [*scratch, self.bytes_in, self.bytes_out, *small, *tables]
        """Bytes of the spectrum, of the work between long steps, of values, image and output, and of each table."""
        self.device.check_memory(str(stack), self.buffer_bytes)
        spectrum, work, values_ = (launcher.allocate(size) if size else None for size in scratch)
        self._ramps_buffer, self._wanted, self.largest = (launcher.allocate(size) for size in small)
        """Largest magnitude (a float), clipped and undecided pixels of each image of the last run."""
        self._given: dict[str, Any] = {"launcher": launcher, "plan": planned, "mask": mask, "stack": stack}
        self._given |= {"spectrum": spectrum, "work": work, "values": values_, "largest": self.largest}
        self._given["mask_data"] = launcher.wrap(mask.data, constant=True)
        for name, tables_ in (("row_tables", row_tables), ("column_tables", column_tables)):
            self._given[name] = [launcher.wrap(table, constant=True) for table in tables_]

    @property
    def _kind(self) -> Kind:
        """All that decides the programs of this size."""
        stack, mask = self.stack, self._mask
        size = stack.height, stack.width, stack.pixel, stack.out
        return (*size, mask.edges, mask.needs_two_inverses, mask.complement, mask.shape)

    def _build(self) -> None:
        """Build the kernels, by specialized programs or by the generic one."""
        is_own = self._is_specialized
        self._make = Launches(**self._given) if is_own else GenericLaunches(**self._given, limits=self._limits)
        self._bound: tuple[object, ...] = (None,) * 4
        self._launches = self._launch(None)
        vars(self).pop("_by_histogram", None)

    def _launch(self, counts: cl.Buffer | None) -> list[Launch]:
        """Return the launches from pixels to pixels; with a buffer of ``counts`` a histogram finds the ramps."""
        make, ramps, has_pixels = self._make, self._ramps_buffer, self.stack.white is not None
        # Waiting launches cannot be timed step by step, so profiling turns them off.
        can_wait = self._waits and self._is_specialized and not self.launcher.profiles
        if can_wait and has_pixels and not self._mask.needs_two_inverses and make.groups_together:
            return [make.in_one(ramps, self._wanted, counts)]
        found = make.rows()
        if self._mask.needs_two_inverses:  # the other pixels' part
            found += [*make.columns(other=True), *make.inverse_rows(other=True)]
        found += [*make.columns(), *make.inverse_rows()]
        if counts is not None:
            found += [make.histogram(counts), make.ramp_of_histogram(ramps, self._wanted, counts)]
        return [*found, make.quantize(ramps)] if has_pixels else found

    @cached_property
    def _by_histogram(self) -> list[Launch]:
        """The launches if a histogram finds the ramps."""
        none = np.zeros((self.stack.pictures, BINS), np.uint32)
        counts = self.launcher.allocate(none.nbytes)
        self.launcher.write(counts, none)
        return self._launch(counts)

    def enqueue(
        self, image: cl.Buffer, output: cl.Buffer, *, largest: cl.Buffer | None = None, after: cl.Event | None = None
    ) -> cl.Event:
        """Filter a stack from one device buffer into another, without waiting; ``image`` is left as it is.

        Pixels are on the ramps that :meth:`set_ramps` has set last. The largest magnitudes go to ``largest``, if it is
        given. Begins after an event of another queue, and returns that of its own end.
        """
        self._runs += 1
        if self._runs > 1 and not self._is_specialized:
            self._is_specialized = is_specialized(self.device, self._kind, self._runs * self.stack.size)
            if self._is_specialized:
                self._build()
        chosen = self._by_histogram if isinstance(self._ramps, ByHistogram) else self._launches
        bound = chosen, image, output, largest or self.largest
        if any(each is not before for each, before in zip(bound, self._bound, strict=True)):
            # Values that are not scaled are the output itself.
            names = "image", "values" if self.stack.white is None else "output", "largest"
            for launch in chosen:
                launch.kernel.set_buffers(dict(zip(names, bound[1:], strict=True)))
            self._bound = bound
        for launch in chosen:
            last, after = self.launcher.enqueue(*launch, after=after), None
        return last

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run."""
        found = np.empty((self.stack.pictures, FOUND), np.uint32)
        self.launcher.read(found, self.largest)
        return facts(found, self.stack, self.deviations)

    def deviations(self, image: cl.Buffer | None = None) -> Array:
        """Return the largest deviation from its offset of each picture of the last run, (pictures,), or of a buffer."""
        far = np.zeros(self.stack.pictures, np.float32)
        buffer = self.launcher.allocate(far.nbytes)
        self.launcher.write(buffer, far)
        given = image or (self._images or (None,))[0]
        self.launcher.enqueue(*self._make.deviation(given, buffer))
        self.launcher.read(far, buffer)
        return far

    def set_ramps(self, ramps: Ramps) -> None:
        """Set the ramps of the pictures that follow, or how a histogram finds them; None takes the stack's own."""
        if ramps is self._ramps:
            return
        stack = self.stack
        if isinstance(ramps, ByHistogram):
            samples = counted_samples(stack.height, stack.width) * (stack.count // stack.pictures)
            self.launcher.write(self._wanted, ramps.wanted(samples))
        else:
            self.launcher.write(self._ramps_buffer, of_values(own_ramps(stack) if ramps is None else ramps))
        self._ramps = ramps

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter images in the host's memory, and return their pixels on the ramp of each picture."""
        self.set_ramps(ramps)
        if self._images is None:
            self._images = self.launcher.allocate(self.bytes_in), self.launcher.allocate(self.bytes_out)
        image, output = self._images
        self.launcher.write(image, np.ascontiguousarray(images))
        self.enqueue(image, output)
        if self._results is None:
            result = np.empty(self.stack.shape, self.stack.out)
            self._results = PageLocked(self.launcher, most_bytes=min(MOST_BYTES, RESULTS * self.bytes_out))
        else:  # from the second on in page-locked memory, which is slow to allocate
            result = self._results.empty(self.stack.shape, self.stack.out)
        self.launcher.read(result, output)
        return result


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
