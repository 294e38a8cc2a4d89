"""The fused form for CPUs: every code path against the float64 reference, the plans as data, and a simulator."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from fftfilter.fused.cpu import mixed_radix
from fftfilter.transfer import reference
from fftfilter.device.choice import Device, choose
from fftfilter.errors import DeviceError, TooLargeError
from fftfilter.filters import Filter
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.cpu.plan import vector_width
from fftfilter.device.launcher import Launcher
from fftfilter.transfer.parameters import PASSES, SHAPES
from fftfilter.transfer.functions import AnyTransfer, Mask, Reach, transfer

Array = np.ndarray[Any, Any]
HIGH = transfer("highpass")

# (height, width), chosen by what they make the kernels do
SIZES = [
    (1, 1),  # no stage at all
    (1, 40),  # one row: a column transform of length 1
    (40, 1),  # one column: the row transform does nothing, and the image is narrower than a strip
    (2, 3),  # single stages of radix 2 and 3
    (8, 8),  # single stages of radix 8: the first is the last
    (23, 31),  # primes through the loop, odd in both directions
    (64, 64),  # two stages, one strip or several
    (33, 65),  # a strip of one column more: moved left, its columns computed twice
    (100, 36),  # radices 5, 4 and 3
    (14, 22),  # the primes that are written out, among other radices
    (34, 19),  # the largest of them, one alone and last
    (46, 58),  # primes through the loop among other radices
    (24, 530),  # strips read together, an odd number of them
    (256, 320),  # blocks: whole stages before
    (300, 451),  # many stages; a width with the prime 41
    (67, 64),  # Bluestein in the columns alone
    (64, 67),  # Bluestein in the rows alone
    (134, 71),  # Bluestein in both
    (1, 4099),  # a long prime row, a single one
]


@cache
def launcher() -> Launcher:
    try:
        return Launcher(choose("cpu"))
    except DeviceError as error:
        pytest.skip(str(error))


def noise(shape: tuple[int, ...], dtype: str = "uint8") -> Array:
    random = np.random.default_rng(61)
    if dtype == "float32":
        return random.uniform(-1, 1, shape).astype(np.float32)
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def fused(stack: Array, filter_: AnyTransfer = HIGH, **options: Any) -> Array:
    out = np.dtype(options.pop("out", stack.dtype))
    white = 1 if out.kind == "f" else int(np.iinfo(out).max)
    levels = options.pop("levels", white)
    shape = (stack.shape[0], stack.shape[1], stack.shape[2])
    return FusedCpuPipeline(launcher(), shape, stack.dtype, filter_, out=out, levels=levels, **options).run(stack)


def check(got: Array, wanted: Array, levels: int = 255) -> None:
    """Grey levels differ by at most 1 of 255 in at most 1 pixel of 500."""
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    error = np.abs(got.astype(np.float64) - wanted.astype(np.float64)) * (255 / levels)
    worst = np.unravel_index(np.argmax(error), error.shape)
    assert error.max() <= 1, f"at {worst}: {got[worst]}, wanted {wanted[worst]}"
    if levels == 255:
        assert np.count_nonzero(error) <= error.size / 500, f"{np.count_nonzero(error)} of {error.size} differ"
    else:
        assert error.max() <= 4e-3  # a level of 65535


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_every_size_gives_what_the_reference_gives(height: int, width: int) -> None:
    image = noise((height, width))
    check(fused(image[None])[0], reference.filter_image(image, HIGH.gain(height, width)))


@pytest.mark.parametrize(("height", "width"), [(158, 509), (601, 432)])
def test_a_picture_that_is_equally_large_everywhere_is_white_everywhere(height: int, width: int) -> None:
    # Rounding makes one pixel the largest; the others must not be a level below it.
    flat = np.full((1, height, width), 200, np.uint8)
    assert (fused(flat, transfer("lowpass")) == 255).all()
    checkerboard = (np.indices((1, height, width)).sum(axis=0) % 2 * 255).astype(np.uint8)
    wanted = reference.filter_image(checkerboard[0], HIGH.gain(height, width))
    check(fused(checkerboard)[0], wanted)


@pytest.mark.parametrize(("height", "width"), [(2003, 3), (2003, 29)])
def test_columns_that_fill_a_narrow_image_have_no_part_in_its_largest_value(height: int, width: int) -> None:
    # Bluestein rounds a little of each column into the one that it is paired with.
    flat = np.full((1, height, width), 100, np.uint16)
    assert not fused(flat).any()


@pytest.mark.parametrize("vector", [4, 8, 16])
@pytest.mark.parametrize(("height", "width"), [(40, 56), (67, 71), (3, 5)])
def test_every_vector_width_gives_the_same(vector: int, height: int, width: int) -> None:
    image = noise((height, width))
    check(fused(image[None], vector=vector)[0], reference.filter_image(image, HIGH.gain(height, width)))


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("height", "width"), [(48, 48), (50, 71)])  # the second: Bluestein, and scales beyond 1
def test_every_pass_of_every_shape(kind: str, shape: str, height: int, width: int) -> None:
    radii = {"radius": 9} if kind in ("lowpass", "highpass") else {"inner": 4, "outer": 12.5}
    filter_ = transfer(kind, shape=shape, order=3 if shape == "butterworth" else None, **radii)
    image = noise((height, width))
    check(fused(image[None], filter_)[0], reference.filter_image(image, filter_.gain(height, width)))


@pytest.mark.parametrize("radius", [0.5, 3, 5, 13, 40])
def test_the_ideal_mask_passes_exactly_the_bins_of_the_reference(radius: float) -> None:
    # A cosine on a bin of the circle itself (3, 4, 5), (5, 12, 13) passes a high-pass, and no low-pass.
    y, x = np.mgrid[:64, :64]
    wave = np.sum([np.cos(2 * np.pi * (kx * x + ky * y) / 64) for kx, ky in ((3, 4), (5, 12), (0, 3))], axis=0)
    image = (wave / 4).astype(np.float32)
    for kind in ("lowpass", "highpass"):
        filter_ = transfer(kind, radius=radius)
        wanted = reference.filter_image(image, filter_.gain(64, 64), np.float32, 1)
        check(fused(image[None], filter_)[0], wanted, 1)


# Rows within the reach: one alone, some of a group, several groups, all but the last, all.
@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize(("height", "width"), [(48, 48), (71, 50)])
def test_any_number_of_rows_within_the_reach(kind: str, height: int, width: int) -> None:
    image, n = noise((height, width)), min(height, width)
    for radius in (0.01, 1, n / 8, n / 3, n / 2 - 0.1, n / 2 + 0.1, n * 0.69):
        radii = {"radius": radius} if kind in ("lowpass", "highpass") else {"inner": radius / 3, "outer": radius}
        filter_ = transfer(kind, **radii)
        check(fused(image[None], filter_)[0], reference.filter_image(image, filter_.gain(height, width)))


@pytest.mark.parametrize("beyond", [0.0, 1.0])
@pytest.mark.parametrize(("height", "width"), [(96, 80), (67, 67)])
def test_rows_beyond_the_reach_are_not_transformed(beyond: float, height: int, width: int) -> None:
    """A reach that is too short shows: beyond it there is no mask."""
    gain = np.full((height, width), 0.5)
    mask = transfer("mask", mask=gain)
    assert isinstance(mask, Mask)
    object.__setattr__(mask, "reach", lambda *_: Reach(20, width, beyond))
    gain[20:-19] = beyond
    image = noise((height, width))
    check(fused(image[None], mask)[0], reference.filter_image(image, gain))


@pytest.mark.parametrize(("height", "width"), [(64, 96), (67, 71)])
def test_a_mask_that_varies_nowhere(height: int, width: int) -> None:
    image = noise((1, height, width))
    everything = np.ones((height, width))
    check(fused(image, transfer("mask", mask=everything))[0], reference.filter_image(image[0], everything))
    assert not fused(image, transfer("mask", mask=np.zeros((height, width)))).any()


@pytest.mark.parametrize(("dtype", "bright"), [("uint16", 60_000), ("float32", 0.9)])
@pytest.mark.parametrize(("height", "width"), [(128, 96), (67, 60)])
def test_small_detail_on_a_bright_image(dtype: str, bright: float, height: int, width: int) -> None:
    """Rows that are transformed and rows that are not have one scale; rounding of what is taken out stays small."""
    detail = np.random.default_rng(7).uniform(-1, 1, (height, width)) * bright * 1e-3
    image = (bright + detail).astype(dtype)
    wanted = reference.filter_image(image, HIGH.gain(height, width), np.float32, 1)
    assert np.abs(fused(image[None], out="float32")[0] - wanted).max() < 0.25 / 255


@pytest.mark.parametrize("kind", ["lowpass", "highpass"])
@pytest.mark.parametrize(("height", "width"), [(100, 96), (67, 60)])
def test_filtered_values_as_they_are_and_their_extremes(kind: str, height: int, width: int) -> None:
    stack = noise((2, height, width))
    filter_ = transfer(kind, radius=9)
    shape = (2, height, width)
    made = FusedCpuPipeline(launcher(), shape, stack.dtype, filter_, out=np.dtype("f4"), levels=None)
    got = made.run(stack)
    wanted = np.stack([reference.filtered(image, filter_.gain(height, width)).real for image in stack])
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6 * 255)
    np.testing.assert_array_equal(made.extremes()[:, 1], np.abs(got).max(axis=(1, 2)))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("out", ["uint8", "uint16", "float32"])
def test_every_type_in_and_out(dtype: str, out: str) -> None:
    image = noise((45, 80), dtype)
    levels = 1 if out == "float32" else int(np.iinfo(out).max)
    wanted = reference.filter_image(image, HIGH.gain(45, 80), out, levels)
    check(fused(image[None], out=out)[0], wanted, levels)


@pytest.mark.parametrize(("height", "width"), [(40, 72), (67, 70), (5, 9)])
def test_a_stack_gives_what_each_image_gives_alone(height: int, width: int) -> None:
    stack = noise((3, height, width))
    stack[1] //= 5
    alone = np.concatenate([fused(image[None]) for image in stack])
    np.testing.assert_array_equal(fused(stack), alone)


def test_one_scale_for_all_channels() -> None:
    stack = noise((3, 32, 48))
    stack[1] //= 5
    wanted = reference.filter_image(stack, HIGH.gain(32, 48))
    check(fused(stack, one_scale=True), wanted)
    assert fused(stack, one_scale=True)[1].max() < 128


@pytest.mark.parametrize(("height", "width"), [(24, 40), (67, 71)])
def test_any_mask_from_a_table(height: int, width: int) -> None:
    half = noise((height, width), "float32").astype(np.float64)
    gain = half + np.roll(half[::-1, ::-1], (1, 1), (0, 1))
    image = noise((height, width))
    check(fused(image[None], transfer("mask", mask=gain))[0], reference.filter_image(image, gain))


@pytest.mark.parametrize("workers", [1, 3, 16])
def test_any_number_of_workers_gives_the_same(workers: int) -> None:
    stack = noise((2, 40, 200))
    np.testing.assert_array_equal(fused(stack, workers=workers), fused(stack))


def test_a_launch_for_each_step_gives_the_same_and_their_times() -> None:
    stack = noise((2, 40, 200))
    profiled = Launcher(choose("cpu"), profile=True)
    pipeline = FusedCpuPipeline(profiled, (2, 40, 200), stack.dtype, HIGH, out=stack.dtype, levels=255)
    profiled.timings()
    np.testing.assert_array_equal(pipeline.run(stack), fused(stack))
    assert [(time.step, time.launches) for time in profiled.timings()] == [
        ("columns forward", 1),
        ("rows", 1),
        ("columns inverse", 1),
        ("quantize", 1),
    ]


@pytest.mark.parametrize(("height", "width"), [(20, 100_003), (100_003, 20), (16, 1 << 20)])
def test_work_spaces_are_counted_before_they_are_asked_for(
    height: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_device: Device, _what: str, buffers: list[int]) -> None:
        raise TooLargeError(str(sum(buffers)))

    image, vector = np.dtype("uint8"), 16
    monkeypatch.setattr(Device, "check_memory", refuse)
    with pytest.raises(TooLargeError) as counted:
        FusedCpuPipeline(launcher(), (1, height, width), image, HIGH, out=image, levels=255, vector=vector, workers=64)
    # Room for each worker's longest transform: a row of the width, or Bluestein's of more than twice a side.
    points = {100_003: 200_005, 1 << 20: 1 << 20}[max(height, width)]
    assert int(str(counted.value)) > 64 * 8 * vector * points


@pytest.mark.parametrize("output", ["magnitude", "real"])
@pytest.mark.parametrize("shape", [(2, 20, 10_007), (3, 400, 300), (1, 67, 5)])
def test_memory_is_told_before_it_is_taken(
    output: str, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    monkeypatch.setattr(Device, "check_memory", lambda _device, _what, buffers: taken.extend(buffers))
    with Filter("highpass", device="cpu", output=output) as made:
        told = made.memory(shape)
        made(np.zeros(shape, np.uint8))
    assert told == sum(taken[-4:])  # before them the self-test's


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_what_rounding_leaves_of_a_constant_image_is_zero(dtype: str) -> None:
    constant = np.full((1, 40, 51), 1 if dtype == "float32" else 200, dtype)
    assert not fused(constant).any()
    assert not fused(np.zeros_like(constant)).any()


def test_the_largest_value_is_exactly_white() -> None:
    image = noise((1, 64, 96))
    assert fused(image, levels=200).max() == 200
    assert fused(image, out="float32").max() == 1


def test_runs_do_not_differ() -> None:
    image = noise((2, 200, 300))
    shape = (2, 200, 300)
    pipeline = FusedCpuPipeline(launcher(), shape, image.dtype, HIGH, out=image.dtype, levels=255)
    first = pipeline.run(image)
    pipeline.run(noise(shape)[:, ::-1])
    for _ in range(10):
        np.testing.assert_array_equal(pipeline.run(image), first)


def test_a_compiler_that_declares_everything_makes_the_same_kernels() -> None:
    plain = Device(0, launcher().device.cl_device)
    plain.own_builtins = ()
    stack = noise((1, 40, 67))
    got = FusedCpuPipeline(Launcher(plain), stack.shape, stack.dtype, HIGH, out=stack.dtype, levels=255).run(stack)
    assert np.array_equal(got, fused(stack))


def test_arrays_of_any_layout_are_read() -> None:
    image = noise((1, 48, 64))
    wanted = fused(image)
    room = np.zeros((1, 48, 131), np.uint8)
    room[:, :, 1:129:2] = image
    np.testing.assert_array_equal(fused(room[:, :, 1:129:2]), wanted)
    one_off = np.zeros(48 * 64 + 1, np.uint8)[1:].reshape(1, 48, 64)
    one_off[:] = image
    np.testing.assert_array_equal(fused(one_off), wanted)
    locked = image.copy()
    locked.flags.writeable = False
    np.testing.assert_array_equal(fused(locked), wanted)


# The plans, without a device


@pytest.mark.parametrize(
    ("n", "radices"),
    [(1, (1,)), (2, (2,)), (16, (4, 4)), (512, (8, 8, 8)), (1024, (8, 8, 4, 4)), (1500, (5, 5, 5, 4, 3)), (14, (7, 2))],
)
def test_radices(n: int, radices: tuple[int, ...]) -> None:
    assert mixed_radix.plan(n, 64, 0).radices == radices


@pytest.mark.parametrize("n", [1, 2, 6, 30, 64, 77, 360])
def test_stages_done_by_hand_leave_the_frequencies_where_the_plan_says(n: int) -> None:
    plan = mixed_radix.plan(n, 16, 0)
    spin = plan.spin()
    signal = np.random.default_rng(5).normal(size=n) + 1j
    x = signal.copy()
    for stage in plan.stages:
        a = x.reshape(-1, stage.radix, stage.span)
        a = np.fft.fft(a, axis=1)
        count = stage.span * (stage.radix - 1)
        w = spin[stage.spin : stage.spin + count].reshape(stage.span, stage.radix - 1)
        a[:, 1:] *= w.T
        x = a.ravel()
    np.testing.assert_allclose(x, np.fft.fft(signal)[plan.frequencies()], rtol=0, atol=1e-5 * n)


def test_blocks_fit_and_the_last_stage_is_always_done_in_blocks() -> None:
    plan = mixed_radix.plan(4096, 256, 0)
    assert plan.radices == (8, 8, 8, 8)
    assert plan.whole == 2
    assert mixed_radix.plan(64, 256, 0).whole == 0
    assert mixed_radix.plan(64, 256, 1).whole == 1
    assert mixed_radix.plan(8, 256, 1).whole == 0


@pytest.mark.parametrize("n", [67, 1021, 1531, 32749])
def test_a_chirp_is_long_enough_and_made_of_small_radices(n: int) -> None:
    chirp = mixed_radix.transform(n, 256, 0)
    assert isinstance(chirp, mixed_radix.Chirp)
    assert 2 * n - 1 <= chirp.inner.n <= 1 << (2 * n).bit_length()
    assert set(chirp.inner.radices) <= set(mixed_radix.RADICES)


def test_every_row_and_its_mirrored_one_are_paired_once() -> None:
    for n in (1, 2, 7, 30, 64):
        frequencies = mixed_radix.plan(n, 64, 0).frequencies()
        at, mirror = mixed_radix.mirrored_pairs(frequencies, n)
        assert sorted({*at.tolist(), *mirror.tolist()}) == list(range(n))
        assert len(at) == n // 2 + 1
        assert not ((frequencies[at] + frequencies[mirror]) % n).any()
        few = mixed_radix.mirrored_pairs(frequencies, 2)
        assert sorted(frequencies[few[0]]) == list(range(min(n // 2 + 1, 2)))


def test_vector_width_is_a_power_of_two_from_4_to_16() -> None:
    assert [vector_width(n) for n in (0, 1, 4, 8, 16, 32)] == [4, 4, 4, 8, 16, 16]


# Every kernel in a simulator that reports invalid accesses and races

SIMULATED = """
import sys
import numpy as np
from fftfilter import reference
from fftfilter.device import Device, choose
from fftfilter.fused_cpu import FusedCpuPipeline
from fftfilter.launch import Launcher
from fftfilter.transfer import transfer
launcher = Launcher(choose("oclgrind"))
for count, height, width, options in (
    (1, 1, 1, {}), (1, 12, 10, {}), (2, 9, 13, {}), (1, 67, 8, {}), (1, 4, 67, {}), (2, 67, 9, {}),
    (1, 80, 9, {"dtype": "uint16"}), (1, 7, 80, {"dtype": "float32", "shape": "butterworth"}),
    (1, 8, 9, {"shape": "gaussian"}), (1, 6, 9, {"table": True}), (2, 6, 9, {"real": True}), (1, 67, 8, {"real": True}),
    (1, 30, 9, {"kind": "lowpass"}), (1, 67, 8, {"kind": "lowpass"}),
):
    dtype = np.dtype(options.get("dtype", "uint8"))
    image = (np.random.default_rng(3).random((count, height, width)) * (1 if dtype.kind == "f" else 255)).astype(dtype)
    high = transfer(options.get("kind", "highpass"), radius=2, shape=options.get("shape", "ideal"))
    by = transfer("mask", mask=high.gain(height, width)) if "table" in options else high
    levels = 1 if dtype.kind == "f" else 255
    if "real" in options:
        made = FusedCpuPipeline(launcher, image.shape, dtype, high, out=np.dtype("f4"), levels=None, vector=4)
        off = made.run(image) - reference.filtered(image, high.gain(height, width)).real
        assert np.abs(off).max() <= 1e-3, (height, width, options)
        continue
    made = FusedCpuPipeline(launcher, image.shape, dtype, by, out=dtype, levels=levels, vector=4)
    for got, one in zip(made.run(image), image):
        wanted = reference.filter_image(one, high.gain(height, width), dtype, levels)
        assert np.abs(got.astype(float) - wanted).max() <= 1, (height, width, options)
print("all done")
"""


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="Oclgrind comes as a wheel for Linux on x86-64"
)
def test_every_kernel_is_clean_in_the_simulator() -> None:
    environment = {**os.environ, "OCLGRIND_DATA_RACES": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = done.stdout + done.stderr
    assert "all done" in report
    for word in ("Invalid", "race", "Uninitialized", "at line"):
        assert word not in report, report
