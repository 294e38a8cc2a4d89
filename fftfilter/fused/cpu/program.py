"""The program of the CPU form: one for the first size, one for all others.

Compiling takes longer than filtering many a folder, so programs know no lengths, which are parameters (``params.cl``),
but the butterflies that are in them. Those of one size's radices compile in half the time of all: the first size on a
device gets them alone, and every other the program that serves any size. Both compute the same, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .mixed_radix import LARGEST_PRIME, LARGEST_WRITTEN_OUT, Bluestein

if TYPE_CHECKING:
    from ...device.device import Device
    from .plan import Axis

Defines = tuple[str, ...]

FILTER = "fused/cpu/filter.cl"
# With Bluestein's convolutions
GENERIC_FILTER = ("fused/cpu/columns_bluestein.cl", "fused/cpu/rows_bluestein.cl", FILTER)
# The radices that are written out in the generic program; other primes go through its loop.
RADICES = {1, 2, 3, 4, 5, 7, 8}
# Of each device and all other defines, those of the first size.
_first: WeakKeyDictionary[Device, dict[Defines, Defines]] = WeakKeyDictionary()


def program(
    device: Device, columns: Axis, rows: Axis, defines: Defines, files: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], Defines]:
    """Return the files and all defines of the program for two axes, given the defines that are not about them.

    ``files`` are by default those of the filter.
    """
    generic = radix_defines({*RADICES, LARGEST_PRIME}, bluestein=True)
    own = generic
    if not (isinstance(columns, Bluestein) or isinstance(rows, Bluestein)):
        own = radix_defines({*columns.radices, *rows.radices}, bluestein=False)
        if _first.setdefault(device, {}).setdefault(defines, own) != own:
            own = generic
    return files or (GENERIC_FILTER if own == generic else (FILTER,)), (*defines, *own)


def radix_defines(radices: set[int], *, bluestein: bool) -> Defines:
    """Return the defines that compile the butterflies of these radices, and no others."""
    loops = [radix for radix in radices if radix > LARGEST_WRITTEN_OUT]
    bits = sum(1 << radix for radix in radices if radix not in loops)
    return f"RADIX_BITS={bits}", f"LOOP_PRIME={max(loops, default=1)}", f"BLUESTEIN={int(bluestein)}"
