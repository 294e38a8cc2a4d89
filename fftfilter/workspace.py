"""The device buffers of a transform: two complex ones that change places, and one of spin factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plan import IMAGE, SPIN, RowPlan, X, Y

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from .launch import Launcher
    from .plan import Stage


class Workspace:
    """Buffers for rows of several lengths, the spin factors filled in.

    ``elements`` is the most complex numbers that the data takes while the plans run, ``image_bytes`` the
    size of the image's own buffer. Raises TooLargeError, naming ``what``, before anything is allocated.
    """

    def __init__(
        self, launcher: Launcher, plans: Iterable[RowPlan], elements: int, what: str, image_bytes: int = 0
    ) -> None:
        self.launcher = launcher
        plans = {plan.n: plan for plan in plans if plan.spin_length}.values()
        item = launcher.complex.itemsize
        align = max(1, launcher.device.cl_device.mem_base_addr_align // 8)
        tables = [-(-plan.spin_length * item // align) * align for plan in plans]
        complex_bytes = elements * item
        launcher.device.check_memory(what, [complex_bytes, complex_bytes, sum(tables), image_bytes])

        self.names: dict[str, Any] = {name: launcher.allocate(complex_bytes) for name in (X, Y)}
        if image_bytes:
            self.names[IMAGE] = launcher.allocate(image_bytes)
        spin = launcher.allocate(max(item, sum(tables)))
        for i, plan in enumerate(plans):
            self.names[plan.spin] = spin.get_sub_region(sum(tables[:i]), tables[i])
            self.run(stage.bind({SPIN: plan.spin}) for stage in plan.tables)

    def run(self, stages: Iterable[Stage]) -> None:
        """Launch stages on these buffers."""
        self.launcher.run(stages, self.names)

    def write(self, name: str, array: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous host array into a buffer."""
        self.launcher.write(self.names[name], array)

    def read(self, name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Copy a buffer's beginning into a contiguous host array, and return it."""
        self.launcher.read(array, self.names[name])
        return array
