"""Plans of the fused form for GPUs, without a device: they fit the work-group and meet each bank once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
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


@pytest.mark.parametrize("n", [8193, 10007, 16385, 19683, 20011, 30000, 32768, 46340, 65521, 131072])
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


def test_columns_that_would_go_alone_and_in_halves_go_in_two_steps():
    made = plan(16384, 16384)
    assert isinstance(made.columns, LongPlan)
    assert isinstance(made.rows, TransformPlan)
    assert made.rows.length_rounds == 2


def test_every_side_up_to_the_longest_is_supported():
    longest = LIMITS.longest // 2
    assert all(supports((n, n)) for n in (1, 2, 1021, 6133, 8191, 10007, 16384, 20011, 32768, 46341))
    assert supports((3, longest, 16))
    assert supports((16, longest))
    assert not supports((16, longest + 1))
    assert not supports((65536, 65536))
    with pytest.raises(ParameterError, match="take another engine"):
        plan(longest + 1, 16)


def test_smaller_limits_give_smaller_plans():
    assert isinstance(plan(64, 64).rows, TransformPlan)
    assert isinstance(plan(64, 64, Limits(local_bytes=4 * 24 + RESERVED_BYTES)).rows, LongPlan)
    assert not supports((64, 64), Limits(local_bytes=4 * 24 + RESERVED_BYTES, longest=63))
