"""The device buffers of a plan: two complex ones that change places, and one with tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plan import IMAGE, SPIN, Launch, RowPlan, X, Y
from .runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from ..device.launcher import Launcher
    from .plan import Launch

    Array = np.ndarray[Any, Any]


class Workspace:
    """Buffers for rows of several lengths, the spin factors filled in.

    ``elements`` is the most complex numbers that the data takes while the plans run, ``launches`` what will be run (its
    kernels are built at once), ``image_bytes`` the size of the image's own buffer, ``tables`` what else the launches
    read, by name. Raises TooLargeError, naming ``what``, before anything is allocated.
    """

    def __init__(
        self,
        launcher: Launcher,
        plans: Iterable[RowPlan],
        elements: int,
        what: str,
        *,
        launches: tuple[Launch, ...] = (),
        image_bytes: int = 0,
        tables: Mapping[str, Array] | None = None,
    ) -> None:
        self.launcher = launcher
        self.runner = Runner(launcher)
        tables = tables or {}
        filled = {plan.spin: plan for plan in plans if plan.spin_length}
        item = launcher.complex.itemsize
        sizes = {name: plan.spin_length * item for name, plan in filled.items()}
        sizes |= {name: table.nbytes for name, table in tables.items()}
        # Where a part of a buffer may begin.
        align = max(1, launcher.device.cl_device.mem_base_addr_align // 8)
        table_bytes = sum(-(-size // align) * align for size in sizes.values())
        complex_bytes = elements * item
        launcher.device.check_memory(what, [complex_bytes, complex_bytes, table_bytes, image_bytes])
        self.runner.build((*(launch for plan in filled.values() for launch in plan.tables), *launches))

        self.names: dict[str, Any] = {name: launcher.allocate(complex_bytes) for name in (X, Y)}
        if image_bytes:
            self.names[IMAGE] = launcher.allocate(image_bytes)
        if sizes:
            buffer, begin = launcher.allocate(table_bytes), 0
            for name, size in sizes.items():
                self.names[name] = buffer.get_sub_region(begin, size)
                begin += -(-size // align) * align
        for name, table in tables.items():
            self.write(name, table)
        for name, plan in filled.items():
            self.run(launch.bind({SPIN: name}) for launch in plan.tables)

    def run(self, launches: Iterable[Launch]) -> None:
        """Launch on these buffers."""
        self.runner.run(launches, self.names)

    def write(self, name: str, array: Array) -> None:
        """Copy a contiguous host array into a buffer."""
        self.launcher.write(self.names[name], array)

    def read(self, name: str, array: Array) -> Array:
        """Copy a buffer's beginning into a contiguous host array, and return it."""
        self.launcher.read(array, self.names[name])
        return array
