"""Host memory: arrays aligned for vectors, and pools that keep large or page-locked memory to use it again."""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array
from .launcher import Launcher

# A pool takes memory from all other programs: it keeps at most this free, and has as much in use.
MOST_BYTES = 1 << 28
# Glibc gives memory of this size back to the system when it is freed, and every page of new one is cleared at its first
# use.
LARGE = 32 << 20
# Vector loads need it: a buffer over host memory has only the host's alignment.
ALIGNMENT = 128


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that begins at an address that vectors can have.

    NumPy requests huge pages for large arrays; OpenCL has no way to. Rows of strips touch a page for every strip, and a
    large image has more small pages than the CPU's table of them holds.
    """
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


class _Owner:
    """Owns memory of a pool as long as arrays use it.

    NumPy asks an object with this attribute for its memory, and keeps the object as long as any view of it.
    """

    def __init__(self, memory: Array, pool: type[MemoryPool]) -> None:
        self.__array_interface__, self.pool = memory.__array_interface__, pool


class MemoryPool:
    """A pool of ordinary memory. At most ``most_bytes`` are in use, and at most as many are kept free.

    Threads may share it. An array may be garbage-collected at any moment, even while the pool's lock is held. Its
    memory is then put in a queue, and the pool takes it back when it is next asked for some.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.RLock()
        self._free: dict[int, list[Array]] = {}
        self._in_use = 0
        self._returned: deque[Array] = deque()

    def _make(self, size: int) -> Array:
        return np.empty(size, np.uint8)

    def take(self, size: int) -> Array:
        """Return an array of ``size`` bytes."""
        with self._lock:
            self._take_back()
            free = self._free.get(size)
            if free:
                return free.pop()
            return self._make(size)

    def give_back(self, memory: Array) -> None:
        """Keep memory that is no longer used for the next :meth:`take`, unless enough is kept."""
        with self._lock:
            if sum(size * len(free) for size, free in self._free.items()) + memory.nbytes <= self._most_bytes:
                self._free.setdefault(memory.nbytes, []).append(memory)

    def as_array(self, memory: Array, shape: tuple[int, ...], dtype: DTypeLike) -> Array | None:
        """Return memory as an array that gives it back when it is gone; None if too much is in use."""
        with self._lock:
            self._take_back()
            if self._in_use + memory.nbytes > self._most_bytes:
                return None
            self._in_use += memory.nbytes
        owner = _Owner(memory, type(self))
        weakref.finalize(owner, self._returned.append, memory).atexit = False
        return np.asarray(owner).view(dtype).reshape(shape)

    def _take_back(self) -> None:
        """Take back the memory of arrays that are gone."""
        while self._returned:
            memory = self._returned.popleft()
            self._in_use -= memory.nbytes
            self.give_back(memory)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an array in memory of the pool, or in other memory if too much is in use."""
        size, array = math.prod(shape) * np.dtype(dtype).itemsize, None
        with self._lock:
            self._take_back()
            if self._in_use + size <= self._most_bytes:
                array = self.as_array(self.take(size), shape, dtype)
        return np.empty(shape, dtype) if array is None else array

    @classmethod
    def holds(cls, array: Array) -> bool:
        """Tell whether an array lies in memory of such a pool, in one piece."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, _Owner) and issubclass(base.pool, cls) and array.flags.c_contiguous


class PageLocked(MemoryPool):
    """A pool of page-locked memory, which a device copies from and to by itself."""

    def __init__(self, launcher: Launcher, *, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(most_bytes=most_bytes)
        self._launcher = launcher

    def _make(self, size: int) -> Array:
        return self._launcher.page_locked(size)
