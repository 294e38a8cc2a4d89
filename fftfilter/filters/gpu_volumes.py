"""A volume on a GPU: the products of matrices of ``volumes.py`` on the device, and the pixels of what they make.

pixels less their base -> along y, z, x -> gains -> along x, z, y -> values -> pixels
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device.opencl import declared
from ..errors import TooLargeError
from ..fused.gpu.launches import compiler_options
from ..output.ramp import ON_DEVICE, PIXELS, RAMP, Facts, known, of_values, on_ramps, own_ramps
from ..output.rounding import decided_row, most_undecided
from ..system import check_memory
from .volumes import NUMBERS, VolumePipeline, middle

if TYPE_CHECKING:
    from ..arrays import Array
    from ..device.launcher import Kernel
    from ..output.histogram import Ramps
    from .description import Description
    from .volumes import Axis

SOURCE = "volumes/product.cl"
# Frequencies of an axis up to which it takes products of matrices; more take FFTs on the host.
MOST = 4096
# The work-items of a group, the columns of its tile and the rows of half of it, and an item's registers (product.cl).
GROUP, TILE, ROWS, REGISTERS = 256, 128, 64, 128
# Work-groups that make pixels.
PIXEL_GROUPS = 4096
TYPES = {**PIXELS, np.dtype(np.float64): "double"}


class GpuVolumePipeline(VolumePipeline):
    """The filter of a volume on a GPU.

    Raises TooLargeError for one that the device does not hold, and for axes of too many frequencies.
    """

    @property
    def _steps(self) -> list[tuple[Axis, bool]]:
        """The axis of each product, and whether it goes back.

        The first and the last one, of most values, are along y: what a group reads lies near each other.
        """
        axes = sorted(self._axes, key=lambda axis: (1, 0, 2).index(axis.place))
        return [*((axis, False) for axis in axes), *((axis, True) for axis in reversed(axes))]

    def _check_memory(self) -> None:
        stack, shape, sizes, real = self.stack, list(self.stack.shape), list[int](), self._real.itemsize
        if max(len(axis.order) for axis in self._axes) > MOST or self._launcher.device.work_group_limit < GROUP:
            raise TooLargeError(f"{stack}: {self._launcher.device.name} takes no products of matrices for it")
        check_memory(stack.height, stack.width, stack.size * NUMBERS * real, str(stack))  # for gains and results
        for axis, is_back in self._steps:
            shape[axis.place] = axis.length if is_back else len(axis.order)
            sizes.append(math.prod(shape) * real)
        # The products go from the one buffer into the other.
        between = max(sizes[::2]), max(sizes[1::2])
        self._sizes = *between, stack.size * stack.pixel.itemsize, stack.size * stack.out.itemsize
        gains = math.prod(len(axis.order) for axis in self._axes) * real
        self._launcher.device.check_memory(str(stack), [*self._sizes, gains])

    def _prepare(self, _: Description) -> None:
        launcher, stack, shape = self._launcher, self.stack, list(self.stack.shape)
        made, values, self._image, self._output = map(launcher.allocate, self._sizes)
        bases = stack.height * stack.width if len(self._axes) == 1 else 1
        self._around, self._found = launcher.allocate(2 * bases * self._real.itemsize), launcher.allocate(4 * 4)
        self._ramp, self._values = launcher.allocate(ON_DEVICE.itemsize), values
        types = f"LOAD_PIXEL={TYPES[stack.pixel]}", f"STORE_PIXEL={TYPES.get(stack.out, launcher.real_name)}"
        given: dict[str, Any] = {"gains": launcher.wrap(self._gains, constant=True), "pixels": self._image}
        given |= {"base": self._around, "found": self._found, "bases": bases, "beyond": float(self._beyond)}
        given |= {"output": self._output, "ramps": self._ramp, "size": np.uint64(stack.size)}
        given["every"] = decided_row(stack.height, stack.width)
        self._products: list[tuple[Kernel, tuple[int, int]]] = []
        steps = self._steps
        for i, (axis, is_back) in enumerate(steps):
            matrix = axis.matrix(back=is_back).T.astype(self._real)
            length, kept = matrix.shape
            before, beside = math.prod(shape[: axis.place]), math.prod(shape[axis.place + 1 :])
            if is_last := axis.place == 2:  # whose lines lie beside each other
                before, beside = 1, before
            rows = ROWS * (1 if -(-kept // ROWS) % 2 else 2)
            defines = (
                *types,
                f"LOAD_VALUE={launcher.real_name if i else TYPES[stack.pixel]}",
                f"PER_ITEM={rows // 16}",
                f"ALONG_LAST={int(is_last)}",
                f"IS_FIRST={int(i == 0)}",
                f"HAS_GAINS={int(i + 1 == len(self._axes))}",
                f"IS_LAST={int(i + 1 == len(steps))}",
            )
            given |= {"made": made, "values": values if i else self._image, "beside": np.uint64(beside)}
            given |= {"matrix": launcher.wrap(matrix, constant=True), "length": length, "kept": kept}
            items = -(-beside // TILE) * -(-kept // rows) * GROUP, before
            self._products.append((self._kernel("volume_product", defines, given), items))
            made, values, shape[axis.place] = values, made, kept
        self._to_pixels = self._kernel("volume_pixels", defines, given | {"values": self._values})

    def _kernel(self, name: str, defines: tuple[str, ...], given: dict[str, Any]) -> Kernel:
        arguments = {each: given[each] for each in declared(SOURCE, name)}
        options = compiler_options(self._launcher, REGISTERS)
        return self._launcher.kernel((SOURCE,), defines, name, arguments, options=options)

    def enqueue(self) -> None:
        """Launch the products, from the volume on the device to its values there, without waiting."""
        for kernel, items in self._products:
            self._launcher.enqueue("products", kernel, items, (GROUP, 1))

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter a volume, and return its pixels."""
        launcher, stack, found = self._launcher, self.stack, np.zeros(4, np.uint32)
        base = middle(images, self._axes).ravel()
        launcher.write(self._image, np.ascontiguousarray(images))
        launcher.write(self._around, np.concatenate([base, self._dc * base]).astype(self._real))
        launcher.write(self._found, found)
        self.enqueue()
        launcher.read(found, self._found)
        largest, far = map(float, found[:2].view(np.float32))
        own = own_ramps(stack) if ramps is None else ramps
        if (
            stack.white is None
            or self._real == np.float64
            or stack.out not in PIXELS
            or not isinstance(own, np.ndarray)
        ):
            values = np.empty(stack.shape, self._real)
            launcher.read(values, self._values)
            return self._made(*on_ramps(values, stack, ramps, np.array([far])), far)
        launcher.write(self._ramp, of_values(np.array([tuple(known(own[0], largest, far).values())], RAMP)))
        groups = min(PIXEL_GROUPS, -(-stack.size // GROUP))
        launcher.enqueue("pixels", self._to_pixels, (groups * GROUP,), (GROUP,))
        launcher.read(found, self._found)
        pixels = np.empty(stack.shape, stack.out)
        launcher.read(pixels, self._output)
        clipped, undecided = (found[2:] / [stack.size, most_undecided(stack)]).tolist()
        extremes = np.array([(0.0, largest)])
        return self._made(pixels, Facts(extremes, np.array([clipped]), [undecided], lambda: np.array([far])), far)
