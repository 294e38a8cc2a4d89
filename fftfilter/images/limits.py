"""What this machine's memory can hold."""

from __future__ import annotations

from ..errors import TooLargeError
from ..files.sources import physical_memory


def refuse_oversize(name: str, width: int, height: int, nbytes: int) -> None:
    """Raise TooLargeError for an image of more bytes than the machine's memory has."""
    memory = physical_memory()
    if memory and nbytes > memory:
        raise TooLargeError(
            f"{name}: {width} x {height} pixels need {nbytes:,} bytes, more than the {memory:,} "
            "of this machine's memory; use a smaller image"
        )
