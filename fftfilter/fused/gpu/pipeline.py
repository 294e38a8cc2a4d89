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
(``generic.py``), and a size that comes a second time gets specialized ones, which are faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyopencl as cl

from ...arrays import Array
from ...device.launcher import Launcher
from ...device.memory_pool import MOST_BYTES, PageLocked
from ...errors import ParameterError
from ...output.histogram import BINS, ByHistogram, Ramps, counted_samples
from ...output.ramp import ON_DEVICE, WANTED, Facts, Stack, of_values, own_ramps
from ...output.rounding import WEAK, most_undecided
from ...transfer import Transfer
from ...transfer.edges import Edges
from .generic import GenericLaunches, Kind, is_specialized
from .launches import FOUND, Launch, Launches
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
