"""Memory that is kept and used again."""

from __future__ import annotations

import numpy as np

from fftfilter.device.launcher import MemoryPool, PageLocked, aligned


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


def test_what_is_kept_and_in_use_may_be_just_what_is_allowed():
    pool = Counted(most_bytes=100)
    first, second, third = (pool.take(50) for _ in range(3))
    for memory in (first, second, third):
        pool.give_back(memory)
    assert [pool.take(50) is each for each in (second, first, third)] == [True, True, False]
    assert pool.as_array(first, (5, 10), "u1").shape == (5, 10)
    kept = [pool.as_array(memory, (25,), "u2") for memory in (first, second)]
    assert all(map(pool.holds, kept))
    assert pool.as_array(third, (50,), "u1") is None
    assert not pool.holds(pool.empty((1,), "u1"))


def test_memory_in_use_is_limited_and_free_again_when_its_array_is_gone():
    pool = Counted(most_bytes=100)
    for _ in range(3):
        array = pool.empty((6, 5), np.uint16)
        assert pool.holds(array)
        assert not pool.holds(pool.empty((41,), np.uint8))
        del array
    assert pool.made == 1
    memory = pool.take(60)  # which the last array gives back
    assert pool.made == 1
    pool.give_back(memory)
    assert pool.holds(pool.empty((100,), np.uint8))


def test_what_lies_there_in_pieces_is_not_held():
    array = MemoryPool().empty((4, 6), np.uint8)
    assert MemoryPool.holds(array[1:])
    assert not MemoryPool.holds(array.T)
    assert not MemoryPool.holds(array[:, ::2])
    assert not MemoryPool.holds(array.copy())


def test_ordinary_memory_is_no_page_locked_memory():
    array = MemoryPool().empty((4, 6), np.uint8)
    assert not PageLocked.holds(array)


def test_arrays_begin_where_vectors_can():
    arrays = [aligned((3, 5), np.dtype("f4")) for _ in range(20)]
    assert {array.ctypes.data % 128 for array in arrays} == {0}
    assert {(array.shape, array.dtype.str) for array in arrays} == {((3, 5), "<f4")}
