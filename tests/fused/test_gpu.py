"""The fused pipeline for GPUs, on whatever device there is: every code path against the float64 reference."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fftfilter import fused
from fftfilter.fused.gpu import (
    pipeline as fused_gpu,
    long as fused_gpu_long,
    plan as fused_gpu_plan,
    transform as fused_gpu_transform,
)
from fftfilter.transfer import reference
from fftfilter.device.choice import choose
from fftfilter.errors import ParameterError
from fftfilter.device.launcher import Launcher
from fftfilter.transfer.functions import Mask, Transfer, transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HIGH = transfer("highpass")


@pytest.fixture(scope="module")
def launcher() -> Launcher:
    return Launcher(choose())


def forget_plans() -> None:
    for cached in (fused_gpu_plan.plan, fused_gpu_transform.cost, fused_gpu_long.splits):
        cached.cache_clear()


@pytest.fixture
def local_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Sets the room for exchanges, in floats: little makes small transforms take the ways of large ones."""

    def set_room(floats: int) -> None:
        monkeypatch.setattr(fused_gpu_transform, "LOCAL_BYTES", 4 * floats + fused_gpu_transform.RESERVED_BYTES)
        forget_plans()

    yield set_room
    monkeypatch.undo()
    forget_plans()


def picture(shape: tuple[int, ...], dtype: str = "uint8") -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(61)
    if dtype == "float32":
        return rng.uniform(-1, 1, shape).astype(np.float32)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def levels_of(dtype: Any) -> int:
    return 1 if np.dtype(dtype).kind == "f" else int(np.iinfo(dtype).max)


def filtered(
    launcher: Launcher, stack: np.ndarray[Any, Any], by: Any, out: str | None = None, *, one_scale: bool = False
) -> np.ndarray[Any, Any]:
    to = np.dtype(out or stack.dtype)
    pipeline = fused_gpu.FusedGpuPipeline(
        launcher, stack.shape, stack.dtype, by, out=to, levels=levels_of(to), one_scale=one_scale
    )
    result = pipeline.run(stack)
    # No difference between runs, the first of which may have left something behind.
    np.testing.assert_array_equal(pipeline.run(stack), result)
    return result


def assert_close(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
    """Hold an image to the contract: one level of 255, in one pixel of 500; small images get one pixel."""
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    level = levels_of(got.dtype) / 255
    off = np.abs(got.astype(np.float64) - wanted)
    worst = np.unravel_index(np.argmax(off), off.shape)
    assert off.max() <= level, f"at {worst}: got {got[worst]}, wanted {wanted[worst]}"
    assert np.count_nonzero(off > level / 2) <= max(1, off.size // 500)


@pytest.mark.parametrize(
    ("height", "width"),
    [
        (1, 1),  # nothing to transform
        (2, 3),  # one stage each, the smallest pair
        (5, 9),  # odd height: the last row has no partner; odd width: no column in the middle
        (64, 48),  # two stages; columns paired in registers
        (26, 7),  # radices 13 and 7
        (15, 11),  # an odd first radix: rows of a pair meet in local memory; radix 11
        (1, 250),  # three stages of rows, more columns than a tile
        (1, 17),  # chirp-z rows
        (34, 2),  # chirp-z columns of even height
    ],
)
def test_any_size_gives_the_reference(launcher: Launcher, height: int, width: int) -> None:
    stack = picture((1, height, width))
    wanted = reference.filter_image(stack[0], HIGH.gain(height, width))
    assert_close(filtered(launcher, stack, HIGH)[0], wanted)


def test_a_picture_that_is_equally_large_everywhere_is_white_everywhere(launcher: Launcher) -> None:
    # Rounding makes one pixel the largest; the others must not be a level below it.
    flat = np.full((1, 37, 53), 200, np.uint8)
    assert (filtered(launcher, flat, transfer("lowpass")) == 255).all()


@pytest.mark.parametrize(
    ("height", "width"),
    [
        (64, 64),
        (31, 6),  # pairs that meet in local memory take turns, too
    ],
)
def test_transforms_take_turns_in_local_memory(
    launcher: Launcher,
    local_memory: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    height: int,
    width: int,
) -> None:
    monkeypatch.setattr(fused_gpu_transform, "GROUP_WANTED", 16)
    local_memory(160)
    plan = fused_gpu_plan.plan(height, width)
    assert isinstance(plan.columns, fused_gpu_transform.TransformPlan)
    assert plan.columns.turns == plan.columns.parts == 2
    stack = picture((1, height, width))
    assert_close(filtered(launcher, stack, HIGH)[0], reference.filter_image(stack[0], HIGH.gain(height, width)))


@pytest.mark.parametrize(("height", "width"), [(64, 1), (31, 64)])
def test_halves_of_a_transform_take_turns(
    launcher: Launcher,
    local_memory: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    height: int,
    width: int,
) -> None:
    # chirp-z in halves, whose shortest length else is 12288
    monkeypatch.setattr(fused_gpu_transform, "_convolution_lengths", lambda _: [64])
    local_memory(50)
    plan = fused_gpu_plan.plan(height, width)
    assert isinstance(plan.columns, fused_gpu_transform.TransformPlan)
    assert plan.columns.length == 64
    assert plan.columns.halves == 2
    assert isinstance(plan.rows, fused_gpu_transform.TransformPlan)
    assert plan.rows.halves == (2 if width > 1 else 1)
    stack = picture((1, height, width))
    assert_close(filtered(launcher, stack, HIGH)[0], reference.filter_image(stack[0], HIGH.gain(height, width)))


# Two steps: where local memory holds 24 floats, sides from 25 up, and from 13 up those that are chirp-z.
@pytest.mark.parametrize(
    ("height", "width", "launches"),
    [
        (64, 5, {"columns": 3}),  # pairs of rows in one transform of the outer step: in the spectrum's place
        (63, 6, {"columns": 4}),  # an odd height: through a buffer, then packed
        (31, 6, {"columns": 6}),  # chirp-z: there, around, back, packed
        (34, 4, {"columns": 6}),  # of even height
        (5, 64, {"rows": 2, "inverse rows": 2}),
        (6, 31, {"rows": 3, "inverse rows": 3}),  # chirp-z
        (30, 45, {"rows": 2, "columns": 3, "inverse rows": 2}),  # steps of several stages; an odd width
        (37, 34, {"rows": 3, "columns": 6, "inverse rows": 3}),
    ],
)
def test_sides_too_long_for_a_group_go_in_two_steps(
    launcher: Launcher, local_memory: Callable[[int], None], height: int, width: int, launches: dict[str, int]
) -> None:
    local_memory(24)
    stack = picture((2, height, width))
    wanted = np.stack([reference.filter_image(image, HIGH.gain(height, width)) for image in stack])
    assert_close(filtered(launcher, stack, HIGH), wanted)
    profiled = Launcher(launcher.device, profile=True)
    pipeline = fused_gpu.FusedGpuPipeline(profiled, stack.shape, stack.dtype, HIGH, out=stack.dtype, levels=255)
    pipeline.run(stack)
    counted = {timing.step: timing.launches for timing in profiled.timings()}
    assert {step: counted[step] for step in launches} == launches


def test_two_steps_give_filtered_values_masks_and_one_scale(
    launcher: Launcher, local_memory: Callable[[int], None]
) -> None:
    local_memory(24)
    stack = picture((2, 36, 40))
    stack[1] //= 7
    random = np.random.default_rng(5).uniform(0, 1, (36, 40))
    gains = (random + np.roll(random[::-1, ::-1], (1, 1), (0, 1))) / 2
    mask = Mask.of(gains)
    wanted = np.fft.ifft2(np.fft.fft2(stack) * gains).real
    pipeline = fused_gpu.FusedGpuPipeline(
        launcher, stack.shape, stack.dtype, mask, out=np.dtype(np.float32), levels=None
    )
    np.testing.assert_allclose(pipeline.run(stack), wanted, atol=1e-4)
    assert_close(filtered(launcher, stack, HIGH, one_scale=True), reference.filter_image(stack, HIGH.gain(36, 40)))


@pytest.mark.parametrize(("height", "width"), [(20011, 2), (2, 32768)])
def test_long_sides_as_they_are(launcher: Launcher, height: int, width: int) -> None:
    stack = picture((1, height, width))
    assert_close(filtered(launcher, stack, HIGH)[0], reference.filter_image(stack[0], HIGH.gain(height, width)))


@pytest.mark.parametrize(("dtype", "out"), [("uint16", None), ("float32", None), ("uint8", "float32")])
def test_pixel_types(launcher: Launcher, dtype: str, out: str | None) -> None:
    stack = picture((1, 12, 10), dtype)
    to = np.dtype(out or dtype)
    wanted = reference.filter_image(stack[0], HIGH.gain(12, 10), to, levels_of(to))
    got = filtered(launcher, stack, HIGH, out)[0]
    if to.kind == "f":
        assert got.dtype == to
        np.testing.assert_allclose(got, wanted, atol=2e-6)
    else:
        assert_close(got, wanted)


def test_stack_gives_what_its_images_give_alone(launcher: Launcher) -> None:
    stack = picture((3, 9, 10))
    stack[1] //= 7
    alone = np.concatenate([filtered(launcher, image[np.newaxis], HIGH) for image in stack])
    np.testing.assert_array_equal(filtered(launcher, stack, HIGH), alone)


def test_channels_share_one_scale(launcher: Launcher) -> None:
    stack = picture((3, 12, 10))
    stack[1] //= 7
    assert_close(
        filtered(launcher, stack, HIGH, one_scale=True),
        reference.filter_image(stack, HIGH.gain(12, 10)).astype("uint8"),
    )


@pytest.mark.parametrize(
    "by",
    [
        transfer("lowpass", radius=3),
        transfer("bandpass", inner=2, outer=4),
        transfer("bandstop", inner=2, outer=4),
        transfer("highpass", radius=3, shape="gaussian"),
        transfer("bandpass", inner=1, outer=4, shape="gaussian"),
        transfer("bandstop", inner=1, outer=4, shape="butterworth", order=3),
    ],
    ids=str,
)
def test_passes_and_shapes(launcher: Launcher, by: Transfer) -> None:
    stack = picture((1, 10, 16))
    assert_close(filtered(launcher, stack, by)[0], reference.filter_image(stack[0], by.gain(10, 16)))


@pytest.fixture
def narrow_tiles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small work-groups, so that small images have several tiles of columns, in and out of reach."""
    monkeypatch.setattr(fused_gpu_transform, "GROUP_WANTED", 8)
    forget_plans()
    yield
    monkeypatch.undo()
    forget_plans()


@pytest.mark.usefixtures("narrow_tiles")
@pytest.mark.parametrize(
    ("height", "width", "by"),
    [
        (64, 32, transfer("highpass", radius=0.1)),  # DC alone
        (64, 32, transfer("highpass")),  # 4 columns of 17, whole tiles
        (64, 32, transfer("lowpass", radius=32 / 3)),
        (64, 32, transfer("highpass", radius=15.9)),  # all but the column in the middle
        (64, 32, transfer("highpass", radius=16.1)),
        (64, 32, transfer("highpass", radius=90)),  # no bin is that far
        (64, 32, transfer("bandstop", inner=2, outer=4.5)),  # part of a tile
        (64, 32, transfer("bandpass", inner=2, outer=7)),
        (64, 32, transfer("highpass", radius=1, shape="gaussian")),
        (64, 32, transfer("bandstop", inner=1, outer=2, shape="butterworth", order=20)),
        (21, 45, transfer("highpass", radius=2)),  # odd sides
        (34, 37, transfer("highpass", radius=5)),  # chirp-z
        (1, 64, transfer("highpass", radius=0.1)),
    ],
    ids=str,
)
def test_only_the_columns_in_reach_are_computed(launcher: Launcher, height: int, width: int, by: Transfer) -> None:
    stack = picture((2, height, width))
    stack[1] //= 7
    wanted = np.stack([reference.filter_image(image, by.gain(height, width)) for image in stack])
    assert_close(filtered(launcher, stack, by), wanted)


@pytest.mark.usefixtures("narrow_tiles")
def test_columns_out_of_reach_are_neither_written_nor_read(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    allocate = Launcher.allocate

    def spoiled(launcher: Launcher, size: int) -> Any:
        buffer = allocate(launcher, size)
        launcher.write(buffer, np.full(size, 0xFF, np.uint8))
        return buffer

    monkeypatch.setattr(Launcher, "allocate", spoiled)
    stack = picture((1, 64, 32))
    pipeline = fused_gpu.FusedGpuPipeline(launcher, stack.shape, stack.dtype, HIGH, out=stack.dtype, levels=255)
    assert_close(pipeline.run(stack)[0], reference.filter_image(stack[0], HIGH.gain(64, 32)))
    plan = pipeline.plan
    assert plan.tiles > -(-4 // plan.tile)
    planes = np.empty((2, plan.tiles, plan.pairs * plan.tile), np.complex64)
    launcher.read(planes, pipeline._scratch[0])
    untouched = np.isnan(planes.real).all(axis=2)
    np.testing.assert_array_equal(untouched, [np.arange(plan.tiles) * plan.tile >= 4] * 2)


@pytest.mark.usefixtures("narrow_tiles")
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_what_is_subtracted_leaves_no_noise_and_faint_detail(launcher: Launcher, dtype: str) -> None:
    white = levels_of(dtype)
    flat = np.full((1, 64, 32), white, dtype)
    assert not filtered(launcher, flat, HIGH).any()
    # 1 % of white, at the other end of its range: what is left of rounding is less than a level.
    faint = (flat * 0.99 + picture((1, 64, 32), dtype) * 0.01).astype(dtype)
    wanted = reference.filter_image(faint[0], HIGH.gain(64, 32), np.dtype(dtype), white)
    got = filtered(launcher, faint, HIGH)[0]
    assert np.abs(got.astype(np.float64) - wanted).max() <= white / 255


@pytest.mark.usefixtures("narrow_tiles")
@pytest.mark.parametrize("beyond", [0, 1])
def test_masks_have_a_reach(launcher: Launcher, beyond: int) -> None:
    stack = picture((1, 21, 45))
    gains = np.full((21, 45), float(beyond))
    gains[[[0], [2], [-2]], [0, 3, -3]] = 0.25
    by = transfer("mask", mask=gains)
    pipeline = fused_gpu.FusedGpuPipeline(launcher, stack.shape, stack.dtype, by, out=np.dtype("f4"), levels=None)
    got, wanted = pipeline.run(stack), reference.filtered(stack, gains).real
    assert np.linalg.norm(got - wanted) <= 4e-6 * np.linalg.norm(wanted)


def test_mask_from_an_array(launcher: Launcher) -> None:
    stack = picture((1, 10, 12))
    gain = np.random.default_rng(5).uniform(0, 1, (10, 12))
    gain += np.roll(gain[::-1, ::-1], (1, 1), (0, 1))
    by = transfer("mask", mask=gain / gain.max())
    assert_close(filtered(launcher, stack, by)[0], reference.filter_image(stack[0], by.gain(10, 12)))


@pytest.mark.parametrize(
    ("count", "by", "one_scale"),
    [(1, HIGH, False), (3, transfer("lowpass", radius=40), False), (3, transfer("highpass", shape="gaussian"), True)],
)
def test_one_launch_gives_what_four_do(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, count: int, by: Transfer, one_scale: bool
) -> None:
    # Several groups in each step, rows and columns of one plan.
    stacks = [picture((count, 128, 128)) // divisor for divisor in (1, 3)]
    monkeypatch.setattr(fused_gpu, "AT_ONCE_ON", ())
    wanted = [filtered(launcher, stack, by, one_scale=one_scale) for stack in stacks]
    monkeypatch.setattr(fused_gpu, "AT_ONCE_ON", (launcher.device.platform,))
    pipeline = fused_gpu.FusedGpuPipeline(
        launcher, stacks[0].shape, np.dtype("u1"), by, out=np.dtype("u1"), levels=255, one_scale=one_scale
    )
    assert len(pipeline._launches) == 1
    for _ in range(3):
        for stack, picture_ in zip(stacks, wanted, strict=True):
            np.testing.assert_array_equal(pipeline.run(stack), picture_)


def test_rounding_noise_is_black_and_faint_detail_is_not(launcher: Launcher) -> None:
    flat = np.full((2, 12, 10), 77, np.uint8)
    flat[1] = 0
    assert not filtered(launcher, flat, HIGH).any()
    faint = np.zeros((1, 12, 10), np.float32)
    faint[0, 5, 5] = 1e-6  # below the noise of a white pixel, but there is none
    assert filtered(launcher, faint, HIGH).max() == 1


@pytest.mark.parametrize(("height", "width"), [(9, 10), (34, 2), (64, 48)])
def test_values_that_are_not_scaled(launcher: Launcher, height: int, width: int) -> None:
    stack = picture((2, height, width))
    pipeline = fused_gpu.FusedGpuPipeline(
        launcher, stack.shape, stack.dtype, HIGH, out=np.dtype(np.float32), levels=None
    )
    got, wanted = pipeline.run(stack), reference.filtered(stack, HIGH.gain(height, width)).real
    assert np.linalg.norm(got - wanted) <= 4e-6 * np.linalg.norm(wanted)
    np.testing.assert_allclose(pipeline.extremes()[:, 1], np.abs(wanted).max(axis=(1, 2)), rtol=1e-5)


def test_device_buffers_are_left_to_the_caller(launcher: Launcher) -> None:
    stack = picture((1, 12, 10))
    pipeline = fused_gpu.FusedGpuPipeline(launcher, stack.shape, stack.dtype, HIGH, out=stack.dtype, levels=255)
    image, output = launcher.allocate(stack.nbytes), launcher.allocate(stack.nbytes)
    launcher.write(image, stack)
    pipeline.enqueue(image, output)
    got, kept = np.empty_like(stack), np.empty_like(stack)
    launcher.read(got, output)
    launcher.read(kept, image)
    np.testing.assert_array_equal(kept, stack)
    np.testing.assert_array_equal(got, pipeline.run(stack))


# Plans are data.


@pytest.mark.parametrize(
    "n", [*range(1, 60), 127, 500, 512, 1000, 1021, 1080, 1531, 2048, 3840, 4096, 5003, 8191, 16384]
)
def test_plan_fits_the_work_group(n: int) -> None:
    for columns in (False, True):
        plan = fused_gpu_transform.plan_transform(n, columns=columns, others=n)
        assert math.prod(plan.radices) == plan.length
        assert plan.length == n or plan.length >= 2 * n - 1
        assert plan.items * plan.values >= plan.length
        assert plan.group <= fused_gpu_transform.GROUP_LIMIT
        assert plan.local_bytes <= fused_gpu_transform.LOCAL_BYTES - fused_gpu_transform.RESERVED_BYTES
        assert len(plan.tables()[0]) == plan.table_offsets[-1] - (2 * n if plan.length == n else 0)
        if columns and n % 2 == 0 and plan.length == n:
            assert plan.radices[0] % 2 == 0


def test_powers_of_two_meet_no_bank_twice() -> None:
    for n in (256, 512, 1024, 4096):
        plan = fused_gpu_transform.plan_transform(n, columns=False, others=1)
        stride = 1
        for radix, (span, pad) in zip(plan.radices, plan.pads, strict=False):
            t = np.arange(fused_gpu_transform.BANKS)
            at = (t - t % stride) * radix + t % stride
            assert len(set((at + at // span * pad) % fused_gpu_transform.BANKS)) == fused_gpu_transform.BANKS
            stride *= radix


def test_bounds_are_the_ideal_mask_column_by_column() -> None:
    for height, width in ((12, 18), (16, 16), (7, 30), (31, 8)):
        band = transfer("bandpass", inner=1.5, outer=3)
        bounds = fused_gpu.column_bounds(height, width, band)
        ky = np.minimum(np.arange(height), height - np.arange(height))[:, np.newaxis]
        for which, radius in enumerate((3, 1.5)):
            low = transfer("lowpass", radius=radius).gain(height, width)[:, : width // 2 + 1]
            np.testing.assert_array_equal(ky < bounds[:, which], low == 1)


@pytest.mark.parametrize("n", [8193, 10007, 16385, 19683, 20011, 30000, 32768, 46340, 65521, 131072])
def test_plan_of_two_steps(n: int) -> None:
    for columns in (False, True):
        plan = fused_gpu_long.plan_long(n, columns=columns, others=n)
        assert plan is not None
        assert plan.length == n or plan.length >= 2 * n - 1
        assert plan.outer.length * plan.middle.length == plan.length
        assert len(plan.tables()[-1]) == (plan.length if plan.length == n else 2 * plan.length + n)
        for step in (plan.outer, plan.middle):
            assert step.points == step.length
            # Whole sectors side by side, in local memory without taking turns.
            assert step.ffts >= fused_gpu_transform.SECTOR
            assert step.turns == step.halves == 1
        if columns and n % 2 == 0 and plan.length == n:
            assert plan.outer.radices[0] % 2 == 0


def test_columns_that_would_go_alone_and_in_halves_go_in_two_steps() -> None:
    plan = fused_gpu_plan.plan(16384, 16384)
    assert isinstance(plan.columns, fused_gpu_long.LongPlan)
    assert isinstance(plan.rows, fused_gpu_transform.TransformPlan)
    assert plan.rows.halves == 2


def test_every_side_up_to_the_longest_is_served() -> None:
    longest = fused_gpu_long.LONGEST // 2
    assert all(fused_gpu_plan.supports((n, n)) for n in (1, 2, 1021, 6133, 8191, 10007, 16384, 20011, 32768, 46341))
    assert fused_gpu_plan.supports((3, longest, 16))
    assert fused_gpu_plan.supports((16, longest))
    assert not fused_gpu_plan.supports((16, longest + 1))
    assert not fused_gpu_plan.supports((65536, 65536))
    with pytest.raises(ParameterError, match="take another engine"):
        fused_gpu_plan.plan(longest + 1, 16)


def test_a_device_without_the_memory_is_told_the_bytes(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    monkeypatch.setattr(type(launcher.device), "check_memory", lambda _, __, buffers: checked.extend(buffers))
    monkeypatch.setattr(Launcher, "allocate", lambda *_: pytest.fail("checked"))
    with pytest.raises(pytest.fail.Exception, match="checked"):
        fused_gpu.FusedGpuPipeline(
            launcher, (1, 20011, 32768), np.dtype(np.uint8), HIGH, out=np.dtype(np.uint8), levels=255
        )
    plan = fused_gpu_plan.plan(20011, 32768)
    # Bluestein's columns are longer than the spectrum's.
    assert plan.columns.length > 2 * 20011
    assert checked[1] >= 8 * (32768 // 2 + 1) * plan.columns.length


@pytest.mark.parametrize("levels", [255, None])
@pytest.mark.parametrize("shape", [(2, 64, 48), (1, 20011, 4), (1, 3, 20011)])
def test_memory_is_told_before_it_is_taken(launcher: Launcher, shape: tuple[int, int, int], levels: int | None) -> None:
    out = np.dtype(np.uint8 if levels else np.float32)
    pipeline = fused_gpu.FusedGpuPipeline(launcher, shape, np.dtype(np.uint8), HIGH, out=out, levels=levels)
    gpu = SimpleNamespace(is_gpu=True)
    assert fused.memory(gpu, shape, real=levels is None) == sum(pipeline.memory[:5])


# Oclgrind, a simulator that watches each access to memory.

WATCHED = """
import sys
import numpy as np
from fftfilter import fused_gpu, fused_gpu_long, fused_gpu_plan, fused_gpu_transform, reference
from fftfilter.device import choose
from fftfilter.launch import Launcher
from fftfilter.transfer import transfer
launcher = Launcher(choose("Oclgrind"))
high = transfer("highpass")
fused_gpu_transform.GROUP_WANTED = 4
# In one step, then with turns in local memory, then in two steps.
rooms = ((10**4, ((10, 6), (3, 17))), (80, ((32, 1), (17, 1))), (5, ((12, 16), (15, 1), (3, 15), (11, 11))))
if sys.argv[1:] == ["at once"]:
    fused_gpu.AT_ONCE_ON = ("Oclgrind",)
    rooms = ((10**4, ((10, 10),)),)
for floats, sizes in rooms:
    fused_gpu_transform.LOCAL_BYTES = 4 * floats + fused_gpu_transform.RESERVED_BYTES
    for height, width in sizes:
        plan = fused_gpu_plan.plan(height, width)
        steps = [isinstance(side, fused_gpu_long.LongPlan) for side in (plan.rows, plan.columns)]
        assert any(steps) == (floats < max(height, width)), (height, width)
        stack = np.random.default_rng(3).integers(0, 256, (2, height, width), dtype=np.uint8)
        stack[1] = 9  # nothing but rounding noise is left of it
        pipeline = fused_gpu.FusedGpuPipeline(launcher, stack.shape, stack.dtype, high, out=stack.dtype, levels=255)
        assert (len(pipeline._launches) == 1) == bool(sys.argv[1:])
        got = pipeline.run(stack)
        wanted = [reference.filter_image(image, high.gain(height, width)) for image in stack]
        assert np.abs(got.astype(int) - wanted).max() <= 1, (height, width)
fused_gpu.FusedGpuPipeline(launcher, stack.shape, stack.dtype, high, out=np.dtype("f4"), levels=None).run(stack)
print("watched")
"""


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="Oclgrind comes as a wheel for Linux on x86-64"
)
@pytest.mark.parametrize("at_once", [(), ("at once",)])
def test_oclgrind_has_nothing_to_report(at_once: tuple[str, ...]) -> None:
    watchful = {
        # It takes groups that wait for each other for a race.
        "OCLGRIND_DATA_RACES": "" if at_once else "1",
        "OCLGRIND_UNIFORM_WRITES": "1",
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "PYOPENCL_NO_CACHE": "1",
        "PYTHONPATH": str(Path(fused_gpu.__file__).parent.parent),
    }
    result = subprocess.run(
        [sys.executable, "-c", WATCHED, *at_once],
        env={**os.environ, **watchful},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.stderr[:3000] == ""
    assert result.stdout == "watched\n"
