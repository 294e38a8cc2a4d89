"""Memory that is kept and used again."""

from __future__ import annotations

import numpy as np

from fftfilter.device.memory_pool import MemoryPool


class Counted(MemoryPool):
    """A pool that counts how often memory is asked of the system."""

    made = 0

    def _make(self, size):
        self.made += 1
        return super()._make(size)


def test_no_more_is_kept_than_allowed():
    pool = Counted(most_bytes=100)
    taken = [pool.take(60) for _ in range(2)]
    for memory in taken:
        pool.give_back(memory)
    assert pool.made == 2
    assert [pool.take(60) is taken[0], pool.take(60) is taken[1]] == [True, False]
    assert pool.made == 3


def test_memory_in_use_is_limited_and_free_again_when_its_array_is_gone():
    pool = Counted(most_bytes=100)
    for _ in range(3):
        array = pool.empty((4, 5), np.uint16)
        assert pool.holds(array)
        assert not pool.holds(pool.empty((8, 8), np.uint8))
        del array
    assert pool.made == 1


def test_what_lies_there_in_pieces_is_not_held():
    array = MemoryPool().empty((4, 6), np.uint8)
    assert MemoryPool.holds(array[1:])
    assert not MemoryPool.holds(array.T)
    assert not MemoryPool.holds(array[:, ::2])
    assert not MemoryPool.holds(array.copy())
