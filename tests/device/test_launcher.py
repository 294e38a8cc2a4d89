"""Queues on a device: what they refuse, what they copy, and the times that they keep."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest

from fftfilter.device.launcher import Kernel, Launcher
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.errors import DeviceError, ParameterError, TooLargeError


def test_double_precision_needs_fp64():
    class Single(Device):
        fp64 = False

    with pytest.raises(ParameterError, match=r"has no double precision \(fp64\): choose single or another device"):
        Launcher(Single(0, choose().cl_device), precision="double")
    assert Launcher(Single(0, choose().cl_device)).real_name == "float"


def test_an_unknown_precision_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match="precision 'half' is invalid: choose single, double"):
        Launcher(choose(), precision="half")


@pytest.mark.parametrize("size", [0, -1, 1 << 20, 2.5, 10**400])
def test_a_work_group_larger_than_the_device_allows_is_refused_with_its_limits(size):
    with pytest.raises(ParameterError, match=r"give 1 to \d+ \(work-group size \d+, work-item sizes \d+ \d+ \d+\)"):
        Launcher(choose(), work_group_size=size)


@pytest.mark.parametrize(
    ("size", "reduction", "side"),
    [(1, 1, 1), (3, 2, 1), (32, 32, 4), (64, 64, 8), (100, 64, 8), (1024, 256, 16), (np.int64(64), 64, 8)],
)
def test_reductions_and_tiles_are_powers_of_two_within_a_work_group(size, reduction, side):
    launcher = Launcher(choose(), work_group_size=size)
    assert (launcher.reduction_size, launcher.tile_side) == (reduction, side)
    assert side * side <= size


def test_work_groups_are_64_where_the_device_allows_it():
    class Small(Device):
        work_group_limit = 32

    assert Launcher(choose()).work_group_size == 64
    assert Launcher(Small(0, choose().cl_device)).work_group_size == 32


def test_a_precision_has_its_types():
    single, double = Launcher(choose()), Launcher(choose(), precision="double")
    assert (single.real_name, single.real, single.complex) == ("float", np.float32, np.complex64)
    assert (double.real_name, double.real, double.complex) == ("double", np.float64, np.complex128)


def test_a_constant_buffer_is_a_copy(launcher):
    array = np.arange(12, dtype=np.float32).reshape(3, 4).T  # not contiguous
    buffer = launcher.wrap(array, constant=True)
    wanted = np.ascontiguousarray(array)
    array[...] = 0
    got = np.empty((4, 3), np.float32)
    launcher.read(got, buffer)
    np.testing.assert_array_equal(got, wanted)


def test_page_locked_memory_is_written_and_copied_from(launcher):
    memory, buffer = launcher.page_locked(10), launcher.allocate(10)
    assert (memory.shape, memory.dtype) == ((10,), np.uint8)
    memory[...] = np.arange(10)
    launcher.wait(launcher.write(buffer, memory, wait=False))
    got = np.empty(10, np.uint8)
    launcher.wait(launcher.read(got, buffer, wait=False))
    assert got.tolist() == list(range(10))


def test_page_locked_memory_is_mapped_to_be_read_and_written(launcher, monkeypatch):
    asked, mapped = [], object()
    monkeypatch.setattr(cl, "enqueue_map_buffer", lambda *given: asked.append(given[2:]) or (mapped, None))
    assert launcher.page_locked(10) is mapped
    assert asked == [(cl.map_flags.READ | cl.map_flags.WRITE, 0, (10,), np.uint8)]


def test_what_comes_after_an_event_of_another_queue_waits_for_it(launcher):
    """A kernel that halves two numbers, and a copy to the host."""
    gates = [cl.UserEvent(launcher.device.context) for _ in range(2)]
    numbers, buffer = np.empty(2, np.complex64), launcher.allocate(16)
    launcher.write(buffer, np.array([2, 4], np.complex64))
    kernels, copies = Launcher(launcher.device), Launcher(launcher.device)
    given = {"x": buffer, "n": 2}
    halved = kernels.kernel(("staged/steps/normalize.cl",), (), "normalize_rows", given)
    kernels.enqueue("normalize", halved, (2, 1), (1, 1), after=gates[0])
    kernels.queue.flush()
    copied = copies.read(numbers, buffer, after=gates[1], wait=False)
    launcher.write(buffer, np.array([20, 40], np.complex64))
    for gate, queue in zip(gates, (kernels, copies), strict=True):
        gate.set_status(cl.command_execution_status.COMPLETE)
        queue.queue.finish()
    copies.wait(copied)
    assert numbers.tolist() == [10, 20]


def test_what_is_written_is_read_and_copied(launcher):
    given = np.arange(10, dtype=np.float32)
    first, second = launcher.allocate(given.nbytes), launcher.allocate(given.nbytes)
    launcher.write(first, given)
    launcher.wait(launcher.copy(second, first))
    got = np.empty(6, np.float32)
    launcher.read(got, second)
    assert got.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_buffer_on_an_array_is_that_array(launcher):
    array = np.zeros(8, np.float32)
    buffer = launcher.wrap(array)
    launcher.write(buffer, np.full(8, 3, np.float32))
    launcher.finish(buffer, array)
    assert (array == 3).all()


def test_errors_of_opencl_name_the_device_and_a_way_out(launcher):
    with pytest.raises(DeviceError, match=r"failed \(.*INVALID_.*\): see 'fftfilter devices', or .* --device"):
        launcher.read(np.empty(100, np.uint8), launcher.allocate(10))


def test_who_waits_for_a_command_gets_its_error(launcher):
    def fail():
        raise cl.RuntimeError("clWaitForEvents failed: EXEC_STATUS_ERROR")

    with pytest.raises(DeviceError, match="EXEC_STATUS_ERROR"):
        launcher.wait(SimpleNamespace(wait=fail))


def test_memory_is_checked_before_it_is_asked_for(launcher):
    most = launcher.device.cl_device.max_mem_alloc_size
    launcher.device.check_memory("it", [most])
    with pytest.raises(
        TooLargeError, match=rf"^a picture needs {most + 1:,} bytes in one buffer and .* has {most:,}: "
    ):
        launcher.device.check_memory("a picture", [1, most + 1])
    with pytest.raises(TooLargeError, match=r"needs [\d,]+ bytes in all"):
        launcher.device.check_memory("a picture", [most] * 1000)


def test_times_are_kept_by_step_in_the_order_of_first_use_until_they_are_asked_for():
    launcher = Launcher(choose(), profile=True)
    array = np.zeros(1 << 16, np.uint8)
    buffer = launcher.allocate(array.nbytes)
    launcher.write(buffer, array)
    launcher.read(array, buffer)
    launcher.write(buffer, array)
    launcher.keep_host_time("sum", 1_000, 4_000)
    timings = launcher.timings()
    assert [(timing.step, timing.launches) for timing in timings] == [("write", 2), ("read", 1), ("sum", 1)]
    assert timings[2].seconds == pytest.approx(3e-6)
    assert all(timing.seconds > 0 for timing in timings)
    assert launcher.timings() == []


def test_without_profile_no_times_are_kept(launcher):
    launcher.write(launcher.allocate(8), np.zeros(8, np.uint8))
    assert launcher.timings() == []
    assert launcher.queue.properties == 0  # in order, and without times
    profiled = Launcher(launcher.device, profile=True)
    assert profiled.queue.properties == cl.command_queue_properties.PROFILING_ENABLE


def test_times_are_those_of_copies_that_were_still_on_their_way(launcher):
    profiled, array = Launcher(launcher.device, profile=True), np.zeros(1 << 23, np.uint8)
    profiled.write(profiled.allocate(array.nbytes), array, wait=False)
    assert [timing.launches for timing in profiled.timings()] == [1]


def test_copies_are_over_when_they_return_unless_the_caller_waits_himself(launcher, monkeypatch):
    waited = []
    monkeypatch.setattr(cl, "enqueue_copy", lambda *_, **how: waited.append(how.get("is_blocking")))
    for copy in (launcher.write, launcher.read):
        copy(None, None)
        copy(None, None, wait=False)
    assert waited == [True, False] * 2


def test_a_device_without_memory_is_told_with_ways_out(launcher, monkeypatch):
    def full(*_):
        raise cl.MemoryError("clCreateBuffer failed: MEM_OBJECT_ALLOCATION_FAILURE")

    monkeypatch.setattr(cl, "Buffer", full)
    with pytest.raises(
        TooLargeError, match=r"ran out of memory \(.*FAILURE\): take a smaller image, or another device"
    ):
        launcher.allocate(8)


def test_memory_that_is_not_free_is_not_asked_for(launcher, monkeypatch):
    """A CPU says that it has all of the machine's."""
    monkeypatch.setattr("fftfilter.device.opencl.lacking", lambda need: 7 if need > 7 else None)
    launcher.device.check_memory("it", [3, 4])
    with pytest.raises(
        TooLargeError, match=r"^it needs 8 bytes, more than the 7 of memory that are free: take a smaller"
    ):
        launcher.device.check_memory("it", [4, 4])


def test_other_platforms_than_pocl_are_asked_for_what_they_wrote():
    class Other(Device):
        platform = "NVIDIA CUDA"

    launcher, array = Launcher(Other(0, choose().cl_device)), np.zeros(8, np.float32)
    buffer = launcher.wrap(array)
    launcher.write(buffer, np.full(8, 3, np.float32))
    launcher.finish(buffer, array)
    assert (array == 3).all()


class Mapped(np.ndarray):
    """Memory of a device as the host sees it, until it is released."""

    @property
    def base(self):
        return SimpleNamespace(release=self.released.append)


def test_where_the_host_sees_a_buffer_elsewhere_it_is_copied_and_released(monkeypatch):
    class Other(Device):
        platform = "NVIDIA CUDA"

    launcher, array, asked = Launcher(Other(0, choose().cl_device)), np.zeros(8, np.float32), []
    mapped = np.arange(8, dtype=np.float32).view(Mapped)
    mapped.released = []

    def enqueue_map_buffer(*given, **how):
        asked.append((given, how))
        return mapped, None

    monkeypatch.setattr(cl, "enqueue_map_buffer", enqueue_map_buffer)
    launcher.finish("a buffer", array)
    assert array.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert mapped.released == [launcher.queue]
    given = launcher.queue, "a buffer", cl.map_flags.READ, 0, (8,), np.dtype("f4")
    assert asked == [(given, {"is_blocking": True})]


def test_numbers_have_the_types_that_kernels_declare():
    given = []
    made = SimpleNamespace(set_arg=lambda place, value: given.append((place, type(value), value)))
    kernel = Kernel(made, np.dtype("f8"), {"x": None, "n": 7, "scale": 0.1, "is_odd": True})
    assert given == [(1, np.uint32, 7), (2, np.float64, 0.1), (3, np.uint32, 1)]
    given.clear()
    kernel.set_buffers({"x": "a buffer", "y": "another one"})
    assert given == [(0, str, "a buffer")]


def test_a_kernel_that_nothing_uses_any_more_is_used_again(launcher):
    def make():
        return launcher.kernel(("staged/steps/normalize.cl",), (), "normalize_rows", {"x": None, "n": 2})

    first, second = make(), make()
    dropped = first.cl_kernel
    assert second.cl_kernel is not dropped
    del first
    assert make().cl_kernel is dropped


def test_arguments_are_set_by_name_and_whole_numbers_are_uint(launcher):
    numbers = np.array([4, 8j], np.complex64)
    buffer = launcher.allocate(numbers.nbytes)
    launcher.write(buffer, numbers)
    halved = launcher.kernel(("staged/steps/normalize.cl",), (), "normalize_rows", {"x": None, "n": 2})
    halved.bind(x=buffer)
    launcher.enqueue("normalize", halved, (2, 1), (1, 1))
    launcher.read(numbers, buffer)
    assert numbers.tolist() == [2, 4j]
    with pytest.raises(KeyError, match="y"):
        halved.set("y", buffer)
