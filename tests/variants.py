"""Sets of an algorithm's options that take different paths through the code."""

from __future__ import annotations

VARIANTS = {
    "binary-exchange": [{"p": p} for p in (1, 3, 8, 1 << 30)],
    "pease": [{"layout": "line"}, {"layout": "square"}],
    "stockham": [{"radix": radix, "arithmetic": how} for radix in (2, 4, 8, 16) for how in ("plain", "mad")],
    "workgroup": [{"r": r} for r in (1, 2, 8, 128)],
    "workgroup-coalesced": [{"r": r} for r in (1, 2, 8, 128)],
}


def variants(name):
    """Return the sets of options of an algorithm, the defaults first."""
    return [{}, *VARIANTS.get(name, ())]
