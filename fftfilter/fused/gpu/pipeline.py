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
for each other, small square images run in one launch (``filter.cl``), others in three, the last of which makes pixels
of spectra (``to_pixels.cl``): there a launch costs as much as a step.

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
from ...output.histogram import BINS, ByHistogram, Ramps, counted, counted_samples
from ...output.ramp import ON_DEVICE, PIXELS, WANTED, Facts, Stack, of_values, own_ramps
from ...output.rounding import WEAK, most_undecided
from ...transfer import Transfer
from ...transfer.edges import Edges
from . import launches
from .generic import GenericLaunches, Kind, is_specialized, may_specialize
from .launches import FOUND, Launch, Launches, widest
from .plan import mask, plan
from .transform import DEFAULT, Limits

# Results in page-locked memory at a time; further ones are in ordinary memory.
RESULTS = 4
# Chirp-z with twiddle factors made of powers rounds more.
LESS_EXACT = 3
# Platforms where a work-group is known to see what another one has written; OpenCL does not promise it.
WAITING_PLATFORMS = ("NVIDIA",)
# Counters by which work-groups wait for each other, besides one for each task.
PROGRESS = 10


def facts(found: Array, stack: Stack, deviations: Callable[[], Array]) -> Facts:
    """Return facts about the pictures of a run, of each of which kernels ``found`` numbers: (pictures, FOUND)."""
    largest, most = found[:, 0].view(np.float32), most_undecided(stack)
    extremes = np.stack([np.zeros_like(largest), largest], axis=1)
    undecided = [count / most for count in found[:, 2].tolist()]
    return Facts(extremes, found[:, 1] * (stack.pictures / stack.size), undecided, deviations)


class FusedGpuPipeline:
    """The whole filter for a stack of images on a GPU: four launches, more where a side is too long for one.

    The transfer function has to be even: the result is real. ``one_launch`` is whether small images go in one launch,
    and larger ones in three, whose groups wait for each other, by default where the platform is known for it;
    ``limits`` are what the transforms are planned for. With ``generic`` the first stack is filtered by the generic
    program, unless this size has specialized ones already. With ``edges`` of "mirror" no side may be too long for a
    work-group; a transfer function that is not even along each axis takes columns and inverse rows twice. Raises
    ParameterError for a size that is too large.
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
        self._limits, self._edges = limits, edges
        if launcher.real_name != "float":
            raise ParameterError("the fused pipeline computes in single precision: take another engine for double")
        if edges == "mirror" and not self.plan.is_in_groups:
            raise ParameterError(
                f"the fused pipeline of GPUs has no mirrored edges for {stack.width} x {stack.height} "
                "pixels: take another engine"
            )
        is_chirp_z = any(side.points != side.length for side in (self.plan.rows, self.plan.columns))
        self.weak = WEAK * (LESS_EXACT if is_chirp_z else 1)
        self._needs_two_inverses = edges == "mirror" and not transfer.is_even_along_axes
        self._mask = mask(transfer, self.plan, edges, needs_two_inverses=self._needs_two_inverses)
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
        stack, launcher, planned = self.stack, self.launcher, self.plan
        row_tables, column_tables, mask_data = planned.rows.tables(), planned.columns.tables(), self._mask.data
        # Values that are not scaled are the output itself.
        values = 0 if stack.white is None else 4 * stack.size
        spectra = stack.count * (2 if self._needs_two_inverses else 1)
        scratch = [planned.spectrum_length * spectra * 8, planned.work_length * stack.count * 8, values]
        small = [ON_DEVICE.itemsize * stack.pictures, 4 * FOUND * stack.count]
        self.bytes_in = stack.size * stack.pixel.itemsize
        self.bytes_out = stack.size * stack.out.itemsize
        tables = [table.nbytes for table in (*row_tables, *column_tables, mask_data)]
        self.buffer_bytes = [*scratch, self.bytes_in, self.bytes_out, *small, *tables]
        """Bytes of the spectrum, of the work between long steps, of values, image and output, and of each table."""
        self.device.check_memory(str(stack), self.buffer_bytes)
        self._spectrum, self._work, self._values = (launcher.allocate(size) if size else None for size in scratch)
        self._ramps_buffer, self.largest = (launcher.allocate(size) for size in small)
        """Largest magnitude (a float), clipped and undecided pixels of each image of the last run."""
        self._row_tables = [launcher.wrap(table, constant=True) for table in row_tables]
        self._column_tables = [launcher.wrap(table, constant=True) for table in column_tables]
        self._mask_data = launcher.wrap(mask_data, constant=True)

    @property
    def _kind(self) -> Kind:
        """All that decides the programs of this size."""
        stack, mask = self.stack, self._mask
        size = stack.height, stack.width, stack.pixel, stack.out
        return (*size, self._edges, self._needs_two_inverses, mask.complement, mask.shape)

    def _build(self) -> None:
        """Build the kernels and set every argument but the images."""
        self._bound: tuple[object, ...] = (None,) * 4
        self._make = self._launches_of_size()
        # Waiting launches cannot be timed step by step, so profiling turns them off.
        can_wait = self._waits and self._is_specialized and not self._needs_two_inverses and not self.launcher.profiles
        can_wait = can_wait and self.stack.white is not None
        self._goes_in_one = can_wait and self._make.groups_together(launches.FILTER) > 0
        if self._goes_in_one:
            self._launches = [self._one_launch(self._ramps_buffer)]
        elif can_wait and self._make.groups_together(launches.INVERSE_ROWS_TO_PIXELS):
            arguments = {**self._waiting_arguments(), "ramps": self._ramps_buffer, "range": widest(self.stack)}
            last = self._make.waiting(launches.INVERSE_ROWS_TO_PIXELS, self._pixel_defines, arguments)
            self._launches = [*self._make.rows(), *self._make.columns(), last]
        else:
            self._launches = self._to_values()
            if self.stack.white is not None:
                given = self._values, self.largest, self._ramps_buffer
                self._launches.append(launches.quantize(self.launcher, self.stack, *given))

    def _launches_of_size(self) -> Launches:
        """Return what makes the launches, by specialized programs or by the generic one."""
        stack = self.stack
        given: dict[str, Any] = {"launcher": self.launcher, "plan": self.plan, "count": stack.count}
        given |= {"pixel": PIXELS[stack.pixel], "edges": self._edges, "one_scale": stack.one_scale}
        given |= {"mask": self._mask, "mask_data": self._mask_data, "needs_two_inverses": self._needs_two_inverses}
        given |= {"spectrum": self._spectrum, "work": self._work, "values": self._values, "largest": self.largest}
        given |= {"row_tables": self._row_tables, "column_tables": self._column_tables}
        return Launches(**given) if self._is_specialized else GenericLaunches(**given, limits=self._limits)

    def _to_values(self) -> list[Launch]:
        """Return the launches from pixels to filtered values."""
        make, first = self._make, self._make.rows()
        if self._needs_two_inverses:  # the other pixels' part
            first += [*make.columns(other=True), *make.inverse_rows(other=True)]
        return [*first, *make.columns(), *make.inverse_rows()]

    @property
    def _pixel_defines(self) -> tuple[str, ...]:
        """The defines of launches that read pixels and write pixels."""
        read = f"LOAD_PIXEL={PIXELS[self.stack.pixel]}", f"COMPLEMENT={int(self._mask.complement)}"
        return (
            *read,
            f"STORE_PIXEL={PIXELS[self.stack.out]}",
            f"QUANTIZE_GROUP={launches.QUANTIZE_GROUP}",
            "PIXELS_PER_ITEM=1",
        )

    def _waiting_arguments(self) -> dict[str, Any]:
        """Return the first arguments of a kernel whose work-groups wait for each other, with counters of its own."""
        told = np.zeros(PROGRESS + self.stack.count * self.plan.pairs, np.uint32)
        progress = self.launcher.allocate(told.nbytes)
        self.launcher.write(progress, told)  # 0 before and after each launch, but for the list
        buffers: dict[str, Any] = {"image": None, "output": None, "spectrum": self._spectrum, "values": self._values}
        buffers |= {"tables": self._row_tables[0], "largest": self.largest, "progress": progress}
        numbers = {"pictures": self.stack.count, "support": self._make.support, "one_scale": self.stack.one_scale}
        return buffers | numbers | {"dc": self._mask.dc}

    def _one_launch(self, ramps: cl.Buffer, wanted: cl.Buffer | None = None, counts: cl.Buffer | None = None) -> Launch:
        """Return the one launch of all steps. It reads ``ramps``, or finds them from ``wanted`` and ``counts``."""
        rows, columns = counted(self.stack.height, self.stack.width)
        arguments = self._waiting_arguments() | {"ramps": ramps, "range": widest(self.stack)}
        arguments |= self._make.mask_arguments
        arguments |= {"wanted": wanted or ramps, "counts": counts or ramps, "bins": 0 if counts is None else BINS}
        arguments |= {"counted_rows": rows, "counted_columns": columns}
        return self._make.waiting(launches.FILTER, (*self._pixel_defines, f"SHAPE={self._mask.shape}"), arguments)

    def enqueue(
        self, image: cl.Buffer, output: cl.Buffer, *, largest: cl.Buffer | None = None, after: cl.Event | None = None
    ) -> cl.Event:
        """Filter a stack from one device buffer into another, without waiting; ``image`` is left as it is.

        Pixels are on the ramps that :meth:`set_ramps` has set last. The largest magnitudes go to ``largest``, if it is
        given. Begins after an event of another queue, and returns that of its own end.
        """
        self._runs += 1
        if self._runs > 1 and not self._is_specialized:
            self._specialize()
        chosen = self._by_histogram[0] if isinstance(self._ramps, ByHistogram) else self._launches
        self._bind(chosen, image, output, largest or self.largest)
        for launch in chosen:
            last, after = self.launcher.enqueue(*launch, after=after), None
        return last

    def _specialize(self) -> None:
        """Replace the generic program by specialized ones, if this size may have them."""
        if not may_specialize(self.device, self._kind, self._runs * self.stack.size):
            return
        self._is_specialized = True
        self._build()
        vars(self).pop("_by_histogram", None)
        ramps, self._ramps = self._ramps, None
        self.set_ramps(ramps)

    def _bind(self, chosen: list[Launch], image: cl.Buffer, output: cl.Buffer, largest: cl.Buffer) -> None:
        """Set the arguments image, output and largest of the launches that follow."""
        bound = chosen, image, output, largest
        if all(each is before for each, before in zip(bound, self._bound, strict=True)):
            return
        if chosen is not self._bound[0]:
            names = "image", "values" if self.stack.white is None else "output", "largest"
            self._setters = [[set_ for launch in chosen for set_ in launch.kernel.setters(name)] for name in names]
        for setters, buffer in zip(self._setters, (image, output, largest), strict=True):
            for set_ in setters:
                set_(buffer)
        self._bound = bound

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
        self.launcher.enqueue(*launches.deviation(self.launcher, self.stack, given, buffer))
        self.launcher.read(far, buffer)
        return far

    def set_ramps(self, ramps: Ramps) -> None:
        """Set the ramps of the pictures that follow, or how a histogram finds them; None takes the stack's own."""
        if ramps is self._ramps or (isinstance(ramps, ByHistogram) and ramps == self._ramps):
            return
        if isinstance(ramps, ByHistogram):
            height, width, of_picture = self.stack.height, self.stack.width, self.stack.count // self.stack.pictures
            self.launcher.write(self._by_histogram[1], ramps.wanted(counted_samples(height, width) * of_picture))
        else:
            made = own_ramps(self.stack) if ramps is None else ramps
            self.launcher.write(self._ramps_buffer, of_values(made))
        self._ramps = ramps

    @cached_property
    def _by_histogram(self) -> tuple[list[Launch], cl.Buffer]:
        """The launches if a histogram finds the ramps, which have their own buffer; the buffer of wanted ranges."""
        launcher, stack, values, largest = self.launcher, self.stack, self._values, self.largest
        sizes = WANTED.itemsize, 4 * BINS * stack.pictures, ON_DEVICE.itemsize * stack.pictures
        wanted, counts, ramps = [launcher.allocate(size) for size in sizes]
        launcher.write(counts, np.zeros((stack.pictures, BINS), np.uint32))
        if self._goes_in_one:
            return [self._one_launch(ramps, wanted, counts)], wanted
        found = launches.histogram(launcher, stack, values, largest, counts)
        made = launches.ramp_of_histogram(launcher, stack, largest, counts, wanted=wanted, ramps=ramps)
        return [*self._to_values(), found, made, launches.quantize(launcher, stack, values, largest, ramps)], wanted

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
