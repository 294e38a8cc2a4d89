"""Plans of the fused form for GPUs, without a device: they fit the work-group and meet each bank once."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.fused import device_bytes, mirrors, serves
from fftfilter.fused.gpu.plan import LongPlan, column_bounds, plan, plan_long, supports
from fftfilter.fused.gpu.transform import BANKS, RESERVED_BYTES, SECTOR, Limits, TransformPlan, plan_transform

LIMITS = Limits()


@pytest.mark.parametrize(
    "n", [*range(1, 60), 127, 500, 512, 1000, 1021, 1080, 1531, 2048, 3840, 4096, 5003, 8191, 16384]
)
def test_plan_fits_the_work_group(n):
    for columns in (False, True):
        made = plan_transform(n, columns=columns, count=n)
        assert math.prod(made.radices) == made.length
        assert made.length == n or made.length >= 2 * n - 1
        assert made.items * made.per_item >= made.length
        assert made.group <= LIMITS.group
        assert made.local_bytes <= LIMITS.local_bytes - RESERVED_BYTES
        assert len(made.tables()[0]) == made.table_offsets[-1] - (2 * n if made.length == n else 0) + 1
        if columns and n % 2 == 0 and made.length == n:
            assert made.radices[0] % 2 == 0
        elif columns:  # both rows of a pair meet in a work-item
            assert made.items * (made.per_item // 2) >= (n + 1) // 2


def test_powers_of_two_meet_no_bank_twice():
    for n in (256, 512, 1024, 4096):
        made = plan_transform(n, columns=False, count=1)
        stride = 1
        for radix, (span, pad) in zip(made.radices, made.pads, strict=False):
            t = np.arange(BANKS)
            at = (t - t % stride) * radix + t % stride
            assert len(set((at + at // span * pad) % BANKS)) == BANKS
            stride *= radix


def test_bounds_are_the_ideal_mask_column_by_column():
    for height, width in ((12, 18), (16, 16), (7, 30), (31, 8)):
        bounds = column_bounds(height, width, H.bandpass(1.5, 3).radial)
        ky = np.minimum(np.arange(height), height - np.arange(height))[:, np.newaxis]
        for which, radius in enumerate((3, 1.5)):
            low = H.lowpass(radius).gain(height, width)[:, : width // 2 + 1]
            np.testing.assert_array_equal(ky < bounds[:, which], low == 1)


@pytest.mark.parametrize("n", [8193, 8788, 10007, 16385, 19683, 20011, 30000, 32768, 46340, 65521, 131072])
def test_plan_of_two_steps(n):
    for columns in (False, True):
        made = plan_long(n, columns=columns, count=n)
        assert made is not None
        assert made.length == n or made.length >= 2 * n - 1
        assert made.outer.length * made.middle.length == made.length
        assert len(made.tables()[-1]) == (made.length if made.length == n else 2 * made.length + n)
        for step in (made.outer, made.middle):
            assert not step.is_bluestein
            # Whole sectors side by side, in local memory without halves.
            assert step.batch >= SECTOR
            assert step.batch_rounds == step.length_rounds == 1
        if columns and n % 2 == 0 and made.length == n:
            assert made.outer.radices[0] % 2 == 0


@pytest.mark.parametrize(
    ("n", "columns", "length", "outer", "middle"),
    [
        (8788, False, 8788, (13, 13), (13, 4)),
        (8788, True, 8788, (4, 13), (13, 13)),  # of an even length, for pairs of rows, and even at first
        (9000, False, 9000, (15, 8), (15, 5)),
        (9000, True, 9000, (8, 15), (15, 5)),
        (20011, True, 40960, (16, 16), (16, 10)),
        (32768, True, 32768, (16, 16), (16, 8)),
        (100_000, True, 100_000, (10, 10, 5), (10, 10, 2)),
    ],
)
def test_two_steps_are_as_even_as_possible_and_the_second_is_the_shorter_one(n, columns, length, outer, middle):
    made = plan_long(n, columns=columns, count=1000)
    assert (made.length, made.outer.radices, made.middle.radices) == (length, outer, middle)


def test_columns_that_would_go_alone_and_in_halves_go_in_two_steps():
    made = plan(16384, 16384)
    assert isinstance(made.columns, LongPlan)
    assert isinstance(made.rows, TransformPlan)
    assert made.rows.length_rounds == 2


def test_every_side_up_to_the_longest_is_supported():
    longest = LIMITS.longest // 2
    assert longest == 131_072  # convolutions of twice as many
    assert all(supports((n, n)) for n in (1, 2, 1021, 6133, 8191, 10007, 16384, 20011, 32768, 46341))
    assert supports((3, longest, 16))
    assert supports((16, longest))
    assert not supports((16, longest + 1))
    assert not supports((65536, 65536))
    with pytest.raises(ParameterError, match=f"an image of 16 x {longest + 1} is larger than .*: take another engine"):
        plan(longest + 1, 16)


def test_smaller_limits_give_smaller_plans():
    assert isinstance(plan(64, 64).rows, TransformPlan)
    assert isinstance(plan(64, 64, Limits(local_bytes=4 * 24 + RESERVED_BYTES)).rows, LongPlan)
    assert not supports((64, 64), Limits(local_bytes=4 * 24 + RESERVED_BYTES, longest=63))


TINY = Limits(local_bytes=4 * 24 + RESERVED_BYTES)


@pytest.mark.parametrize(
    ("n", "columns", "wanted"),
    [
        # length, radices, work-items of a transform, numbers of each, transforms of a group, rounds, local memory
        (64, True, (64, (8, 8), 8, 8, 8, (1, 1, 1), 82)),
        (512, False, (512, (8, 8, 8), 64, 8, 4, (1, 1, 1), 580)),
        (1024, True, (1024, (16, 8, 8), 64, 16, 4, (1, 1, 1), 1156)),
        (1500, False, (1500, (10, 6, 5, 5), 150, 12, 2, (1, 1, 1), 1512)),
        (1021, True, (2048, (16, 16, 8), 128, 16, 2, (1, 1, 1), 2184)),
        (4096, True, (4096, (16, 16, 16), 256, 16, 2, (2, 1, 1), 4368)),
        (6000, False, (6000, (16, 15, 5, 5), 400, 16, 1, (2, 1, 1), 6375)),
        (5003, True, (10125, (15, 15, 15, 3), 675, 15, 1, (2, 1, 1), 10125)),
        (8192, True, (8192, (32, 16, 16), 256, 32, 2, (2, 2, 1), 8720)),
        (16384, False, (16384, (32, 32, 16), 512, 32, 1, (2, 1, 2), 8448)),
    ],
)
def test_common_lengths_have_plans_that_fill_groups_of_256(n, columns, wanted):
    """Others give the same numbers, so that no other test would notice; on a GPU they may take much longer."""
    made = plan_transform(n, columns=columns, count=8)
    rounds = made.complex_rounds, made.batch_rounds, made.length_rounds
    assert (made.length, made.radices, made.items, made.per_item, made.batch, rounds, made.local_stride) == wanted


@pytest.mark.parametrize(
    ("size", "tile", "columns"),
    [
        ((64, 64), 8, (64,)),
        ((1080, 1920), 2, (1080,)),  # of long stages in groups of two, as rows are
        ((2048, 2048), 2, (2048,)),
        ((4096, 4096), 4, (4096,)),  # whole sectors
        ((6000, 8000), 128, (120, 50)),  # wide tiles where both steps of many columns have many side by side
        ((16384, 16384), 128, (128, 128)),
        ((20000, 2000), 16, (200, 100)),  # fewer columns than are worth it
        ((2000, 20000), 4, (2000,)),
    ],
)
def test_common_sizes_have_tiles_of_whole_sectors(size, tile, columns):
    made = plan(*size)
    side = made.columns
    lengths = (side.outer.length, side.middle.length) if isinstance(side, LongPlan) else (side.length,)
    assert (made.tile, lengths) == (tile, columns)


@pytest.mark.parametrize(
    ("size", "paired", "work"),
    [
        ((8, 8), False, 0),
        ((8, 45), False, 0),  # long rows lie in the spectrum's place
        ((30, 45), True, 0),  # and so do long columns of even height
        ((31, 45), False, 6 * 4 * 64),  # columns by chirp-z: all tiles, in the length of the convolution
        ((37, 30), False, 2 * 8 * 80),
        ((30, 37), True, 15 * 80),  # pairs of rows by chirp-z
    ],
)
def test_long_sides_that_do_not_fit_into_the_spectrum_have_a_place_of_their_own(size, paired, work):
    made = plan(*size, TINY)
    assert made.columns_paired == paired
    assert made.work_length == work


def test_sides_that_a_group_holds_are_mirrored_and_all_up_to_the_longest_are_filtered():
    gpu, cpu = SimpleNamespace(is_gpu=True), SimpleNamespace(is_gpu=False)
    sides = (16, 8192, 20_000, 131_072, 131_073)
    assert [serves(gpu, 16, side) for side in sides] == [True, True, True, True, False]
    assert [serves(gpu, side, 16) for side in sides] == [True, True, True, True, False]
    assert [mirrors(gpu, 16, side) for side in sides] == [True, True, False, False, False]
    assert [mirrors(gpu, side, 16) for side in sides] == [True, True, False, False, False]
    assert all(serves(cpu, 16, side) and mirrors(cpu, 16, side) for side in sides)


def test_memory_is_announced_for_spectra_values_and_pixels():
    gpu, pixels = SimpleNamespace(is_gpu=True), 2 * 64 * 48
    spectrum = plan(64, 48).spectrum_length
    assert spectrum >= 64 * 25
    assert device_bytes(gpu, (2, 64, 48), real=False) == 2 * 8 * spectrum + 4 * pixels + 2 * pixels
    assert device_bytes(gpu, (2, 64, 48), real=True) == 2 * 8 * spectrum + 5 * pixels
    assert device_bytes(gpu, (2, 64, 48), real=True, inverses=2) == 4 * 8 * spectrum + 5 * pixels
