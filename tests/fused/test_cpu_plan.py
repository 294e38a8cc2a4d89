"""Plans of the fused form for CPUs, without a device: radices, positions, tables."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fftfilter.fused.cpu import program
from fftfilter.fused.cpu.program import FusedCpuPlan, vector_width
from fftfilter.fused.tables import convolution_lengths


@pytest.mark.parametrize(
    ("n", "radices"),
    [(1, (1,)), (2, (2,)), (16, (4, 4)), (512, (8, 8, 8)), (1024, (8, 8, 4, 4)), (1500, (5, 5, 5, 4, 3)), (14, (7, 2))],
)
def test_radices(n, radices):
    assert program.plan_axis(n, 64, 0).radices == radices


@pytest.mark.parametrize("n", [1, 2, 6, 30, 64, 77, 360])
def test_stages_done_by_hand_leave_the_frequencies_where_the_plan_says(n):
    plan = program.plan_axis(n, 16, 0)
    twiddles = plan.twiddles()
    signal = np.random.default_rng(5).normal(size=n) + 1j
    x = signal.copy()
    for stage in plan.stages:
        a = x.reshape(-1, stage.radix, stage.span)
        a = np.fft.fft(a, axis=1)
        count = stage.span * (stage.radix - 1)
        w = twiddles[stage.twiddles : stage.twiddles + count].reshape(stage.span, stage.radix - 1)
        a[:, 1:] *= w.T
        x = a.ravel()
    np.testing.assert_allclose(x, np.fft.fft(signal)[plan.frequencies()], rtol=0, atol=1e-5 * n)


def test_parts_fit_and_the_last_stage_is_always_done_in_parts():
    plan = program.plan_axis(4096, 256, 0)
    assert plan.radices == (8, 8, 8, 8)
    assert plan.whole_stages == 2
    assert program.plan_axis(64, 256, 0).whole_stages == 0
    assert program.plan_axis(64, 256, 1).whole_stages == 1
    assert program.plan_axis(8, 256, 1).whole_stages == 0


@pytest.mark.parametrize("n", [67, 1021, 1531, 32749])
def test_a_convolution_is_long_enough_and_made_of_small_radices(n):
    made = program.plan_axis(n, 256, 0)
    assert made.is_convolution
    assert 2 * n - 1 <= made.length <= 1 << (2 * n).bit_length()
    assert set(made.radices) <= set(program.RADICES)
    assert made.radices[0] == 8
    assert made.whole_stages >= 1


def test_a_chirp_is_right_where_whole_numbers_have_32_bits(monkeypatch):
    """As in NumPy 1.26 on Windows."""
    made, arange = program.plan_axis(65537, 256, 0), np.arange
    wanted = made.twiddles()
    monkeypatch.setattr(np, "arange", lambda *given, dtype=np.int32: arange(*given, dtype=dtype))
    np.testing.assert_array_equal(made.twiddles(), wanted)


def test_every_row_and_its_mirrored_one_are_paired_once():
    for n in (1, 2, 7, 30, 64):
        frequencies = program.plan_axis(n, 64, 0).frequencies()
        at, mirror = program.mirrored_pairs(frequencies, n)
        assert sorted({*at.tolist(), *mirror.tolist()}) == list(range(n))
        assert len(at) == n // 2 + 1
        assert not ((frequencies[at] + frequencies[mirror]) % n).any()
        few = program.mirrored_pairs(frequencies, 2)
        assert sorted(frequencies[few[0]]) == list(range(min(n // 2 + 1, 2)))


@pytest.mark.parametrize(
    ("size", "workers", "pixel", "tasks"),
    [((512, 512), 2, 1, 8), ((512, 512), 2, 4, 15), ((512, 512), 16, 1, 64), ((2, 2048), 64, 1, 64), ((3, 8), 2, 1, 3)],
)
def test_pixels_are_written_by_lines_of_the_cache_in_as_few_bands_as_leave_tasks_for_all(size, workers, pixel, tasks):
    columns, rows = (program.plan_axis(n, 160, least) for n, least in zip(size, (1, 0), strict=True))
    made = FusedCpuPlan(*size, 16, workers, columns, rows)
    assert made.strips_in_line(pixel) == {1: 2, 4: 1}[pixel]
    assert made.tasks_of_quantize(pixel) == tasks


def test_vector_width_is_a_power_of_two_from_4_to_16():
    devices = [SimpleNamespace(cl_device=SimpleNamespace(native_vector_width_float=n)) for n in (0, 1, 4, 8, 16, 32)]
    assert [vector_width(device) for device in devices] == [4, 4, 4, 8, 16, 16]


@pytest.mark.parametrize("n", [67, 509, 1021])
def test_no_length_is_cheaper_for_a_convolution(n):
    def cost(m):
        return m * sum(program.INSTRUCTIONS[radix] for radix in program.factors(m))

    lengths = [m for m in range(2 * n - 1, 4 * n) if max(program.factors(m)) <= max(program.RADICES)]
    lengths = [m for m in lengths if program.factors(m)[0] == 8 and not {7} & set(program.factors(m))]
    assert cost(program.convolution_length(n)) == min(map(cost, lengths))


def test_lengths_of_convolutions_are_all_products_from_the_shortest_to_the_longest():
    assert convolution_lengths(5, 16, (2, 3)) == [9, 12, 16]
    assert convolution_lengths(5, 15, (2, 3, 5)) == [9, 10, 12, 15]
    assert convolution_lengths(5, 8, (2, 3, 5)) == []


def test_the_length_of_a_convolution_takes_no_search_at_any_length():
    """Trying every length from 2n - 1 up took a minute."""
    assert program.convolution_length(33_554_475) == 75_497_472
    assert not program.is_smooth(2**61 - 1)
