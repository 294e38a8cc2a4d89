"""Launches of the fused form for GPUs as plain data: registers, the compiler's options, groups that run together."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.fused import Shape
from fftfilter.fused.gpu import launches
from fftfilter.fused.gpu.launches import Launches, compiler_options, registers_of
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.plain_fft import GpuTransform
from fftfilter.fused.gpu.plan import plan
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.output.ramp import Stack
from fftfilter.output.rounding import WEAK
from tests.fused.helpers import stack_of

TINY = Limits(local_bytes=4 * 24 + RESERVED_BYTES)


@pytest.mark.parametrize(
    ("source", "per_item", "registers"),
    [
        ("fused/gpu/rows.cl", 16, 64),
        ("fused/gpu/rows.cl", 17, 128),
        ("fused/gpu/columns.cl", 32, 128),
        ("fused/gpu/long/rows_middle.cl", 16, 80),
        ("fused/gpu/long/columns_middle.cl", 8, 80),
        ("fused/gpu/long/columns_middle.cl", 32, 128),
    ],
)
def test_work_items_with_more_numbers_have_more_registers(source, per_item, registers):
    assert registers_of(source, SimpleNamespace(per_item=per_item)) == registers


def test_nvidias_compiler_is_told_the_registers_and_to_divide_exactly():
    nvidia, other = (SimpleNamespace(device=SimpleNamespace(platform=name)) for name in ("NVIDIA CUDA", "Another one"))
    exactly = "-cl-fp32-correctly-rounded-divide-sqrt"
    assert compiler_options(nvidia, 80) == ("-cl-nv-maxrregcount=80", exactly)
    assert compiler_options(nvidia) == ("-cl-nv-maxrregcount=64", exactly)
    assert compiler_options(other, 80) == ()


class Compiled:
    """A kernel that is never launched."""

    def set(self, *_):
        pass

    def bind(self, **_):
        pass


class Noted(Launcher):
    """Notes the compiler's options of each kernel instead of compiling it, for a device of NVIDIA's."""

    def __init__(self, launcher, **how):
        class Nvidia(Device):
            platform = "NVIDIA CUDA"

        super().__init__(Nvidia(0, launcher.device.cl_device), **how)
        self.options = {}

    def kernel(self, *given, options=()):
        _, _, name, _ = given
        self.options[name] = options
        return Compiled()


def test_every_kernel_is_compiled_with_these_options(launcher):
    noted, exactly = Noted(launcher), "-cl-fp32-correctly-rounded-divide-sqrt"
    for size in ((1, 8, 8), (1, 12, 10), (1, 30, 45)):
        stack = stack_of(np.empty(size, np.uint8))
        for one_launch in (False, True):
            FusedGpuPipeline(noted, H.highpass(), stack, limits=TINY, one_launch=one_launch)
        for data in ("complex", "real"):
            GpuTransform(noted, Shape(data, "both", *size), limits=TINY)
    FusedGpuPipeline(noted, H.highpass(), stack, generic=True)
    middle = {"gpu_long_rows_middle", "gpu_long_columns_middle"}
    wanted = {name: 80 if name in middle else 128 if name == "gpu_filter" else 64 for name in noted.options}
    assert noted.options == {name: (f"-cl-nv-maxrregcount={n}", exactly) for name, n in wanted.items()}
    assert {"gpu_rows", "gpu_filter", "gpu_quantize", "gpu_plain_fft_lines", "gpu_generic_step"} <= set(wanted)


@pytest.mark.parametrize(("data", "scratch"), [("complex", 30 * 45), ("real", 30 * 45)])
def test_a_transform_in_two_steps_has_a_place_between_them(launcher, data, scratch):
    made = GpuTransform(Noted(launcher), Shape(data, "both", 2, 30, 45), limits=TINY)
    assert made.source_bytes == 2 * 30 * 45 * (8 if data == "complex" else 4)
    assert made.target_bytes == 2 * 30 * 45 * 8
    assert made.device_bytes == made.source_bytes + made.target_bytes + 2 * 8 * scratch


def test_small_square_images_go_in_one_launch_where_groups_are_known_to_see_what_others_wrote(launcher):
    stack = stack_of(np.empty((1, 64, 64), np.uint8))
    nvidia, profiled, other = Noted(launcher), Noted(launcher, profile=True), Noted(launcher)
    other.device.platform = "Another one"
    for each, count in ((nvidia, 1), (profiled, 4), (other, 4)):
        assert len(FusedGpuPipeline(each, H.highpass(), stack)._launches) == count
        assert ("gpu_filter" in each.options) == (count == 1)
    assert len(FusedGpuPipeline(nvidia, H.highpass(), stack, one_launch=False)._launches) == 4
    assert len(FusedGpuPipeline(nvidia, H.highpass(), stack, generic=True)._launches) == 4


def test_chirp_z_of_either_side_rounds_more(launcher):
    weak = [
        FusedGpuPipeline(Noted(launcher), H.highpass(), stack_of(np.empty((1, *size), np.uint8))).weak
        for size in ((12, 10), (17, 10), (12, 17))
    ]
    assert weak == [WEAK, 3 * WEAK, 3 * WEAK]


def test_groups_with_rooms_in_global_memory_are_as_many_as_keep_the_device_busy(launcher):
    """Two a compute unit, whatever a stack has."""
    limits = Limits(local_bytes=4 * 100 + RESERVED_BYTES, group_wanted=8, group=32)
    stack = stack_of(np.empty((300, 17, 3), np.uint8))
    pipeline = FusedGpuPipeline(Noted(launcher), H.highpass(), stack, generic=True, limits=limits)
    units = launcher.device.cl_device.max_compute_units
    columns = next(launch for launch in pipeline._launches if launch.step == "columns")
    assert columns.items == (2 * units * 16,)
    assert columns.group == (16,)


@pytest.mark.parametrize(("dtype", "widest"), [("u1", 255.0), ("u2", 65535.0), ("f4", 2.0)])
def test_the_largest_deviation_of_pixels_is_that_of_their_type(dtype, widest):
    assert launches.widest(Stack(1, 5, 7, np.dtype(dtype), np.dtype("u1"), 255)) == widest


@pytest.mark.parametrize(
    ("transfer", "width", "kept"),
    [
        (H.highpass("200%"), 66, 34),  # all of half a spectrum
        (H.highpass("200%"), 67, 34),
        (H.highpass(3), 64, 4),  # two tiles of two
    ],
)
def test_as_many_columns_are_transformed_as_the_support_and_half_a_spectrum_have(launcher, transfer, width, kept):
    stack = stack_of(np.empty((1, 48, width), np.uint8))
    pipeline = FusedGpuPipeline(Noted(launcher), transfer, stack, limits=Limits(group_wanted=8), one_launch=False)
    columns = next(launch for launch in pipeline._launches if launch.step == "columns")
    assert columns.items[0] == pipeline.plan.columns.work_items(kept)
    assert pipeline.plan.columns.work_items(kept) != pipeline.plan.columns.work_items(kept + 1)


def together(size, *, count=1, kept=1, units=100):
    """Return how many groups of a kernel wait for each other on a device of so many compute units."""
    of_device = SimpleNamespace(cl_device=SimpleNamespace(max_compute_units=units))
    made = SimpleNamespace(plan=plan(*size), stack=SimpleNamespace(count=count), _kept_columns=kept)
    made.launcher = SimpleNamespace(device=of_device)
    return Launches.groups_together.fget(made)


def test_groups_that_wait_for_each_other_have_all_rows_or_columns():
    """Of a side of 64 eight transforms are in a group: 32 pairs of rows, or so many columns as are kept."""
    assert together((64, 64)) == 4
    assert together((64, 64), kept=33) == 5
    assert together((64, 64), kept=33, count=3) == 15
    # Where rows and columns differ, one launch cannot do both.
    assert together((64, 512)) == 0
    assert together((16, 20_000)) == 0


def test_groups_wait_for_each_other_only_if_all_run_at_a_time():
    """Groups of 64 work-items of 128 registers each: 8 on a unit of 65,536."""
    assert together((64, 64), count=2, units=1) == 8
    assert together((64, 64), count=3, units=1) == 0
