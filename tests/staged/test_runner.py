"""Plans that run: buffers that change places, launches on the host, programs, work-groups and times."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import Runner, Workspace
from fftfilter.staged.steps import IMAGE, OFFSET, Launch, X, Y, load, magnitude, normalize, plan_rows

ROWS = np.array([[3 + 4j, -5], [12j, 0]], np.complex64)


class Counted(Launcher):
    """A launcher that keeps what it is asked for: the files of each kernel, the bytes of each buffer."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.programs, self.sizes = [], []

    def kernel(self, names, *given, **options):
        self.programs.append(names)
        return super().kernel(names, *given, **options)

    def allocate(self, size):
        self.sizes.append(size)
        return super().allocate(size)


@pytest.fixture
def new_device():
    """The device as if nothing had been built on it."""
    return Device(0, choose().cl_device)


def buffers(launcher):
    names = {name: launcher.allocate(ROWS.nbytes) for name in (X, Y)}
    names[OFFSET] = launcher.allocate(4)
    launcher.write(names[OFFSET], np.zeros(1, np.float32))
    launcher.write(names[X], ROWS)
    return names


def test_a_stage_out_of_place_leaves_its_result_in_x(launcher):
    names = buffers(launcher)
    before = dict(names)
    Runner(launcher).run([magnitude(2, 2, 1, 0.0)], names)
    assert (names[X], names[Y]) == (before[Y], before[X])
    got = np.empty((2, 2), np.float32)
    launcher.read(got, names[X])
    assert got.tolist() == [[5, 5], [12, 0]]


def test_a_stage_on_the_host_has_the_rows_and_its_arguments():
    launcher = Launcher(choose(), profile=True)
    names = {**buffers(launcher), "factor": np.uint32(3)}
    seen = []

    def triple(rows, factor, power):
        seen.append((rows.tolist(), factor, power))
        return rows * factor**power

    Runner(launcher).run([Launch("triple", "triple", (2, 2), {"factor": "factor", "power": 2}, host=triple)], names)
    assert seen == [(ROWS.tolist(), 3, 2)]
    launcher.read(got := np.empty_like(ROWS), names[X])
    assert got.tolist() == (9 * ROWS).tolist()
    assert [timing.step for timing in launcher.timings()] == ["write", "read", "triple"]


def test_kernels_go_in_as_few_programs_as_their_defines_allow(new_device):
    launcher = Counted(new_device)
    Runner(launcher).build(
        [magnitude(4, 1, 1, 0.0), load(4, 1, 1, "uchar"), load(4, 1, 1, "float"), magnitude(8, 1, 1, 0.0)]
    )
    assert launcher.programs == [
        ("staged/steps/magnitude.cl", "staged/steps/load.cl"),
        ("staged/steps/magnitude.cl", "staged/steps/load.cl"),
        ("staged/steps/load.cl",),
    ]


def test_a_kernel_that_was_built_for_another_plan_is_not_built_again(new_device):
    launcher = Counted(new_device)
    Runner(launcher).build([magnitude(4, 1, 1, 0.0), load(4, 1, 1, "uchar")])
    both = launcher.programs[0]
    Runner(launcher).build([load(8, 2, 1, "uchar"), load(8, 2, 1, "ushort")])
    assert launcher.programs[2:] == [both, ("staged/steps/load.cl",)]
    double = Counted(new_device, precision="double")
    Runner(double).build([load(4, 1, 1, "uchar")])
    assert double.programs == [("staged/steps/load.cl",)]


def test_two_runners_do_not_share_a_kernels_arguments(launcher):
    first, second = buffers(launcher), buffers(launcher)
    launcher.write(second[X], 2 * ROWS)
    runners = Runner(launcher), Runner(launcher)
    for runner, names in zip(runners, (first, second), strict=True):
        runner.run([magnitude(2, 2, 1, 0.0)], names)
    for names, wanted in ((first, [[5, 5], [12, 0]]), (second, [[10, 10], [24, 0]])):
        launcher.read(got := np.empty((2, 2), np.float32), names[X])
        assert got.tolist() == wanted


def test_arguments_that_change_between_launches_are_set_again(launcher):
    stages = [normalize(2, 2), normalize(2, 1), normalize(4, 1), normalize(2, 2)]
    names = buffers(launcher)
    runner = Runner(launcher)
    for stage in stages:
        runner.run([stage], names)
    names[X], names[Y] = names[Y], names[X]
    launcher.write(names[X], ROWS)
    runner.run([normalize(2, 2)], names)
    for name, wanted in ((Y, (ROWS / [[32], [16]]).tolist()), (X, (ROWS / 2).tolist())):
        launcher.read(got := np.empty_like(ROWS), names[name])
        assert got.tolist() == wanted


def test_a_work_group_beyond_the_device_is_refused(launcher):
    limit = launcher.device.work_group_limit
    stage = magnitude(4 * limit, 1, 1, 0.0)._replace(group=(2 * limit, 1, 1))
    with pytest.raises(ParameterError, match=f"work-group size {2 * limit} is not possible on "):
        Runner(launcher).run([stage], buffers(launcher))


# Workspaces


def test_a_workspace_fills_the_spin_factors_of_each_length_once(launcher):
    book = algorithms.load("book")
    plans = [plan_rows(n, book) for n in (8, 4, 8)]
    space = Workspace(launcher, plans, 8, "test", tables={"more": np.arange(5, dtype=np.float32)})
    s = np.sqrt(0.5)
    np.testing.assert_allclose(
        space.read("spin 8", np.empty(4, np.complex64)), [1, s - 1j * s, -1j, -s - 1j * s], atol=1e-7
    )
    np.testing.assert_allclose(space.read("spin 4", np.empty(2, np.complex64)), [1, -1j], atol=1e-7)
    assert space.read("more", np.empty(5, np.float32)).tolist() == [0, 1, 2, 3, 4]
    assert IMAGE not in space.names


def test_the_data_takes_two_buffers_and_the_image_and_each_table_one():
    launcher = Counted(choose())
    tables = {"reach": np.zeros(257, np.uint32), "floor": np.zeros(1, np.float32)}
    plan = plan_rows(512, algorithms.load("book"))
    Workspace(launcher, (plan, plan), 512 * 512, "test", image_bytes=512 * 512, tables=tables)
    spin_factors = 256 * 8
    assert launcher.sizes == [512 * 512 * 8, 512 * 512 * 8, 512 * 512, spin_factors, 257 * 4, 4]


def test_more_than_the_device_holds_is_refused_before_anything_is_allocated():
    launcher = Counted(choose())
    with pytest.raises(TooLargeError, match=r"^a transform of everything needs [\d,]+ bytes in one buffer"):
        Workspace(launcher, (), 1 << 50, "a transform of everything")
    assert launcher.sizes == []
