"""Plans are data: what would be launched, without a device."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.staged import algorithms
from fftfilter.staged.steps import FLIP, FORWARD, INVERSE, Launch, X, Y, fft_core, plan_rows

BOOK = algorithms.load("book")


def kernels(stages):
    return [stage.kernel for stage in stages]


def test_the_books_fft_core_is_bit_reversal_and_butterflies():
    stages = fft_core(BOOK.plan(8), 5, FORWARD)
    assert kernels(stages) == ["bit_reversal", "butterfly", "butterfly", "butterfly"]
    assert [stage.items for stage in stages] == [(8, 5), (4, 5), (4, 5), (4, 5)]
    assert [stage.swap for stage in stages] == [True, False, False, False]


def test_the_inverse_flips_the_spin_factors_sign_bit_and_divides():
    forward, inverse = (fft_core(BOOK.plan(4), 1, direction) for direction in (FORWARD, INVERSE))
    assert kernels(inverse) == [*kernels(forward), "normalize_rows"]
    arguments = {"x": "x", "w": "spin 4", "n": 4, "stage": 1}
    assert forward[1].arguments == {**arguments, "flip": np.uint32(0)}
    assert inverse[1].arguments == {**arguments, "flip": np.uint32(0x80000000)}


def test_one_sample_is_its_own_transform():
    assert fft_core(plan_rows(1, BOOK), 7, FORWARD) == fft_core(plan_rows(1, BOOK), 7, INVERSE) == ()


def test_half_the_length_of_spin_factors_serves_all_stages():
    plan = BOOK.plan(16)
    assert kernels(plan.tables) == ["spin_factors"]
    assert (plan.spin_length, plan.tables[0].items) == (8, (8,))


@pytest.mark.parametrize(("n", "m"), [(3, 8), (5, 16), (17, 64), (451, 1024), (1021, 2048)])
def test_other_lengths_are_convolutions_of_a_power_of_two(n, m):
    plan = plan_rows(n, BOOK)
    inner = kernels(BOOK.plan(m).launches)
    assert kernels(plan.launches) == ["chirp_in", *inner, "convolve", *inner, "chirp_out"]
    assert plan.width == m >= 2 * n - 1
    assert plan.spin_length == m // 2 + n + m


def test_a_stage_is_named_after_the_file_of_its_kernel():
    assert Launch("staged/steps/bit_reversal.cl", "other", (1,), {}).step == "bit_reversal"


def test_names_among_the_values_of_arguments_are_bound_and_others_stay():
    stage = Launch("f.cl", "f", (1,), {"x": X, Y: "w", "w": Y, "flip": FLIP, "n": 3})
    bound = stage.bind({FLIP: np.uint32(7), Y: "spin 8"}).arguments
    assert bound == {"x": X, Y: "w", "w": "spin 8", "flip": np.uint32(7), "n": 3}
    assert list(bound) == list(stage.arguments)
