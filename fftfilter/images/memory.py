"""What the machine's memory can hold."""

from __future__ import annotations

import os
from functools import cache

from ..errors import TooLargeError


def refuse_oversize(name: str, width: int, height: int, nbytes: int) -> None:
    """Raise TooLargeError for an image of more bytes than the machine's memory has."""
    memory = physical_memory()
    if memory and nbytes > memory:
        raise TooLargeError(
            f"{name}: {width} x {height} pixels need {nbytes:,} bytes, more than the {memory:,} "
            "of this machine's memory; use a smaller image"
        )


@cache
def physical_memory() -> int | None:
    """Return the bytes of memory that this machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
