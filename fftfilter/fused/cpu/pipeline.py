"""The fused pipeline for CPUs: one launch from pixels to pixels, whose work-items go through four steps.

    columns forward   pixels -> vertical transforms, two columns as one complex column     twiddle factors, butterflies
    rows              horizontal transform, mask, inverse transform, in the cache         butterflies, mask, inverse
    columns inverse   vertical inverse, the largest magnitude                             inverse, magnitude
    quantize          values -> pixels                                                    normalize

Every vector register holds neighboring columns (or rows), so no kernel shuffles within a register but where
rows become lanes. Each fusion saves a trip through memory, which is what large images wait for: pixels are
never stored as floats, the spectrum never leaves the cache between the two horizontal transforms, and the
complex result is never stored at all. The data between the steps is four bytes a pixel.

Only rows whose vertical frequency is within the support of the transfer function go through the horizontal transform,
the mask and back. In any other row the gain is constant, so that filtering multiplies the row by one number:
by 1, and the row stays as the columns have left it, or by 0, and the columns clear it. A high-pass of the default
radius, n/8, leaves a quarter of the rows to transform.

There is one launch, as a CPU's compute units would sleep between several, and waking one takes longer than a step of
a small image. Each compute unit has one work-item, which takes task after task (``filter.cl``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...device.launcher import LARGE, MOST_BYTES, Launcher, MemoryPool, aligned
from ...device.opencl import declared
from ...output.histogram import BINS, ByHistogram, Ramps, counted_samples
from ...output.ramp import PIXELS, Facts, Stack, of_values, own_ramps
from ...output.rounding import WEAK, decided_row, most_undecided
from ...transfer import Transfer
from ...transfer.grid import Support, parts_along_axes
from ...transfer.product import Edges, grid_with
from . import program
from .program import FILTER, PART_BYTES, mask_terms, params, plan, turns_of, twins_of

STEPS = ("columns forward", "rows", "columns inverse", "histogram", "ramp", "quantize")
# Steps that do nothing where the ramps are given.
OF_HISTOGRAM = ("histogram", "ramp")
# Histograms of a picture, COUNTERS times COPIES of histogram.cl.
HISTOGRAMS = 8
# Large results at a time in memory that is used again: the last one is there until the next one takes its name.
RESULTS = 2


class FusedCpuPipeline:
    """The whole filter for a stack of images on a CPU.

    The transfer function has to be even: the result is real. ``lanes`` is how many floats a vector register holds,
    ``workers`` how many work-items share the work; the plan has a default of both. ``part_bytes`` is for the plan.
    With ``edges`` of "mirror" a transfer function that is not even along each axis takes two inverse transforms.
    """

    weak = WEAK

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        lanes: int | None = None,
        workers: int | None = None,
        part_bytes: int = PART_BYTES,
        edges: Edges = "wrap",
    ) -> None:
        self.launcher, self.stack, self._edges = launcher, stack, edges
        count, height, width = stack.shape
        self._needs_two_inverses = self._needs_two(transfer)
        size, how = (height, width), {"part_bytes": part_bytes, "inverses": 2 if self._needs_two_inverses else 1}
        self.plan = plan(launcher.device, *size, count=count, lanes=lanes, workers=workers, **how)
        strips, workspaces, *_ = buffers = self.plan.buffers(count, stack.pixel.itemsize, stack.out.itemsize)
        launcher.device.check_memory(str(stack), buffers)
        self._strips, x = (launcher.wrap(aligned((size,), np.dtype(np.uint8))) for size in (strips, workspaces))
        # In the host's memory: reading a buffer would take as long as a tenth of a small image.
        self._far = np.zeros((count, self.plan.strips), np.float32)
        self._extremes = np.zeros((stack.pictures, 2), np.float32)
        self._counted = np.zeros((count, self.plan.tasks_of_quantize(stack.out.itemsize), 2), np.uint32)
        self._undecided = self._counted[..., 1].reshape(stack.pictures, -1)
        self._per_undecided = decided_row(height, width) / most_undecided(stack)
        found = (self._far, self._extremes, self._counted)
        self._far_buffer, self._extremes_buffer, self._counted_buffer = (launcher.wrap(each) for each in found)
        large = count * height * self.plan.pitch * stack.out.itemsize
        self._pool = MemoryPool(most_bytes=min(MOST_BYTES, RESULTS * large)) if large >= LARGE else None
        """For large results, which take the memory of earlier ones that are gone."""
        self._steps = 0, len(STEPS)
        counters = np.zeros(1 + len(STEPS) * (1 + self.plan.workers) * stack.pictures, np.uint32)
        # None is set later, for images, ramps and by `retune`.
        arguments: dict[str, Any] = dict.fromkeys(declared(FILTER, "filter"))
        arguments |= {"progress": launcher.wrap(counters), "z": self._strips, "x": x}
        arguments |= {"deviation": self._far_buffer, "largest": launcher.allocate(self._far.nbytes)}
        for name, axis in (("column_twiddles", self.plan.columns), ("row_twiddles", self.plan.rows)):
            arguments[name] = launcher.wrap(axis.twiddles(), constant=True)
        arguments |= {"counted": self._counted_buffer, "extremes": self._extremes_buffer}
        arguments |= {"first_step": 0, "end_step": len(STEPS)}
        defines = f"VECTOR={self.plan.lanes}", f"LOAD_PIXEL={PIXELS[stack.pixel]}", f"EDGES={edges}"
        self._filter = launcher.kernel((FILTER,), (*defines, *launcher.device.own_builtins), "filter", arguments)
        self._ramps: Ramps = own_ramps(stack)
        self._set_ramps(None)
        self.retune(transfer)

    def retune(self, transfer: Transfer) -> bool:
        """Take another transfer function in the same buffers; return whether they fit it."""
        if self._needs_two(transfer) != self._needs_two_inverses:
            return False
        stack, edges = self.stack, self._edges
        _, height, width = stack.shape
        lanes, columns, rows = self.plan.lanes, self.plan.columns, self.plan.rows
        # Rows that are filtered, one at least, and their mirrored ones, in groups of a vector; rows that are cleared.
        grid = grid_with(edges, transfer, height, width)
        support, table = grid.on_grid("f4")
        if self._needs_two_inverses:  # all rows, as the other pixels have strips of their own
            support = Support(height, width, 1.0)
        reached = max(support.rows, 1)
        frequencies = columns.frequencies()
        pairs = program.mirrored_pairs(frequencies, reached)
        at, mirror = (program.grouped(positions, lanes) for positions in pairs)
        is_beyond = np.minimum(frequencies, height - frequencies) >= reached
        zero_rows = np.flatnonzero(is_beyond & (support.beyond == 0))
        places = np.concatenate([np.concatenate([at, mirror], axis=1).ravel() * 8 * lanes, zero_rows])
        across_k, down_k = rows.frequencies(), frequencies[at]
        twins = turns = np.zeros(1, np.float32)  # not read
        if edges == "mirror":
            # A frequency is filtered together with the opposite one.
            places_of = program.mirrored_pairs(across_k, width)
            across_k = across_k[places_of[0]]
            twins, turns = twins_of(*places_of, across_k, width), turns_of(down_k, height)
            across_k, down_k = _with_opposite(across_k, width), _with_opposite(down_k, height)
        size, dc = (grid.height, grid.width), transfer.at_dc(table)
        odd_gains = np.zeros(1, np.float32)
        if self._needs_two_inverses and table is not None:
            table, odd = parts_along_axes(table)
            odd_gains = mask_terms(None, odd, size, across_k, down_k, dc=dc).gains
            del odd  # each of these arrays is as large as the picture
        mask = mask_terms(grid.transfer.radial, table, size, across_k, down_k, dc=dc)

        rows_done = {"row_groups": len(at), "zero_rows": len(zero_rows)}
        described = params(self.plan, stack, dc, edges, mask.fields | rows_done)
        tables = {"params": described, "places": places.astype(np.uint32), "across": mask.across, "down": mask.down}
        tables |= {"gains": mask.gains, "odd_gains": odd_gains, "twins": twins, "turns": turns}
        self._of_transfer = {
            name: self.launcher.wrap(table, constant="gains" not in name) for name, table in tables.items()
        }
        self._filter.bind(**self._of_transfer)
        return True

    def _needs_two(self, transfer: Transfer) -> bool:
        """Whether mirrored edges take two inverse transforms."""
        return self._edges == "mirror" and not transfer.is_even_along_axes

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter images ``(count, height, width)`` and return their pixels on the ramp of each picture.

        Kernels read and write the arrays where they are; nothing is copied but images narrower than a strip.
        """
        result = self._bind(images)
        self._set_ramps(ramps)
        self._launch()
        return self._pixels(result)

    def _set_ramps(self, ramps: Ramps) -> None:
        """Set the ramps of the pictures, or the parts by which a histogram finds them, unless they are set already."""
        if ramps is self._ramps:
            return
        stack, lanes = self.stack, self.plan.lanes
        unused = self._counted_buffer
        counting: dict[str, Any] = {"wanted": unused, "counts": unused, "bins": 0}  # nothing is counted
        if isinstance(ramps, ByHistogram):
            samples = counted_samples(stack.height, stack.width) * (stack.count // stack.pictures)
            counts = aligned((stack.pictures, HISTOGRAMS, BINS + lanes), np.dtype(np.uint32))
            counts[...] = 0
            wanted = self.launcher.wrap(ramps.wanted(samples, self.plan.height), constant=True)
            counting = self._counting = {"wanted": wanted, "counts": self.launcher.wrap(counts), "bins": BINS}
            self._clips = True
        else:
            made = own_ramps(stack) if ramps is None else ramps
            # In the host's memory: a command to copy them would wait for a worker to wake.
            counting["ramps"] = self._ramps_buffer = self.launcher.wrap(of_values(made, self.plan.height))
            self._clips = bool(made["counts"].any())
        self._filter.bind(**counting)
        self._ramps = ramps

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run; undecided samples are counted in every n-th row."""
        self.launcher.finish(self._extremes_buffer, self._extremes)
        self.launcher.finish(self._counted_buffer, self._counted)
        clipped = np.zeros(self.stack.pictures)
        if self._clips:
            counted = self._counted[..., 0].reshape(self.stack.pictures, -1).sum(axis=1)
            clipped = counted * (self.stack.pictures / self.stack.size)
        undecided = [sum(counts) * self._per_undecided for counts in self._undecided.tolist()]
        return Facts(self._extremes.copy(), clipped, undecided, self._deviations)

    def _deviations(self) -> Array:
        self.launcher.finish(self._far_buffer, self._far)
        found: Array = self._far.reshape(self.stack.pictures, -1).max(axis=1)
        return found

    def _bind(self, images: Array) -> tuple[Any, Array]:
        """Set images and pixels; return the pixels' buffer and array."""
        count, height, width = self.stack.shape
        pitch = self.plan.pitch
        if pitch != width:
            images = np.pad(images, ((0, 0), (0, 0), (0, pitch - width)), mode="wrap")
        images = np.require(images, self.stack.pixel, ("C", "A"))
        empty = self._pool.empty if self._pool else np.empty
        result = empty((count, height, pitch), self.stack.out)
        image, pixels = self.launcher.wrap(images), self.launcher.wrap(result)
        self._filter.set("image", image)
        self._filter.set("pixels", pixels)
        self._image: Any = image
        return pixels, result

    def _launch(self, end: int = len(STEPS)) -> None:
        """Launch the steps before ``end`` at once; to time them, each by itself, except those that do nothing."""
        launches = {"filter": (0, end)}
        if self.launcher.profiles:
            skipped = () if isinstance(self._ramps, ByHistogram) else OF_HISTOGRAM
            launches = {name: (i, i + 1) for i, name in enumerate(STEPS[:end]) if name not in skipped}
        for name, steps in launches.items():
            if steps != self._steps:
                self._steps = steps
                self._filter.bind(first_step=steps[0], end_step=steps[1])
            self.launcher.enqueue(name, self._filter, (self.plan.workers,), (1,))

    def _pixels(self, bound: tuple[Any, Array]) -> Array:
        """Wait for the pixels, and return them without the padding of a narrow image."""
        pixels, result = bound
        self.launcher.finish(pixels, result)
        self._image = None  # a copy of what was given may go
        width = self.stack.width
        return result if self.plan.pitch == width else np.ascontiguousarray(result[:, :, :width])


def _with_opposite(k: Array, n: int) -> Array:
    """Return frequencies k, each followed by n - k: ``(count, ...)`` to ``(2 count, ...)``."""
    return np.stack([k, n - k], axis=1).reshape(-1, *k.shape[1:])
