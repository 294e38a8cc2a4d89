"""What a peer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Array = np.ndarray[Any, Any]

OURS = "fftfilter"
"""This program's name among its peers."""


def _nothing() -> None:
    """Wait for nothing: a call on the CPU returns when it is done."""


@dataclass
class Peer:
    """A library that is ready to filter images of one size: plans, masks and buffers are made.

    ``call`` filters once; ``finish`` waits until all calls are done. ``result`` returns the picture, and is None for
    what only copies or transforms.
    """

    name: str
    call: Callable[[], object]
    finish: Callable[[], object] = _nothing
    result: Callable[[], Array] | None = None
