"""Memory that two processes share: one takes blocks of it and gives them back, the other looks at what is in them.

It is a file without a name, which only Linux has (memfd_create): none is left behind, whoever is killed.
"""

from __future__ import annotations

import bisect
import mmap
import os
from typing import NamedTuple

# What a device reads where it lies starts at a page.
_PAGE = mmap.PAGESIZE
# The memory grows by steps, as each is mapped anew; a block of as many bytes goes back to the system at once.
_STEP = 64 << 20


class Block(NamedTuple):
    """Where bytes lie in the memory."""

    start: int
    size: int


def is_possible() -> bool:
    """Tell whether this system has such memory, and no limit on files forbids it."""
    if not hasattr(os, "memfd_create"):
        return False
    descriptor = create()
    try:
        os.ftruncate(descriptor, _STEP)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def create() -> int:
    """Return a new, empty memory's file descriptor."""
    return os.memfd_create("fftfilter")


class View:
    """A memory as either side sees it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._map: mmap.mmap | None = None

    def upto(self, end: int) -> mmap.mmap:
        """Return all of the memory, of which so many bytes are there for certain."""
        if self._map is None or len(self._map) < end:
            # The old map goes with the last array that lies in it.
            self._map = mmap.mmap(self.descriptor, 0)
        return self._map


class Arena(View):
    """The side that takes blocks, the lowest that are free, so that memory is used again while the cache has it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self.used = 0
        self._end = 0
        self._free: list[Block] = []

    def take(self, size: int) -> Block:
        """Return a block of at least so many bytes, page-aligned; raises MemoryError."""
        size = -(-size // _PAGE) * _PAGE
        for i, (start, free) in enumerate(self._free):
            if free >= size:
                self._free[i : i + 1] = [Block(start + size, free - size)] if free > size else []
                break
        else:
            is_last_free = bool(self._free) and sum(self._free[-1]) == self._end
            start = self._free[-1].start if is_last_free else self._end
            self._grow(start + size)
            if is_last_free:
                self._free.pop()
        self.used += size
        return Block(start, size)

    def give_back(self, block: Block) -> None:
        """Take a block back."""
        self.used -= block.size
        start, size = block
        if size >= _STEP:
            self.upto(start + size).madvise(mmap.MADV_REMOVE, start, size)
        i = bisect.bisect(self._free, block)
        if i < len(self._free) and self._free[i].start == start + size:
            size += self._free.pop(i).size
        if i and sum(self._free[i - 1]) == start:
            i -= 1
            start, size = self._free[i].start, self._free.pop(i).size + size
        self._free.insert(i, Block(start, size))

    def _grow(self, end: int) -> None:
        try:
            if os.fstat(self.descriptor).st_size < end:
                os.ftruncate(self.descriptor, -(-end // _STEP) * _STEP)
            self.upto(end)
        except (OSError, ValueError, OverflowError) as error:
            raise MemoryError from error
        self._end = end
